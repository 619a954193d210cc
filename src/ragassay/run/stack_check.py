"""Whether each row's stack of a board works: it is built over the board's corpus, counted, and asked one question."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Literal

import msgspec

from ragassay import plugins
from ragassay.corpus import read_corpus
from ragassay.errors import InputError, PluginError, RagassayError, StackError, legible
from ragassay.question import evidence_chunks, match_evidence
from ragassay.records import JSON, Benchmark, Chunk, Corpus, Retrieval
from ragassay.retrieve import search
from ragassay.run.board_file import BoardFile, RowTable
from ragassay.run.budget import Budget
from ragassay.run.build import Keys, Report, StackBuilder, check_stack, described, make_chunker, owns_corpus
from ragassay.run.gathered import Gathered
from ragassay.run.preflight import oracle_left_out
from ragassay.run.prepared import embedding_notes
from ragassay.run.question_sets.frozen import load_questions
from ragassay.run.search_threads import SearchThreads
from ragassay.run.workspace import Workspace
from ragassay.seams import Progress, Retriever

State = Literal["answers", "failed", "wrong input", "left out"]
Step = Literal["import", "build", "count", "describe", "search"]


class RowChecked(msgspec.Struct, kw_only=True):
    """What became of one row's stack; a member is None where it was not reached, or where the stack does not say."""

    row: str
    kind: str
    state: State = "answers"
    problem: str | None = None
    """Why it failed, was wrong or is left out."""
    step: Step | None = None
    """What it failed at."""
    retryable: bool = False
    """True where the stack says that asking again may help."""
    build_ms: int | None = None
    indexed: int | None = None
    """How many passages it holds: its own count, or how many chunks it said were done when it was built."""
    counted: bool = False
    """True where `indexed` is the count of the stack itself, asked after it was built."""
    describe: JSON | None = None
    retrieval: Retrieval | None = None
    """What the one question brought; its latency is that of a first, cold search."""
    notes: list[str] = msgspec.field(default_factory=list)


class StacksChecked(msgspec.Struct, frozen=True, kw_only=True):
    """All rows that were checked, and what they were checked with."""

    corpus: str
    """The corpus's digest."""
    pages: int
    chunks: int
    question: str
    """The id of the question that was asked: the first that has evidence in the corpus, else the first."""
    text: str
    rows: Sequence[RowChecked]

    @property
    def exit_code(self) -> int:
        """3 where a service or plugin failed, else 2 where a stack refused its input, else 0."""
        states = {one.state for one in self.rows}
        return 3 if "failed" in states else 2 if "wrong input" in states else 0


def check_stacks(
    board: BoardFile,
    workspace: Workspace,
    *,
    rows: Sequence[str] = (),
    keys: Keys,
    weights_cache: Path,
    report: Report,
    timeout_s: float | None = None,
) -> StacksChecked:
    """Build each row's stack over the board's corpus, count, describe, ask one question; a failing row stops no other.

    `rows` names those to check, all where it is empty. Chunk vectors are kept in the workspace, as a run keeps them.
    Raises `InputError` with every problem of board, questions and stacks at once, before anything is built.
    """
    chosen, benchmark, refused = _checked_input(board, rows)
    corpus = read_corpus(board.corpus, make_chunker(board.chunker), progress=report("corpus"), pdf=board.pdf)
    workspace.prepare()
    by_id = evidence_chunks(benchmark, corpus, match_evidence(benchmark, corpus.pages))
    question = next((one for one in benchmark.questions if one.id in by_id), benchmark.questions[0])
    left_out = oracle_left_out(board, benchmark, len(by_id))
    done = _Done(report)
    builder = StackBuilder(
        corpus.chunks,
        evidence={one.input: by_id[one.id] for one in benchmark.questions if one.id in by_id},
        cache=workspace.cache,
        weights_cache=weights_cache,
        report=done,
        keys=keys,
        budget=Budget(board.max_microusd, max_tokens=board.max_tokens),
        folder=board.path.parent,
    )
    checked = []
    for row in chosen:
        one = RowChecked(row=row.name, kind=row.stack["kind"])
        if row.name in left_out:
            one.state, one.problem = "left out", left_out[row.name]
        elif row.name in refused:
            _failed(one, "import", refused[row.name])
        else:
            _check(one, row, builder, done, corpus, question.input, timeout_s or row.timeout_s)
        checked.append(one)
    return StacksChecked(
        corpus=corpus.digest(),
        pages=len(corpus.pages),
        chunks=len(corpus.chunks),
        question=question.id,
        text=question.input,
        rows=checked,
    )


