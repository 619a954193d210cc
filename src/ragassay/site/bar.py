"""A score from 0 to 1 drawn in terminal cells: ████├──┼──┤. Pure."""

from __future__ import annotations

from decimal import Decimal

EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(score: str | Decimal | None, low: str | None, high: str | None, width: int) -> str:
    """Draw a score on `width` cells; with an interval the bar ends where ├ begins and ┼ stands at the score.

    A score may lie outside its interval, which is that of the mean: ┼ then stands before or after it.

    Without an interval the bar alone is drawn, in eighths of a cell. A score that is unknown leaves the cells empty.
    """
    if score is None:
        return " " * width
    if low is None or high is None:
        return _plain(Decimal(score), width)
    first, last = _cell(Decimal(low), width), _cell(Decimal(high), width)
    if last == first == _cell(Decimal(score), width):
        return ("█" * first + "┼").ljust(width)
    middle = _cell(Decimal(score), width)
    cells = ["█"] * first + ["─"] * (last - first + 1) + [" "] * (width - last - 1)
    cells[first], cells[last] = "├", "┤"
    if middle not in (first, last):
        cells[middle] = "┼"
    return "".join(cells)


def _cell(value: Decimal, width: int) -> int:
    return min(width - 1, max(0, int(value * width)))


def _plain(value: Decimal, width: int) -> str:
    eighths = min(8 * width, max(0, int(value * 8 * width + Decimal("0.5"))))
    full, part = divmod(eighths, 8)
    return ("█" * full + (EIGHTHS[part] if part else "")).ljust(width)
