"""The passage of a documentation that is most like a text that no longer stands in it, and the words that differ."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property

from ragassay.occurrence import Searched, said
from ragassay.records import Record

ALIKE_PERCENT = 50
"""A passage is named only when so much of the text's words stand in it."""
MARGIN_PERCENT = 20
"""By how much a passage elsewhere has to be more alike than one on the text's own page."""
MOST_WORDS = 300
"""Of a longer text the beginning is looked for."""
_WORDS = re.compile(r"\w+|[^\w\s]")
_LOOKED_AT = 5
"""Pages beside the preferred ones that are looked at."""
_MARGIN = 6
"""Words around the best window that belong to the passage where they match."""


class ChangedWords(Record, frozen=True):
    """Words of the old text, and what stands in their place; empty where words were only added or dropped."""

    was: str
    now: str


class Passage(Record, frozen=True):
    """A span of a page's text in characters, that text, how much of the words is the same, and what is not."""

    page: str
    start: int
    end: int
    text: str
    same_percent: int
    changes: tuple[ChangedWords, ...]


class Passages:
    """All pages of a documentation, to be asked for the nearest passage."""

    def __init__(self, pages: Mapping[str, Searched]) -> None:
        self._pages = pages

    @cached_property
    def _words(self) -> dict[str, frozenset[str]]:
        """The words of each page, with the marks that touch them."""
        return {id_: frozenset(page.said.split()) for id_, page in self._pages.items()}

    def nearest(self, text: str, prefer: Sequence[str] = ()) -> Passage | None:
        """Return the passage most like `text`, None where none is alike.

        One on a page of `prefer` gives way only to one that is much more alike: elsewhere nearly the same sentence may
        speak of another thing, as a manual says of many settings what their default is.
        """
        words = _WORDS.findall(said(text))[:MOST_WORDS]
        if not words:
            return None
        preferred = [page for page in prefer if page in self._pages]
        best: Passage | None = None
        for page in dict.fromkeys((*preferred, *self._likely(said(text).split()))):
            found = _nearest_on(page, self._pages[page], words)
            margin = MARGIN_PERCENT if best is not None and best.page in preferred and page not in preferred else 0
            if found is not None and (best is None or found.same_percent > best.same_percent + margin):
                best = found
        return best

    def _likely(self, words: Sequence[str]) -> list[str]:
        """Return the pages that hold the most of the words, rare ones first."""
        weights: dict[str, float] = {}
        for word in set(words):
            holders = [page for page, held in self._words.items() if word in held]
            rarity = math.log1p(len(self._pages) / max(1, len(holders)))
            for page in holders:
                weights[page] = weights.get(page, 0.0) + rarity
        return sorted(weights, key=lambda page: (-weights[page], page))[:_LOOKED_AT]


def _nearest_on(page: str, searched: Searched, wanted: Sequence[str]) -> Passage | None:
    spans = [(found.group(), found.start(), found.end()) for found in _WORDS.finditer(searched.folded.text)]
    tokens = [word for word, _, _ in spans]
    start = _window(tokens, wanted)
    if start is None:
        return None
    first = max(0, start - _MARGIN)
    around = tokens[first : start + len(wanted) + _MARGIN]
    blocks = SequenceMatcher(None, wanted, around, autojunk=False).get_matching_blocks()[:-1]
    if not blocks or 100 * sum(block.size for block in blocks) < ALIKE_PERCENT * len(wanted):
        return None
    low, high = blocks[0].b, blocks[-1].b + blocks[-1].size
    low, high = max(0, low - blocks[0].a), min(len(around), high + len(wanted) - blocks[-1].a - blocks[-1].size)
    begin, end = searched.folded.span(spans[first + low][1], spans[first + high - 1][2])
    return Passage(
        page=page,
        start=begin,
        end=end,
        text=searched.text[begin:end],
        same_percent=_percent(wanted, around[low:high]),
        changes=_changes(wanted, around[low:high]),
    )


def _percent(wanted: Sequence[str], found: Sequence[str]) -> int:
    return int(100 * SequenceMatcher(None, wanted, found, autojunk=False).ratio())


def _window(tokens: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Return where the window of as many words begins that shares the most with `wanted`; None where none does."""
    missing = Counter(wanted)
    size = len(wanted)
    shared = best = 0
    start: int | None = None
    for at, token in enumerate(tokens):
        if at >= size:
            leaving = tokens[at - size]
            if leaving in missing:
                missing[leaving] += 1
                shared -= missing[leaving] > 0
        if token in missing:
            shared += missing[token] > 0
            missing[token] -= 1
        if shared > best:
            best, start = shared, max(0, at - size + 1)
    return start


def _changes(was: Sequence[str], now: Sequence[str]) -> tuple[ChangedWords, ...]:
    opcodes = SequenceMatcher(None, was, now, autojunk=False).get_opcodes()
    return tuple(
        ChangedWords(was=" ".join(was[a:b]), now=" ".join(now[c:d])) for tag, a, b, c, d in opcodes if tag != "equal"
    )
