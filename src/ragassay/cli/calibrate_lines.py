"""How judges and people agree, in lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from ragassay.records.calibration import LEVELS, CalibrationReport, Figures, JudgeCalibration, RaterAgreement, RaterLine
from ragassay.site.numbers import bracket, plural, shown, signed
from ragassay.site.safe import one_line

STATES = {
    "calibrated": "calibrated",
    "provisional": "provisional",
    "failed": "not calibrated",
    "too few": "too few ratings",
}
"""What is printed for a state of the gate."""
LABEL = 26


def report_lines(report: CalibrationReport) -> list[str]:
    """Return the report: raters, each judge against people, raters against each other."""
    if not report.raters:
        return ["No rating is stored yet; `ragassay calibrate` opens the page on which people rate."]
    people = plural(len(report.raters), "person", "people")
    lines = [f"{plural(report.rated, 'answer')} rated by {people}, by {report.rubric_version} ({report.rubric[:12]})."]
    lines += map(_rater, report.raters)
    if report.not_counted:
        what = plural(report.not_counted, "rating")
        lines.append(f"! {what} not counted: given by another rubric, or question, reference or answer have changed")
    for judge in report.judges:
        lines += ["", *_judge(judge)]
    if report.between is not None:
        lines += ["", *_between(report.between)]
    return lines


def _rater(line: RaterLine) -> str:
    parts = [f"{line.rated} rated", f"{line.cannot_say} could not say" if line.cannot_say else ""]
    parts.append(f"{line.not_counted} not counted" if line.not_counted else "")
    return f"  {one_line(line.name)}: {', '.join(part for part in parts if part)}"


def _judge(judge: JudgeCalibration) -> Iterator[str]:
    name = f"{one_line(judge.judge)} ({'the published judge' if judge.purpose == 'published' else 'panel'})"
    yield f"{name}: {STATES[judge.state]}: {one_line(judge.why)}"
    if judge.unjudged:
        yield f"! {plural(judge.unjudged, 'rated answer')} without a score by this judge, in no figure"
    if judge.figures.n:
        yield from _figures(judge.figures, "judge − people")
        yield from _table(judge.figures.table)
    yield from (f"! {one_line(caution)}" for caution in judge.cautions)


def _between(found: RaterAgreement) -> Iterator[str]:
    names = ", ".join(map(one_line, found.raters))
    yield f"Between the raters ({names}), on {plural(found.items, 'answer')} that at least two of them rated:"
    if found.figures is not None:
        yield from _figures(found.figures, "first − second")
    else:
        yield _line("Krippendorff's α", shown(found.alpha) if found.alpha else f"undefined: {found.undefined}")


def _figures(found: Figures, difference: str) -> Iterator[str]:
    span = bracket((found.lower, found.upper)) if found.lower and found.upper else found.undefined.get("interval", "")
    yield _line("Spearman's ρ", _value(found, "rho", found.rho), f"{span}  n = {found.n}".strip())
    yield _line("quadratic weighted κ", _value(found, "qwk", found.qwk))
    yield _line(f"bias ({difference})", _value(found, "bias", found.bias, sign=True))
    yield _line("mean absolute difference", _value(found, "mae", found.mae))
    yield _line("same level", _value(found, "exact", found.exact))
    if found.common is not None:
        yield _line("AC2", _value(found, "ac2", found.ac2))
        yield _line(f"agreement except on {_level(found.common)}", _value(found, "positive", found.positive))


def _value(found: Figures, name: str, value: str | None, *, sign: bool = False) -> str:
    if value is None:
        return f"undefined: {found.undefined.get(name, 'not computed')}"
    return signed(value) if sign else shown(value)


def _line(label: str, value: str, beside: str = "") -> str:
    return f"  {label:<{LABEL}} {value:>6}  {beside}".rstrip()


def _table(table: Sequence[Sequence[int]]) -> Iterator[str]:
    """Yield the counts with people across, so that a column reads 'what the judge made of this level'."""
    yield _line("judge ↓ people →", "", "".join(f"{_level(level):>5}" for level in LEVELS))
    for level, counts in zip(LEVELS, table, strict=True):
        yield _line("", _level(level), "".join(f"{count or '·':>5}" for count in counts))


def _level(level: int) -> str:
    return {0: "0", 100: "1"}.get(level) or shown(Decimal(level) / 100, 2).rstrip("0")
