"""What is asked of rows: the options of `ragassay check`, checked."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import msgspec

from ragassay.errors import InputError


class Demands(msgspec.Struct, frozen=True, kw_only=True):
    """A least score, a largest drop (both in 0..1, None: not asked), and how sure a drop has to be."""

    rows: tuple[str, ...] = ()
    """Names of rows; empty: every row of the board but control and oracle."""
    min_score: Decimal | None = None
    max_drop: Decimal | None = None
    confidence: Decimal = Decimal("0.95")
    allow_missing: bool = False


def demands_of(
    rows: tuple[str, ...],
    min_score: str | None,
    max_drop: str | None,
    confidence: str,
    *,
    baseline: bool,
    allow_missing: bool,
) -> Demands:
    """Return the demands as they were typed; raises `InputError` that lists every problem."""
    problems: list[str] = []
    least = _number("--min-score", min_score, problems, low="0", high="1")
    drop = _number("--max-drop", max_drop, problems, low="0", high="1")
    sure = _number("--confidence", confidence, problems, low="0.5", high="0.9999")
    if drop is not None and drop >= 1:
        problems.append("--max-drop 1 allows everything; give a number below 1")
    if drop is not None and not baseline:
        problems.append("--max-drop needs --vs: what the row is compared with")
    if problems:
        raise InputError("the check cannot be made", problems)
    assert sure is not None, "an absent confidence has a default"
    if baseline and drop is None:
        drop = Decimal(0)
    return Demands(rows=rows, min_score=least, max_drop=drop, confidence=sure, allow_missing=allow_missing)


def _number(option: str, text: str | None, problems: list[str], *, low: str, high: str) -> Decimal | None:
    if text is None:
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or not Decimal(low) <= value <= Decimal(high):
        problems.append(f"{option} {text!r} is no number from {low} to {high}, such as .75")
        return None
    return value
