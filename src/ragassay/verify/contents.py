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
    Took,
    decode_benchmark,
    decode_config,
    decode_outputs,
    decode_telemetry,
    question_file,
)
from ragassay.manifest.files import (
    BENCHMARK,
    CONFIG,
    FOREIGN,
    MANIFEST,
    OUTPUTS,
    PUBLIC_OUTPUTS,
    PUBLIC_TELEMETRY,
    TELEMETRY,
    WITHHELD,
)
from ragassay.manifest.skeleton import figures_root, lines_root
from ragassay.manifest.statement import Digest, RunPredicate, Statement
from ragassay.records import Benchmark, OutputRow, Profile, Score
from ragassay.score import count, run_score
from ragassay.verify.delivery import check_delivery
from ragassay.verify.foreign import check_foreign_set
from ragassay.verify.items import check_items
from ragassay.verify.order import check_belonging, check_order, check_telemetry
from ragassay.verify.redaction import NOTHING_HIDDEN, Hidden, Redaction, check_texts, shown_telemetry
from ragassay.verify.references import check_benchmark, check_config
from ragassay.verify.report import Findings

T = TypeVar("T")

_DIGEST_CODES = {
    OUTPUTS: "OUTPUTS_DIGEST",
    TELEMETRY: "TELEMETRY_DIGEST",
    CONFIG: "CONFIG_DIGEST",
    BENCHMARK: "BENCHMARK_DIGEST",
    FOREIGN: "BENCHMARK_DIGEST",
    PUBLIC_OUTPUTS: "OUTPUTS_DIGEST",
    PUBLIC_TELEMETRY: "TELEMETRY_DIGEST",
}


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """The form in which a run is shown: which files hold its rows, and what of them is withheld.

    `redaction` is None for a run that is shown whole. `known` tells whether what is withheld could be read.
    """

    outputs: str = OUTPUTS
    telemetry: str = TELEMETRY
    redaction: Redaction | None = None
    hidden: Hidden = NOTHING_HIDDEN
    known: bool = True


WHOLE = Form()


def public_form(redaction: Redaction | None, files: Mapping[str, bytes]) -> Form:
    """Return the form of a redacted run; `redaction` is None where it cannot be read."""
    hidden = redaction.hidden if redaction is not None else None
    return Form(
        outputs=PUBLIC_OUTPUTS,
        telemetry=shown_telemetry(redaction, files),
        redaction=redaction,
        hidden=hidden or NOTHING_HIDDEN,
        known=hidden is not None,
    )


class Read(msgspec.Struct, frozen=True):
    """The files of a run as values; None where a file is not there or is not what it should be."""

    outputs: Outputs | None
    benchmark: Benchmark | None
    config: ReadConfig | None
    telemetry: Took | None


def covers(name: str, statement: Statement, form: Form) -> bool:
    """Tell whether the manifest, or the redaction beside it, speaks of a file of a run in this form."""
    if name in (OUTPUTS, PUBLIC_OUTPUTS):
        return name == form.outputs
    if name in (TELEMETRY, PUBLIC_TELEMETRY):
        return name == form.telemetry and statement.predicate.telemetry is not None
    if name == WITHHELD:
        return form.outputs == PUBLIC_OUTPUTS
    return named_digest(name, statement) is not None


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
    statement: Statement, files: Mapping[str, bytes], findings: Findings, form: Form = WHOLE
) -> tuple[OutputRow, ...] | None:
    """Check everything that the files by themselves can show; return the rows where they can be read."""
    predicate = statement.predicate
    for name, digest in ((OUTPUTS, _outputs_digest(statement, form)), (TELEMETRY, _telemetry_digest(statement, form))):
        shown = form.outputs if name == OUTPUTS else form.telemetry
        if shown != name:
            findings.not_made(f"digest of {name}", "it is not published as it was signed")
            findings.show_as(name, shown)
        _check_digest(shown, digest, files, findings)
    for name in (CONFIG, question_file(predicate.benchmark)):
        _check_digest(name, named_digest(name, statement), files, findings)
    read = _read(predicate, files, findings, form)
    _check_references(predicate, read, files, findings)
    if read.outputs is None or not form.known:
        lacking = form.outputs if read.outputs is None else "what is withheld"
        findings.not_made("rows, scores and counts", f"{lacking} cannot be read")
        return None
    _check_rows(predicate, read, read.outputs, findings, form)
    return read.outputs.rows


def _outputs_digest(statement: Statement, form: Form) -> str | None:
    if form.outputs == OUTPUTS:
        return named_digest(OUTPUTS, statement)
    return form.redaction.signed.predicate.outputs.sha256 if form.redaction is not None else None


