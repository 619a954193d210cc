"""Where marks stand in the drawings, as strings made at build time; the templates only draw them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

import msgspec

from ragassay.site.record import BoardRow, Cause, Table

AXIS = 1000
"""Units of the shared axis from score 0 to score 1."""
CAUSES: tuple[Cause, ...] = ("correct", "not_used", "contradicted", "not_retrieved", "unexplained", "unjudged")


class Track(msgspec.Struct, frozen=True, kw_only=True):
    """One row on the shared axis, in axis units; None where unknown."""

    score: str | None
    low: str | None
    high: str | None
    window_low: str | None
    window_high: str | None


class Axis(msgspec.Struct, frozen=True, kw_only=True):
    """What all rows share: control and oracle as lines, the first row's interval as a band."""

    control: str | None
    oracle: str | None
    band: tuple[str, str] | None


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """One cause of one row: how many questions, and where its piece of the bar begins and how long it is."""

    cause: Cause
    count: int
    x: str
    width: str


def place(value: str | Decimal) -> str:
    """Return a score from 0 to 1 in axis units."""
    return format((Decimal(value) * AXIS).quantize(Decimal("0.1")), "f")


def track(row: BoardRow) -> Track:
    """Return where a row's score, interval and window stand."""
    score = Decimal(row.score.num) / row.score.den if row.score else None
    return Track(
        score=place(score) if score is not None else None,
        low=place(row.interval.low) if row.interval and row.score else None,
        high=place(row.interval.high) if row.interval and row.score else None,
        window_low=place(Decimal(row.range[0].num) / row.range[0].den) if row.range else None,
        window_high=place(Decimal(row.range[1].num) / row.range[1].den) if row.range else None,
    )


def axis(rows: Sequence[BoardRow]) -> Axis:
    """Return control and oracle lines and the band of the first row's interval."""

    def line(role: str) -> str | None:
        return next((place(Decimal(r.score.num) / r.score.den) for r in rows if r.role == role and r.score), None)

    first = next((row for row in rows if row.standing == "ranked"), None)
    band = (place(first.interval.low), place(first.interval.high)) if first and first.interval else None
    return Axis(control=line("control"), oracle=line("oracle"), band=band)


def cause_shares(table: Table, key: str) -> list[Share]:
    """Return a row's questions by cause in the run it shows, as pieces of one bar."""
    causes = Counter(cell.cause for line in table.questions for cell in line.cells if cell.row == key)
    total = sum(causes.values())
    shares, at = [], 0
    for cause in CAUSES:
        if count := causes[cause]:
            start, end = Decimal(at) / total, Decimal(at + count) / total
            shares.append(Share(cause=cause, count=count, x=place(start), width=place(end - start)))
            at += count
    return shares
