"""What a whole log says of one run: whether it was rewritten, the run voided, a planned pass left out. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ragassay import canon
from ragassay.manifest.statement import IntentRef
from ragassay.manifest.tiles import LogView
from ragassay.verify.audit import Accept, AnnouncedRow, Audit, PassState, audit
from ragassay.verify.inclusion import Place
from ragassay.verify.policy import Policy
from ragassay.verify.report import Finding, Findings, Passes, finding
from ragassay.verify.signature import SignedRun

LOG = "log"
CHECK = "the log as a whole (entries rewritten or cut off, runs voided, passes missing)"


def check_log(
    run: SignedRun,
    redaction: bytes | None,
    places: Sequence[Place | None],
    *,
    policy: Policy,
    accept: Accept,
    log: LogView | None,
    findings: Findings,
) -> Passes | None:
    """Hold the run against the log that was given; return how the announced passes ended, where it says so.

    `redaction` is the envelope of the run's redaction, where it has one; `places` are those of the run, of its
    announcement and of its redaction; `accept` tells which statements of the log are by the run's
    publisher.
    """
    if log is None:
        findings.not_made(CHECK, "no log was given")
        return None
    findings.made(CHECK)
    if policy.logs and not any(log.checkpoint.signed_by(key) for key in policy.logs):
        findings.add("LOG_INCLUSION", "the given log is not signed by a trusted one", LOG)
    for place in places:
        if place is not None:
            _check_prefix(place, log, findings)
    if run.data not in log.entries:
        findings.add("UNWITNESSED", "the given log does not hold the run", LOG)
    if redaction is not None and redaction not in log.entries:
        findings.add("UNWITNESSED", "the given log does not hold the redaction", LOG)
    audited = _audited(log, accept)
    _check_run(run, redaction, log, audited, findings)
    ref = run.statement.predicate.intent
    row = _announced(ref, log, audited, findings) if ref is not None else None
    return _check_passes(run, row, findings) if row is not None else None


def _audited(log: LogView, accept: Accept) -> Audit:
    """Return the audit of the log; the runs of one publisher share it."""
    try:
        hash(accept)
    except TypeError:  # a policy of one's own that cannot be hashed is asked each time
        return audit(log, accept=accept)
    return _remembered(log, accept)


@lru_cache(maxsize=16)
def _remembered(log: LogView, accept: Accept) -> Audit:
    return audit(log, accept=accept)


def _check_prefix(place: Place, log: LogView, findings: Findings) -> None:
    seen = place.checkpoint
    if seen.origin != log.checkpoint.origin:
        message = f"the given log is {log.checkpoint.origin!r}, the proof is of {seen.origin!r}"
        findings.add("LOG_INCLUSION", message, LOG)
    elif seen.size > log.checkpoint.size:
        message = f"the log has {log.checkpoint.size} entries; it had {seen.size} when the proof was made"
        findings.add("LOG_FORK", message, LOG)
    elif log.root_at(seen.size) != seen.root:
        findings.add("LOG_FORK", f"the first {seen.size} entries are not those of the proof's checkpoint", LOG)


def _check_run(run: SignedRun, redaction: bytes | None, log: LogView, audited: Audit, findings: Findings) -> None:
    """Note what the audit has against the entries that are this run or its redaction."""
    for problem in audited.problems:
        if log.entries[problem.index] in (run.data, redaction):
            findings.add(problem.code, problem.message, LOG)
    for voided in audited.voided:
        if log.entries[voided.index] == run.data:
            findings.extend([_no_longer_counts(voided.reason)])


def _announced(ref: IntentRef, log: LogView, audited: Audit, findings: Findings) -> AnnouncedRow | None:
    """Return what the log says of the announcement that the run names; there is none where another entry stands."""
    if ref.log != log.checkpoint.origin:
        message = f"the given log is {log.checkpoint.origin!r}, the announcement is in {ref.log!r}"
        findings.add("LOG_INCLUSION", message, LOG)
    elif not 0 <= ref.index < len(log.entries) or canon.sha256(log.entries[ref.index]) != ref.digest.sha256:
        findings.add("LOG_FORK", f"entry {ref.index} is not the announcement that the run names", LOG)
    else:
        return next((row for row in audited.rows if row.index == ref.index), None)
    return None


def _check_passes(run: SignedRun, row: AnnouncedRow, findings: Findings) -> Passes:
    for planned in row.passes:
        if planned.state == "missing":
            message = f"pass {planned.k} of {len(row.passes)} of entry {row.index} is neither published nor void"
            findings.add("PASS_MISSING", message, LOG)
        elif planned.state == "void" and planned.run_id == run.statement.predicate.run_id:
            findings.extend([_no_longer_counts(planned.reason)])
    return Passes(published=_of(row, "published"), voided=_of(row, "void"), missing=_of(row, "missing"))


def _no_longer_counts(reason: str | None) -> Finding:
    return finding("RUN_VOIDED", f"the log says that the run no longer counts: {reason}", LOG)


def _of(row: AnnouncedRow, state: PassState) -> tuple[int, ...]:
    return tuple(planned.k for planned in row.passes if planned.state == state)
