"""What moved between two versions of a question set, question by question, and which number that raises. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal, get_args

from ragassay.question.versions import Part
from ragassay.records import Benchmark, Question, Record

Change = Literal["reworded", "target", "evidence", "page", "claims", "topic", "provenance", "page-text"]
"""What changed of a question that stayed: `page` is the page that it names, `page-text` the bytes of that page."""

CHANGES: tuple[Change, ...] = get_args(Change)
PATCH: frozenset[Change] = frozenset({"topic", "provenance", "page-text"})
"""Changes that change neither what is asked nor what an answer is held against."""


class Move(Record, frozen=True):
    """A question that is in both versions, and what changed of it; nothing where it is unchanged."""

    id: str
    changes: tuple[Change, ...]


class Moved(Record, frozen=True):
    """Everything that differs between two versions; `part` is the number that it raises, None where nothing does.

    `order` is True where the same questions stand in another order, `head` where the scorer or the set's own
    description of its corpus changed, `corpus` where the documentation as a whole did.
    """

    part: Part | None
    kept: tuple[Move, ...]
    added: tuple[str, ...]
    retired: tuple[str, ...]
    order: bool
    head: bool
    corpus: bool

    def counts(self) -> dict[str, int]:
        """Return how many questions are unchanged, have each change, were added and retired."""
        changed = Counter(change for move in self.kept for change in move.changes)
        same = sum(not move.changes for move in self.kept)
        each: dict[str, int] = {change: changed[change] for change in CHANGES if changed[change]}
        return {"unchanged": same, **each, "added": len(self.added), "retired": len(self.retired)}


def moved(
    before: Benchmark, now: Benchmark, *, pages: tuple[Mapping[str, str], Mapping[str, str]], corpus: bool
) -> Moved:
    """Compare two versions of one set.

    `pages` are, for each version, the SHA-256s of the questions' pages by question id; `corpus` tells whether the
    documentation differs as a whole. The rule of versions: another itemSet raises the first number, other claims,
    evidence or pages the second, all else the third.
    """
    old = {question.id: question for question in before.questions}
    new = {question.id: question for question in now.questions}
    kept = tuple(Move(id=name, changes=_changes(old[name], new[name], pages)) for name in new if name in old)
    both = [name for name in old if name in new], [name for name in new if name in old]
    head = (before.corpus, before.scorer_key) != (now.corpus, now.scorer_key)
    changed = {change for move in kept for change in move.changes}
    part: Part | None = None
    if before.item_set_digest() != now.item_set_digest():
        part = "major"
    elif changed - PATCH:
        part = "minor"
    elif changed or head or corpus:
        part = "patch"
    return Moved(
        part=part,
        kept=kept,
        added=tuple(name for name in new if name not in old),
        retired=tuple(name for name in old if name not in new),
        order=both[0] != both[1],
        head=head,
        corpus=corpus,
    )


def _changes(old: Question, new: Question, pages: tuple[Mapping[str, str], Mapping[str, str]]) -> tuple[Change, ...]:
    differs: dict[Change, bool] = {
        "reworded": old.input != new.input,
        "target": old.target != new.target,
        "evidence": old.evidence != new.evidence,
        "page": old.page != new.page,
        "claims": (old.claims, old.unsplit) != (new.claims, new.unsplit),
        "topic": old.topic != new.topic,
        "provenance": old.provenance != new.provenance,
        "page-text": old.page == new.page and pages[0].get(old.id) != pages[1].get(new.id),
    }
    return tuple(change for change in CHANGES if differs[change])
