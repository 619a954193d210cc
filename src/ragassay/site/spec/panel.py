"""The stored answers under further judges: their scores, their agreement, their variance. Pure."""

from __future__ import annotations

from ragassay.site.judgerecord import (
    ComponentsLine,
    JudgedRow,
    Judging,
)
from ragassay.site.judgewords import figure_cells, lead_words, row_words
from ragassay.site.numbers import UNKNOWN, exact, listed, plural, shown
from ragassay.site.spec.counted import verb
from ragassay.site.spec.document import (
    Block,
    Code,
    Link,
    Paragraph,
    Said,
    Table,
    cells,
    paragraph,
    series,
)
from ragassay.site.spec.ground import JUDGES, Ground

COLUMNS = {"QWK": "weighted κ", "MAE": "mean |Δ|", "positive": "agreement on the other levels"}


def panel(ground: Ground, judging: Judging) -> list[Block | None]:
    """Return what further judges make of the same answers, or that there is none."""
    further = judging.judges[1:]
    if not further:
        return [
            paragraph(
                "No further judge scored the stored answers, so what a different judge would make of them is open."
            )
        ]
    names: list[Said] = [Code(judge.name) for judge in further]
    opening: Said = (
        "The same stored answers were also judged by ",
        series(names),
        "; the published scores are ",
        Code(judging.judges[0].name),
        "'s alone.",
    )
    lead = next((words for row in ground.rows if (words := lead_words(ground.table, row)) is not None), None)
    led = f"{ground.ranked[0].name} {lead}." if lead and ground.ranked else None
    return [
        paragraph(opening, *_orders(judging), led),
        _under(ground, judging),
        *_agreements(judging),
        *_components(judging.components),
    ]


def _orders(judging: Judging) -> list[Said]:
    said: list[Said] = []
    for judge in judging.judges[1:]:
        if judge.order_changed is None:
            continue
        said.append(
            (
                f"Under {judge.name} ",
                "the order of the rows changes." if judge.order_changed else "the rows keep their order.",
            )
        )
    return said


def _under(ground: Ground, judging: Judging) -> Table:
    head = ("Row", *(f"{judge.name}{' (published)' if judge.published else ''}" for judge in judging.judges))
    rows = []
    for row in ground.rows:
        lines = [next((line for line in judge.rows if line.row == row.key), None) for judge in judging.judges]
        if any(lines):
            own = ground.score(row) if lines[0] and lines[0].score else exact(None)
            rows.append(cells(row.name, own, *(_cell(line) for line in lines[1:])))
    return Table(head, tuple(rows), "Each row's score by the same rule over the same runs, under every judge.")


def _cell(line: JudgedRow | None) -> str:
    if line is None:
        return UNKNOWN
    words = row_words(line)
    return exact(line.score) + (f" ({'; '.join(words)})" if words else "")


def _agreements(judging: Judging) -> list[Block]:
    """Return how far each further judge agrees with the published one, as a table; and whose agreement is unknown."""
    found = [(judge.name, judge.agreement) for judge in judging.judges[1:]]
    known = [(name, figures) for name, figures in found if figures is not None]
    names = list(dict.fromkeys(what for _, figures in known for what, _ in figure_cells(figures)))
    lines = [(name, figures.n, dict(figure_cells(figures))) for name, figures in known]
    silent = [name for name, figures in found if figures is None]
    how = f"How far {listed(silent)} {verb(len(silent), 'agrees', 'agree')} with it is not known"
    unknown = f"{how}: no answer was scored by both."
    table = Table(
        ("Judge", "Answers", *(COLUMNS.get(name, name) for name in names)),
        tuple(cells(name, str(n), *(line.get(what, UNKNOWN) for what in names)) for name, n, line in lines),
        "Agreement with the published judge on distinct answers: Spearman's ρ with its 95 % interval, quadratic "
        "weighted κ and exact agreement on five levels, mean absolute difference, and bias, which is above 0 for the "
        "more generous judge.",
        frozenset(range(1, 2 + len(names))),
    )
    return [table, paragraph(unknown if silent else None)]


def _components(found: ComponentsLine | None) -> list[Paragraph]:
    if found is None or found.undefined or found.standard_error is None:
        return []
    shares = [
        f"endless {what} {'would take away ' if place == 0 else ''}{shown(share, 2)}"
        for place, (what, share) in enumerate(
            (what, share)
            for what, share in (
                ("questions", found.from_questions),
                ("passes", found.from_passes),
                ("judges", found.from_judges),
            )
            if share is not None
        )
    ]
    which = f"; of its variance {listed(shares)}" if shares else ""
    return [
        paragraph(
            f"A difference of two rows has a standard error of {shown(found.standard_error)}{which}.",
            f"{found.advice[:1].upper()}{found.advice[1:]}." if found.advice else None,
        )
    ]


def refused(judging: Judging) -> list[Said]:
    """Say how many judgements could not be verified and are used for nothing."""
    count = len(judging.refused)
    if not count:
        return []
    codes = listed(sorted({one.code for one in judging.refused}))
    return [
        (
            f"{plural(count, 'judgement')} could not be verified ({codes}) and {verb(count, 'is', 'are')} used for "
            "nothing, as the ",
            Link("page of the judges", JUDGES),
            " says.",
        )
    ]
