"""Picture: the paired differences of two rows, one dot per question. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from ragassay.site.numbers import bracket, plural, signed
from ragassay.site.pictures.marks import Anchor, Frame, Mark, band, dot, line, text
from ragassay.site.pictures.picture import WIDE, Picture, Twin, cut, picture, some
from ragassay.site.pictures.scale import ends
from ragassay.site.record import Pair

HIGH = 170
"""px that the tallest stack may take."""
RADIUS = 3.5
DOTS = 400
TALLEST = 42
"""Questions, and dots of one stack, up to which each question is a dot; above, each hundredth is one upright stroke."""
LISTED = 500
"""Questions that the table names, those with the largest differences."""


def difference_plot(pair: Pair, names: Mapping[str, str]) -> Picture:
    """Return the differences a − b of two rows with their mean, its interval and the line of no difference.

    `names` are the rows' names by key.
    """
    a, b = some([names[pair.a]]), some([names[pair.b]])
    found = sorted(((Decimal(given), question) for question, given in pair.differences.items()), reverse=True)
    return picture(
        (lambda width: _drawing(pair, a, b, found, width)) if found else None,
        seed=f"pair {pair.a} {pair.b}",
        title=f"Differences question by question, {a} − {b}",
        description=_description(pair, a, b),
        twin=Twin(
            header=("Question", f"{a} − {b}"),
            rows=tuple((question, signed(pair.differences[question])) for question in _listed(pair)),
        ),
        note=_note(found, a, b),
    )


def _description(pair: Pair, a: str, b: str) -> str:
    if not pair.differences:
        return f"{a} and {b} have no question in common that both were scored on."
    interval = f" {bracket(pair.interval)}" if pair.interval else ", no interval"
    mean = f"The mean difference is {signed(pair.difference)}{interval}." if pair.difference else "There is no mean."
    listed = f" The table names the {LISTED} largest." if len(pair.differences) > LISTED else ""
    return (
        f"On {plural(pair.questions, 'question')} {a} wins {pair.wins}, ties {pair.ties} and loses {pair.losses}"
        f" against {b}. {mean}{listed}"
    )


def _note(found: Sequence[tuple[Decimal, str]], a: str, b: str) -> str:
    marks = "One dot per question, at its difference; dots of nearly the same difference are stacked."
    if len(found) > DOTS:
        marks = "One stroke per hundredth of difference, as long as it has questions."
    sides = f"Right of the middle {a} is better, left of it {b}."
    return f"{marks} {sides} The coloured line is the mean difference, the shaded band its 95 % interval."


def _listed(pair: Pair) -> list[str]:
    return sorted(pair.differences, key=lambda question: (-abs(Decimal(pair.differences[question])), question))[:LISTED]


def stacked(values: Iterable[float], apart: float) -> list[tuple[float, int]]:
    """Return each value with the lowest level on which no other lies nearer than `apart`; values falling or rising."""
    last: list[float] = []
    placed = []
    for value in values:
        level = next((i for i, at in enumerate(last) if abs(at - value) >= apart - 1e-9), len(last))
        last[level : level + 1] = [value]
        placed.append((value, level))
    return placed


def _drawing(pair: Pair, a: str, b: str, found: list[tuple[Decimal, str]], width: int) -> tuple[Frame, list[Mark]]:
    frame = Frame(width=width, height=HIGH + 72, x=(-1, 1), y=(0, HIGH), left=22, right=22, top=40, bottom=32)
    span = (0.0, float(HIGH))
    marks = [band(ends(pair.interval, -1.0), span)] if pair.interval else []
    ticks = ("-1", "-0.5", "0", "0.5", "1")
    marks += [line((float(t), float(t)), span, "soft" if t == "0" else "rule", 1.5 if t == "0" else 1) for t in ticks]
    marks += [text(float(t), 0, signed(t), anchor="middle", dy=18) for t in ticks]
    marks += _questions(found, 2 * RADIUS * frame.x_unit)
    if pair.difference:
        at = float(pair.difference)
        marks += [line((at, at), (0, HIGH + 4), "accent", 2), _mean(pair.difference, at)]
    room = width / 2 - 40 if width == WIDE else width / 2 - 26
    marks.append(text(-1, HIGH, f"← {cut(b, room)} better", anchor="start", dx=-20, dy=-24))
    marks.append(text(1, HIGH, f"{cut(a, room)} better →", anchor="end", dx=20, dy=-24))
    return frame, marks


def _mean(difference: str, at: float) -> Mark:
    anchor: Anchor = "start" if at < -0.7 else "end" if at > 0.7 else "middle"
    return text(at, HIGH, f"mean {signed(difference)}", "ink", anchor=anchor, dy=-7, bold=True)


def _questions(found: list[tuple[Decimal, str]], apart: float) -> list[Mark]:
    placed = stacked([float(value) for value, _ in found], apart) if len(found) <= DOTS else []
    tallest = max((level for _, level in placed), default=0) + 1
    if placed and tallest <= TALLEST:
        unit = min(2 * RADIUS, (HIGH - 8) / tallest)
        size = min(RADIUS, unit / 2 + 0.6)
        return [
            dot(at, RADIUS + 1 + level * unit, "accent", size, title=f"{question}: {signed(str(value))}")
            for (at, level), (value, question) in zip(placed, found, strict=True)
        ]
    counts = Counter(round(value, 2) for value, _ in found)
    most = max(counts.values())
    return [line((float(at), float(at)), (0, HIGH * 0.9 * n / most), "accent", 2.5) for at, n in counts.items()]
