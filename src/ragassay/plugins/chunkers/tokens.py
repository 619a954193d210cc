"""`tokens`: windows of a fixed number of tokens, each beginning with the last tokens of the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragassay.plugins.chunkers import spans
from ragassay.records import JSON, Chunk, Page

DEFAULTS = {"max_tokens": 256, "overlap": 32}


class TokenChunker:
    """Cuts after every `max_tokens` tokens; `overlap` tokens are repeated. Knows nothing of headings or sentences."""

    def __init__(self, **params: Any) -> None:
        self._params = spans.whole_numbers("tokens", params, DEFAULTS, {"max_tokens": 1, "overlap": 0})

    def split(self, page: Page) -> Sequence[Chunk]:
        """Return the page's windows in order; a page without a token has none."""
        starts = spans.token_starts(page.text)
        size, step = self._params["max_tokens"], self._params["max_tokens"] - self._params["overlap"]
        windows = []
        for first in range(0, len(starts), step):
            windows.append((first, min(first + size, len(starts))))
            if first + size >= len(starts):
                break
        return spans.chunks_of(page, spans.covering(windows, starts, len(page.text)))

    def describe(self) -> JSON:
        """Return kind, version, parameters and what a token is."""
        return {"kind": "tokens", "version": 1, **self._params, "tokens": spans.TOKENS}
