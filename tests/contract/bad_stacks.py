"""A bench of stacks that break exactly one promise each, and one that breaks none."""
# ruff: noqa: D102 - what a class says in one sentence is what its only method does

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from ragassay.errors import InputError
from ragassay.records import JSON, Chunk, Hit, Secret
from ragassay.seams import Progress

NAN = float("nan")


class Good:
    """Ranks chunks by shared letters of question and text, through its embedder; keeps every promise."""

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {}

    def __init__(self, *, key: Secret | None = None, **unknown: Any) -> None:
        if unknown:
            raise InputError("the parameters cannot be used", sorted(unknown))
        self._key = key

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Good:
        """Keep ids and letters."""
        self.ids = [chunk.id for chunk in chunks]
        self.letters = [set(chunk.text) for chunk in chunks]
        self.embedder = parts["embedder"]
        progress(len(chunks), len(chunks))
        return self

    def search(self, text: str, k: int) -> Any:
        """Return the k chunks with most letters of the question."""
        self.embedder.embed([text], "query")
        scored = sorted(((len(set(text) & held), -at) for at, held in enumerate(self.letters)), reverse=True)
        return [Hit(chunk=self.ids[-at], score=float(score)) for score, at in scored[:k]]

    def describe(self) -> JSON:
        """Return the kind."""
        return {"kind": "letters"}

    def close(self) -> None:
        """Hold nothing."""


class TakesAnyParameter(Good):
    """A misspelt parameter is passed over."""

    def __init__(self, **anything: Any) -> None:
        super().__init__()


class Generates(Good):
    """Hits come one by one."""

    def search(self, text: str, k: int) -> Iterator[Hit]:
        yield from super().search(text, k)


class OneTooMany(Good):
    """`k` is taken for the last index."""

    def search(self, text: str, k: int) -> Any:
        return super().search(text, k + 1)


class UnknownIds(Good):
    """Ids are those of an engine."""

    def search(self, text: str, k: int) -> Any:
        return [Hit(chunk=f"engine/{hit.chunk}", score=hit.score) for hit in super().search(text, k)]


class StaleTexts(Good):
    """The texts are those of an earlier corpus."""

    def search(self, text: str, k: int) -> Any:
        return [Hit(chunk=hit.chunk, score=hit.score, text="what it was") for hit in super().search(text, k)]


class Repeats(Good):
    """The best chunk stands twice."""

    def search(self, text: str, k: int) -> Any:
        found = super().search(text, k)
        return [*found[:1], *found][:k]


class ScoresNaN(Good):
    """A division by zero on the way."""

    def search(self, text: str, k: int) -> Any:
        return [Hit(chunk=hit.chunk, score=NAN if not text else hit.score) for hit in super().search(text, k)]


class ScoresRise(Good):
    """A distance passes for a score."""

    def search(self, text: str, k: int) -> Any:
        return [Hit(chunk=hit.chunk, score=-hit.score) for hit in super().search(text, k)]


class BuildsDiffer(Good):
    """Every build begins at another chunk."""

    builds = 0

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Good:
        built = super().build(chunks, parts, progress)
        type(self).builds += 1
        at = type(self).builds % max(1, len(self.ids))
        self.ids = self.ids[at:] + self.ids[:at]
        return built


class Learns(Good):
    """Who asks the same again at once gets something else."""

    def search(self, text: str, k: int) -> Any:
        asked = self.__dict__.setdefault("asked", [])
        asked.append((text, k))
        again = len(asked) < 30 and asked[-2:] == [(text, k)] * 2
        return super().search(text[::2] if again else text, k)[1 if again else 0 :]


class Shuffles(Good):
    """Equal scores, in the order of the day."""

    def search(self, text: str, k: int) -> Any:
        order = random.sample(super().search(text, k), min(k, len(self.ids)))
        return [Hit(chunk=hit.chunk, score=1.0) for hit in order]


class LongerListIsAnother(Good):
    """More hits are looked for in another way."""

    def search(self, text: str, k: int) -> Any:
        found = super().search(text, k)
        return [Hit(chunk=hit.chunk, score=1.0) for hit in (found[::-1] if k == 7 else found)]


class FailsOnNothing(Good):
    """An empty corpus is an index out of range."""

    def search(self, text: str, k: int) -> Any:
        assert self.ids[0]
        return super().search(text, k)


class FailsOnBlanks(Good):
    """A corpus without a letter is a division by zero."""

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Good:
        if chunks:
            assert 1 / sum(len(chunk.text.strip()) for chunk in chunks)
        return super().build(chunks, parts, progress)


class SharesState(Good):
    """The question waits in the object while another thread puts down its own."""

    def search(self, text: str, k: int) -> Any:
        self.question = text
        time.sleep(0.001)
        return super().search(self.question, k)


class ErrorIsEmpty(Good):
    """Whatever fails, nothing was found."""

    def search(self, text: str, k: int) -> Any:
        try:
            return super().search(text, k)
        except Exception:  # noqa: BLE001 - the fault that this class is there for
            return []


class TakesTheChunks(Good):
    """The list that it was given is emptied to save memory."""

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Good:
        super().build(chunks, parts, progress)
        assert isinstance(chunks, list)
        chunks.clear()
        return self


class RecordsAFraction(Good):
    """A parameter stands in the description as it is."""

    def describe(self) -> JSON:
        return {"kind": "letters", "b": 0.75}


class RecordsTheTime(Good):
    """The description is another at every look."""

    def describe(self) -> JSON:
        return {"kind": "letters", "at": time.monotonic_ns()}


class RecordsTheKey(Good):
    """The key stands in the description."""

    def describe(self) -> JSON:
        return {"kind": "letters", "key": self._key.reveal() if self._key else ""}


class CountsNothing(Good):
    """The count is what the engine could not say."""

    def count(self) -> Any:
        return -1


class ClosesOnce(Good):
    """The second close is an error."""

    closed = 0

    def close(self) -> None:
        self.closed += 1
        if self.closed == 2:
            raise RuntimeError("closed already")


class KeepsTheInterrupt(Good):
    """What progress raises is caught with everything else."""

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Good:
        def guarded(done: int, total: int) -> None:
            try:
                progress(done, total)
            except BaseException:  # noqa: BLE001 - the fault that this class is there for
                return

        return super().build(chunks, parts, guarded)


class Hangs(Good):
    """A search never comes back, until the test lets it."""

    over: ClassVar[threading.Event] = threading.Event()

    def search(self, text: str, k: int) -> Any:
        self.over.wait(60)
        return super().search(text, k)


class HalfDiffers(Good):
    """Every second build lacks the first chunk."""

    builds = 0

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Good:
        type(self).builds += 1
        return super().build(chunks[type(self).builds % 2 :], parts, progress)
