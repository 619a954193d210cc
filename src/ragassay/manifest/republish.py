"""Published scores become the files of a run that says `republished`. Pure: the same input and key give the same bytes.

A republished run has three files: manifest, rows and item set. Nothing of it was measured here, so its manifest names
no configuration, corpus, stack, model or time, and its rows carry no verdict.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest.build import lines_of, sign_statement, verdicts_of
from ragassay.manifest.encoding import content_digest, encode_rows, item_set_digest
from ragassay.manifest.files import BENCHMARK, FOREIGN, MANIFEST, OUTPUTS
from ragassay.manifest.foreign import Unreadable, foreign_benchmark
from ragassay.manifest.scores import PublishedScore, PublishedScores
from ragassay.manifest.sign import Signer
from ragassay.manifest.statement import (
    BenchmarkRef,
    Digest,
    Evaluator,
    JudgeRef,
    Metric,
    PassRef,
    RowRef,
    RunPredicate,
    RunProvenance,
)
from ragassay.records import Benchmark, Failure, OutputRow
from ragassay.score import count, run_score

UNKNOWN = "unknown"
NOT_SCORED = Failure(kind="not_scored", message="the published file gives no score for this question")
"""On an item without a score. It counts as unjudged: that there is no score is all that is known of it."""
MAX_NAME, MAX_SOURCE = 200, 1000


class ItemSet(msgspec.Struct, frozen=True, kw_only=True):
    """The questions of a republished run: the file they are kept in, its bytes, and what the manifest says of it."""

    file: str
    data: bytes
    ref: BenchmarkRef
    benchmark: Benchmark


def own_items(benchmark: Benchmark) -> ItemSet:
    """Return a question set in our form, as it is kept with measured runs."""
    data = benchmark.full_form()
    ref = BenchmarkRef(
        id=benchmark.name,
        version=benchmark.version,
        items=len(benchmark.questions),
        digest=Digest(sha256=canon.sha256(data)),
        item_set=Digest(sha256=item_set_digest(benchmark)),
    )
    return ItemSet(file=BENCHMARK, data=data, ref=ref, benchmark=benchmark)


def foreign_items(data: bytes, *, name: str, version: str) -> ItemSet:
    """Return a foreign item set, kept byte for byte; raises `InputError` where its items cannot be read."""
    digest = Digest(sha256=canon.sha256(data))
    try:
        benchmark = foreign_benchmark(data, name=name, version=version)
    except Unreadable as error:
        raise InputError(f"the item set cannot be read, so no score can be held against it: {error}") from error
    ref = BenchmarkRef(id=name, version=version, items=len(benchmark.questions), digest=digest, item_set=digest)
    return ItemSet(file=FOREIGN, data=data, ref=ref, benchmark=benchmark)


class Claimed(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of scores that were computed elsewhere; `source` is an address or a text, None where unknown."""

    row: str
    evaluator: str = UNKNOWN
    evaluator_version: str = UNKNOWN
    source: str | None = None


def republished_run(scores: PublishedScores, items: ItemSet, claimed: Claimed, signer: Signer) -> dict[str, bytes]:
    """Return the files of a republished run: run.dsse.json, outputs.jsonl, and benchmark.foreign or benchmark.json.

    The run's id follows from its content, so that the same scores imported twice are one run. `scores` must be in the
    order of the item set. Raises `InputError` for a name that cannot stand in a manifest.
    """
    _check_names(claimed, items, scores.judge)
    metric = metric_id(items.benchmark.scorer_key, scores.judge, rounded=scores.rounded > 0)
    key = _row_key(claimed, items, scores.judge, metric)
    content = content_digest(_rows("", scores.scores))
    run_id = canon.digest({"content": content, "row": key})[:32]
    rows = _rows(run_id, scores.scores)
    outputs = encode_rows(rows)
    predicate = RunPredicate(
        run_id=run_id,
        row=RowRef(name=claimed.row, key=key),
        pass_=PassRef(k=1, of=1),
        provenance=RunProvenance(
            source_kind="republished",
            model_invoked=False,
            evaluator=Evaluator(name=claimed.evaluator, version=claimed.evaluator_version),
            upstream_ref=claimed.source,
        ),
        intent=None,
        benchmark=items.ref,
        config=None,
        telemetry=None,
        content=Digest(sha256=content),
        corpus=None,
        stack=None,
        model=None,
        judge=JudgeRef(id=scores.judge, digest=None),
        metric=Metric(id=metric),
        score=run_score(row.score for row in rows),
        counts=count(rows),
        window=None,
        signer=signer.ref(),
        verdicts=verdicts_of(rows),
        lines=lines_of(outputs),
    )
    manifest = sign_statement(predicate, canon.sha256(outputs), signer)
    return {MANIFEST: manifest, OUTPUTS: outputs, items.file: items.data}


def metric_id(scorer: str, judge: str, *, rounded: bool) -> str:
    """Return the name of the metric: the scorer, whether scores were rounded on the way in, and the judge."""
    return f"{scorer}{'-rounded-to-hundredths' if rounded else ''}-judged-by-{judge}"


def _row_key(claimed: Claimed, items: ItemSet, judge: str, metric: str) -> str:
    """Return the digest over the row's name and all that is said of where its scores come from."""
    measure = {
        "benchmark": items.ref.digest.sha256,
        "evaluator": {"name": claimed.evaluator, "version": claimed.evaluator_version},
        "judge": judge,
        "metric": metric,
        "sourceKind": "republished",
        "upstreamRef": claimed.source,
    }
    return canon.digest({"name": claimed.row, "measure": canon.digest(measure)})


def _rows(run_id: str, scores: Sequence[PublishedScore]) -> list[OutputRow]:
    return [_row(run_id, score) for score in scores]


def _row(run_id: str, score: PublishedScore) -> OutputRow:
    """Return the row of one item; `off` says that no retrieval is recorded."""
    return OutputRow(
        run=run_id,
        pass_=1,
        id=score.id,
        question=score.question,
        status="judge_failed" if score.score is None else "ok",
        retrieval="off",
        chunks=(),
        answer=score.answer,
        claims=(),
        verdict=None,
        judge=None,
        score=score.score,
        failure=NOT_SCORED if score.score is None else None,
    )


def _check_names(claimed: Claimed, items: ItemSet, judge: str) -> None:
    named = {
        "row": (claimed.row, MAX_NAME),
        "judge": (judge, MAX_NAME),
        "scorer": (items.benchmark.scorer_key, MAX_NAME),
        "evaluator": (claimed.evaluator, MAX_NAME),
        "evaluator version": (claimed.evaluator_version, MAX_NAME),
        "source": (claimed.source, MAX_SOURCE),
        "item set": (items.ref.id, MAX_NAME),
        "item set version": (items.ref.version, MAX_NAME),
    }
    problems = [
        f"{what}: {problem}"
        for what, (text, most) in named.items()
        if text is not None and (problem := _name_problem(text, most)) is not None
    ]
    if problems:
        raise InputError("these names cannot stand in a manifest", problems)


def _name_problem(text: str, most: int) -> str | None:
    if not text.strip():
        return "is empty"
    if len(text) > most:
        return f"has {len(text)} characters, more than the {most} allowed"
    if not text.isprintable():
        return f"{text[:40]!r} holds a character that cannot be printed"
    return "begins or ends with a space" if text != text.strip() else None
