"""What is known of one judge beside its verdicts on a board: conformance, and agreement with people. Pure."""

from __future__ import annotations

import msgspec

from ragassay.judge.conformance import ConformanceRecord, worst_first
from ragassay.records.calibration import CalibrationReport
from ragassay.site.calibration.rubric import rubric_digest
from ragassay.site.judgerecord import CalibrationLine, CalibrationStanding, ConformanceLine, KindLine

STANDINGS: dict[str, CalibrationStanding] = {
    "calibrated": "calibrated",
    "provisional": "provisional",
    "failed": "not_calibrated",
    "too few": "not_calibrated",
}


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What a workspace keeps of its judges; `ratings` is the SHA-256 of the ratings as they are now."""

    conformance: tuple[ConformanceRecord, ...] = ()
    calibration: CalibrationReport | None = None
    ratings: str | None = None
    problems: tuple[str, ...] = ()


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Of which judge something is asked: its id and digest, and by which profile and on which questions it judged."""

    id: str
    digest: str | None
    profile: str
    benchmark: str


def conformance_line(known: Known, asked: Asked) -> ConformanceLine:
    """Return how this very judge did on the cases; one of the same id that was described otherwise is stale."""
    own = [one for one in known.conformance if one.digest == asked.digest]
    named = [one for one in known.conformance if one.judge.get("id") == asked.id]
    record = max(own or named, key=lambda one: (one.profile == asked.profile, one.created), default=None)
    if record is None:
        return ConformanceLine(state="not_measured")
    why = None
    if record.digest != asked.digest:
        why = f"measured of another judge of this name ({record.digest[:8]}, this is {(asked.digest or 'unknown')[:8]})"
    elif record.profile != asked.profile:
        why = f"measured under {record.profile}, this board's scorer is {asked.profile}"
    total = record.report.total
    return ConformanceLine(
        state="stale" if why else "measured",
        why=why,
        right=total.exact_items,
        judged=total.judged,
        cases=total.cases,
        unjudged=total.unjudged,
        settled=total.settled,
        not_asked=total.not_asked,
        created=record.created,
        prompt=record.prompt,
        judge=record.digest,
        kinds=tuple(
            KindLine(kind=one.kind, right=one.exact_items, judged=one.judged, cases=one.cases)
            for one in worst_first(record.report.kinds)
        ),
        notes=record.notes,
    )


def calibration_line(known: Known, asked: Asked) -> CalibrationLine:
    """Return how far this very judge agrees with people on these questions by today's rubric, or why that is stale."""
    report = known.calibration
    if report is None:
        return CalibrationLine(state="none")
    own = next((one for one in report.judges if one.digest is not None and one.digest == asked.digest), None)
    other = next((one for one in report.judges if one.judge == asked.id), None)
    found = own or other
    if found is None or report.rated == 0:
        return CalibrationLine(state="none")
    why = _stale(report, known, asked, own=own is not None)
    return CalibrationLine(
        state="stale" if why else STANDINGS[found.state],
        why=why or (f"too few ratings, {found.why}" if found.state == "too few" else found.why),
        cautions=found.cautions,
        figures=found.figures,
        raters=_raters(report),
        unjudged=found.unjudged,
        at=report.at,
    )


def _stale(report: CalibrationReport, known: Known, asked: Asked, *, own: bool) -> str | None:
    if not own:
        return "people were compared with another judge of this name"
    if report.benchmark != asked.benchmark:
        return "people rated answers to another question set"
    if report.rubric != rubric_digest():
        return "people rated by another rubric"
    if report.ratings != known.ratings:
        return "ratings have changed since; `ragassay calibrate` computes it again"
    return None


def _raters(report: CalibrationReport) -> int:
    return sum(one.rated > 0 for one in report.raters)
