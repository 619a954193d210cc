"""Do the files of a run hold what its manifest claims? Every digest and every number is computed again. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar, get_args

import msgspec

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest.decode import (
    Outputs,
    ReadConfig,
    decode_benchmark,
    decode_config,
    decode_outputs,
    decode_telemetry,
    question_file,
)
from ragassay.manifest.files import BENCHMARK, CONFIG, FOREIGN, MANIFEST, OUTPUTS, TELEMETRY
from ragassay.manifest.skeleton import lines_root
from ragassay.manifest.statement import RunPredicate, Statement
from ragassay.records import Benchmark, OutputRow, Profile, Score, TelemetryRow
from ragassay.score import count, run_score
from ragassay.verify.delivery import check_delivery
from ragassay.verify.foreign import check_foreign_set
from ragassay.verify.items import check_items
from ragassay.verify.order import check_belonging, check_order, check_telemetry
from ragassay.verify.references import check_benchmark, check_config
from ragassay.verify.report import Findings

T = TypeVar("T")

_DIGEST_CODES = {
    OUTPUTS: "OUTPUTS_DIGEST",
    TELEMETRY: "TELEMETRY_DIGEST",
    CONFIG: "CONFIG_DIGEST",
    BENCHMARK: "BENCHMARK_DIGEST",
    FOREIGN: "BENCHMARK_DIGEST",
}


class Read(msgspec.Struct, frozen=True):
    """The files of a run as values; None where a file is not there or is not what it should be."""

    outputs: Outputs | None
    benchmark: Benchmark | None
    config: ReadConfig | None
    telemetry: tuple[TelemetryRow, ...] | None


def named_digest(name: str, statement: Statement) -> str | None:
    """Return the digest that the manifest gives a file, or None where it names none."""
    predicate = statement.predicate
    if name == OUTPUTS:
        return statement.subject[0].digest.sha256
    if name == question_file(predicate.benchmark):
        return predicate.benchmark.digest.sha256
    ref = {CONFIG: predicate.config, TELEMETRY: predicate.telemetry}.get(name)
    return ref.digest.sha256 if ref else None


def check_contents(
    statement: Statement, files: Mapping[str, bytes], findings: Findings
) -> tuple[OutputRow, ...] | None:
    """Check everything that the files by themselves can show; return the rows where they can be read."""
    predicate = statement.predicate
    for name in (OUTPUTS, TELEMETRY, CONFIG, question_file(predicate.benchmark)):
        _check_digest(name, named_digest(name, statement), files, findings)
    read = _read(predicate, files, findings)
    _check_references(predicate, read, files, findings)
    if read.outputs is None:
        findings.not_made("rows, scores and counts", f"{OUTPUTS} cannot be read")
        return None
    _check_rows(predicate, read, read.outputs, findings)
    return read.outputs.rows


def _check_digest(name: str, wanted: str | None, files: Mapping[str, bytes], findings: Findings) -> None:
    if wanted is None:
        findings.not_made(f"digest of {name}", "the manifest names none, as a republished run may")
    elif name not in files:
        findings.add("FILE_MISSING", f"{name} is missing", name)
    else:
        findings.made(f"digest of {name}")
        if canon.sha256(files[name]) != wanted:
            findings.add(_DIGEST_CODES[name], f"{name} is not the file that was signed", name)


def _read(predicate: RunPredicate, files: Mapping[str, bytes], findings: Findings) -> Read:
    outputs = _decode(decode_outputs, OUTPUTS, files, findings)
    if question_file(predicate.benchmark) == FOREIGN:
        benchmark = check_foreign_set(predicate, files, outputs.rows if outputs else None, findings)
    else:
        benchmark = _decode(decode_benchmark, BENCHMARK, files, findings)
    return Read(
        outputs=outputs,
        benchmark=benchmark,
        config=_decode(decode_config, CONFIG, files, findings) if predicate.config else None,
        telemetry=_decode(decode_telemetry, TELEMETRY, files, findings) if predicate.telemetry else None,
    )


def _decode(decode: Callable[[bytes], T], name: str, files: Mapping[str, bytes], findings: Findings) -> T | None:
    if name not in files:
        return None
    try:
        return decode(files[name])
    except VerifyError as error:
        findings.error(error, name)
        return None


def _check_references(predicate: RunPredicate, read: Read, files: Mapping[str, bytes], findings: Findings) -> None:
    questions = question_file(predicate.benchmark)
    if read.benchmark is None:
        findings.not_made("question set and order", f"the questions of {questions} are not known")
    elif questions == BENCHMARK:
        check_benchmark(predicate, read.benchmark, canon.sha256(files[BENCHMARK]), findings)
    if read.config is None:
        findings.not_made("configuration", _why_not(predicate.config, CONFIG))
    else:
        check_config(predicate, read.config, findings)


def _why_not(named: object, name: str) -> str:
    return f"{name} is not there, or cannot be read" if named else f"the manifest names no {name}"


def _check_rows(predicate: RunPredicate, read: Read, outputs: Outputs, findings: Findings) -> None:
    rows = outputs.rows
    if read.benchmark is not None:
        check_order(rows, read.benchmark, findings)
    check_belonging(rows, predicate, findings)
    questions = {question.id: question for question in read.benchmark.questions} if read.benchmark else {}
    check_items(rows, questions, predicate, _profile(predicate), findings)
    _check_totals(outputs, predicate, findings)
    republished = predicate.provenance.source_kind == "republished"
    measure = read.config.config.measure if read.config and not republished else None
    if measure is not None:
        check_delivery(rows, measure, predicate, findings)
    else:
        why = "the run is republished" if republished else _why_not(predicate.config, CONFIG)
        findings.not_made("retrieval against the configuration", why)
    if read.telemetry is not None:
        check_telemetry(rows, read.telemetry, predicate, findings, measure.threshold if measure else None)
    else:
        findings.not_made("window", _why_not(predicate.telemetry, TELEMETRY))


def _profile(predicate: RunPredicate) -> Profile | None:
    profiles: tuple[Profile, ...] = get_args(Profile)
    return next((name for name in profiles if predicate.metric.id.startswith(f"{name}-judged-by-")), None)


def _check_totals(outputs: Outputs, predicate: RunPredicate, findings: Findings) -> None:
    rows = outputs.rows
    if outputs.content != predicate.content.sha256:
        findings.add("CONTENT_DIGEST", None, OUTPUTS)
    findings.made("content digest")
    _check_skeleton(outputs, predicate, findings)
    _check_run_score(rows, predicate, findings)
    counts = count(rows)
    if counts != predicate.counts:
        findings.add("COUNTS")
    findings.made("counts")
    failed = sum(row.retrieval == "failed" or row.status == "retrieval_failed" for row in rows)
    if failed:
        findings.add("RETRIEVAL_FAILED", f"retrieval failed for {failed} of {counts.asked} questions")
    if counts.missing > counts.asked // 50:
        findings.add("MISSING_ITEMS", f"{counts.missing} of {counts.asked} questions ended without a score")


def _check_skeleton(outputs: Outputs, predicate: RunPredicate, findings: Findings) -> None:
    if predicate.verdicts is None or predicate.lines is None:
        findings.not_made("digests of verdicts and of lines", "the manifest is of version v0.1, which has none")
        return
    if outputs.verdicts != predicate.verdicts.sha256:
        findings.add("VERDICTS_DIGEST", None, OUTPUTS)
    if lines_root(outputs.leaves) != predicate.lines.sha256:
        findings.add("LINES_DIGEST", None, OUTPUTS)
    findings.made("digests of verdicts and of lines")


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
