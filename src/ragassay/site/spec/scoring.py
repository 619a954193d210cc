"""How a number is made of verdicts: the arithmetic with an example from the board, and what has none. Pure."""

from __future__ import annotations

from ragassay.records import OutputRow
from ragassay.score.factual_consistency import CAP, INSUFFICIENT
from ragassay.site.numbers import plural
from ragassay.site.record import BoardRow
from ragassay.site.render import hundredths
from ragassay.site.spec.counted import of_all
from ragassay.site.spec.document import (
    Command,
    Paragraph,
    Said,
    Section,
    is_said,
    paragraph,
)
from ragassay.site.spec.ground import Ground
from ragassay.site.spec.rubric import rubric


def scoring(ground: Ground) -> Section:
    """Return who judges, what the judge is shown, the rubric, and how code makes numbers of verdicts."""
    config = ground.sample.config if ground.sample else None
    if config is None:
        said = paragraph(
            f"The judge is given as {ground.table.judge}.",
            "Its rubric, its prompt and its verdicts are not recorded, so the item scores have to be taken as they "
            "were published; that they add up to the rows' scores was recomputed.",
        )
        return Section("How answers were scored", "scoring", (said, *is_said((_missing(ground),))))
    literal = ground.table.judge_kind == "literal"
    blocks = (
        *rubric(ground, config),
        *_formula(ground, literal=literal),
        _insufficient(ground),
        _row_score(ground),
        _missing(ground),
    )
    return Section("How answers are scored", "scoring", is_said(blocks))


def _formula(ground: Ground, *, literal: bool) -> list[Paragraph | Command]:
    cap = hundredths(CAP)
    hedged = " (this judge knows no HEDGES, so H is always 0)" if literal else ""
    return [
        paragraph(
            "The number is computed by code, in whole hundredths and rounded half up. With S of N claims supported "
            f"and H hedged{hedged}, and with div for division without a remainder, an item gets"
        ),
        Command(("(100 · (2·S + H) + N) div (2·N)",)),
        paragraph(
            f"and at most {cap} where the answer contradicts a claim that the question is about, a central one.",
            _example(ground),
        ),
    ]


def _example(ground: Ground) -> Said:
    """Work out one item of the board: the first of the best row that is neither fully right nor wholly wrong."""
    for row in ground.stacks:
        run = ground.shown(row)
        for output in run.outputs if run else ():
            if output.verdict is not None and output.claims and output.score not in (0, 100, None):
                return _worked(ground, row, output)
    return None


def _worked(ground: Ground, row: BoardRow, output: OutputRow) -> Said:
    words = [claim.verdict for claim in output.claims]
    supported, hedged, total = words.count("SUPPORTS"), words.count("HEDGES"), len(words)
    plain = (100 * (2 * supported + hedged) + total) // (2 * total)
    capped = f", capped at {CAP}," if output.score is not None and output.score < plain else ""
    had = f"{supported} of {plural(total, 'claim')} supported" + (f" and {hedged} hedged" if hedged else "")
    return (
        f"{row.name}'s answer to ",
        ground.of_question(output.id),
        f", for example, has {had}: (100 · (2·{supported} + {hedged}) + {total}) div {2 * total} = {plain}{capped} "
        f"and so {hundredths(output.score)}.",
    )


def _insufficient(ground: Ground) -> Paragraph:
    half = hundredths(INSUFFICIENT)
    counted = sum(row.insufficient for row in ground.rows)
    asked = sum(row.missing.asked for row in ground.rows)
    if ground.table.scorer == "factual-consistency/1":
        when = (
            f"An item also gets {half} when a valid reply says that the reference does not hold what is asked, or "
            "lists no claim; a reply without such a list is invalid, and never half right."
        )
    else:
        when = (
            f"No item gets {half} for want of a good reference: a question whose reference does not hold what it asks "
            "is refused when its claims are fixed."
        )
    found = (
        f"{of_all(counted, asked, 'item', 'was', 'were')} scored so."
        if counted or ground.table.scorer.endswith("/1")
        else None
    )
    return paragraph(when, found)


def _row_score(ground: Ground) -> Paragraph | None:
    row = next((row for row in ground.rows if row.score is not None), None)
    if row is None or row.score is None:
        return None
    items = row.score.den // 100
    return paragraph(
        "A pass's score is the sum of its items' hundredths over 100 for each item that has a score, kept as two "
        "integers:",
        (
            f"{row.name} shows {row.score.num}/{row.score.den}, which is ",
            ground.score(row),
            f", from {plural(items, 'item')}.",
        ),
    )


def _missing(ground: Ground) -> Paragraph:
    lost = sum(row.missing.total for row in ground.rows)
    asked = sum(row.missing.asked for row in ground.rows)
    rule = "Whatever ends without a verdict has no score; it is counted by what failed and is never taken for a 0."
    if not lost:
        return paragraph(rule, f"In the windows of this board {of_all(0, asked, 'item', 'is', 'are')} missing.")
    return paragraph(
        rule,
        f"In the windows of this board {of_all(lost, asked, 'item', 'is', 'are')} missing, of which the limitations "
        "below say more.",
    )
