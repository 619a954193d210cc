"""What is known of a judge, in words for terminal and page alike. Pure; needs nothing but the record."""

from __future__ import annotations

import time
from collections.abc import Sequence
from decimal import Decimal

import msgspec

from ragassay.records import NullRow
from ragassay.records.calibration import Figures
from ragassay.site.judgerecord import (
    CalibrationLine,
    ComponentsLine,
    ConformanceLine,
    JudgedRow,
    JudgeLine,
    Judging,
    NoiseLine,
)
from ragassay.site.numbers import bracket, listed, plural, shown, signed
from ragassay.site.record import BoardRow, Pair, Table

NOTHING = "not measured of the judge: further judges, null rows, conformance, human calibration"
NO_NOISE = "judge noise not recorded: no answer was judged twice"
NULL_TEXTS: dict[NullRow, str] = {
    "empty": "an empty answer",
    "constant": "one constant sentence",
    "injection": "a text that tries to steer it",
}
NOT_JUDGED_WORDS = {
    "no_answer": "without an answer in the run",
    "withheld": "with a text withheld",
    "no_claims": "without claims",
    "no_literals": "without literals, which is all this judge reads",
}
SMALL = Decimal("0.01")
"""Shares of the variance below this are counted and not named; board.json holds all."""
WORST_KINDS = 5
"""Kinds of conformance cases that are named, the least right first."""


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One statement; `loud` where it speaks against the judge."""

    text: str
    loud: bool = False


def null_row_words(judge: JudgeLine) -> list[Said]:
    """Say what the judge gave each null row; every one must be 0."""
    if not judge.null_rows:
        return [Said(text="null rows not judged")]
    said = []
    for line in judge.null_rows:
        what = NULL_TEXTS[line.null_row]
        lost = f"; {line.unjudged} unjudged" if line.unjudged else ""
        if line.score is None or line.highest is None:
            said.append(Said(text=f"{what} has no verdict: {line.unjudged} unjudged", loud=True))
        elif line.above:
            of = f"{line.above} of {plural(line.judged, 'question')}"
            most = f"the judge gave {_hundredths(line.highest)} to {what}"
            mean = shown(line.score.decimal)
            said.append(Said(text=f"{most}: above 0 on {of}, {mean} in the mean{lost}", loud=True))
        else:
            said.append(Said(text=f"{what} got {shown('0')} on all {plural(line.judged, 'question')}{lost}"))
    absent = [NULL_TEXTS[name] for name in NULL_TEXTS if name not in {line.null_row for line in judge.null_rows}]
    return said + ([Said(text=f"not judged: {listed(absent)}")] if absent else [])


def _hundredths(value: int) -> str:
    return shown(f"{value // 100}.{value % 100:02d}", 2)


def conformance_words(line: ConformanceLine) -> list[Said]:
    """Say how the judge did on the cases whose verdicts are known, with the date and the prompt's digest."""
    if line.state == "not_measured":
        return [Said(text="judge conformance not measured")]
    when = time.strftime("%Y-%m-%d", time.gmtime(line.created))
    prompt = f"prompt {line.prompt[:8]}" if line.prompt else "no prompt"
    counted = f"{line.right} of {plural(line.judged, 'item')} right ({when}, {prompt})"
    apart = [
        f"{count} {what}"
        for count, what in (
            (line.unjudged, "unjudged"),
            (line.settled, "settled by code"),
            (line.not_asked, "not asked"),
        )
        if count
    ]
    counted += f"; of {plural(line.cases, 'case')} {listed(apart)}" if apart else ""
    said = [Said(text=f"conformance {counted}")]
    if line.state == "stale":
        said = [Said(text=f"conformance is stale: {line.why}; it was {counted}", loud=True)]
    if wrong := [kind for kind in line.kinds if kind.judged and kind.right < kind.judged]:
        named = [f"{kind.kind} {kind.right} of {kind.judged}" for kind in wrong[:WORST_KINDS]]
        more = [f"{len(wrong) - WORST_KINDS} more kinds"] if len(wrong) > WORST_KINDS else []
        said.append(Said(text=f"by kind, the least right first: {listed([*named, *more])}"))
    elif line.kinds:
        said.append(Said(text=f"all of the {plural(len(line.kinds), 'kind')} right where judged"))
    return said + [Said(text=note) for note in line.notes]


