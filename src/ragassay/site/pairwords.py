"""Two rows in one sentence, either way round. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import overload

import msgspec

from ragassay.site.numbers import bracket, listed, p_words, shown
from ragassay.site.record import BoardRow, Interval, Pair


def order_words(pair: Pair) -> str | None:
    """Say under which further judges two rows that the published one tells apart stand the other way round, or equal.

    None where no further judge contradicts.
    """
    if not pair.against:
        return None
    changes = [one.judge for one in pair.under if one.judge in pair.against and Decimal(one.difference or 0)]
    level = [judge for judge in pair.against if judge not in changes]
    said = [f"order changes under {listed(changes)}"] if changes else []
    said += [f"no difference under {listed(level)}"] if level else []
    return "; ".join(said)


def pair_sentence(pair: Pair, names: Mapping[str, str]) -> str:
    """Say which row is higher, by how much, and whether that is more than chance; the first named is the higher one."""
    a, b = names[pair.a], names[pair.b]
    if pair.difference is None:
        return f"{a} and {b} cannot be compared: no question has a score in both rows."
    difference = Decimal(pair.difference)
    if difference == 0 and pair.wins == pair.losses == 0:
        return f"{a} and {b} scored the same on each of {pair.questions} questions."
    higher, lower, span = (a, b, pair.interval) if difference >= 0 else (b, a, _turned(pair.interval))
    p = Decimal(pair.p_holm or pair.p or "1")
    said = f"{higher} is higher than {lower} by {shown(abs(difference))} {bracket(span)}".rstrip()
    tested = p_words(pair.p_holm or pair.p) + (" after Holm's adjustment" if pair.p_holm else "")
    if p <= Decimal("0.05"):
        but = f"; {order}" if (order := order_words(pair)) else ""
        return f"{said}, {tested}{but}."
    detectable = f"; this design shows differences from {shown(pair.detectable)} on" if pair.detectable else ""
    return f"{a} and {b} are not distinguished: {said}, {tested}{detectable}."


def ranked_first(pairs: Iterable[Pair], rows: Iterable[BoardRow]) -> list[Pair]:
    """Return the pairs of ranked rows before those with a row outside the ranking, each in the order given."""
    ranked = {row.key for row in rows if row.rank is not None}
    return sorted(pairs, key=lambda pair: not {pair.a, pair.b} <= ranked)


def turned(pair: Pair) -> Pair:
    """Return the comparison the other way round: b − a."""
    return msgspec.structs.replace(
        pair,
        a=pair.b,
        b=pair.a,
        difference=_negated(pair.difference),
        interval=_turned(pair.interval),
        repeat_interval=_turned(pair.repeat_interval),
        wins=pair.losses,
        losses=pair.wins,
        differences={question: _negated(value) for question, value in pair.differences.items()},
        bounds=(_negated(pair.bounds[1]), _negated(pair.bounds[0])) if pair.bounds else None,
        under=tuple(msgspec.structs.replace(one, difference=_negated(one.difference)) for one in pair.under),
    )


@overload
def _negated(value: str) -> str: ...
@overload
def _negated(value: None) -> None: ...
def _negated(value: str | None) -> str | None:
    return None if value is None else format(-Decimal(value) + 0, "f")


def _turned(span: Interval | None) -> Interval | None:
    return Interval(low=_negated(span.high), high=_negated(span.low)) if span else None
