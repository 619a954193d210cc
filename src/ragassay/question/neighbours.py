"""Which other questions of a set ask nearly the same, by the words that they share."""

from __future__ import annotations

from collections.abc import Iterable

from ragassay.question.rules.words import content, jaccard
from ragassay.records import Question, Record

MOST = 3
LEAST = 0.34
"""The smallest share of common words among all words of two questions at which they are neighbours."""


class Neighbour(Record, frozen=True):
    """Another question, how many hundredths of both questions' words they share, and whether its page is the same."""

    question: str
    shared: int
    same_page: bool


def neighbours(question: Question, others: Iterable[Question]) -> list[Neighbour]:
    """Return the nearest other questions, nearest first, at most three."""
    own = content(question.input)
    near = [
        (-share, other.id, other.page is not None and other.page == question.page)
        for other in others
        if other.id != question.id and (share := jaccard(own, content(other.input))) >= LEAST
    ]
    return [
        Neighbour(question=name, shared=round(-share * 100), same_page=same)
        for share, name, same in sorted(near)[:MOST]
    ]