def calibration_words(line: CalibrationLine) -> list[Said]:
    """Say whether people agree with the judge, with n, ρ and its interval, QWK and bias."""
    if line.state == "none" or line.figures is None:
        return [Said(text="no human calibration")]
    n = line.figures.n
    by = f", {plural(line.raters, 'rater')}"
    figures = figures_words(line.figures)
    state = {
        "calibrated": f"calibrated (n = {n}{by})",
        "provisional": f"provisional (n = {n}{by})",
        "not_calibrated": f"not calibrated: {line.why} (n = {n}{by})",
        "stale": f"not calibrated: {line.why} (n = {n} then{by})",
    }[line.state]
    lost = f"; {line.unjudged} rated and unjudged" if line.unjudged else ""
    said = [Said(text=f"against people: {state}: {figures}{lost}", loud=line.state in ("not_calibrated", "stale"))]
    if line.state == "provisional" and line.why:
        said.append(Said(text=line.why))
    return said + [Said(text=caution) for caution in line.cautions]


def figures_words(found: Figures) -> str:
    """Write an agreement in one line: ρ .83 [.75, .89], QWK .81, exact .90, MAE .04, bias +.02."""
    return ", ".join(f"{name} {value}" for name, value in figure_cells(found))


def figure_cells(found: Figures) -> list[tuple[str, str]]:
    """Return name and text of each figure; an undefined one says so and is no number."""
    span = bracket((found.lower, found.upper), 2) if found.lower is not None and found.upper is not None else ""
    cells = [
        ("ρ", f"{_or_why(found, 'rho', found.rho)} {span}".rstrip()),
        ("QWK", _or_why(found, "qwk", found.qwk)),
        ("exact", _or_why(found, "exact", found.exact)),
        ("MAE", _or_why(found, "mae", found.mae)),
        ("bias", signed(found.bias, 2) if found.bias is not None else _or_why(found, "bias", None)),
    ]
    if found.common is not None:
        cells += [("AC2", _or_why(found, "ac2", found.ac2)), ("positive", _or_why(found, "positive", found.positive))]
    return cells


def _or_why(found: Figures, name: str, value: str | None) -> str:
    if value is not None:
        return shown(value, 2)
    why = found.undefined.get(name, "")
    return "undefined: constant" if "gave every item the same" in why else "undefined"


MEASURES = ("ρ", "QWK", "bias", "MAE", "exact")


def undefined_words(found: Figures) -> list[str]:
    """Say which measures are undefined, and why: 'ρ and QWK undefined: constant'."""
    names: dict[str, list[str]] = {}
    for name, value in figure_cells(found):
        if name in MEASURES and value.startswith("undefined"):
            names.setdefault(value, []).append(name)
    return [f"{listed(own)} {value}" for value, own in names.items()]


