"""What the board measures, with its control, its ceiling and one table. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.site.numbers import UNKNOWN, bracket, exact, plural, shown
from ragassay.site.record import BoardRow
from ragassay.site.spec.counted import some, spelled, verb
from ragassay.site.spec.document import Link, Paragraph, Said, Section, Table, cells, is_said, paragraph, series
from ragassay.site.spec.ground import BOARD, Ground, on_board

MOST = 5
"""Ranked rows whose scores are named in the text; the table has all."""


def measured(ground: Ground) -> Section:
    """Return what is measured, the control's score with its fully right and wrong counts, and every row's."""
    blocks = (_what(ground), _first(ground), _control(ground), _oracle(ground), _table(ground))
    return Section("What is measured", "measured", is_said(blocks))


def _what(ground: Ground) -> Paragraph:
    count = len(ground.stacks)
    if ground.rows and all(row.rung == "republished" for row in ground.rows):
        return paragraph(
            f"The scores here were computed elsewhere and taken over: {plural(ground.n, 'question')}, judged by "
            f"{ground.table.judge}.",
            "Nothing was retrieved, answered or judged by this program, so what follows can say how the scores add up "
            "and not how they came about.",
        )
    if count == 1:
        opening = f"The board puts {plural(ground.n, 'question')} to one retrieval stack, {ground.stacks[0].name}."
    else:
        opening = f"The board puts the same {plural(ground.n, 'question')} to {spelled(count, 'retrieval stack')}."
    return paragraph(
        opening,
        "Answering model, questions, judge and rubric are held fixed, so that one thing is left to vary: how much of "
        "the right answer a stack puts in front of the model.",
        "An answer's score is the share of the reference's claims that it makes, a row's score is the mean over its "
        "questions; both run from .000 to 1.000, and higher is better.",
    )


def _first(ground: Ground) -> Paragraph | None:
    ranked = ground.ranked
    if not ranked:
        if any(row.rung == "republished" for row in ground.rows):
            return None
        reasons = sorted({row.reason for row in ground.stacks if row.reason})
        return paragraph("No row is ranked" + (f": {'; '.join(reasons)}." if reasons else "."))
    named: list[Said] = [(f"{row.name} with ", ground.score(row)) for row in ranked[1:MOST]]
    rest = len(ranked) - MOST
    if rest > 0:
        named.append(f"{rest} more")
    opening: Said = (f"{ranked[0].name} is shown first with ", ground.score(ranked[0]))
    then: Said = (", then ", series(named)) if named else None
    return paragraph((opening, then, "."), _distinguished(ranked))


def _distinguished(ranked: Sequence[BoardRow]) -> Said:
    """Say which rows are not distinguished from the first, as the board does."""
    if len(ranked) == 1:
        return None
    level = [row.name for row in ranked[1:] if row.not_distinguished]
    apart = [row.name for row in ranked[1:] if row.not_distinguished is False]
    if not apart:
        what = "it is" if len(level) == 1 else "none of them is" if len(level) > 2 else "neither is"
        return ("By the ", on_board("board's own test"), f" {what} distinguished from the first.")
    if not level:
        what = "it is" if len(apart) == 1 else "each of them is"
        return ("By the ", on_board("board's own test"), f" {what} distinguished from the first.")
    first = ("By the ", on_board("board's own test"), " ", some(list(level)))
    return (
        first,
        f" {verb(len(level), 'is', 'are')} not distinguished from the first; ",
        some(list(apart)),
        " ",
        verb(len(apart), "is.", "are."),
    )


def _right(row: BoardRow) -> str:
    of = plural(row.questions, "question")
    return f"{row.fully_right or 0} of {of} fully right and {row.fully_wrong or 0} fully wrong"


def _control(ground: Ground) -> Paragraph | None:
    row = ground.end("control")
    if row is None:
        waiver = ground.board.control_waiver
        why = f" (its makers waived it: {waiver})" if waiver else ""
        if any(one.rung == "republished" for one in ground.rows):
            return paragraph(
                "No control came with these scores, so what the model knew without retrieval is not known."
            )
        return paragraph(
            f"There is no control{why}: nobody asked the model these questions with retrieval switched off, so how "
            "much of a score it would have reached by itself is not known."
        )
    if row.score is None:
        return paragraph(f"The control, {row.name}, has no score yet{f': {row.reason}' if row.reason else ''}.")
    opening: Said = (
        f"None of these numbers can be read without the control. {row.name} is the same model with retrieval switched "
        "off, and it scored ",
        ground.score(row),
        f": {_right(row)}.",
    )
    reader = ground.table.answer_kind == "reader"
    if reader and row.score.num == 0:
        meaning = (
            "That could not have come out otherwise: the answers are passages quoted from what was retrieved, and "
            "where nothing is retrieved there is nothing to quote."
        )
    elif row.score.num == 0:
        meaning = "So the model knew none of this beforehand, and all that a row scores came with its retrieval."
    else:
        meaning = "That much the model knows by itself; only what a row scores beyond it came with its retrieval."
    return paragraph(opening, meaning)


def _oracle(ground: Ground) -> Paragraph | None:
    row = ground.end("oracle")
    if row is None or row.score is None:
        if any(one.rung == "republished" for one in ground.rows):
            return None
        return paragraph(
            "There is no ceiling: no row was given the evidence itself, so the share of the gap is unknown."
        )
    full = row.score.num == row.score.den
    return paragraph(
        (
            f"{row.name} is the ceiling: it is handed each question's own evidence, and scored ",
            ground.score(row),
            f" ({_right(row)}).",
        ),
        "Nothing is lost to model and judge here."
        if full
        else "What it lacks to 1.000 is lost by the model or the judge, and no retrieval can win it back.",
        "The share of the gap says how far a row gets from control to ceiling." if ground.end("control") else None,
    )


def _table(ground: Ground) -> Table:
    gap = any(row.gap and row.gap.share for row in ground.rows)
    head = [
        "Row",
        "Score",
        "95 % interval",
        "Fully right",
        "Fully wrong",
        *(["Share of the gap"] if gap else []),
        "Passes",
    ]
    rows = []
    for row in ground.rows:
        share = [shown(row.gap.share, 2) if row.gap and row.gap.share else UNKNOWN] if gap else []
        known = row.score is not None
        rows.append(
            cells(
                ground.named(row),
                ground.score(row) if known else exact(None),
                Link(bracket(row.interval), ground.paths.rows.get(row.key, BOARD)) if row.interval else UNKNOWN,
                str(row.fully_right) if known else UNKNOWN,
                str(row.fully_wrong) if known else UNKNOWN,
                *share,
                str(row.passes),
            )
        )
    return Table(
        head=tuple(head),
        rows=tuple(rows),
        caption="Fully right and fully wrong: questions that got everything, or nothing, in each pass that scored "
        "them.",
        numbers=frozenset(range(1, len(head))),
    )
