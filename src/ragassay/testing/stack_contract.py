"""What every stack promises, as a pytest class: subclass it, name your stack, and run pytest.

```python
from ragassay.testing.stack_contract import StackContract

class TestMyStack(StackContract):
    stack = MyStack
    params = {"url": "http://127.0.0.1:6333"}
```

Each test looks for one broken promise, so that a fault is named by the test that fails. A stack that asks a server
has promises besides: `service_contract.ServiceContract`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, ClassVar

from ragassay import canon
from ragassay.errors import InputError
from ragassay.records import Chunk, Hit, Secret
from ragassay.retrieve import checked
from ragassay.seams import Retriever, Stack
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_cases import LONG_QUESTION, QUESTIONS, TEXTS, corpus, failing, ignore_progress, in_time

__all__ = ["LONG_QUESTION", "QUESTIONS", "TEXTS", "StackContract", "corpus", "ignore_progress"]

K = 5
"""How many hits are asked for where their number is not the point."""


class StackContract:
    """Subclass and set `stack` (and `params`); override `parts` when your stack needs others than an embedder."""

    stack: ClassVar[type[Stack]]
    params: ClassVar[Mapping[str, Any]] = {}
    cuts_at_k: ClassVar[bool] = True
    """False for a stack that returns all it has whatever k is."""
    questions: ClassVar[Sequence[str]] = QUESTIONS
    """Questions that the stack can be asked; `LONG_QUESTION` is asked besides."""
    repeatable: ClassVar[bool] = True
    """False for a stack of which two builds may give different hits; say in `stability` how much they agree."""
    stability: ClassVar[str] = "1"
    """The least share of equal ids among the best five of two builds, as a decimal, where `repeatable` is false."""
    within_s: ClassVar[float] = 55.0
    """How long one search may take; a run gives it up after 60 seconds."""

    def make_stack(self) -> Stack:
        """Return a new stack."""
        return self.stack(**self.params)

    def parts(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:
        """Return the parts that the stack is built with."""
        return {"embedder": WordEmbedder()}

    @contextmanager
    def built(self, chunks: Sequence[Chunk], parts: Mapping[str, Any] | None = None) -> Iterator[Retriever]:
        """Give a retriever over `chunks` and close it afterwards."""
        given = self.parts(chunks) if parts is None else parts
        retriever = self.make_stack().build(list(chunks), given, ignore_progress)
        try:
            yield retriever
        finally:
            retriever.close()

    def ask(self, retriever: Retriever, question: str, k: int = K) -> list[Hit]:
        """Return the hits; `AssertionError` where they take longer than `within_s`."""
        return list(in_time(lambda: retriever.search(question, k), self.within_s, f"the search for {question[:40]!r}"))

    def asked(self) -> list[str]:
        """Return every question, the long one last."""
        return [*self.questions, *([LONG_QUESTION] if self.questions is QUESTIONS else [])]

    def test_an_unknown_parameter_is_refused(self) -> None:
        """A misspelt parameter of a board is an error before any work, not a default taken in silence."""
        refused = False
        try:
            self.stack(**{**self.params, "no_such_parameter": 1})
        except (InputError, TypeError):
            refused = True
        assert refused, "the stack took the parameter 'no_such_parameter'; raise InputError for what it does not know"

    def test_a_reply_is_a_sequence_of_hits(self) -> None:
        """A list or tuple, not a generator, of `Hit`."""
        with self.built(corpus()) as retriever:
            for question in self.asked():
                found: Any = in_time(lambda q=question: retriever.search(q, K), self.within_s, "a search")  # type: ignore[misc]
                assert isinstance(found, Sequence), f"search() returned {type(found).__name__}"
                assert all(isinstance(hit, Hit) for hit in found)

    def test_k_is_respected(self) -> None:
        """At most k hits come back, for k from 1 to more than there are chunks."""
        chunks = corpus()
        with self.built(chunks) as retriever:
            for question in self.asked():
                for k in (1, 2, 5, len(chunks) + 10):
                    hits = self.ask(retriever, question, k)
                    assert len(hits) <= (k if self.cuts_at_k else len(chunks)), f"{len(hits)} hits for k = {k}"

    def test_every_hit_is_of_the_corpus(self) -> None:
        """Ids are ids of chunks that were given, or come with a text of the stack's own."""
        chunks = corpus()
        known = {chunk.id: chunk for chunk in chunks}
        owns = self.stack.owns_corpus
        with self.built(chunks) as retriever:
            for question in self.asked():
                for hit in self.ask(retriever, question, len(chunks)):
                    alone = Hit(chunk=hit.chunk, score=0.0, text=hit.text)
                    checked([alone], chunks=known, owns_corpus=owns, top_k=None, threshold=None, latency_ms=0)

    def test_no_hit_stands_twice(self) -> None:
        """Each chunk is returned once."""
        chunks = corpus()
        with self.built(chunks) as retriever:
            for question in self.asked():
                ids = [hit.chunk for hit in self.ask(retriever, question, len(chunks))]
                assert len(ids) == len(set(ids)), f"{len(ids) - len(set(ids))} hits stand twice"

    def test_scores_are_finite_and_best_first(self) -> None:
        """Every score is a finite number and none is higher than the one before it."""
        with self.built(corpus()) as retriever:
            for question in self.asked():
                hits = self.ask(retriever, question, len(TEXTS))
                alone = [Hit(chunk=str(rank), score=hit.score, text="x") for rank, hit in enumerate(hits)]
                checked(alone, chunks={}, owns_corpus=True, top_k=None, threshold=None, latency_ms=0)

    def test_building_twice_gives_the_same_hits(self) -> None:
        """Two indexes over the same chunks agree on ids, order and scores, or by as much as `stability` declares."""
        with self.built(corpus()) as one, self.built(corpus()) as other:
            pairs = [(self.ask(one, question), self.ask(other, question)) for question in self.asked()]
        if self.repeatable:
            assert all(left == right for left, right in pairs)
            return
        assert not getattr(self.stack, "deterministic", False), "a stack that declares itself deterministic must repeat"
        share, least = _share_of_equal_ids(pairs), Decimal(self.stability)
        assert 0 < least <= 1, f"stability = {self.stability!r} must lie above 0 and at most at 1"
        assert share >= least, f"two builds share {share:.4f} of their best {K}; at least {least} is declared"

    def test_asking_twice_gives_the_same_hits(self) -> None:
        """A search changes nothing for the next one."""
        with self.built(corpus()) as retriever:
            first = [self.ask(retriever, question) for question in self.asked()]
            again = [self.ask(retriever, question) for question in reversed(self.asked())]
        assert first == again[::-1]

    def test_a_smaller_k_is_a_prefix(self) -> None:
        """The best three are the first three of the best seven, ties included."""
        with self.built(corpus()) as retriever:
            for question in self.asked():
                more, fewer = self.ask(retriever, question, 7), self.ask(retriever, question, 3)
                assert (fewer[:3] == more[:3]) if self.cuts_at_k else (fewer == more)

    def test_an_empty_corpus_is_searched_and_gives_nothing(self) -> None:
        """Without a chunk there is no hit, and no error."""
        if self.stack.owns_corpus or not self.cuts_at_k:
            return
        with self.built([]) as retriever:
            assert [self.ask(retriever, question) for question in self.asked()] == [[]] * len(self.asked())

    def test_a_corpus_of_blank_chunks_breaks_no_promise(self) -> None:
        """Chunks of white space alone are indexed and may be found or not; neither is an error."""
        if not self.cuts_at_k:
            return
        chunks = corpus(["", " ", "\n\n"])
        with self.built(chunks) as retriever:
            for question in self.asked():
                self.ask(retriever, question, 2)

    def test_concurrent_searches_agree(self) -> None:
        """Eight threads get what one gets."""
        questions = self.asked() * 4
        with self.built(corpus()) as retriever:
            alone = [self.ask(retriever, question) for question in questions]
            with ThreadPoolExecutor(8) as pool:
                together = list(pool.map(lambda question: self.ask(retriever, question), questions))
        assert alone == together

    def test_a_failing_part_is_never_fewer_hits(self) -> None:
        """Where a part is down, a search raises, or finds the same without it: an error is no empty list."""
        chunks, down = corpus(), threading.Event()
        with self.built(chunks, failing(self.parts(chunks), down)) as retriever:
            before = [self.ask(retriever, question) for question in self.asked()]
            down.set()
            for question, hits in zip(self.asked(), before, strict=True):
                try:
                    found = self.ask(retriever, question)
                except AssertionError:
                    raise
                except Exception:  # noqa: BLE001, S112 - it says that it is down: that is the promise
                    continue
                assert found == hits, f"{len(found)} hits where a part is down and {len(hits)} where it is not"

    def test_the_chunks_are_left_as_they_were(self) -> None:
        """The list that `build` is given belongs to the runner: other rows are built from it."""
        chunks = corpus()
        retriever = self.make_stack().build(chunks, self.parts(chunks), ignore_progress)
        try:
            self.ask(retriever, self.asked()[0])
        finally:
            retriever.close()
        assert chunks == corpus()

    def test_description_is_canonical_and_stable(self) -> None:
        """`describe()` can be signed: no fractional number, the same for two builds, a search changes nothing."""
        with self.built(corpus()) as one, self.built(corpus()) as other:
            before = canon.canonical(one.describe())
            self.ask(one, self.asked()[0], 3)
            assert before == canon.canonical(one.describe()) == canon.canonical(other.describe())
            assert one.describe()

    def test_description_holds_no_secret(self) -> None:
        """No key that the stack was given stands in what is recorded and published."""
        keys = [value.reveal() for value in self.params.values() if isinstance(value, Secret)]
        with self.built(corpus()) as retriever:
            told = f"{retriever.describe()} {retriever!r}"
        assert not [key for key in keys if key in told], "the description holds the key"

    def test_a_count_is_a_number_of_passages(self) -> None:
        """`count()`, where the stack has it, is an integer of at least 0."""
        with self.built(corpus()) as retriever:
            count = getattr(retriever, "count", None)
            found = count() if callable(count) else 0
        assert isinstance(found, int), f"count() returned {found!r}"
        assert not isinstance(found, bool)
        assert found >= 0, f"count() returned {found!r}"

    def test_closing_twice_is_harmless(self) -> None:
        """The second close does nothing."""
        with self.built(corpus()) as retriever:
            retriever.close()
            retriever.close()

    def test_progress_may_stop_the_build(self) -> None:
        """What `progress` raises reaches the caller: a build that reports can be interrupted."""
        chunks, calls = corpus(), []

        def stop(*at: int) -> None:
            calls.append(at)
            raise KeyboardInterrupt

        stopped = False
        try:
            self.make_stack().build(chunks, self.parts(chunks), stop).close()
        except KeyboardInterrupt:
            stopped = True
        assert stopped == bool(calls)
        assert all(len(at) == 2 and 0 <= at[0] <= at[1] for at in calls)


def _share_of_equal_ids(pairs: Sequence[tuple[Sequence[Hit], Sequence[Hit]]]) -> Decimal:
    """Return how many of the returned ids are returned by both, of the longer list's number; 1 where none is."""
    both = sum(len({hit.chunk for hit in one} & {hit.chunk for hit in other}) for one, other in pairs)
    longest = sum(max(len(one), len(other)) for one, other in pairs)
    return Decimal(both) / longest if longest else Decimal(1)
