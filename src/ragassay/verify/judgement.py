"""Bytes in, findings out: everything that a judgement of one run claims is recomputed from it and the run. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest.decode import decode_run, decode_statement, question_file
from ragassay.manifest.dsse import decode_base64, decode_envelope
from ragassay.manifest.files import MANIFEST, OUTPUTS, PUBLIC_OUTPUTS, REDACTION, WITHHELD, is_redacted
from ragassay.manifest.judgement import (
    JUDGE,
    JUDGEMENT,
    JUDGEMENT_BYTES,
    REPLIES,
    VERDICTS,
    check_digest,
    count_rows,
    decode_judge,
    decode_replies,
    decode_signed,
    decode_verdicts,
    profile_of,
)
from ragassay.manifest.redaction_statement import decode_redaction, decode_withheld
from ragassay.manifest.statement import JudgementPredicate, Metric, RunDocument
from ragassay.records import JSON, JudgementRow
from ragassay.score import run_score
from ragassay.verify.contents import named_digest
from ragassay.verify.judgement_rows import check_judged_rows, check_replies
from ragassay.verify.policy import SLACK_S, Judgement, Policy
from ragassay.verify.redaction import NOTHING_HIDDEN, Hidden, hidden_of
from ragassay.verify.report import Findings, Report
from ragassay.verify.signer import check_signer
from ragassay.verify.standing import Reader, check_registry

PROOF = "judgement.tlog-proof"
"""Where a proof of inclusion would stand; judgements are not logged."""

T = TypeVar("T")


def verify_judgement(
    files: Mapping[str, bytes],
    *,
    run_files: Mapping[str, bytes],
    policy: Policy,
    now: int,
    registry: bytes | None = None,
    problems: Sequence[VerifyError] = (),
) -> Report:
    """Check one judgement, given as file name → bytes, against the run that it is of, and report every reason.

    `run_files` are those of a run that the caller has verified: that is not done again. `now` is in Unix seconds,
    `registry` the signed key registry (without it one beside the run is used), `problems` are those that whoever read
    the files met. What no code can show is whether the verdicts are right: a stranger reads them, or asks again.
    Whatever the bytes are, the result is a report and never an exception.
    """
    findings = Findings()
    for problem in problems:
        findings.error(problem)
    _check_names(files, findings)
    signed = _attempt(lambda: decode_signed(files[JUDGEMENT]), JUDGEMENT, findings) if JUDGEMENT in files else None
    if signed is None:
        findings.not_made("everything that the judgement claims", f"{JUDGEMENT} cannot be read")
        found, made, not_made = findings.results()
        return Report(findings=found, made=made, not_made=not_made, checked_at=now)
    findings.made("envelope and statement")
    reader = Reader(policy=policy, now=now, registry=check_registry(run_files, registry, findings))
    judged = check_signer(signed, signed.predicate.signer, (JUDGEMENT, PROOF), reader, findings)
    _check_files(signed.predicate, files, run_files, now, findings)
    return _report(signed.predicate, judged, now, findings)


def _check_names(files: Mapping[str, bytes], findings: Findings) -> None:
    for name in sorted(files.keys() - JUDGEMENT_BYTES.keys()):
        findings.add("BUNDLE_NAME", f"{name[:200]!r} is no file of a judgement")
    for name in JUDGEMENT_BYTES:
        if name not in files:
            findings.add("FILE_MISSING", f"{name} is missing", name)


def _attempt(read: Callable[[], T], where: str, findings: Findings) -> T | None:
    try:
        return read()
    except VerifyError as error:
        findings.error(error, where)
        return None


def _check_files(
    predicate: JudgementPredicate,
    files: Mapping[str, bytes],
    run_files: Mapping[str, bytes],
    now: int,
    findings: Findings,
) -> None:
    for name in (VERDICTS, REPLIES, JUDGE):
        if name in files:
            _attempt(lambda name=name: check_digest(name, files[name], predicate), name, findings)  # type: ignore[misc]
    findings.made("digests of the files")
    judge = _read(decode_judge, JUDGE, files, findings)
    rows = _read(decode_verdicts, VERDICTS, files, findings)
    replies = _read(decode_replies, REPLIES, files, findings)
    run, hidden = _run(predicate, run_files, findings)
    if predicate.created > now + SLACK_S:
        findings.add("WINDOW", f"it was signed {predicate.created - now} seconds in the future", JUDGEMENT)
    if rows is None:
        findings.not_made("verdicts, scores and counts", f"{VERDICTS} cannot be read")
    else:
        _check_totals(predicate, rows, findings)
    if run is None:
        findings.not_made("the judgement against its run", "the run is another, or cannot be read")
        return
    _check_judge(predicate, judge, run, findings)
    _check_when(predicate, run, findings)
    if rows is not None:
        _check_order(rows, run, findings)
        check_judged_rows(predicate, rows, run, findings, hidden)
        if replies is not None:
            check_replies(rows, replies, findings)


def _read(decode: Callable[[bytes], T], name: str, files: Mapping[str, bytes], findings: Findings) -> T | None:
    return _attempt(lambda: decode(files[name]), name, findings) if name in files else None


def _run(
    predicate: JudgementPredicate, run_files: Mapping[str, bytes], findings: Findings
) -> tuple[RunDocument | None, Hidden]:
    """Return the run where it is the one that the judgement names, with the outputs that were signed in it.

    Beside it stands which of their texts are withheld.
    """
    if MANIFEST not in run_files:
        findings.add("FILE_MISSING", "the run's own manifest is missing", MANIFEST)
        return None, NOTHING_HIDDEN
    if canon.sha256(run_files[MANIFEST]) != predicate.of.sha256:
        findings.add("ROW_FOREIGN_RUN", "the judgement is of another run than this one", JUDGEMENT)
        return None, NOTHING_HIDDEN
    found = _attempt(lambda: _signed_run(run_files), MANIFEST, findings)
    if found is None:
        return None, NOTHING_HIDDEN
    run, hidden = found
    claimed = (predicate.run_id, predicate.row, predicate.pass_)
    if claimed != (run.predicate.run_id, run.predicate.row, run.predicate.pass_):
        findings.add("ROW_FOREIGN_RUN", "its run id, row or pass is not that of the run that it is of", JUDGEMENT)
    findings.made("run")
    return run, hidden


def _signed_run(run_files: Mapping[str, bytes]) -> tuple[RunDocument, Hidden]:
    """Return the run with answers and questions that are the signed ones, whatever its caller forgot to verify.

    Where texts are withheld these are the answers that the redaction names, and which are missing stands beside.
    """
    run = decode_run(run_files)
    envelope = decode_envelope(run_files[MANIFEST])
    statement = decode_statement(envelope.payload_type, decode_base64(envelope.payload))
    questions = question_file(run.predicate.benchmark)
    hidden, rows, digest = NOTHING_HIDDEN, OUTPUTS, named_digest(OUTPUTS, statement)
    if is_redacted(run_files):
        redaction = decode_redaction(run_files.get(REDACTION, b"")).predicate
        listed = run_files.get(WITHHELD, b"")
        named = (redaction.of.sha256, redaction.withheld.digest.sha256)
        if named != (canon.sha256(run_files[MANIFEST]), canon.sha256(listed)):
            raise VerifyError("the redaction is not of this run, or of another list", code="REDACTION_MISMATCH")
        hidden, rows, digest = hidden_of(decode_withheld(listed)), PUBLIC_OUTPUTS, redaction.outputs.sha256
    wanted = ((rows, digest, "OUTPUTS_DIGEST"), (questions, named_digest(questions, statement), "BENCHMARK_DIGEST"))
    for name, given, code in wanted:
        if canon.sha256(run_files[name]) != given:
            raise VerifyError(f"{name} of the run is not the file that was signed", code=code)
    return run, hidden


def _check_totals(predicate: JudgementPredicate, rows: Sequence[JudgementRow], findings: Findings) -> None:
    if count_rows(rows) != predicate.counts:
        findings.add("COUNTS", None, VERDICTS)
    findings.made("counts")
    try:
        score = run_score(row.score for row in rows)
    except ValueError as error:
        findings.add("RUN_SCORE", f"the score cannot be computed: {error}", VERDICTS)
    else:
        if score != predicate.score:
            findings.add("RUN_SCORE", "the score does not follow from the items", JUDGEMENT)
    findings.made("score")


def _check_judge(predicate: JudgementPredicate, judge: JSON | None, run: RunDocument, findings: Findings) -> None:
    """Check who judged and by which profile: a judge asked again, or shown a null row, is the run's own."""
    if judge is not None and judge["id"] != predicate.judge.id:
        findings.add("CONFIG_MISMATCH", f"`judge.id` is not that of {JUDGE}", JUDGEMENT)
    metric = Metric(id=f"{profile_of(run.predicate.metric.id)}-judged-by-{predicate.judge.id}")
    if predicate.metric != metric:
        findings.add("CONFIG_MISMATCH", "`metric` is not that of the run's profile and this judge", JUDGEMENT)
    if predicate.purpose != "panel" and predicate.judge != run.predicate.judge:
        message = "a judge that is asked again, or shown a null row, is the judge of the run"
        findings.add("JUDGE_MIXED", message, JUDGEMENT)
    findings.made("judge and metric")