def _telemetry_digest(statement: Statement, form: Form) -> str | None:
    if form.telemetry == TELEMETRY:
        return named_digest(TELEMETRY, statement)
    named: Digest | None = form.redaction.signed.predicate.telemetry if form.redaction is not None else None
    return named.sha256 if named is not None else None


def _check_digest(name: str, wanted: str | None, files: Mapping[str, bytes], findings: Findings) -> None:
    if wanted is None:
        is_public = name in (PUBLIC_OUTPUTS, PUBLIC_TELEMETRY)
        why = "the redaction cannot be read" if is_public else "the manifest names none, as a republished run may"
        findings.not_made(f"digest of {name}", why)
    elif name not in files:
        findings.add("FILE_MISSING", f"{name} is missing", name)
    else:
        findings.made(f"digest of {name}")
        if canon.sha256(files[name]) != wanted:
            findings.add(_DIGEST_CODES[name], f"{name} is not the file that was signed", name)


def _read(predicate: RunPredicate, files: Mapping[str, bytes], findings: Findings, form: Form) -> Read:
    outputs = _decode(lambda data: decode_outputs(data, form.outputs), form.outputs, files, findings)
    if question_file(predicate.benchmark) == FOREIGN:
        benchmark = check_foreign_set(predicate, files, outputs.rows if outputs else None, findings)
    else:
        benchmark = _decode(decode_benchmark, BENCHMARK, files, findings)
    return Read(
        outputs=outputs,
        benchmark=benchmark,
        config=_decode(decode_config, CONFIG, files, findings) if predicate.config else None,
        telemetry=_decode(lambda data: decode_telemetry(data, form.telemetry), form.telemetry, files, findings)
        if predicate.telemetry
        else None,
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


def _check_rows(predicate: RunPredicate, read: Read, outputs: Outputs, findings: Findings, form: Form) -> None:
    rows, took = outputs.rows, read.telemetry
    if form.redaction is not None:
        check_texts(form.hidden, rows, took.rows if took is not None else None, findings)
    if read.benchmark is not None:
        check_order(rows, read.benchmark, findings)
    check_belonging(rows, predicate, findings)
    questions = {question.id: question for question in read.benchmark.questions} if read.benchmark else {}
    check_items(rows, questions, predicate, _profile(predicate), findings, form.hidden)
    _check_totals(outputs, predicate, findings, form)
    _check_figures(took, predicate, findings, form)
    republished = predicate.provenance.source_kind == "republished"
    measure = read.config.config.measure if read.config and not republished else None
    if measure is not None:
        check_delivery(rows, measure, predicate, findings)
    else:
        why = "the run is republished" if republished else _why_not(predicate.config, CONFIG)
        findings.not_made("retrieval against the configuration", why)
    if took is not None:
        check_telemetry(rows, took.rows, predicate, findings, measure.threshold if measure else None)
    else:
        findings.not_made("window", _why_not(predicate.telemetry, TELEMETRY))


def _profile(predicate: RunPredicate) -> Profile | None:
    profiles: tuple[Profile, ...] = get_args(Profile)
    return next((name for name in profiles if predicate.metric.id.startswith(f"{name}-judged-by-")), None)


def _check_totals(outputs: Outputs, predicate: RunPredicate, findings: Findings, form: Form) -> None:
    rows = outputs.rows
    if form.hidden.lines:
        findings.not_made("content digest", "texts of the rows are withheld")
    else:
        if outputs.content != predicate.content.sha256:
            findings.add("CONTENT_DIGEST", None, OUTPUTS)
        findings.made("content digest")
    _check_skeleton(outputs, predicate, findings, form.hidden)
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


def _check_skeleton(outputs: Outputs, predicate: RunPredicate, findings: Findings, hidden: Hidden) -> None:
    if predicate.verdicts is None or predicate.lines is None:
        findings.not_made("digests of verdicts and of lines", "the manifest is of version v0.1, which has none")
        return
    if outputs.verdicts != predicate.verdicts.sha256:
        findings.add("VERDICTS_DIGEST", None, OUTPUTS)
    if lines_root(hidden.leaves([row.id for row in outputs.rows], outputs.leaves)) != predicate.lines.sha256:
        findings.add("LINES_DIGEST", None, OUTPUTS)
    findings.made("digests of verdicts and of lines")


def _check_figures(took: Took | None, predicate: RunPredicate, findings: Findings, form: Form) -> None:
    if predicate.figures is None or took is None:
        why = "the manifest has none" if predicate.figures is None else f"{form.telemetry} cannot be read"
        findings.not_made("digest of figures", why)
        return
    leaves = form.hidden.telemetry_leaves([row.id for row in took.rows], took.leaves)
    if figures_root(leaves) != predicate.figures.sha256:
        findings.add("LINES_DIGEST", None, TELEMETRY)
    findings.made("digest of figures")


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
