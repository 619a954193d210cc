"""Limitations of the ranking: a small lead, what one question weighs, a lead that hangs on missing items. Pure."""

from __future__ import annotations

import math
from decimal import Decimal

from ragassay.site.numbers import bracket, plural, shown
from ragassay.site.record import BoardRow, Pair
from ragassay.site.spec.counted import some, verb
from ragassay.site.spec.document import Paragraph, Said, under_title
from ragassay.site.spec.ground import Ground

SLACK = 1e-9
ROUND = 2
"""Significant digits of a number of questions that a design would need."""


def _first_two(ground: Ground) -> tuple[BoardRow, BoardRow, Pair] | None:
    if len(ground.ranked) < 2:
        return None
    first, second = ground.ranked[0], ground.ranked[1]
    pair = ground.pair(first, second)
    return (first, second, pair) if pair is not None else None


def questions_needed(pair: Pair) -> int | None:
    """Return at how many questions the design would show the observed difference with 80 % power.

    (2.80·sd/difference)² with 2.80·sd/√n the smallest detectable difference at n questions; None for no difference.
    """
    if pair.detectable is None or pair.difference is None or not Decimal(pair.difference):
        return None
    ratio = Decimal(pair.detectable) / abs(Decimal(pair.difference))
    return math.ceil(pair.questions * ratio * ratio - Decimal(SLACK))


def rounded_up(count: int) -> int:
    """Return a count rounded up to two digits, for 'about'."""
    step: int = 10 ** max(0, len(str(count)) - ROUND)
    return -(-count // step) * step


def small_lead(ground: Ground) -> Paragraph | None:
    """Say that the lead of the first row is within chance, and how many questions could settle it."""
    found = _first_two(ground)
    if found is None:
        return None
    first, second, pair = found
    if pair.distinguished or pair.difference is None:
        return None
    difference = Decimal(pair.difference) if pair.a == first.key else -Decimal(pair.difference)
    if difference == 0:
        return under_title(
            "There is no lead.",
            (
                f"{first.name} and {second.name} ",
                ground.of_pair("got the same", pair),
                f" in the mean over {plural(pair.questions, 'question')}.",
            ),
        )
    span = (pair.interval.low, pair.interval.high) if pair.interval else None
    if span and pair.a != first.key:
        span = (f"{-Decimal(span[1])}", f"{-Decimal(span[0])}")
    wide = f" (95 % interval {bracket(span)})" if span else ""
    if difference < 0:
        opening: Said = (
            f"{first.name} is shown first, though in the mean over all its passes it lies ",
            ground.of_pair(shown(-difference), pair),
            f" below {second.name}{wide}.",
        )
    else:
        opening = (
            f"{first.name} lies ",
            ground.of_pair(shown(difference), pair),
            f" above {second.name}{wide}, which chance alone would often bring about.",
        )
    return under_title("The lead is small.", opening, _others(ground), _needed(pair))


def _needed(pair: Pair) -> Said:
    needed = questions_needed(pair)
    if needed is None or pair.detectable is None or needed <= pair.questions:
        return None
    return (
        f"With {plural(pair.questions, 'question')} a difference has to be at least {shown(pair.detectable)} to be "
        f"found four times out of five; to settle one this small would take about {rounded_up(needed):,} such "
        "questions."
    )


def _others(ground: Ground) -> Said:
    level = [row.name for row in ground.ranked[2:] if row.not_distinguished]
    if not level:
        return None
    return (
        some(list(level)),
        f" {verb(len(level), 'is', 'are')} not distinguished from {ground.ranked[0].name} either.",
    )


def one_question(ground: Ground) -> Paragraph | None:
    """Say what one question is of a row, and how many questions make the lead."""
    if not ground.configs or not ground.ranked:
        return None
    weight = shown(Decimal(1) / ground.n)
    found = _first_two(ground)
    decided: Said = None
    if found is not None and found[2].difference is not None:
        first, second, pair = found
        wins, losses = (pair.wins, pair.losses) if pair.a == first.key else (pair.losses, pair.wins)
        decided = (
            f"{first.name} did better than {second.name} on ",
            ground.of_pair(plural(wins, "question"), pair),
            f", worse on {losses}, and the same on {pair.ties}.",
        )
    return under_title(
        f"One question is 1/{ground.n} of a row.",
        f"Answer a single one otherwise, and a score moves by up to {weight}.",
        decided,
    )


def depends_on_missing(ground: Ground) -> Paragraph | None:
    """Say which pairs of ranked rows would not survive what is missing."""
    names = {row.key: row.name for row in ground.ranked}
    pairs = [
        p
        for p in ground.table.pairs
        if {p.a, p.b} <= set(names) and any(note.startswith("depends on missing items") for note in p.notes)
    ]
    if not pairs:
        return None
    said: list[Said] = [ground.of_pair(f"{names[p.a]} and {names[p.b]}", p) for p in pairs]
    return under_title(
        "Missing items could turn the order.",
        ("With everything that is missing at its worst, the order would be another between ", some(said), "."),
    )


def passes_uneven(ground: Ground) -> Paragraph | None:
    """Say that windows are of different or even size, or of one pass."""
    sizes = sorted({row.passes for row in ground.ranked})
    if len(sizes) > 1:
        rows: list[Said] = [f"{row.name} {row.passes}" for row in ground.ranked]
        return under_title(
            "The rows have unequal numbers of passes.",
            ("Lower medians compare well at equal, odd numbers only; here the passes are: ", some(rows), "."),
        )
    if sizes and sizes[0] % 2 == 0:
        return under_title(
            f"Each row has {sizes[0]} passes.",
            "Of an even number the lower of the two middle ones is shown, so the scores lean low.",
        )
    if sizes == [1]:
        return under_title(
            "Each row has one pass.",
            "How much a score moves when everything is asked again is not known.",
        )
    return None


FOUND = (small_lead, one_question, depends_on_missing, passes_uneven)