def _check_when(predicate: JudgementPredicate, run: RunDocument, findings: Findings) -> None:
    window = run.predicate.window
    if window is not None and predicate.created < window.end - SLACK_S:
        ahead = window.end - predicate.created
        findings.add("WINDOW", f"it was signed {ahead} seconds before the run's last answer", JUDGEMENT)
    findings.made("time")


def _check_order(rows: Sequence[JudgementRow], run: RunDocument, findings: Findings) -> None:
    """Compare the ids of the rows with those of the run."""
    wanted = {row.id: at for at, row in enumerate(run.outputs)}
    found = Counter(row.id for row in rows)
    for name in wanted.keys() - found.keys():
        findings.add("ROW_MISSING", f"item {name!r} has no row", VERDICTS)
    for name, times in found.items():
        if name not in wanted:
            findings.add("ROW_UNKNOWN", f"{name!r} is no item of the run", VERDICTS)
        elif times > 1:
            findings.add("ROW_DUPLICATE", f"item {name!r} has {times} rows", VERDICTS)
    places = [wanted[name] for name in found if name in wanted]
    if places != sorted(places):
        findings.add("ROW_ORDER", f"the rows are not in the order of {OUTPUTS}", VERDICTS)
    findings.made("order")


def _report(predicate: JudgementPredicate, judged: Judgement, now: int, findings: Findings) -> Report:
    found, made, not_made = findings.results()
    return Report(
        findings=found,
        made=made,
        not_made=not_made,
        checked_at=now,
        run_id=predicate.run_id,
        row=predicate.row.name,
        pass_k=predicate.pass_.k,
        pass_of=predicate.pass_.of,
        metric=predicate.metric.id,
        score=predicate.score,
        fingerprint=predicate.signer.kid,
        signer_name=predicate.signer.name,
        pinned=judged.signer == "pinned",
        key_status=judged.key_status,
    )
