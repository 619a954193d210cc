"""Two states of one documentation are compared page by page: which stay, change, move, go and come. Pure."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

from ragassay.records import Page, Record

MOVED_PERCENT = 80
"""A page that is gone and one that is new are one page that moved when at least so much of their text is the same."""
_RARE = 12
"""A word points to the pages that hold it only where so few do."""
_CANDIDATES = 4


class ChangedPage(Record, frozen=True):
    """A page under the same id with another text: words that came and went, and how much of both texts is the same."""

    page: str
    added: int
    removed: int
    same_percent: int


class MovedPage(Record, frozen=True):
    """A page that has another id now, with the same text or with small edits."""

    old: str
    new: str
    added: int
    removed: int
    same_percent: int


class CorpusDiff(Record, frozen=True):
    """What became of every page: old = same + changed + moved + lost, new = same + changed + moved + gained."""

    old: int
    new: int
    same: int
    changed: tuple[ChangedPage, ...]
    moved: tuple[MovedPage, ...]
    lost: tuple[str, ...]
    gained: tuple[str, ...]


def diff(old: Sequence[Page], new: Sequence[Page]) -> CorpusDiff:
    """Return what became of the pages of `old` in `new`; only their texts and ids count."""
    before, after = {page.id: page for page in old}, {page.id: page for page in new}
    same = {id_ for id_, page in before.items() if id_ in after and after[id_].sha256 == page.sha256}
    left = {id_: _Text(page.text) for id_, page in before.items() if id_ not in same}
    right = {id_: _Text(page.text) for id_, page in after.items() if id_ not in same}
    moved = _renamed(left, right)
    changed = [ChangedPage(page=id_, **_amounts(left.pop(id_), right.pop(id_))) for id_ in sorted(left.keys() & right)]
    moved += _edited(left, right)
    return CorpusDiff(
        old=len(before),
        new=len(after),
        same=len(same),
        changed=tuple(changed),
        moved=tuple(sorted(moved, key=lambda one: one.old)),
        lost=tuple(sorted(left)),
        gained=tuple(sorted(right)),
    )


class _Text:
    """The text of a page, and what is compared of it, worked out once."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def words(self) -> Counter[str]:
        """How often each word stands in the text."""
        return Counter(self.text.split())

    @cached_property
    def pairs(self) -> Counter[tuple[str, str]]:
        """How often two words stand beside each other, the edges of the text included."""
        return Counter(pairwise(("", *self.text.split(), "")))


def _amounts(old: _Text, new: _Text) -> dict[str, int]:
    return {
        "added": (new.words - old.words).total(),
        "removed": (old.words - new.words).total(),
        "same_percent": _same_percent(old, new),
    }


def _same_percent(old: _Text, new: _Text) -> int:
    """Return how much of two texts is the same, rounded down: 100 only for the same words in the same order."""
    both = old.pairs.total() + new.pairs.total()
    return 200 * (old.pairs & new.pairs).total() // both


def _renamed(left: dict[str, _Text], right: dict[str, _Text]) -> list[MovedPage]:
    """Take pages out of both sides that have another id and the same text; empty pages are never one page."""
    by_text: dict[str, list[str]] = {}
    for id_ in sorted(right, reverse=True):
        if right[id_].text and id_ not in left:
            by_text.setdefault(right[id_].text, []).append(id_)
    found = []
    for id_ in sorted(left):
        if waiting := by_text.get(left[id_].text):
            target = waiting.pop()
            found.append(MovedPage(old=id_, new=target, added=0, removed=0, same_percent=100))
            del left[id_], right[target]
    return found


def _edited(left: dict[str, _Text], right: dict[str, _Text]) -> list[MovedPage]:
    """Take pages out of both sides that moved with small edits, the most alike first."""
    rated = sorted(
        (-percent, old, new) for old, new in _candidates(left, right) if (percent := _percent(left[old], right[new]))
    )
    found = []
    for _, old, new in rated:
        if old in left and new in right:
            found.append(MovedPage(old=old, new=new, **_amounts(left.pop(old), right.pop(new))))
    return found


def _percent(old: _Text, new: _Text) -> int:
    """Return how much is the same, 0 where that is too little for one page that moved."""
    sizes = sorted((old.words.total(), new.words.total()))
    if not sizes[0] or 200 * sizes[0] < MOVED_PERCENT * sum(sizes):
        return 0
    percent = _same_percent(old, new)
    return percent if percent >= MOVED_PERCENT else 0


def _candidates(left: Mapping[str, _Text], right: Mapping[str, _Text]) -> Iterator[tuple[str, str]]:
    """Yield each page with those of the other side that share the most of its rare words."""
    holders: dict[str, list[str]] = {}
    for id_, text in right.items():
        for word in text.words:
            holders.setdefault(word, []).append(id_)
    few = len(right) <= _RARE
    for old, text in left.items():
        shared = Counter(
            new for word in text.words for new in holders.get(word, ()) if few or len(holders[word]) <= _RARE
        )
        for new, _ in heapq.nsmallest(_CANDIDATES, shared.items(), key=lambda item: (-item[1], item[0])):
            yield old, new
