"""How numbers are written: decimal strings in records, and one form for people: .732, 1.000, −.120. Pure."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from ragassay import canon
from ragassay.records import Score
from ragassay.site.record import Interval, Ratio

MINUS = "−"
UNKNOWN = "–"
"""Printed where a figure is unknown or does not apply; never 0."""


def decimal6(value: float) -> str:
    """Return an estimate as a decimal string of six places."""
    return f"{value + 0.0:.6f}".replace("-0.000000", "0.000000")


def interval(low: float | None, high: float | None) -> Interval | None:
    """Return an interval as decimal strings, or None where a bound is unknown."""
    return None if low is None or high is None else Interval(low=decimal6(low), high=decimal6(high))


def ratio(score: Score) -> Ratio:
    """Return a run's score as the board keeps it."""
    return Ratio(num=score.num, den=score.den, decimal=score.decimal)


def shown(value: str | Decimal | None, places: int = 3) -> str:
    """Write a number between −1 and 1 (or beyond) with `places` decimals, half-up, without a leading zero."""
    if value is None:
        return UNKNOWN
    rounded = Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    text = format(abs(rounded), "f")
    text = text[1:] if text.startswith("0.") else text
    return f"{MINUS}{text}" if rounded < 0 else text


def exact(score: Ratio | None, places: int = 3) -> str:
    """Write an exact score with `places` decimals, half-up, from its integers."""
    return UNKNOWN if score is None else shown(canon.ratio_string(score.num, score.den, places), places)


def pvalue(value: str | None) -> str:
    """Write a p value: < .001, never .000; with more decimals where three would hide on which side of .05 it lies."""
    if value is None:
        return UNKNOWN
    p, level = Decimal(value), Decimal("0.05")
    if p < Decimal("0.001"):
        return "< .001"
    places = next((n for n in (3, 4, 5) if p == level or round(p, n) != level), 6)
    return shown(p, places)


def p_words(value: str | None) -> str:
    """Write a p value in a sentence: p .012, p < .001."""
    return f"p {pvalue(value)}"


def bracket(span: Interval | tuple[str, str] | None, places: int = 3) -> str:
    """Write an interval as [.050, .190], or nothing where there is none."""
    if span is None:
        return ""
    low, high = (span.low, span.high) if isinstance(span, Interval) else span
    return f"[{shown(low, places)}, {shown(high, places)}]"


def signed(value: str | None, places: int = 3) -> str:
    """Write a difference with its sign: +.012, −.120, .000."""
    text = shown(value, places)
    return f"+{text}" if value is not None and text[0] != MINUS and text.strip(".0") else text


def money(microusd: int | None) -> str:
    """Write micro-USD as dollars: $0.0123 below a dollar, $12.30 above; a dash where the price is unknown."""
    if microusd is None:
        return UNKNOWN
    dollars = Decimal(microusd) / 1_000_000
    places = 2 if dollars >= 1 or dollars == 0 else 4
    return f"${dollars.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):,f}"


def milliseconds(value: int | None) -> str:
    """Write a latency: 12 ms, 1.2 s."""
    if value is None:
        return UNKNOWN
    return f"{value} ms" if value < 1000 else f"{Decimal(value) / 1000:.1f} s"


def short(value: int | None) -> str:
    """Write a large count in few characters: 940, 5.4k, 54k, 1.2M."""
    if value is None:
        return UNKNOWN
    for unit, size in (("M", 1_000_000), ("k", 1000)):
        if value >= size:
            number = Decimal(value) / size
            return f"{number:.1f}{unit}" if number < Decimal("9.95") else f"{number:.0f}{unit}"
    return str(value)


def plural(count: int, noun: str, many: str | None = None) -> str:
    """Write a count with its noun: 1 question, 3 questions."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def listed(names: list[str], last: str = "and") -> str:
    """Write names as a list of words: a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}" if names else ""
