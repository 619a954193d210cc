"""How far the judge can be believed: known cases, null rows, asking again, people. Pure."""

from __future__ import annotations

import time
from collections.abc import Mapping
from decimal import Decimal

from ragassay.site.judgerecord import (
    CalibrationLine,
    ConformanceLine,
    JudgeLine,
    Judging,
    NoiseLine,
)
from ragassay.site.judgewords import NULL_TEXTS, figure_cells
from ragassay.site.numbers import listed, plural, shown
from ragassay.site.spec.document import (
    Block,
    Said,
    Section,
    is_said,
    paragraph,
)
from ragassay.site.spec.ground import Ground
from ragassay.site.spec.panel import panel, refused

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
        *panel(ground, judging),
        paragraph(*refused(judging)),
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