def together(said: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return (rows, words) with rows of which the same is said as one list, in the order of their first."""
    names: dict[str, list[str]] = {}
    for name, words in said:
        names.setdefault(words, []).append(name)
    return [(listed(own), words) for words, own in names.items()]


def row_words(line: JudgedRow) -> list[str]:
    """Say what else there is to one row under a further judge: a changed rank, what has no score, the bounds."""
    said = [line.why] if line.why else []
    if line.rank is not None and line.moved:
        said.append(f"order changed: rank {line.rank}, was {line.rank_published}")
    if line.unjudged:
        said.append(f"{line.unjudged} of {line.asked} unjudged")
    said += [f"{n} of {line.asked} {NOT_JUDGED_WORDS.get(kind, kind)}" for kind, n in line.not_judged.items()]
    if line.bounds:
        said.append(f"mean {shown(line.bounds[0])} to {shown(line.bounds[1])}, all that is missing at 0 and at 1")
    return said


def ranked_pairs(table: Table) -> list[Pair]:
    """Return the comparisons of two ranked rows."""
    ranked = {row.key for row in table.rows if row.rank is not None}
    return [pair for pair in table.pairs if {pair.a, pair.b} <= ranked]


def lead_words(table: Table, row: BoardRow) -> str | None:
    """Say whether the first row leads under every judge, None where no further judge says anything of it."""
    if row.leads is None or table.judging is None:
        return None
    if not row.leads:
        own = [pair for pair in ranked_pairs(table) if row.key in (pair.a, pair.b)]
        return f"order changes under {listed(list(dict.fromkeys(j for pair in own for j in pair.against)))}"
    count = len(table.judging.judges)
    return "leads under both judges" if count == 2 else f"leads under all {count} judges"


def noise_words(line: NoiseLine) -> str:
    """Say what asking the judge again changed in one row."""
    if line.state == "deterministic":
        return "deterministic judge: nothing to ask again"
    if line.state == "not_asked":
        return "not asked again"
    if line.state == "undefined":
        return f"undefined: {line.note}"
    which = "whole row, " if line.whole else ""
    runs = "" if line.runs_again == line.runs else f", in {line.runs_again} of {plural(line.runs, 'run')}"
    lost = f"; {line.lost} more without a score from one of the two times" if line.lost else ""
    effect = (
        f", which adds {shown(line.effect)} to the standard error of its mean"
        if line.score_changed and line.effect
        else ""
    )
    note = f"; {line.note}" if line.note else ""
    return (
        f"{which}{plural(line.n, 'item')} asked again{runs}: {shown(line.score_share, 2)} changed their score "
        f"({line.score_changed} of {line.n}), mean |Δ| {shown(line.mean_absolute)}{effect}{lost}{note}"
    )


def components_words(found: ComponentsLine) -> list[str]:
    """Say where the variance comes from, and what to buy where the figures say so."""
    if found.undefined:
        return [f"variance components undefined: {found.undefined}"]
    passes = plural(found.passes, "pass", "passes")
    of = f"{plural(found.questions, 'question')}, {plural(found.rows, 'row')}, {passes}, "
    if not any(one.share for one in found.components):
        return ["no score varies over questions, rows, passes or judges, so there is no variance to explain"]
    ordered = sorted(found.components, key=lambda one: -Decimal(one.share or 0))
    large = [one for one in ordered if Decimal(one.share or 0) >= SMALL]
    parts = [f"{' × '.join(one.facets)} {shown(one.share, 2)}" for one in large]
    rest = len(ordered) - len(large)
    negative = sum(one.negative for one in ordered)
    parts += [f"{plural(rest, 'other')} below {shown(str(SMALL), 2)} each"] if rest else []
    below = f" ({negative} of them estimated below 0, which stands for 0)" if negative else ""
    said = [f"shares of the variance of a score over {of}{plural(found.judges, 'judge')}: {', '.join(parts)}{below}"]
    if found.not_separated:
        said.append(f"not separated, for there is only one: {listed(list(found.not_separated))}")
    if found.dropped:
        said.append(f"left out, so that no cell is missing: {_first(found.dropped)}")
    if found.standard_error is not None:
        shares = (("questions", found.from_questions), ("passes", found.from_passes), ("judges", found.from_judges))
        taken = [f"endless {what} would take away {shown(share, 2)}" for what, share in shares if share is not None]
        of_it = f"; of its variance {listed(taken)}" if taken else ""
        said.append(f"a difference of two rows has a standard error of {shown(found.standard_error)}{of_it}")
    return [*said, *([found.advice] if found.advice else []), *([found.note] if found.note else [])]


def _first(names: Sequence[str]) -> str:
    more = [f"{len(names) - 6} more"] if len(names) > 6 else []
    return listed([*names[:6], *more])


def judge_words(judge: JudgeLine) -> list[Said]:
    """Say all that is known of one judge beside its verdicts."""
    said = conformance_words(judge.conformance) + calibration_words(judge.calibration)
    return said + (null_row_words(judge) if judge.published or judge.null_rows else [])


def asked_again(judging: Judging | None) -> bool:
    """Tell whether any answer was judged twice."""
    return judging is not None and any(line.state in ("measured", "undefined") for line in judging.noise)


def nothing_of_judge(table: Table) -> list[str]:
    """Return what a table says of its judge where nothing is known of it beside its verdicts."""
    said = [words for words in table.warnings if words in (NO_NOISE, NOTHING)]
    return said or ["nothing is known of the judge beside its verdicts"]
