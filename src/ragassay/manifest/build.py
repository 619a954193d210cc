"""A finished pass becomes the five files of a run, signed. Pure: the same input and key give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragassay import __version__, canon
from ragassay.manifest import dsse
from ragassay.manifest.encoding import ContentDigest, item_set_digest
from ragassay.manifest.files import BENCHMARK, CONFIG, MANIFEST, OUTPUTS, TELEMETRY
from ragassay.manifest.refs import config_refs
from ragassay.manifest.rows import output_row, telemetry_row
from ragassay.manifest.sign import Signer
from ragassay.manifest.skeleton import VerdictsDigest, figure_leaves, figures_root, line_leaf, lines_root
from ragassay.manifest.statement import (
    PAYLOAD_TYPE,
    RUN_TYPE,
    STATEMENT_TYPE,
    BenchmarkRef,
    Digest,
    DigestOf,
    Evaluator,
    IntentRef,
    PassRef,
    RowRef,
    RunPredicate,
    RunProvenance,
    SignerRef,
    Subject,
    Window,
)
from ragassay.records import Benchmark, Config, Outcome, OutputRow, Record, TelemetryRow, to_json
from ragassay.records.encode import encode_record
from ragassay.score import count, run_score


def build_run(
    *,
    run_id: str,
    pass_k: int,
    config: Config,
    benchmark: Benchmark,
    outcomes: Sequence[Outcome],
    signer: Signer,
    model_invoked: bool = True,
    problems: Mapping[str, Sequence[str]] | None = None,
    intent: IntentRef | None = None,
    registry_version: int | None = None,
) -> dict[str, bytes]:
    """Return the files of a run: run.dsse.json, outputs.jsonl, telemetry.jsonl, config.json, benchmark.json.

    `outcomes` holds one outcome per question in the benchmark's order (`ValueError` otherwise); `problems` says, by
    question id, why each refused judge reply was refused; `intent` is the announcement that was logged before the first
    answer, and `registry_version` that of the key registry that lists the signer. Raises `NotCanonical`, naming the
    question, where a text cannot be written.
    """
    asked = [outcome.question for outcome in outcomes]
    if asked != [question.id for question in benchmark.questions]:
        raise ValueError("the outcomes must be one per question, in the benchmark's order")
    judge = canon.digest(config.measure.judge)
    rows = [
        output_row(outcome, question, run=run_id, pass_k=pass_k, judge=judge)
        for outcome, question in zip(outcomes, benchmark.questions, strict=True)
    ]
    telemetry = [telemetry_row(outcome, (problems or {}).get(outcome.question, ())) for outcome in outcomes]
    files = {
        OUTPUTS: b"".join(map(_line, rows)),
        TELEMETRY: b"".join(map(_line, telemetry)),
        CONFIG: canon.canonical(to_json(config)),
        BENCHMARK: benchmark.full_form(),
    }
    provenance = RunProvenance(
        source_kind="measured",
        model_invoked=model_invoked,
        evaluator=Evaluator(name="ragassay", version=__version__),
    )
    predicate = _predicate(
        run_id, pass_k, config, benchmark, rows, telemetry, files, provenance, intent, signer.ref(registry_version)
    )
    return {MANIFEST: sign_statement(predicate, canon.sha256(files[OUTPUTS]), signer), **files}


def _line(row: OutputRow | TelemetryRow) -> bytes:
    try:
        return encode_record(row) + b"\n"
    except canon.NotCanonical as error:
        raise canon.NotCanonical(f"question {row.id!r}: {error}") from error


def _predicate(
    run_id: str,
    pass_k: int,
    config: Config,
    benchmark: Benchmark,
    rows: Sequence[OutputRow],
    telemetry: Sequence[TelemetryRow],
    files: Mapping[str, bytes],
    provenance: RunProvenance,
    intent: IntentRef | None,
    signer: SignerRef,
) -> RunPredicate:
    refs = config_refs(config)
    content, verdicts = ContentDigest(), VerdictsDigest()
    for row in rows:
        members = to_json(row)
        content.add(members)
        verdicts.add(members)
    return RunPredicate(
        run_id=run_id,
        row=RowRef(name=config.row, key=config.row_key()),
        pass_=PassRef(k=pass_k, of=config.circumstance.passes),
        provenance=provenance,
        intent=intent,
        benchmark=benchmark_ref(benchmark, canon.sha256(files[BENCHMARK])),
        config=DigestOf(digest=Digest(sha256=canon.sha256(files[CONFIG]))),
        telemetry=DigestOf(digest=Digest(sha256=canon.sha256(files[TELEMETRY]))),
        content=Digest(sha256=content.hexdigest()),
        corpus=refs.corpus,
        stack=refs.stack,
        model=refs.model,
        judge=refs.judge,
        metric=refs.metric,
        score=run_score(row.score for row in rows),
        counts=count(rows),
        window=window_of(telemetry),
        signer=signer,
        verdicts=Digest(sha256=verdicts.hexdigest()),
        lines=lines_of(files[OUTPUTS]),
        figures=figures_of(telemetry, files[TELEMETRY]),
    )


def verdicts_of(rows: Sequence[OutputRow]) -> Digest:
    """Return the digest over the rows without the texts that may be withheld."""
    digest = VerdictsDigest()
    for row in rows:
        digest.add(to_json(row))
    return Digest(sha256=digest.hexdigest())


def lines_of(outputs: bytes) -> Digest:
    """Return the root of the tree over the lines of `outputs.jsonl`."""
    return Digest(sha256=lines_root([line_leaf(line) for line in outputs.split(b"\n")[:-1]]))


def figures_of(rows: Sequence[TelemetryRow], telemetry: bytes) -> Digest:
    """Return the root of the tree over the rows of `telemetry.jsonl`, whose bytes are `telemetry`."""
    lines = telemetry.split(b"\n")[:-1]
    leaves = [leaf for row, line in zip(rows, lines, strict=True) for leaf in figure_leaves(to_json(row), line)]
    return Digest(sha256=figures_root(leaves))


def benchmark_ref(benchmark: Benchmark, digest: str) -> BenchmarkRef:
    """Return what a manifest says of the question set whose full form has `digest`."""
    return BenchmarkRef(
        id=benchmark.name,
        version=benchmark.version,
        items=len(benchmark.questions),
        digest=Digest(sha256=digest),
        item_set=Digest(sha256=item_set_digest(benchmark)),
    )


def window_of(telemetry: Sequence[TelemetryRow]) -> Window | None:
    """Return the first and last second at which an answer was there, or None where none was."""
    times = [row.answered_at for row in telemetry if row.answered_at is not None]
    return Window(start=min(times), end=max(times)) if times else None


def sign_statement(predicate: Record, outputs_sha256: str, signer: Signer, predicate_type: str = RUN_TYPE) -> bytes:
    """Return the signed envelope of a statement whose one subject is `outputs.jsonl`."""
    subject = Subject(name=OUTPUTS, digest=Digest(sha256=outputs_sha256))
    statement = {
        "_type": STATEMENT_TYPE,
        "predicateType": predicate_type,
        "subject": [to_json(subject)],
        "predicate": to_json(predicate),
    }
    return sign_payload(canon.canonical(statement), signer)


def sign_payload(payload: bytes, signer: Signer, payload_type: str = PAYLOAD_TYPE) -> bytes:
    """Return the envelope around `payload`, signed by `signer`."""
    signature = signer.sign(dsse.pae(payload_type, payload))
    return dsse.encode_envelope(payload_type=payload_type, payload=payload, keyid=signer.kid, signature=signature)
