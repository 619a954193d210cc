"""A text cut where something in it is to be marked; what is marked is the original, character by character. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ragassay.fold import QUOTE, find
from ragassay.records import ClaimVerdict

VERDICT_CLASS = {"SUPPORTS": "supports", "HEDGES": "hedges", "CONTRADICTS": "contradicts", "OMITS": "omits"}


class Segment(msgspec.Struct, frozen=True):
    """A piece of a text; `mark` is the class it is marked with ('' for none), `note` a word beside it."""

    text: str
    mark: str = ""
    note: str = ""


def cut(text: str, spans: Iterable[tuple[int, int, str, str]]) -> tuple[Segment, ...]:
    """Cut `text` along (start, end, mark, note), half-open; where spans overlap the one that begins first wins."""
    pieces: list[Segment] = []
    at = 0
    for start, end, mark, note in sorted(spans, key=lambda span: (span[0], -span[1])):
        begin = max(start, at)
        if begin >= end:
            continue
        if begin > at:
            pieces.append(Segment(text[at:begin]))
        pieces.append(Segment(text[begin:end], mark, note))
        at = end
    if at < len(text):
        pieces.append(Segment(text[at:]))
    return tuple(pieces)


def quoted(answer: str, claims: Sequence[ClaimVerdict]) -> tuple[Segment, ...]:
    """Return an answer with each claim's quote marked by its verdict and numbered by its claim."""
    spans = []
    for claim in claims:
        found = find(claim.quote, answer, QUOTE) if claim.quote.strip() else None
        if found is not None:
            spans.append((found.start, found.end, VERDICT_CLASS[claim.verdict], str(claim.id)))
    return cut(answer, spans)
