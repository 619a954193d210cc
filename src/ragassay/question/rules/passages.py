"""Which questions share a passage or a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragassay.question.evidence import EvidenceFinding, Place
from ragassay.question.printable import plural
from ragassay.question.rules.finding import LintFinding, broken, place_of
from ragassay.question.rules.material import Material

NEAR_CHARACTERS = 200
"""Passages of one page that are closer together are one to most chunkers."""

Placed = tuple[Place, str]


def passages_apart(material: Material) -> Iterator[LintFinding]:
    """Yield pairs of questions on one passage, on neighbouring passages, or on one page; each pair once."""
    placed = _placed(material.findings)
    told: set[frozenset[str]] = set()
    for (place, name), (other, question) in _neighbours(placed):
        pair = frozenset((name, question))
        if name == question or pair in told:
            continue
        if place.end > other.start:
            told.add(pair)
            message = "the two questions rest on one passage; keep one, or give each its own"
            yield broken("passage-shared", (name, question), message, place, other)
    for (place, name), (other, question) in _neighbours(placed):
        pair = frozenset((name, question))
        if name == question or pair in told:
            continue
        told.add(pair)
        gap = other.start - place.end
        if gap < NEAR_CHARACTERS:
            apart = plural(gap, "character")
            message = f"the passages of the two questions stand {apart} apart; one chunk would answer both"
            yield broken("passage-near", (name, question), message, place, other)
        else:
            message = f"the two questions rest on one page, {place.page!r}; give each its own"
            yield broken("page-shared", (name, question), message, place, other)


def _placed(findings: Sequence[EvidenceFinding]) -> list[Placed]:
    placed = [(place, finding.question) for finding in findings if (place := place_of(finding))]
    return sorted(placed, key=lambda entry: (entry[0].page, entry[0].start, entry[0].end))


def _neighbours(placed: Sequence[Placed]) -> Iterator[tuple[Placed, Placed]]:
    """Yield all pairs that overlap, and each passage with the next of another question on its page."""
    for index, (place, name) in enumerate(placed):
        after = False
        for other, question in placed[index + 1 :]:
            if other.page != place.page or after:
                break
            after = other.start >= place.end and question != name
            yield (place, name), (other, question)
