"""The texts of a unit on pages of bounded length, each as it is sent: whole, visible, marked. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec

from ragassay import canon
from ragassay.publish.reading import Unit
from ragassay.records import JSON
from ragassay.site.safe import one_line, visible
from ragassay.web.review_text import Block, Span

PAGE = 100_000
"""The most characters of texts that are on the screen at once; a longer unit has several pages, each to be read."""


class Slice(msgspec.Struct, frozen=True):
    """What of a block is on a page: characters `start` to `end`."""

    block: Block
    start: int
    end: int


def pages_of(blocks: Sequence[Block], size: int = PAGE) -> list[list[Slice]]:
    """Return the blocks cut into pages of at most `size` characters; every character is on exactly one of them."""
    pages: list[list[Slice]] = [[]]
    room = size
    for block in blocks:
        length, at = len(block.text or ""), 0
        while True:
            if room <= 0:
                pages.append([])
                room = size
            end = min(length, at + room)
            pages[-1].append(Slice(block, at, end))
            room -= end - at
            at = end
            if at >= length:
                break
    return pages


def form_of(key: str, page: int, pages: Sequence[Sequence[Slice]]) -> str:
    """Return the SHA-256 over what a page shows: the unit, which page of how many, and every text in its order."""
    texts = [
        [one.block.part, visible(one.block.label), one.block.verdict, visible(_cut(one) or one.block.note)]
        for one in pages[page]
    ]
    return canon.digest({"unit": key, "page": page, "pages": len(pages), "texts": texts})


def unit_json(
    unit: Unit, page: int, pages: Sequence[Sequence[Slice]], *, stands: Sequence[JSON], findings: Sequence[JSON]
) -> JSON:
    """Return one page of a unit as it is sent, with where the unit stands and what was found in it."""
    return {
        "key": unit.key,
        "item": one_line(unit.output.id),
        "status": unit.output.status,
        "score": unit.output.score,
        "stands": list(stands),
        "page": page,
        "pages": len(pages),
        "form": form_of(unit.key, page, pages),
        "blocks": page_json(pages[page]),
        "findings": list(findings),
    }


def page_json(slices: Sequence[Slice]) -> list[JSON]:
    """Return the texts of a page as they are sent, everything that steers a display written out."""
    return [_slice_json(one) for one in slices]


def _slice_json(one: Slice) -> JSON:
    block = one.block
    spans = [
        Span(max(span.start, one.start) - one.start, min(span.end, one.end) - one.start, span.mark, span.ref)
        for span in block.spans
        if span.start < one.end and span.end > one.start
    ]
    return {
        "part": block.part,
        "label": visible(block.label),
        "note": visible(block.note),
        "verdict": block.verdict,
        "central": block.central,
        "continues": one.start > 0,
        "more": one.end < len(block.text or ""),
        "segments": None if block.text is None else segments(_cut(one), spans),
    }


def _cut(one: Slice) -> str:
    return (one.block.text or "")[one.start : one.end]


def segments(text: str, spans: Iterable[Span]) -> list[JSON]:
    """Cut a text wherever a mark begins or ends: pieces `t`, with the `quotes`, `evidence`, `findings` they lie in.

    Marks may overlap: none hides another. The pieces joined are the text, made visible.
    """
    marked = [span for span in spans if span.start < min(span.end, len(text))]
    edges = sorted({0, len(text), *(span.start for span in marked), *(min(span.end, len(text)) for span in marked)})
    begins: dict[int, list[Span]] = {}
    for span in marked:
        begins.setdefault(span.start, []).append(span)
    active: list[Span] = []
    pieces: list[JSON] = []
    for start, end in pairwise(edges):
        active = [*(span for span in active if span.end > start), *begins.get(start, ())]
        piece: JSON = {"t": visible(text[start:end])}
        for mark, name in (("quote", "quotes"), ("finding", "findings")):
            refs = list(dict.fromkeys(span.ref for span in active if span.mark == mark))
            if refs:
                piece[name] = refs
        if any(span.mark == "evidence" for span in active):
            piece["evidence"] = True
        pieces.append(piece)
    return pieces
