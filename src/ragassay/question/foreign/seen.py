"""What was seen in a foreign source: every line is taken, or left out under a reason, and the counts add up."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from ragassay.errors import InputError
from ragassay.records import Record

Kind = Literal["query", "document", "judgement"]
KINDS: tuple[Kind, ...] = ("query", "document", "judgement")
MAX_FAULTS = 100_000
"""How many faults of one source are listed; with more it is not what it was said to be."""


class ForeignDocument(Record, frozen=True):
    """One document of a source, its id as the source has it."""

    id: str
    text: str
    title: str = ""
    place: str = ""
    """File and line, as `corpus.jsonl:12`."""


class ForeignQuery(Record, frozen=True):
    """One query: an answer and contexts only where the source has them."""

    id: str
    input: str
    place: str
    target: str | None = None
    contexts: tuple[str, ...] = ()
    """Verbatim texts that the source names as those which the answer rests on."""
    context_ids: tuple[str, ...] = ()
    suffices: bool = False
    """Whether the source says that each of the contexts suffices alone."""
    name: str | None = None
    """The id of the question, where it is not that by which the source's other files name the query."""
    topic: str | None = None
    tool: str | None = None
    lacks: tuple[str, ...] = ()
    """What the source has of an answer or of contexts that cannot be taken as it is, each as one sentence."""


class Judgement(Record, frozen=True):
    """One line of qrels: how relevant a document is to a query; 0 and below is not relevant."""

    query: str
    document: str
    relevance: int
    place: str


class LeftOut(Record, frozen=True):
    """One thing of a source that was not taken; `fault` says that the source itself is wrong there."""

    kind: Kind
    place: str
    reason: str
    id: str | None = None
    fault: bool = False


class Seen:
    """The tally of one import."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.left_out: list[LeftOut] = []
        self._faults = 0
        self.not_taken: Counter[str] = Counter()
        """How often each field that has no place in a question set stood there with a value."""

    def saw(self, kind: Kind) -> None:
        """Count one thing of this kind."""
        self.counts[kind] += 1

    def leave(self, kind: Kind, place: str, reason: str, *, id_: str | None = None, fault: bool = False) -> None:
        """List one thing that was counted and is not taken; raises `InputError` beyond `MAX_FAULTS` faults."""
        self._faults += fault
        if self._faults > MAX_FAULTS:
            what = f"more than {MAX_FAULTS:,} faults, the last at {place}: {reason}; is this the right file?"
            raise InputError(what, self.faults()[:20])
        self.left_out.append(LeftOut(kind=kind, place=place, reason=reason, id=id_, fault=fault))

    def faults(self) -> list[str]:
        """Return every fault of the source, with its place."""
        return [f"{one.place}: {one.reason}" for one in self.left_out if one.fault]

    def left(self, kind: Kind) -> int:
        """Return how many things of this kind were left out."""
        return sum(one.kind == kind for one in self.left_out)
