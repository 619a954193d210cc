"""Fairness of the questions to rows: of one that was just built, and of a board's before anything is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec

from ragassay import plugins
from ragassay.corpus import read_corpus
from ragassay.errors import PluginError
from ragassay.question import EvidenceFinding, match_evidence
from ragassay.question.fairness import OWN_TEXTS, SearchedChunks, fairness_of, searched_by
from ragassay.records import JSON, Benchmark, Chunk, Corpus, Fairness
from ragassay.run.board_file import BoardFile, RowTable
from ragassay.run.build import StackBuilder, check_stack, make_chunker, parts_of
from ragassay.run.gathered import Gathered
from ragassay.run.question_sets.frozen import load_questions
from ragassay.seams import PARTS, Progress

SEARCHES_NOTHING = frozenset({"none", "oracle"})
"""Kinds of stacks that look nothing up: retrieval off, and the evidence itself."""

Texts = Literal["board", "own", "nothing", "unknown"]


class RowFairness(msgspec.Struct, frozen=True, kw_only=True):
    """What a row of a board searches, and whether the evidence of each question stands there.

    `fairness` is None for a row that searches nothing; `why` says why something cannot be known.
    """

    row: str
    kind: str
    texts: Texts
    fairness: Fairness | None
    why: str | None = None


class BoardFairness(msgspec.Struct, frozen=True, kw_only=True):
    """All rows of a board over its questions and its corpus."""

    benchmark: Benchmark
    corpus: str
    """The corpus's digest."""
    pages: int
    chunks: int
    rows: Sequence[RowFairness]

    @property
    def lacking(self) -> list[str]:
        """Return the rows in whose texts evidence of a question is absent."""
        return [one.row for one in self.rows if one.fairness is not None and one.fairness.absent]


def built_fairness(
    benchmark: Benchmark,
    corpus: Corpus,
    findings: Sequence[EvidenceFinding],
    entry: JSON,
    builder: StackBuilder,
    *,
    owns: bool,
) -> Fairness | None:
    """Return whether the evidence stands in what the row that `builder` has just built searches.

    None for a row that searches nothing. `findings` say where the evidence stands in the corpus.
    """
    if entry["kind"] in SEARCHES_NOTHING:
        return None
    if owns:
        return OWN_TEXTS
    searched = searched_by(corpus.chunks, [getattr(leaf, "left_out", frozenset()) for leaf in builder.leaves])
    return fairness_of(benchmark, corpus, findings, searched=searched, reads=reading(builder.used))


def reading(embedders: Sequence[Any]) -> Callable[[str], bool] | None:
    """Return what tells whether one of the embedders reads a text to its end; None where not all of them can say."""
    counters = [getattr(embedder, "count_truncated", None) for embedder in embedders]
    if not counters or any(counter is None for counter in counters):
        return None
    return lambda text: any(counter([text]) == 0 for counter in counters if counter is not None)


def board_fairness(board: BoardFile, progress: Progress | None = None) -> BoardFairness:
    """Return whether the evidence stands in what each row of a board will search; nothing is built, asked or written.

    A row whose plugin cannot be imported is unknown, with the reason. Raises `InputError` with every problem of
    questions, corpus and stacks.
    """
    problems = Gathered()
    benchmark = problems.of(lambda: load_questions(board.benchmark))
    chunker = problems.of(lambda: make_chunker(board.chunker))
    refused: dict[str, str] = {}
    for row in board.rows:
        try:
            problems.of(lambda row=row: check_stack(row.stack, f"row {row.name!r}"))  # type: ignore[misc]
        except PluginError as error:
            refused[row.name] = str(error)
    problems.raise_all(f"the fairness of {board.path.name} cannot be looked up")
    assert benchmark is not None
    assert chunker is not None
    corpus = read_corpus(board.corpus, chunker, progress=progress, pdf=board.pdf)
    findings = match_evidence(benchmark, corpus.pages)
    rows = [_unbuilt(row, benchmark, corpus, findings, refused.get(row.name)) for row in board.rows]
    return BoardFairness(
        benchmark=benchmark, corpus=corpus.digest(), pages=len(corpus.pages), chunks=len(corpus.chunks), rows=rows
    )


def _unbuilt(
    row: RowTable, benchmark: Benchmark, corpus: Corpus, findings: Sequence[EvidenceFinding], refused: str | None
) -> RowFairness:
    kind = str(row.stack["kind"])
    if kind in SEARCHES_NOTHING:
        return RowFairness(row=row.name, kind=kind, texts="nothing", fairness=None)
    if refused is not None:
        return RowFairness(row=row.name, kind=kind, texts="unknown", fairness=_nothing_known(benchmark), why=refused)
    if _searches_own(row.stack):
        return RowFairness(
            row=row.name, kind=kind, texts="own", fairness=OWN_TEXTS, why="it searches a corpus of its own"
        )
    searched = _searched(row.stack, corpus.chunks)
    return RowFairness(
        row=row.name,
        kind=kind,
        texts="board",
        fairness=fairness_of(benchmark, corpus, findings, searched=searched),
        why="what it indexes of the board's texts is known once it is built, and recorded by the run"
        if searched.unsure
        else None,
    )


def _nothing_known(benchmark: Benchmark) -> Fairness:
    return Fairness(unknowable=tuple(question.id for question in benchmark.questions))


def _searches_own(entry: JSON) -> bool:
    """Tell whether a stack's hits bring their own texts: its own, or those of a stack inside it that it passes on."""
    for part in parts_of(entry):
        if part.seam != "stacks":
            continue
        plugin = plugins.load("stacks", part.entry["kind"])
        decides = getattr(plugin, "searches_own", None)
        if plugin.owns_corpus if decides is None else decides(part.entry):
            return True
    return False


def _searched(entry: JSON, chunks: Sequence[Chunk]) -> SearchedChunks:
    """Return which chunks the innermost stacks of an entry will see."""
    leaves = [
        part.entry
        for part in parts_of(entry)
        if part.seam == "stacks" and not any(PARTS.get(key) == "stacks" for key in part.entry)
    ]
    found = []
    for leaf in leaves:
        unsearched = getattr(plugins.load("stacks", leaf["kind"]), "unsearched", None)
        found.append(frozenset() if unsearched is None else unsearched(leaf, chunks))
    return searched_by(chunks, found)
