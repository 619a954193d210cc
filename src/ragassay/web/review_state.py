"""What the review page is told: runs, units, findings, sign-offs, and why a run cannot be signed off yet. Pure.

But for `State.of`, which asks the review's files which sign-offs hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ragassay.publish.deciding import is_fixed, possible, undecided
from ragassay.publish.detect.hit import KINDS
from ragassay.publish.reading import Reading, RowUp, Unit, decisions_digest, touching
from ragassay.publish.scan import CONTEXT
from ragassay.publish.signoffs import ReviewFile, unread
from ragassay.records import JSON
from ragassay.records.publication import Decision, Finding, SignOff
from ragassay.site.safe import one_line, visible
from ragassay.web.review_text import fixed_place, touches, where
from ragassay.web.scanned import Scanned
from ragassay.web.snapshot import Snapshot

MAX_WHERE, MAX_FIXED = 20, 5
"""The most places of a finding that are listed beside it, and of those at which nothing can be replaced."""


class State(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot with its scan, what was decided of it, what one reader has read, and the sign-offs."""

    snapshot: Snapshot
    scanned: Scanned
    decisions: Mapping[str, Decision]
    """By finding, the last."""
    open: frozenset[str]
    """The findings without a decision that can be carried out."""
    touching: Mapping[str, tuple[Decision, ...]]
    """By run, the decisions that touch it."""
    seen: Sequence[str]
    holding: Mapping[str, tuple[SignOff, ...]]
    given: Mapping[str, tuple[SignOff, ...]]
    """By run, the last sign-off of each reader, whether it holds or not."""

    @staticmethod
    def of(
        snapshot: Snapshot,
        scanned: Scanned,
        decisions: Sequence[Decision],
        *,
        seen: Sequence[str] = (),
        review: ReviewFile | None = None,
    ) -> State:
        """Return the state of a workspace at one moment, without sign-offs where no `review` is given.

        Raises `InputError` where a file of the review cannot be read.
        """
        decided = {run: touching(run, scanned.by_run.get(run, ()), decisions) for run in snapshot.readings}
        given: dict[str, dict[str, SignOff]] = {}
        for line in review.sign_offs() if review else ():
            given.setdefault(line.run, {})[line.reader] = line
        readings = ((snapshot.readings[run], of) for run, of in decided.items())
        return State(
            snapshot=snapshot,
            scanned=scanned,
            decisions={decision.finding: decision for decision in decisions},
            open=frozenset(finding.id for finding in undecided(scanned.findings, decisions)),
            touching=decided,
            seen=seen,
            holding=review.holding(readings) if review else {},
            given={run: tuple(lines.values()) for run, lines in given.items()},
        )

    def stands(self, unit: Unit) -> list[JSON]:
        """Return where a unit stands, as it is sent: row by row, each by pass."""
        rows = list(dict.fromkeys(stand.row for stand in unit.stands))
        ordered = sorted(unit.stands, key=lambda stand: (rows.index(stand.row), stand.pass_k))
        return [{"run": stand.run, "row": one_line(stand.row), "pass": stand.pass_k} for stand in ordered]


def state_json(state: State) -> JSON:
    """Return runs, units in the order of reading, and how far the reader is."""
    snapshot = state.snapshot
    at = {key: index for index, key in enumerate(snapshot.units)}
    seen = [key for key in state.seen if key in at]
    found = state.scanned.by_unit
    return {
        "scan": _scan_json(state),
        "seen": seen,
        "units": [
            {
                "key": unit.key,
                "item": one_line(unit.output.id),
                "question": one_line(unit.output.question[:200]),
                "stands": state.stands(unit),
                "findings": len(found.get(key, ())),
                "open": sum(finding.id in state.open for finding in found.get(key, ())),
            }
            for key, unit in snapshot.units.items()
        ],
        "rows": [
            {
                "name": one_line(row.name),
                "stack": one_line(row.stack),
                "reason": row.reason and one_line(row.reason),
                "runs": [_run_json(state, reading, at) for reading in _in_order(row, snapshot.readings)],
            }
            for row in snapshot.rows
        ],
        "refused": [
            {"run": one_line(run.id), "reason": visible(run.refused or "it cannot be verified")}
            for run in snapshot.refused
        ],
    }


def _scan_json(state: State) -> JSON:
    result = state.scanned.result
    return {
        "running": state.scanned.running,
        "problem": state.scanned.problem and visible(state.scanned.problem),
        "findings": len(state.scanned.findings),
        "open": len(state.open),
        "notDetected": list(result.summary.not_detected) if result else [],
        "more": {KINDS[kind]: count for kind, count in result.more.items()} if result else {},
    }