def _checked_input(board: BoardFile, names: Sequence[str]) -> tuple[list[RowTable], Benchmark, dict[str, PluginError]]:
    """Return the rows to check, the questions, and the rows whose plugin cannot be imported."""
    problems = Gathered()
    known = [row.name for row in board.rows]
    if unknown := [name for name in names if name not in known]:
        problems.of(lambda: _no_row(board, unknown))
    chosen = [row for row in board.rows if not names or row.name in names]
    refused: dict[str, PluginError] = {}
    benchmark = problems.of(lambda: load_questions(board.benchmark))
    problems.of(lambda: make_chunker(board.chunker))
    for row in chosen:
        try:
            _declares(row.stack["kind"])
            problems.of(lambda row=row: check_stack(row.stack, f"row {row.name!r}"))  # type: ignore[misc]
        except PluginError as error:
            refused[row.name] = error
    problems.raise_all(f"the stacks of {board.path.name} cannot be checked")
    assert benchmark is not None
    return chosen, benchmark, refused


def _declares(kind: str) -> None:
    """Raise `PluginError` for a class that lacks what every stack declares; an unknown kind is left to others."""
    if kind not in plugins.names("stacks"):
        return
    plugin = plugins.load("stacks", kind)
    wanted = {"owns_corpus": bool, "default_parts": Mapping}
    if lacking := [name for name, of in wanted.items() if not isinstance(getattr(plugin, name, None), of)]:
        raise PluginError(f"the class of the stack {kind!r} does not declare {' and '.join(lacking)}")


def _no_row(board: BoardFile, unknown: Sequence[str]) -> None:
    raise InputError(f"{board.path.name} has no row {', '.join(map(repr, unknown))}")


class _Done:
    """Passes the progress of what is built on, and keeps how much each said was done at last."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self.last: dict[str, int] = {}

    def __call__(self, what: str) -> Progress:
        """Return where the progress of `what` goes."""
        onward = self._report(what)

        def progress(done: int, total: int) -> None:
            self.last[what] = done
            onward(done, total)

        return progress


def _check(
    one: RowChecked,
    row: RowTable,
    builder: StackBuilder,
    done: _Done,
    corpus: Corpus,
    text: str,
    timeout_s: float,
) -> None:
    place = f"row {row.name!r}"
    began = perf_counter()
    try:
        retriever = builder.build(row.stack, place)
    except RagassayError as error:
        _failed(one, "build", error)
        return
    one.build_ms = round((perf_counter() - began) * 1000)
    one.indexed = done.last.get(place)
    try:
        for step, work in _steps(one, row, retriever, corpus.chunks, text, timeout_s):
            try:
                work()
            except RagassayError as error:
                _failed(one, step, error)
                break
    finally:
        _close(one, retriever)


def _steps(
    one: RowChecked, row: RowTable, retriever: Retriever, chunks: Sequence[Chunk], text: str, timeout_s: float
) -> Iterator[tuple[Step, Callable[[], None]]]:
    """Yield what is done with a built stack, in order, by its name."""

    def describe() -> None:
        one.describe = described(retriever, f"row {row.name!r}")
        one.notes += embedding_notes(one.describe)

    def ask() -> Retrieval:
        return search(
            retriever,
            text,
            chunks={chunk.id: chunk for chunk in chunks},
            owns_corpus=owns_corpus(row.stack["kind"], retriever),
            top_k=None if row.stack["kind"] == "oracle" else row.top_k,
            threshold=row.threshold,
            control=row.stack["kind"] == "none",
        )

    def search_once() -> None:
        one.retrieval = asyncio.run(SearchThreads(row.name).run(ask, timeout_s))

    yield "count", lambda: _count(one, retriever)
    yield "describe", describe
    yield "search", search_once


def _count(one: RowChecked, retriever: Retriever) -> None:
    """Ask the stack how much it holds, where it has a method `count`."""
    count = getattr(retriever, "count", None)
    if not callable(count):
        return
    try:
        found = count()
    except RagassayError:
        raise
    except Exception as error:  # an outside plugin may raise anything
        raise StackError(f"the stack cannot count: {type(error).__name__}: {legible(error)}") from error
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise StackError(f"the stack counts {found!r:.80}, which is no number of passages")
    one.indexed, one.counted = found, True


def _failed(one: RowChecked, step: Step, error: Exception) -> None:
    one.state = "wrong input" if isinstance(error, InputError) else "failed"
    one.problem = legible(error)
    one.step = step
    one.retryable = isinstance(error, PluginError) and error.retryable


def _close(one: RowChecked, retriever: Retriever) -> None:
    try:
        retriever.close()
    except Exception as error:  # noqa: BLE001 - it has answered: an outside stack's end is only told
        one.notes.append(f"the stack could not be closed: {type(error).__name__}: {legible(error)}")
