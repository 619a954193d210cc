"""What may be decided of a finding, and what decisions mean for a scan's findings. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from ragassay.errors import InputError
from ragassay.manifest.files import OUTPUTS, TELEMETRY
from ragassay.publish.texts import JUDGEMENTS
from ragassay.records.publication import Action, Decision, Finding, Place, ScanSummary

MAX_REASON = 2_000
MAX_NAME = 80
REDACTABLE = {
    OUTPUTS: re.compile(r"answer|chunks/[^/]+/text|claims/[^/]+/(?:quote|reason)|failure/message"),
    TELEMETRY: re.compile(r"telemetry/judgeReplies/\d+/(?:text|problem)"),
}
"""By file, the members that a redaction may replace. A judgement is left out whole where it holds what is replaced."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """Part of one text that is not published as it is: `redact` its characters from `start` to `end`, or `withhold` it.

    A withheld text is withheld whole; the offsets say where in it the finding stands.
    """

    start: int
    end: int
    action: Action
    reason: str
    finding: str


class PlaceKey(msgspec.Struct, frozen=True, order=True):
    """One text: the run, its file, the question and the member."""

    run: str | None
    file: str
    item: str | None
    field: str


def decided(finding: Finding, action: Action, *, reason: str, by: str, at: int) -> Decision:
    """Return a decision that can be carried out; raises `InputError` that says why not, and what to do."""
    problems = [*_impossible(finding, action), *_wrong_words(action, reason.strip(), by.strip())]
    if problems:
        raise InputError(f"{finding.kind} {finding.id} cannot be decided so", problems)
    return Decision(
        finding=finding.id, kind=finding.kind, action=action, reason=reason.strip(), by=by.strip(), at=max(0, at)
    )


def possible(finding: Finding) -> tuple[Action, ...]:
    """Return what can be decided of a finding: whether its text can be replaced at all places decides it."""
    return ("allow",) if _impossible(finding, "redact") else ("allow", "redact", "withhold")


def is_fixed(place: Place) -> bool:
    """Tell whether what stands there is published as it is or not at all: questions, configuration, manifest."""
    if place.file.startswith(JUDGEMENTS):
        return False
    pattern = REDACTABLE.get(place.file)
    return pattern is None or pattern.fullmatch(place.field) is None


def standing(decisions: Iterable[Decision]) -> dict[str, Decision]:
    """Return the decision that holds for each finding, by its id: the last."""
    return {decision.finding: decision for decision in decisions}


def undecided(findings: Iterable[Finding], decisions: Iterable[Decision]) -> list[Finding]:
    """Return the findings, in their order, without a decision that can be carried out today.

    One that was redacted and now stands in a question as well is undecided again.
    """
    holds = standing(decisions)
    return [one for one in findings if _valid(one, holds.get(one.id)) is None]


def decided_by_place(findings: Iterable[Finding], decisions: Iterable[Decision]) -> dict[PlaceKey, list[Span]]:
    """Return what is not published as it is, by text, its spans in their order; allowed findings are not there."""
    holds = standing(decisions)
    spans: dict[PlaceKey, list[Span]] = {}
    for finding in findings:
        decision = _valid(finding, holds.get(finding.id))
        if decision is None or decision.action == "allow":
            continue
        for place in finding.places:
            key = PlaceKey(place.run, place.file, place.item, place.field)
            spans.setdefault(key, []).append(_span(place, decision))
    return {
        key: sorted(of, key=lambda one: (one.start, one.end, one.finding))
        for key, of in sorted(spans.items(), key=_order)
    }


def with_decisions(summary: ScanSummary, findings: Sequence[Finding], decisions: Iterable[Decision]) -> ScanSummary:
    """Return a scan's summary with what was decided of `findings`: those of one run, or of all."""
    holds = standing(decisions)
    actions = [decision.action for one in findings if (decision := _valid(one, holds.get(one.id))) is not None]
    return msgspec.structs.replace(
        summary,
        findings=len(findings),
        allowed=actions.count("allow"),
        redacted=actions.count("redact"),
        withheld=actions.count("withhold"),
    )


def _valid(finding: Finding, decision: Decision | None) -> Decision | None:
    if decision is None or decision.kind != finding.kind or _impossible(finding, decision.action):
        return None
    return decision


def _impossible(finding: Finding, action: Action) -> list[str]:
    if action == "allow":
        return []
    if finding.kind == "error_text":
        return ["an answer that is the text of an error is no answer: allow it with the reason, or run again"]
    fixed = list(dict.fromkeys(_words(place) for place in finding.places if is_fixed(place)))
    if not fixed:
        return []
    shown = "; ".join(fixed[:5]) + (f"; and {len(fixed) - 5} more places" if len(fixed) > 5 else "")
    return [
        f"it stands where nothing can be replaced ({shown}): allow it with the reason, or write it otherwise there; "
        "what a run was made from is the measurement itself, so it is changed and run again"
    ]


def _words(place: Place) -> str:
    return f"{place.file}{f', question {place.item}' if place.item else ''}, {place.field or 'the whole file'}"


def _wrong_words(action: Action, reason: str, by: str) -> list[str]:
    problems = []
    if action == "allow" and not reason:
        problems.append("to allow it takes a reason, which is kept with the decision")
    if len(reason) > MAX_REASON:
        problems.append(f"a reason has at most {MAX_REASON} characters, not {len(reason)}")
    if not by or len(by) > MAX_NAME:
        problems.append(f"whoever decides gives a name of 1 to {MAX_NAME} characters")
    if _SURROGATE.search(reason + by):
        problems.append("reason and name must be text: they hold half a character (a lone surrogate)")
    return problems


def _span(place: Place, decision: Decision) -> Span:
    return Span(
        start=place.start, end=place.end, action=decision.action, reason=decision.reason, finding=decision.finding
    )


def _order(entry: tuple[PlaceKey, list[Span]]) -> tuple[str, str, str, str]:
    key = entry[0]
    return key.run or "", key.file, key.item or "", key.field


def of_run(findings: Iterable[Finding], run: str) -> list[Finding]:
    """Return the findings that stand in one run, each with its places in that run alone."""
    cut = ((one, tuple(place for place in one.places if place.run == run)) for one in findings)
    return [msgspec.structs.replace(one, places=places) for one, places in cut if places]