def _in_order(row: RowUp, readings: Mapping[str, Reading]) -> list[Reading]:
    """Return a row's runs announcement by announcement, each by pass: passes that run at once end in any order."""
    intents = {run.id: run.document.predicate.intent for run in row.runs if run.document is not None}
    plans = list(intents.values())
    ordered = sorted(intents, key=lambda run: (plans.index(intents[run]), readings[run].pass_k))
    return [readings[run] for run in ordered]


def _run_json(state: State, reading: Reading, at: Mapping[str, int]) -> JSON:
    decided = state.touching[reading.run]
    holding = state.holding.get(reading.run, ())
    names = {line.reader for line in holding}
    here = state.scanned.by_run.get(reading.run, ())
    return {
        "run": reading.run,
        "row": one_line(reading.row),
        "pass": reading.pass_k,
        "of": reading.of,
        "items": len(reading.units),
        "units": [at[key] for key in dict.fromkeys(reading.units)],
        "manifest": reading.manifest,
        "decisions": decisions_digest(decided),
        "decided": {action: sum(one.action == action for one in decided) for action in ("allow", "redact", "withhold")},
        "findings": len(here),
        "open": sum(finding.id in state.open for finding in here),
        "signed": [{"reader": line.reader, "at": line.at} for line in holding],
        "lapsed": [
            {"reader": line.reader, "why": _why_lapsed(line, reading, decided)}
            for line in state.given.get(reading.run, ())
            if line.reader not in names
        ],
    }


def _why_lapsed(line: SignOff, reading: Reading, decided: Sequence[Decision]) -> str:
    if (line.manifest, line.items, line.shown) != (reading.manifest, len(reading.units), reading.shown):
        return "the run is not the one that was signed"
    if line.decisions != decisions_digest(decided):
        return "a decision that touches it has changed"
    return "the reader took back the reading of an output"


def findings_json(state: State) -> JSON:
    """Return every finding with its decision, those that are open first."""
    ordered = sorted(state.scanned.findings, key=lambda finding: finding.id not in state.open)
    return {"findings": [finding_json(state, finding) for finding in ordered]}


def finding_json(state: State, finding: Finding, unit: Unit | None = None) -> JSON:
    """Return one finding as it is sent; beside a unit with its places there, else with places of any run."""
    decision = state.decisions.get(finding.id)
    places = touches(finding, unit) if unit is not None else list(finding.places)
    words = list(dict.fromkeys(where(place) for place in places))
    fixed = list(dict.fromkeys(fixed_place(place) for place in finding.places if is_fixed(place)))
    items = {(place.run, place.item) for place in finding.places}
    return {
        "id": finding.id,
        "kind": finding.kind,
        "words": KINDS[finding.kind],
        "text": visible(finding.text),
        "before": f"{'…' if len(finding.before) == CONTEXT else ''}{visible(finding.before)}",
        "after": f"{visible(finding.after)}{'…' if len(finding.after) == CONTEXT else ''}",
        "where": words[:MAX_WHERE],
        "more": max(0, len(words) - MAX_WHERE),
        "fixed": fixed[:MAX_FIXED],
        "moreFixed": max(0, len(fixed) - MAX_FIXED),
        "places": len(finding.places),
        "runs": len({run for run, _ in items}),
        "unit": state.scanned.first.get(finding.id),
        "open": finding.id in state.open,
        "possible": list(possible(finding)),
        "decision": decision and {"action": decision.action, "reason": visible(decision.reason), "by": decision.by},
    }


def refusals(state: State, shown: Mapping[str, tuple[str, str]]) -> list[JSON]:
    """Return why runs cannot be signed off, each with the ids of what is missing; none where all of them can.

    `shown` holds, by run, the digests of manifest and decisions that the page showed.
    """
    found = [_refusal(state, run, digests) for run, digests in shown.items()]
    return [one for one in found if one is not None]


def _refusal(state: State, run: str, digests: tuple[str, str]) -> JSON | None:
    reading = state.snapshot.readings.get(run)
    if reading is None:
        return {"run": one_line(run), "why": ["it is not up for publishing, or it cannot be verified"]}
    result = state.scanned.result
    why = []
    if state.scanned.running:
        why.append("the scan is not done")
    elif result is None:
        why.append(f"nothing was scanned: {visible(state.scanned.problem or '')}")
    elif result.more:
        why.append("the scan found more than can be listed and decided")
    if digests != (reading.manifest, decisions_digest(state.touching[run])):
        why.append("run or decisions are not what the page showed; load it again")
    missing = unread(reading, state.seen)
    undecided_here = [finding for finding in state.scanned.by_run.get(run, ()) if finding.id in state.open]
    if not why and not missing and not undecided_here:
        return None
    units = state.snapshot.units
    return {
        "run": run,
        "row": one_line(reading.row),
        "pass": reading.pass_k,
        "why": why,
        "unread": [{"unit": key, "item": one_line(units[key].output.id)} for key in missing],
        "undecided": [{"finding": f.id, "kind": f.kind, "text": visible(f.text)} for f in undecided_here],
    }
