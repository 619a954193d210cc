"""Where a long section may be cut: between blocks, else between sentences, else between lines, else anywhere."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from ragassay.plugins.chunkers import spans
from ragassay.plugins.chunkers.outline import Outline
from ragassay.records import Page

_ITEM = re.compile(r"[^\S\n]*(?:[-*+|]|\d+[.)])")


class Places:
    """The cuts that a page's text allows, as token numbers (a cut at i stands before token i), best kind first."""

    def __init__(self, page: Page, shape: Outline, starts: Sequence[int]) -> None:
        text = page.text
        lines = spans.line_starts(text)
        whole = [at for at in lines if page.format == "html" or _ITEM.match(text, at) or _inside(shape.by_line, at)]
        sentences = [at for at in spans.sentence_starts(text) if not _inside(shape.by_line, at)]
        blocks = [at for at in spans.block_starts(text) if not _inside(shape.by_line, at)]
        self._blocks = _numbers(blocks, starts)
        self._sentences = _numbers((*blocks, *sentences, *whole), starts)
        self._lines = _numbers(lines, starts)

    def cut(self, lowest: int, target: int, highest: int) -> tuple[int, bool]:
        """Return the best cut in [lowest, highest], nearest to `target` in its kind, and whether a sentence ends there.

        Without any it is `target` itself.
        """
        for kind in (self._blocks, self._sentences, self._lines):
            if (found := _nearest(kind, lowest, target, highest)) is not None:
                return found, kind is not self._lines
        return target, False

    def resume(self, earliest: int, cut: int, *, mid_sentence: bool) -> int:
        """Return where the window after `cut` begins: the first sentence at or after `earliest`, up to `cut`.

        Where no sentence begins there it is `earliest` when the cut stood within a sentence, else `cut`.
        """
        index = bisect_left(self._sentences, earliest)
        if index < len(self._sentences) and self._sentences[index] < cut:
            return self._sentences[index]
        return earliest if mid_sentence else cut


def _inside(ranges: Sequence[tuple[int, int]], at: int) -> bool:
    index = bisect_right(ranges, (at, at)) - 1
    return index >= 0 and ranges[index][0] < at < ranges[index][1]


def _numbers(offsets: Iterable[int], starts: Sequence[int]) -> list[int]:
    return sorted({spans.before(starts, at) for at in offsets})


def _nearest(kind: Sequence[int], lowest: int, target: int, highest: int) -> int | None:
    index = bisect_left(kind, target)
    near = [kind[i] for i in (index - 1, index) if 0 <= i < len(kind) and lowest <= kind[i] <= highest]
    return min(near, key=lambda at: (abs(at - target), at)) if near else None
