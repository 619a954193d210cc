"""Before a board runs: its files are read, its models and judge made, its rows built. What is wrong is said at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ragassay.answer import template_named
from ragassay.corpus import read_corpus, store_corpus
from ragassay.errors import InputError
from ragassay.plugins.weights import default_cache
from ragassay.records import JSON, Benchmark, Corpus
from ragassay.run import preflight
from ragassay.run.asked import asked_questions
from ragassay.run.board_file import BoardFile, RowTable
from ragassay.run.budget import Budget
from ragassay.run.build import (
    Keys,
    Report,
    StackBuilder,
    make_chunker,
    make_endpoint,
    make_judge,
    naming,
    owns_corpus,
)
from ragassay.run.fairness import built_fairness
from ragassay.run.gathered import Gathered
from ragassay.run.limits import Endpoint
from ragassay.run.passes import Row
from ragassay.run.question_sets.frozen import keep_items
from ragassay.run.row_config import row_config
from ragassay.run.status import RunStatus
from ragassay.run.workspace import Workspace
from ragassay.seams import Judge


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the person who runs it chose."""

    rows: tuple[str, ...] = ()
    """Only these rows; all where empty."""
    subset: int | None = None
    new: bool = False
    """Give up begun passes instead of continuing them."""
    seal: bool = False
    """Sign passes as they are even where a service failed on too many questions."""
    allow_missing_evidence: bool = False
    weights_cache: Path = msgspec.field(default_factory=default_cache)


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is the same for all rows, read and checked."""

    board: BoardFile
    benchmark: Benchmark
    corpus: Corpus
    judge: Judge
    endpoints: Sequence[Endpoint]
    answering: Endpoint
    ready: preflight.Ready
    rows: Sequence[RowTable]
    budget: Budget
    keys: Keys
    """For embedders that are built later."""
    item_manifest: str | None = None
    """The SHA-256 of the item manifest of a frozen question set, kept in the workspace."""


def prepare(board: BoardFile, workspace: Workspace, keys: Keys, options: Options, report: Report) -> Prepared:
    """Read corpus and questions, make model and judge, and check that the board may start."""
    problems = Gathered()
    budget = Budget(board.max_microusd, max_tokens=board.max_tokens)
    asked = problems.of(lambda: asked_questions(board, options.subset, workspace.root))
    chunker = problems.of(lambda: make_chunker(board.chunker))
    answering = problems.of(lambda: make_endpoint(board.answer, keys, budget, options.weights_cache))
    judges = problems.of(lambda: make_judge(board.judge, board.scorer, keys, budget, options.weights_cache))
    problems.of(lambda: template_named(board.template))
    absent = preflight.check_rows(board, problems)
    problems.of(lambda: _known_rows(board, options))
    problems.raise_all(f"{board.path.name} cannot be run as it is")
    preflight.refuse_absent(absent)
    assert asked is not None
    assert chunker is not None
    assert answering is not None
    assert judges is not None
    corpus = read_corpus(board.corpus, chunker, progress=report("corpus"), pdf=board.pdf)
    workspace.prepare()
    store_corpus(corpus, workspace.corpora)
    judge, judging = judges
    benchmark, frozen = asked
    ready = preflight.check(board, benchmark, corpus, judge, allow_missing_evidence=options.allow_missing_evidence)
    return Prepared(
        board=board,
        benchmark=benchmark,
        corpus=corpus,
        judge=judge,
        answering=answering,
        endpoints=[answering, judging] if judging else [answering],
        ready=ready,
        rows=[
            row
            for row in board.rows
            if row.name not in ready.left_out and (not options.rows or row.name in options.rows)
        ],
        budget=budget,
        keys=keys,
        item_manifest=keep_items(workspace, frozen) if frozen else None,
    )


def _known_rows(board: BoardFile, options: Options) -> None:
    unknown = [name for name in options.rows if name not in {row.name for row in board.rows}]
    if unknown:
        raise InputError(f"{board.path.name} has no row {', '.join(map(repr, unknown))}")


def build_rows(
    prepared: Prepared, workspace: Workspace, options: Options, report: Report, status: RunStatus
) -> list[Row]:
    """Build every row's retriever and record its configuration."""
    builder = StackBuilder(
        prepared.corpus.chunks,
        evidence=prepared.ready.evidence,
        cache=workspace.cache,
        weights_cache=options.weights_cache,
        report=report,
        keys=prepared.keys,
        budget=prepared.budget,
        folder=prepared.board.path.parent,
    )
    rows = []
    for table in prepared.rows:
        rows.append(_row(table, prepared, builder))
        described = rows[-1].config.measure.stack["describe"]
        status.notes += [f"{table.name}: {note}" for note in embedding_notes(described)]
    return rows


def _row(table: RowTable, prepared: Prepared, builder: StackBuilder) -> Row:
    """Build one row; `builder` knows afterwards what this row used, and nothing of the row before."""
    builder.leaves.clear()
    builder.used.clear()
    with naming(f"row {table.name!r}"):
        retriever = builder.build(table.stack, f"row {table.name!r}")
    owns = owns_corpus(table.stack["kind"], retriever)
    board = prepared.board
    config = row_config(
        board,
        table,
        benchmark=prepared.benchmark,
        corpus=prepared.corpus,
        retriever=retriever,
        owns_corpus=owns,
        answering=prepared.answering,
        judge=prepared.judge,
        template={"name": board.template, "digest": template_named(board.template).digest()},
        item_manifest=prepared.item_manifest,
        fairness=built_fairness(
            prepared.benchmark, prepared.corpus, prepared.ready.findings, table.stack, builder, owns=owns
        ),
    )
    return Row(
        name=table.name,
        retriever=retriever,
        owns_corpus=owns,
        kind=table.stack["kind"],
        config=config,
        timeout_s=table.timeout_s,
    )


def embedding_notes(described: JSON) -> list[str]:
    """Return, for every embedder inside a stack's description, how many chunks were longer than it reads."""
    notes = []
    for name, value in described.items():
        if name == "truncated_chunks" and value:
            notes.append(f"{value} chunks are longer than the embedder reads; it saw their beginning only")
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                notes += embedding_notes(part)
    return list(dict.fromkeys(notes))
