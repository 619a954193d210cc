"""What a stack over a server promises besides, as a pytest class: name the kind, give a handle on a server, run pytest.

```python
from ragassay.testing.service_contract import ServiceContract
from ragassay.testing.service_gate import Gate

class TestMyService(ServiceContract):
    kind = "my-service"
    params = {"timeout_s": 2}
    name_param = "collection"

    @contextmanager
    def server(self):
        gate = Gate(port_of_a_running_server())
        yield gate
        gate.close()

    def connection(self, server):
        return {"url": server.url}
```

`kind` must be one that a board can name. Everything is built as a run builds it, from the row's table.
"""

from __future__ import annotations

import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, ClassVar, Protocol
from unittest import SkipTest

from ragassay import plugins
from ragassay.errors import PluginError, StackError
from ragassay.records import JSON, Chunk, Hit, Secret
from ragassay.run.build import StackBuilder
from ragassay.seams import Retriever
from ragassay.testing.service_board import QUESTIONS, TEXTS, WORDS, ServiceBoard, known_words, silent
from ragassay.testing.stack_cases import corpus, in_time

KEY = "contract-key-0123456789abcdef"
KEY_ENV = "RAGASSAY_CONTRACT_KEY"
NAME = "ragassay_contract"


class Server(Protocol):
    """A server under test; `service_gate.Gate` before any server is one."""

    def stop(self) -> None:
        """Kill it: connections break and new ones are refused; what it stored stays."""
        ...

    def start(self) -> None:
        """Start it again, on the same address, with what it stored."""
        ...

    def slow(self, seconds: float) -> None:
        """Let each answer take so long from now on; 0 for at once."""
        ...

    def refuse(self, on: bool) -> None:
        """Refuse every request for its key."""
        ...

    def cut(self, on: bool) -> None:
        """Break off every reply before its end."""
        ...


