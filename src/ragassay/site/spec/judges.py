"""How far the judge can be believed: known cases, null rows, asking again, people, further judges. Pure."""

from __future__ import annotations

import time
from collections.abc import Mapping
from decimal import Decimal

from ragassay.site.judgerecord import (
    CalibrationLine,
    ComponentsLine,
    ConformanceLine,
    JudgedRow,
    JudgeLine,
    Judging,
    NoiseLine,
)
from ragassay.site.judgewords import NULL_TEXTS, figure_cells, lead_words, row_words
from ragassay.site.numbers import UNKNOWN, exact, listed, plural, shown
from ragassay.site.spec.counted import verb
from ragassay.site.spec.document import (
    Block,
    Code,
    Link,
    Paragraph,
    Said,
    Section,
    Table,
    cells,
    is_said,
    paragraph,
    series,
)
from ragassay.site.spec.ground import JUDGES, Ground

COLUMNS = {"QWK": "weighted κ", "MAE": "mean |Δ|", "positive": "agreement on the other levels"}
CHECKS = (
    "run over the cases whose right verdicts are known",
    "given null rows",
    "held against people",
    "joined by a second judge",
)


def judges(ground: Ground) -> Section:
    """Return what is known of the judge beside its verdicts, with the rows under every judge; or that nothing is."""
    title, anchor = "What is known of the judge", "judge"
    judging = ground.table.judging
    if not ground.configs:
        return Section(title, anchor, (paragraph("Nothing: it judged elsewhere, and none of its verdicts is here."),))
    if judging is None:
        literal = ground.table.judge_kind == "literal"
        again = (
            "Asking it twice would show nothing, for it is deterministic."
            if literal
            else "Nor was any answer given to it twice, so its own noise is unknown."
        )
        nothing = paragraph(
            f"Nothing beyond its verdicts. {ground.table.judge} was neither {', nor '.join(CHECKS)}.",
            again,
            "How far it sees what a careful reader would see is therefore open; each of its verdicts stands with its "
            "quote on the page of the question, and can be read.",
        )
        return Section(title, anchor, (nothing,))
    own = judging.judges[0]
    blocks: list[Block | None] = [
        paragraph(*_conformance(own.name, own.conformance), *_null_rows(own)),
        paragraph(*_noise(ground, judging)),
        paragraph(*_people(own.name, own.calibration)),
        *_panel(ground, judging),
        paragraph(*_refused(judging)),
    ]
    return Section(title, anchor, is_said(blocks))


def _date(seconds: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))


def _conformance(name: str, line: ConformanceLine) -> list[Said]:
    if line.state == "not_measured":
        return [f"{name} was not run over the cases whose right verdicts are known."]
    counted = f"{line.right} of {plural(line.judged, 'item')} as they should be"
    apart = [
        f"{count} {what}"
        for count, what in (
            (line.unjudged, "went unjudged"),
            (line.settled, "were settled by code"),
            (line.not_asked, "were not asked"),
        )
        if count
    ]
    rest = f" Of the {plural(line.cases, 'case')}, {listed(apart)}." if apart else ""
    when = _date(line.created)
    if line.state == "stale":
        return [
            f"Over the cases whose right verdicts are known it got {counted} on {when}, but {line.why}, so that says "
            f"nothing of this one.{rest}"
        ]
    said: list[Said] = [f"Over the cases whose right verdicts are known, {name} got {counted} on {when}.{rest}"]
    wrong = [kind for kind in line.kinds if kind.judged and kind.right < kind.judged]
    if wrong:
        worst = wrong[0]
        said.append(f"It was weakest on the kind {worst.kind}, with {worst.right} of {worst.judged}.")
    return said


def _null_rows(judge: JudgeLine) -> list[Said]:
    if not judge.null_rows:
        return ["Null rows, texts in place of every answer that have to score .000, were not put to it."]
    said: list[Said] = []
    for line in judge.null_rows:
        what = NULL_TEXTS[line.null_row]
        lost = f" ({line.unjudged} unjudged)" if line.unjudged else ""
        if line.score is None or line.highest is None:
            said.append(f"Given {what} in place of every answer, it gave no verdict at all ({line.unjudged} unjudged).")
        elif line.above:
            highest = shown(Decimal(line.highest) / 100, 2)
            said.append(
                f"Given {what} in place of every answer, it scored {line.above} of {plural(line.judged, 'question')} "
                f"above 0, up to {highest}{lost}. Each of those points is given away."
            )
        else:
            said.append(
                f"Given {what} in place of every answer, it gave .000 on all {plural(line.judged, 'question')}{lost}."
            )
    return said


def _noise(ground: Ground, judging: Judging) -> list[Said]:
    names = {row.key: row.name for row in ground.rows}
    lines = [line for line in judging.noise if line.row in names]
    if lines and all(line.state == "deterministic" for line in lines):
        return ["It is deterministic, so asking it again would show nothing."]
    asked = [line for line in lines if line.state == "measured"]
    if not asked:
        return ["No answer was given to it twice, so its own noise is unknown."]
    n, changed = sum(line.n for line in asked), sum(line.score_changed for line in asked)
    opening = f"Asked again about {plural(n, 'answer')}, it gave another score to {changed}."
    worst = max(asked, key=lambda line: (line.score_changed / line.n if line.n else 0.0, line.row))
    said: list[Said] = [opening, _worst(worst, names) if changed else None]
    silent = [names[line.row] for line in lines if line.state in ("not_asked", "undefined")]
    if silent:
        said.append(f"For {listed(silent)} that was not done.")
    return said


def _worst(line: NoiseLine, names: Mapping[str, str]) -> str:
    adds = f", which adds {shown(line.effect)} to the standard error of the row" if line.effect else ""
    return f"Most often that happened in {names[line.row]}, to {line.score_changed} of {line.n}{adds}."


def _people(name: str, line: CalibrationLine) -> list[Said]:
    if line.state == "none" or line.figures is None:
        return [f"No person rated any of the answers, so how far {name} agrees with people is not known."]
    n, raters = line.figures.n, plural(line.raters, "person", "people")
    figures = listed([f"{what} {value}" for what, value in figure_cells(line.figures)])
    rated = f"{raters} rated {plural(n, 'answer')} without seeing row or verdict; against them the judge has {figures}."
    state = {
        "calibrated": "By the rule of this program it is calibrated.",
        "provisional": f"That is provisional: {line.why}." if line.why else "That is provisional.",
        "not_calibrated": f"By the rule of this program it is not calibrated: {line.why}.",
        "stale": f"That no longer holds: {line.why}.",
    }[line.state]
    return [rated[:1].upper() + rated[1:], state, *(f"{one[:1].upper()}{one[1:]}." for one in line.cautions)]


def _panel(ground: Ground, judging: Judging) -> list[Block | None]:
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


def _refused(judging: Judging) -> list[Said]:
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
