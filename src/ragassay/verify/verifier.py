"""Bytes in, findings out: everything that a run claims is recomputed from its own files. Pure; never raises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ragassay.errors import VerifyError
from ragassay.manifest.decode import question_file
from ragassay.manifest.files import (
    BENCHMARK,
    BESIDE,
    CONFIG,
    INTENT,
    INTENT_PROOF,
    MANIFEST,
    MAX_BYTES,
    MAX_MEMBERS,
    MAX_TOTAL_BYTES,
    OUTPUTS,
    REDACTION,
    REDACTION_PROOF,
    TELEMETRY,
    is_redacted,
)
from ragassay.manifest.statement import RunPredicate, Statement
from ragassay.manifest.tiles import LogView
from ragassay.verify.announcement import check_plan
from ragassay.verify.contents import WHOLE, Form, check_contents, covers, public_form
from ragassay.verify.policy import Policy
from ragassay.verify.redaction import read_redaction
from ragassay.verify.report import Findings, Report
from ragassay.verify.signature import SignedRun, read_envelope
from ragassay.verify.standing import NOTHING, Reader, Standing, check_registry, check_standing


def verify(
    files: Mapping[str, bytes],
    *,
    policy: Policy,
    now: int,
    log: LogView | None = None,
    registry: bytes | None = None,
    problems: Sequence[VerifyError] = (),
) -> Report:
    """Check one run, given as file name → bytes, and report every reason against it.

    `now` (Unix seconds) is when the caller checks. `log` is the whole log as the caller got it: without it
    PASS_MISSING, RUN_VOIDED and LOG_FORK cannot be found. `registry` is the signed key registry; without it one beside
    the run is used. `problems` are those that whoever read the files met. Whatever the bytes are, the result is a
    report and never an exception.
    """
    findings = Findings()
    for problem in problems:
        findings.error(problem)
    total = sum(map(len, files.values()))
    if len(files) > MAX_MEMBERS or total > MAX_TOTAL_BYTES:
        allowed = f"{MAX_MEMBERS} and {MAX_TOTAL_BYTES} are allowed"
        findings.add("BUNDLE_TOO_LARGE", f"the run has {len(files)} files of {total} bytes; {allowed}")
        return _report(None, NOTHING, now, findings)
    run = None
    if MANIFEST in files:
        run = read_envelope(files[MANIFEST], findings, MANIFEST)
    else:
        findings.add("FILE_MISSING", f"{MANIFEST} is missing", MANIFEST)
    form = WHOLE
    if run is not None and is_redacted(files):
        form = public_form(read_redaction(run, files, now, findings), files)
    _check_sizes(files, findings)
    _check_names(files, run.statement if run else None, form, findings)
    reader = Reader(policy=policy, now=now, log=log, registry=check_registry(files, registry, findings))
    if run is None:
        findings.not_made("everything that the manifest claims", "the manifest cannot be read")
        return _report(None, NOTHING, now, findings)
    _check_kind(run.statement.predicate, findings)
    standing = check_standing(run, files, reader, findings, form.redaction.signed if form.redaction else None)
    rows = check_contents(run.statement, files, findings, form)
    if standing.intent is not None:
        check_plan(run.statement.predicate, standing.intent.predicate, rows, findings)
    report = _report(run, standing, now, findings)
    kept = form.redaction.kept if form.redaction is not None else None
    return report if kept is None else msgspec.structs.replace(report, withheld=kept)


def verify_run(
    manifest: bytes,
    *,
    outputs: bytes,
    benchmark: bytes,
    config: bytes | None = None,
    telemetry: bytes | None = None,
    policy: Policy,
    now: int,
) -> Report:
    """Check one run whose files the caller holds one by one; a foreign question set is taken for what it is.

    Announcement, proofs and registry have their place in `verify`, to which this is a short way.
    """
    findings = Findings()
    run = read_envelope(manifest, findings, MANIFEST)
    questions = question_file(run.statement.predicate.benchmark) if run else BENCHMARK
    given = {MANIFEST: manifest, OUTPUTS: outputs, questions: benchmark, CONFIG: config, TELEMETRY: telemetry}
    return verify({name: data for name, data in given.items() if data is not None}, policy=policy, now=now)


def _check_sizes(files: Mapping[str, bytes], findings: Findings) -> None:
    """Check what stands beside a run's own files, each of which has its cap where it is read."""
    for name, most in BESIDE.items():
        if len(files.get(name, b"")) > most:
            findings.add("BUNDLE_TOO_LARGE", f"{name} has {len(files[name])} bytes; {most} are allowed", name)


def _check_names(files: Mapping[str, bytes], statement: Statement | None, form: Form, findings: Findings) -> None:
    for name in sorted(files):
        if name not in MAX_BYTES and name not in BESIDE:
            findings.add("BUNDLE_NAME", f"{name[:200]!r} is no file of a run")
        elif statement is None or name == MANIFEST:
            continue
        elif name in MAX_BYTES and not covers(name, statement, form):
            whose = "the manifest does" if form is WHOLE else "manifest and redaction do"
            findings.add("BUNDLE_NAME", f"{whose} not cover {name}", name)
        elif name in (REDACTION, REDACTION_PROOF) and form is WHOLE:
            findings.add("BUNDLE_NAME", f"nothing is withheld from {OUTPUTS}, and there is {name}", name)
        elif name in (INTENT, INTENT_PROOF) and statement.predicate.intent is None:
            findings.add("BUNDLE_NAME", f"the manifest names no announcement, and there is {name}", name)


def _check_kind(predicate: RunPredicate, findings: Findings) -> None:
    kind = predicate.provenance.source_kind
    if kind == "stub":
        findings.add("STUB")
    elif kind == "republished":
        findings.add("REPUBLISHED", _computed_by(predicate))


def _computed_by(predicate: RunPredicate) -> str:
    said, evaluator = predicate.provenance, predicate.provenance.evaluator
    source = f", published at {said.upstream_ref[:200]!r}" if said.upstream_ref is not None else ", without a source"
    return f"the scores were computed elsewhere (by {evaluator.name[:200]!r}{source}); their verdicts cannot be checked"


def _report(run: SignedRun | None, standing: Standing, now: int, findings: Findings) -> Report:
    found, made, not_made = findings.results()
    if run is None:
        return Report(findings=found, made=made, not_made=not_made, checked_at=now)
    predicate = run.statement.predicate
    return Report(
        findings=found,
        made=made,
        not_made=not_made,
        checked_at=now,
        run_id=predicate.run_id,
        row=predicate.row.name,
        pass_k=predicate.pass_.k,
        pass_of=predicate.pass_.of,
        source_kind=predicate.provenance.source_kind,
        benchmark=f"{predicate.benchmark.id} {predicate.benchmark.version}",
        metric=predicate.metric.id,
        score=predicate.score,
        counts=predicate.counts,
        fingerprint=predicate.signer.kid,
        signer_name=predicate.signer.name,
        pinned=standing.pinned,
        key_status=standing.key_status,
        witnessed_at=standing.witnessed_at,
        announced=standing.announced,
    )
