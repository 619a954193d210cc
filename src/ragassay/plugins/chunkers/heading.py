"""`heading`: one chunk per section, long sections cut under a token cap where the text allows it. The default."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ragassay.plugins.chunkers import spans
from ragassay.plugins.chunkers.outline import outline
from ragassay.plugins.chunkers.places import Places
from ragassay.records import JSON, Chunk, Page

DEFAULTS = {"max_tokens": 256, "overlap": 32, "min_tokens": 32}


class HeadingChunker:
    """Cuts before headings; joins sections that are too small; cuts sections above `max_tokens` with an overlap."""

    def __init__(self, **params: Any) -> None:
        lowest = {"max_tokens": 1, "overlap": 0, "min_tokens": 0}
        self._params = spans.whole_numbers("heading", params, DEFAULTS, lowest)

    def split(self, page: Page) -> Sequence[Chunk]:
        """Return the page's chunks in order; a page without a token has none."""
        starts = spans.token_starts(page.text)
        if not starts:
            return []
        shape = outline(page)
        places = Places(page, shape, starts)
        sections = self._sections(sorted({0, *(spans.before(starts, at) for at in shape.sections)}), len(starts))
        windows = [window for first, end in sections for window in self._capped(first, end, places)]
        return spans.chunks_of(page, spans.covering(windows, starts, len(page.text)))

    def describe(self) -> JSON:
        """Return kind, version, parameters and what a token is."""
        return {"kind": "heading", "version": 1, **self._params, "tokens": spans.TOKENS}

    def _sections(self, firsts: Sequence[int], end: int) -> list[tuple[int, int]]:
        """Return sections as token spans; one below `min_tokens` joins the next (the last one: the one before).

        What is joined may be longer than `max_tokens`: it is cut like any long section.
        """
        small, cap = self._params["min_tokens"], self._params["max_tokens"]
        edges = [first for first in firsts if first < end]
        joined: list[tuple[int, int]] = []
        for first, last in zip(edges, [*edges[1:], end], strict=True):
            fits = bool(joined) and last - joined[-1][0] <= cap
            if joined and (joined[-1][1] - joined[-1][0] < small or (fits and last == end and last - first < small)):
                joined[-1] = (joined[-1][0], last)
            else:
                joined.append((first, last))
        return joined

    def _capped(self, first: int, end: int, places: Places) -> Iterator[tuple[int, int]]:
        """Yield windows of at most `max_tokens` over the tokens of a section; the last two are of about one size."""
        cap, overlap = self._params["max_tokens"], self._params["overlap"]
        reached = first
        while end - first > cap:
            left = end - first
            target = first + (cap if left > 2 * cap - overlap else (left + overlap + 1) // 2)
            lowest = max((first + target) // 2, reached)
            cut, at_sentence = places.cut(lowest + 1, max(target, lowest + 1), first + cap)
            yield first, cut
            reached = cut
            first = max(places.resume(cut - overlap, cut, mid_sentence=not at_sentence), first + 1)
        yield first, end
