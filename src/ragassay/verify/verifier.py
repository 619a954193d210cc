"""Bytes in, findings out: everything that a run claims is recomputed from its own files. Pure; never raises."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, get_args

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest.decode import (
    Outputs,
    decode_benchmark,
    decode_config,
    decode_outputs,
    decode_telemetry,
    question_file,
)
from ragassay.manifest.files import (
    BENCHMARK,
    BESIDE,
    CONFIG,
    FOREIGN,
    MANIFEST,
    MAX_BYTES,
    MAX_MEMBERS,
    OUTPUTS,
    TELEMETRY,
)
from ragassay.manifest.statement import RunPredicate, Statement
from ragassay.records import OutputRow, Profile, Score
from ragassay.score import count, run_score
from ragassay.verify.delivery import check_delivery
from ragassay.verify.foreign import check_foreign_set
from ragassay.verify.items import check_items
from ragassay.verify.order import check_belonging, check_order, check_telemetry
from ragassay.verify.policy import Policy
from ragassay.verify.references import check_benchmark, check_config
from ragassay.verify.report import Findings, Report
from ragassay.verify.signature import check_envelope

T = TypeVar("T")

_DIGEST_CODES = {
    OUTPUTS: "OUTPUTS_DIGEST",
    TELEMETRY: "TELEMETRY_DIGEST",
    CONFIG: "CONFIG_DIGEST",
    BENCHMARK: "BENCHMARK_DIGEST",
    FOREIGN: "BENCHMARK_DIGEST",
}


def verify(
    files: Mapping[str, bytes],
    *,
    policy: Policy,
    now: int,
    log: object | None = None,
    registry: object | None = None,
    problems: Sequence[VerifyError] = (),
) -> Report:
    """Check one run, given as file name → bytes, and report every reason against it.

    `now` (Unix seconds) is when the caller checks. `problems` are those that whoever read the files met. `log` and
    `registry` are the transparency log and the key registry; this version reads neither and says so. Whatever the
    bytes are, the result is a report and never an exception.
    """
    findings = Findings()
    for problem in problems:
        findings.error(problem)
    if len(files) > MAX_MEMBERS:
        findings.add("BUNDLE_TOO_LARGE", f"the run has {len(files)} files; {MAX_MEMBERS} are allowed")
        return _report(None, policy, now, findings)
    statement = None
    if MANIFEST in files:
        statement = check_envelope(files[MANIFEST], policy, findings, MANIFEST)
    else:
        findings.add("FILE_MISSING", f"{MANIFEST} is missing", MANIFEST)
    _check_names(files, statement, findings)
    if statement is None:
        findings.not_made("everything that the manifest claims", "the manifest cannot be read")
    else:
        _check_kind(statement.predicate, findings)
        _check_run(statement, files, findings)
        for check, given in (("inclusion in a transparency log", log), ("status of the key in a registry", registry)):
            findings.not_made(check, "none was given" if given is None else "this version reads none")
    return _report(statement, policy, now, findings)


def _check_names(files: Mapping[str, bytes], statement: Statement | None, findings: Findings) -> None:
    for name in sorted(files):
        if name in BESIDE:
            findings.not_made(name, "this version reads neither log nor intent")
        elif name not in MAX_BYTES:
            findings.add("BUNDLE_NAME", f"{name[:200]!r} is no file of a run")
        elif statement is not None and _wanted(name, statement) is None and name != MANIFEST:
            findings.add("BUNDLE_NAME", f"the manifest does not cover {name}", name)


def _wanted(name: str, statement: Statement) -> str | None:
    """Return the digest that the manifest gives a file, or None where it names none."""
    predicate = statement.predicate
    if name == OUTPUTS:
        return statement.subject[0].digest.sha256
    if name in (BENCHMARK, FOREIGN):
        return predicate.benchmark.digest.sha256 if name == question_file(predicate.benchmark) else None
    ref = {CONFIG: predicate.config, TELEMETRY: predicate.telemetry}.get(name)
    return ref.digest.sha256 if ref else None


def _check_kind(predicate: RunPredicate, findings: Findings) -> None:
    kind = predicate.provenance.source_kind
    if kind == "stub":
        findings.add("STUB")
    elif kind == "republished":
        findings.add("REPUBLISHED", _computed_by(predicate))
    if predicate.intent is None:
        findings.add("NO_INTENT")
    else:
        findings.add("NO_INTENT", "the run names an announcement that this version cannot look up")
    findings.add("UNTIMED")
    findings.add("UNWITNESSED")


def _computed_by(predicate: RunPredicate) -> str:
    said, evaluator = predicate.provenance, predicate.provenance.evaluator
    source = f", published at {said.upstream_ref[:200]!r}" if said.upstream_ref is not None else ", without a source"
    return f"the scores were computed elsewhere (by {evaluator.name[:200]!r}{source}); their verdicts cannot be checked"


def _check_run(statement: Statement, files: Mapping[str, bytes], findings: Findings) -> None:
    predicate = statement.predicate
    asked = question_file(predicate.benchmark)
    for name in (OUTPUTS, TELEMETRY, CONFIG, asked):
        _check_digest(name, _wanted(name, statement), files, findings)
    config = _decode(decode_config, CONFIG, files, findings) if predicate.config else None
    telemetry = _decode(decode_telemetry, TELEMETRY, files, findings) if predicate.telemetry else None
    outputs = _decode(decode_outputs, OUTPUTS, files, findings)
    if asked == FOREIGN:
        benchmark = check_foreign_set(predicate, files, outputs.rows if outputs else None, findings)
    elif (benchmark := _decode(decode_benchmark, BENCHMARK, files, findings)) is not None:
        check_benchmark(predicate, benchmark, canon.sha256(files[BENCHMARK]), findings)
    if config is not None:
        check_config(predicate, config, findings)
    if outputs is None:
        findings.not_made("rows, scores and counts", f"{OUTPUTS} cannot be read")
        return
    rows = outputs.rows
    if benchmark is not None:
        check_order(rows, benchmark, findings)
    check_belonging(rows, predicate, findings)
    questions = {question.id: question for question in benchmark.questions} if benchmark else {}
    check_items(rows, questions, predicate, _profile(predicate), findings)
    _check_totals(outputs, predicate, findings)
    measure = config.config.measure if config and predicate.provenance.source_kind != "republished" else None
    if measure is not None:
        check_delivery(rows, measure, predicate, findings)
    if telemetry is not None:
        check_telemetry(rows, telemetry, predicate, findings, measure.threshold if measure else None)


def _check_digest(name: str, wanted: str | None, files: Mapping[str, bytes], findings: Findings) -> None:
    if wanted is None:
        findings.not_made(f"digest of {name}", "the manifest names none, as a republished run may")
    elif name not in files:
        findings.add("FILE_MISSING", f"{name} is missing", name)
    else:
        findings.made(f"digest of {name}")
        if canon.sha256(files[name]) != wanted:
            findings.add(_DIGEST_CODES[name], f"{name} is not the file that was signed", name)


def _decode(decode: Callable[[bytes], T], name: str, files: Mapping[str, bytes], findings: Findings) -> T | None:
    if name not in files:
        return None
    try:
        return decode(files[name])
    except VerifyError as error:
        findings.error(error, name)
        return None


def _profile(predicate: RunPredicate) -> Profile | None:
    profiles: tuple[Profile, ...] = get_args(Profile)
    return next((name for name in profiles if predicate.metric.id.startswith(f"{name}-judged-by-")), None)


def _check_totals(outputs: Outputs, predicate: RunPredicate, findings: Findings) -> None:
    rows = outputs.rows
    if outputs.content != predicate.content.sha256:
        findings.add("CONTENT_DIGEST", None, OUTPUTS)
    findings.made("content digest")
    _check_run_score(rows, predicate, findings)
    counts = count(rows)
    if counts != predicate.counts:
        findings.add("COUNTS")
    findings.made("counts")
    if counts.retrieval_failed:
        findings.add("RETRIEVAL_FAILED", f"retrieval failed for {counts.retrieval_failed} of {counts.asked} questions")
    if counts.missing > counts.asked // 50:
        findings.add("MISSING_ITEMS", f"{counts.missing} of {counts.asked} questions ended without a score")


def _check_run_score(rows: tuple[OutputRow, ...], predicate: RunPredicate, findings: Findings) -> None:
    try:
        score = run_score(row.score for row in rows)
    except ValueError as error:
        findings.add("RUN_SCORE", f"the run's score cannot be computed: {error}", OUTPUTS)
    else:
        if score != predicate.score:
            findings.add("RUN_SCORE", f"the items make it {_shown(score)}, not {_shown(predicate.score)}", MANIFEST)
    findings.made("run score")


def _shown(score: Score | None) -> str:
    return "no score" if score is None else f"{score.num}/{score.den} = {score.decimal}"


def _report(statement: Statement | None, policy: Policy, now: int, findings: Findings) -> Report:
    found, made, not_made = findings.results()
    if statement is None:
        return Report(findings=found, made=made, not_made=not_made, checked_at=now, pinned=policy.key is not None)
    predicate = statement.predicate
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
        pinned=policy.key is not None,
    )
