"""Executes a signed run again from its own files and its corpus, and says whether the same comes out."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ragassay import __version__
from ragassay.errors import InputError, RagassayError, legible
from ragassay.manifest import RunDocument, decode_run, output_row
from ragassay.manifest.files import WITHHELD
from ragassay.manifest.redaction_statement import decode_withheld
from ragassay.manifest.statement import WithheldRow
from ragassay.records import OutputRow
from ragassay.run.board_file import STACK_TIMEOUT_S
from ragassay.run.budget import Budget
from ragassay.run.course import Course, Order
from ragassay.run.journal import Entry
from ragassay.run.passes import Fixed, PassRun, Row
from ragassay.run.rerun_parts import NotPossible, Rebuilt, check_deterministic, find_corpus, rebuild
from ragassay.run.rerun_rows import Rerun, compared, not_possible
from ragassay.run.search_threads import SearchThreads
from ragassay.run.state import outcomes_of


def rerun(files: Mapping[str, bytes], *, corpus: Path | None = None, workspace: Path | None = None) -> Rerun:
    """Execute a verified run again and compare; whatever hinders it becomes the outcome `not possible` with its reason.

    `files` are those of a run that `verify` accepts. Its corpus is taken from `corpus` (a stored corpus, or the
    documents), else from the `.ragassay` folder `workspace`. Nothing is asked over a network and nothing is kept. Not
    to be called where an event loop is running.
    """
    started = time.perf_counter()
    try:
        document = decode_run(files)
        redacted = decode_withheld(files[WITHHELD]) if WITHHELD in files else ()
        done = _rerun(document, redacted, corpus, workspace)
        made_with = document.config.circumstance.harness if document.config else None
    except InputError as error:
        return not_possible(error.message, error.problems)
    except RagassayError as error:
        return not_possible(str(error))
    except Exception as error:  # noqa: BLE001 - whatever a configuration leads to, it is no answer about the run
        return not_possible(f"executing it again ended in {type(error).__name__}: {legible(error)}")
    took_ms = round((time.perf_counter() - started) * 1000)
    return msgspec.structs.replace(done, made_with=made_with, harness=__version__, took_ms=took_ms)


def _rerun(
    document: RunDocument, redacted: Sequence[WithheldRow], corpus: Path | None, workspace: Path | None
) -> Rerun:
    config, kind = document.config, document.predicate.provenance.source_kind
    if config is None or kind != "measured":
        raise NotPossible(f"it is {kind}: nothing here says how its answers and scores were made")
    if [row.id for row in document.outputs] != [question.id for question in document.benchmark.questions]:
        raise NotPossible("its rows are not the questions of its benchmark")
    check_deterministic(config.measure)
    found = find_corpus(config.measure, corpus, workspace)
    with tempfile.TemporaryDirectory(prefix="ragassay-rerun-") as scratch:
        rebuilt = rebuild(config, document.benchmark, found, Path(scratch))
        try:
            rows = asyncio.run(_execute(document, rebuilt))
        finally:
            rebuilt.retriever.close()
    return compared(document.predicate, document.outputs, rows, redacted)


class _Nowhere:
    """Keeps no record of a step: an interrupted re-execution begins anew."""

    def append(self, entry: Entry) -> int:
        """Let it go."""
        return 0


async def _execute(document: RunDocument, rebuilt: Rebuilt) -> Sequence[OutputRow]:
    """Ask every question the way a pass does, one after the other, and return the rows that a run would hold."""
    config, predicate, benchmark = document.config, document.predicate, document.benchmark
    assert config is not None
    row = Row(
        name=config.row,
        retriever=rebuilt.retriever,
        owns_corpus=False,
        kind=config.measure.stack["entry"]["kind"],
        config=config,
        timeout_s=STACK_TIMEOUT_S,
    )
    fixed = Fixed(
        benchmark=benchmark,
        chunks={chunk.id: chunk for chunk in rebuilt.corpus.chunks},
        answering=rebuilt.answering,
        judge=rebuilt.judge,
        template=rebuilt.template,
        threads={row.name: SearchThreads(row.name)},
        budget=Budget(),
    )
    course = Course(Order(benchmark), config.measure.scorer)
    run = PassRun(row, predicate.pass_.k, predicate.run_id, fixed, _Nowhere(), course)
    try:
        for question in benchmark.questions:
            await run.ask(question)
    finally:
        await rebuilt.answering.close()
    outcomes = outcomes_of(benchmark, course.states, config.measure.scorer)
    if outcomes is None:
        raise NotPossible("not every question came to an end")
    judge = _judge_digest(document)
    return [
        output_row(outcome, question, run=predicate.run_id, pass_k=predicate.pass_.k, judge=judge)
        for outcome, question in zip(outcomes, benchmark.questions, strict=True)
    ]


def _judge_digest(document: RunDocument) -> str:
    """Return the digest of the judge, which stands on each judged row."""
    digest = document.predicate.judge.digest
    if digest is None:
        raise NotPossible("it names no digest of its judge")
    return digest.sha256
