"""`sentences`: windows of a few sentences, each beginning with the last sentences of the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragassay.plugins.chunkers import spans
from ragassay.records import JSON, Chunk, Page

DEFAULTS = {"sentences": 5, "overlap": 1, "max_tokens": 256}


class SentenceChunker:
    """Windows of `sentences` sentences; a blank line ends a sentence too, and none is longer than `max_tokens`."""

    def __init__(self, **params: Any) -> None:
        lowest = {"sentences": 1, "overlap": 0, "max_tokens": 1}
        self._params = spans.whole_numbers("sentences", params, DEFAULTS, lowest)

    def split(self, page: Page) -> Sequence[Chunk]:
        """Return the page's windows in order; a window closes early where it would pass `max_tokens`."""
        tokens = spans.token_starts(page.text)
        if not tokens:
            return []
        firsts = self._units(page.text, tokens)
        windows = self._windows([*firsts, len(tokens)])
        return spans.chunks_of(page, spans.covering(windows, [tokens[first] for first in firsts], len(page.text)))

    def describe(self) -> JSON:
        """Return kind, version, parameters and what a token is."""
        return {"kind": "sentences", "version": 1, **self._params, "tokens": spans.TOKENS}

    def _units(self, text: str, tokens: Sequence[int]) -> list[int]:
        """Return the first token of every sentence; one that is too long is cut at the cap."""
        cuts = {spans.before(tokens, at) for at in (*spans.sentence_starts(text), *spans.block_starts(text))}
        edges = sorted(cut for cut in cuts | {0} if cut < len(tokens))
        cap = self._params["max_tokens"]
        ends = [*edges[1:], len(tokens)]
        return [first for edge, end in zip(edges, ends, strict=True) for first in range(edge, end, cap)]

    def _windows(self, edges: Sequence[int]) -> list[tuple[int, int]]:
        """Return windows over sentences; `edges[i]` is the first token of sentence i, the last edge ends the page."""
        count, overlap, cap = self._params["sentences"], self._params["overlap"], self._params["max_tokens"]
        windows: list[tuple[int, int]] = []
        first, last = 0, len(edges) - 1
        while True:
            end = min(first + count, last)
            while end > first + 1 and edges[end] - edges[first] > cap:
                end -= 1
            if windows and end <= windows[-1][1]:
                first += 1
                continue
            windows.append((first, end))
            if end == last:
                return windows
            first = max(end - overlap, first + 1)