class ServiceContract(ABC):
    """Subclass, set `kind`, and give `server` and `connection`; see the head of this module."""

    kind: ClassVar[str]
    params: ClassVar[Mapping[str, Any]] = {}
    """What the row's table holds besides; set the stack's time limit to 2 seconds: short, and enough when busy."""
    name_param: ClassVar[str | None] = None
    """The parameter that names the index on the server by hand; None where the index is not ours to make."""
    index_name: ClassVar[str] = NAME
    """What the tests name it; another where the server takes no such name."""
    takes_key: ClassVar[bool] = True
    """False for a stack without a key: nothing is refused then."""
    within_s: ClassVar[float] = 10.0
    """How long a search may take that is not answered, with all that the client does about it."""

    @abstractmethod
    def server(self) -> AbstractContextManager[Any]:
        """Give a running, empty `Server`, and end it afterwards; `service_gate.Gate` makes one of any."""

    def connection(self, server: Any) -> JSON:
        """Return the entries of the row's table that say where the server is."""
        return {"url": server.url}

    def make_foreign(self, server: Any, name: str) -> bool:
        """Make something of somebody else's under a name on the server; return False where that is not possible."""
        return False

    def drop(self, server: Any, name: str) -> bool:
        """Remove the index from the server behind the stack's back; return False where that is not possible."""
        return False

    def entry(self, server: Any, **more: Any) -> JSON:
        """Return the row's table, with an embedder without a model where the stack takes one."""
        key = {"key_env": KEY_ENV} if self.takes_key else {}
        words = {"embedder": WORDS} if "embedder" in plugins.load("stacks", self.kind).default_parts else {}
        named = {} if self.name_param is None else {self.name_param: self.index_name}
        return {"kind": self.kind, **self.params, **self.connection(server), **key, **words, **named, **more}

    @property
    def keys(self) -> Mapping[str, Secret]:
        """Return the secrets by the variables that the table names."""
        return {KEY_ENV: Secret(KEY)} if self.takes_key else {}

    def build(self, entry: JSON, texts: Sequence[str] = TEXTS) -> Retriever:
        """Return the stack of a row's table, built over `texts` as a run builds it."""
        with known_words(), tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            return StackBuilder(
                corpus(texts), evidence={}, cache=path, weights_cache=path, report=silent, keys=self.keys
            ).build(entry, "row 'service'")

    @contextmanager
    def built(self, entry: JSON, texts: Sequence[str] = TEXTS) -> Iterator[Retriever]:
        """Give the built stack and close it afterwards."""
        retriever = self.build(entry, texts)
        try:
            yield retriever
        finally:
            retriever.close()

    @contextmanager
    def asked_before(self, **more: Any) -> Iterator[tuple[Any, Retriever, list[Hit]]]:
        """Give a server, a stack built over it, and what it found for the first question."""
        with self.server() as server, self.built(self.entry(server, **more)) as retriever:
            before = list(retriever.search(QUESTIONS[0], 2))
            assert before, f"the server holds nothing for {QUESTIONS[0]!r}: give it {TEXTS[0]!r}"
            yield server, retriever, before

    def refused(self, entry: JSON, texts: Sequence[str] = TEXTS) -> PluginError:
        """Return the error with which the stack refuses to be built."""
        try:
            self.build(entry, texts).close()
        except PluginError as error:
            return error
        raise AssertionError("the stack was built, although it cannot work")

    def failed(self, retriever: Retriever) -> StackError:
        """Return the error of a search; `AssertionError` where it comes late, or where there is none."""
        try:
            found = in_time(
                lambda: retriever.search(QUESTIONS[0], 2), self.within_s, "a search that cannot be answered"
            )
        except StackError as error:
            return error
        raise AssertionError(f"the search returned {len(found)} hits instead of raising StackError")

    def test_a_server_that_is_down_when_the_stack_is_built(self) -> None:
        """Is an error that says that asking again may help; started again, the server is used."""
        with self.server() as server:
            server.stop()
            error = self.refused(self.entry(server))
            server.start()
            with self.built(self.entry(server)) as retriever:
                assert retriever.search(QUESTIONS[0], 2)
        assert error.retryable, f"not retryable: {error}"
        assert KEY not in str(error)

    def test_a_server_that_is_killed_after_the_stack_is_built(self) -> None:
        """Each search is a retryable error, and finds the same as before when the server is back."""
        with self.asked_before() as (server, retriever, before):
            server.stop()
            errors = [self.failed(retriever) for _ in range(2)]
            server.start()
            after = in_time(lambda: _patiently(retriever), self.within_s, "a search after the restart")
        assert all(error.retryable for error in errors), f"not retryable: {errors[0]}"
        assert after == before

    def test_a_server_killed_in_the_middle_of_a_pass(self) -> None:
        """What failed is recorded as failed, never as empty; after the restart the pass goes on and is whole."""
        with ExitStack() as stack:
            stack.enter_context(known_words())
            server = stack.enter_context(self.server())
            board = ServiceBoard(Path(stack.enter_context(tempfile.TemporaryDirectory())))
            entry = self.entry(server)
            killed = board.run(entry, self.keys, then=server.stop)
            server.start()
            resumed = board.run(entry, self.keys, then=_nothing)
            written = board.everything_written()
        states = list(killed.states.values())
        empty = [state for state in states if state.retrieval is not None and state.retrieval.state != "ok"]
        assert not empty, "a search of the killed server was recorded as one that found nothing"
        lost = [state.failed for state in states if state.failed is not None]
        assert [status for status, _ in lost] == ["retrieval_failed"] * 2, f"recorded: {lost}"
        assert killed.answered == 1
        assert killed.ended.held, "a pass with failed searches was signed"
        assert resumed.ended.run_id == killed.ended.run_id, "the description changed: another pass was begun"
        assert resumed.ended.held is None, f"the resumed pass is held: {resumed.ended.held}"
        assert resumed.answered == 2, f"{resumed.answered} questions were searched for again; two had failed"
        assert all(state.retrieval and state.retrieval.state == "ok" for state in resumed.states.values())
        assert KEY not in written, "the key stands in the workspace"

    def test_a_slow_server_is_an_error_in_time(self) -> None:
        """A search ends before the runner gives it up, with a retryable error; the next one gets its own answer."""
        with self.asked_before() as (server, retriever, before):
            server.slow(3 * self.within_s)
            error = self.failed(retriever)
            server.slow(0)
            after = in_time(lambda: _patiently(retriever), self.within_s, "a search after the slow one")
        assert error.retryable, f"not retryable: {error}"
        assert after == before

    def test_a_reply_that_is_cut_short_is_an_error(self) -> None:
        """Half a reply is never taken for a whole one."""
        with self.asked_before() as (server, retriever, before):
            server.cut(True)
            self.failed(retriever)
            server.cut(False)
            assert in_time(lambda: _patiently(retriever), self.within_s, "a search after the cut one") == before

    def test_a_refused_key_is_an_error_for_good(self) -> None:
        """Asking again with the same key does not help, and the key does not stand in what is said."""
        if not self.takes_key:
            raise SkipTest(f"{self.kind} takes no key")
        with self.asked_before() as (server, retriever, before):
            server.refuse(True)
            errors = [self.failed(retriever), self.refused(self.entry(server))]
            server.refuse(False)
            assert in_time(lambda: _patiently(retriever), self.within_s, "a search after the refusal") == before
        assert not [error for error in errors if error.retryable], f"retryable: {errors}"
        assert not [error for error in errors if KEY in str(error)], "the key stands in the error"

    def test_the_description_is_the_same_after_a_restart_and_holds_no_key(self) -> None:
        """What a run records does not change because the server was started again."""
        with self.server() as server:
            with self.built(self.entry(server)) as retriever:
                first = retriever.describe()
            server.stop()
            server.start()
            with self.built(self.entry(server)) as retriever:
                assert retriever.describe() == first
        assert KEY not in str(first)

    def test_an_index_is_found_again(self) -> None:
        """A second build over the same chunks uses what the first one stored, finds the same, and says so."""
        self._needs_a_name()
        with self.asked_before() as (server, one, before), self.built(self.entry(server)) as other:
            assert list(other.search(QUESTIONS[0], 2)) == before
            told = [getattr(retriever, "stored", None) for retriever in (one, other)]
        assert [stored is not None and stored.reused for stored in told] == [False, True], f"`stored` says {told}"
        assert all(self.index_name in stored.name for stored in told if stored is not None), f"`stored` says {told}"

    def test_an_index_of_another_dimension_is_refused(self) -> None:
        """Vectors of two embedders are never mixed under one name, and what was there stays."""
        self._needs_a_name()
        with self.asked_before() as (server, retriever, before):
            error = self.refused(self.entry(server, embedder={**WORDS, "dimension": 32}))
            assert list(retriever.search(QUESTIONS[0], 2)) == before
        assert not error.retryable
        assert self.index_name in str(error), f"the error does not name the index: {error}"

    def test_an_index_of_another_corpus_is_refused(self) -> None:
        """Chunks of two corpora are never mixed under one name, and what was there stays."""
        self._needs_a_name()
        with self.asked_before() as (server, retriever, before):
            error = self.refused(self.entry(server), ["Another page.", "And one more."])
            assert list(retriever.search(QUESTIONS[0], 2)) == before
        assert not error.retryable
        assert self.index_name in str(error), f"the error does not name the index: {error}"

    def test_somebody_elses_index_is_refused(self) -> None:
        """What ragassay did not make is neither searched nor written to."""
        self._needs_a_name()
        with self.server() as server:
            if not self.make_foreign(server, self.index_name):
                raise SkipTest("the subclass makes no index of somebody else's")
            error = self.refused(self.entry(server))
        assert not error.retryable
        assert self.index_name in str(error), f"the error does not name the index: {error}"

    def test_an_index_that_is_gone_is_an_error(self) -> None:
        """An index that somebody removed is not one that found nothing."""
        self._needs_a_name()
        with self.asked_before() as (server, retriever, _):
            if not self.drop(server, self.index_name):
                raise SkipTest("the subclass removes no index")
            self.failed(retriever)

    def _needs_a_name(self) -> None:
        if self.name_param is None:
            raise SkipTest(f"the index of {self.kind} is not ours to name")


def _nothing() -> None:
    return None


def _patiently(retriever: Retriever) -> list[Hit]:
    """Search as a run does: a retryable error is followed by another attempt, three in all."""
    for _ in range(2):
        try:
            return list(retriever.search(QUESTIONS[0], 2))
        except StackError as error:
            if not error.retryable:
                raise
            time.sleep(0.2)
    return list(retriever.search(QUESTIONS[0], 2))


def chunks_of_the_board() -> list[Chunk]:
    """Return what a server with a corpus of its own must hold: the three texts that the questions are about."""
    return corpus(TEXTS)
