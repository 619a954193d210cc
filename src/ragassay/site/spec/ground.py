"""What every section of a specification is written from: the board, its main table, its runs, and where they stand.

Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import msgspec

from ragassay.manifest.statement import RunDocument
from ragassay.records import Benchmark, Config
from ragassay.site.loaded import LoadedRun
from ragassay.site.numbers import exact
from ragassay.site.paths import TablePaths, downloads, run_paths, table_paths
from ragassay.site.record import Board, BoardRow, Pair, Table
from ragassay.site.spec.document import Link, Span, Text

BOARD = "index.html"
VERIFY = "verify.html"
CORPUS = "corpus.html"
JUDGES = "judges.html"
GONE = frozenset({"superseded", "voided", "not_run"})
"""Standings of rows of which no number stands."""


class Ground(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A board with one of its tables, and the runs that it was built from."""

    board: Board
    table: Table
    runs: tuple[LoadedRun, ...]

    @cached_property
    def documents(self) -> dict[str, RunDocument]:
        """Return every verified run by its id."""
        return {run.document.predicate.run_id: run.document for run in self.runs if run.document is not None}

    @cached_property
    def rows(self) -> tuple[BoardRow, ...]:
        """Return the rows of the table that stand and have runs, as the board orders them."""
        return tuple(row for row in self.table.rows if row.runs and row.standing not in GONE)

    @cached_property
    def ranked(self) -> tuple[BoardRow, ...]:
        """Return the ranked rows, best first."""
        return tuple(row for row in self.rows if row.rank is not None)

    @cached_property
    def stacks(self) -> tuple[BoardRow, ...]:
        """Return the rows that are neither control nor oracle."""
        return tuple(row for row in self.rows if row.role == "row")

    def end(self, role: str) -> BoardRow | None:
        """Return the control or the oracle."""
        return next((row for row in self.rows if row.role == role), None)

    @cached_property
    def own(self) -> tuple[LoadedRun, ...]:
        """Return the verified runs of the table's rows."""
        ids = {run.id for row in self.rows for run in row.runs}
        return tuple(run for run in self.runs if run.document is not None and run.document.predicate.run_id in ids)

    def shown(self, row: BoardRow) -> RunDocument | None:
        """Return the run whose score a row shows."""
        return next((self.documents[run.id] for run in row.runs if run.shown and run.id in self.documents), None)

    @cached_property
    def sample(self) -> RunDocument | None:
        """Return one run of the table, which share question set, judge, model and corpus: the first row's shown one."""
        found = (self.shown(row) for row in (*self.stacks, *self.rows))
        return next((run for run in found if run is not None), None)

    @cached_property
    def benchmark(self) -> Benchmark | None:
        """Return the question set of the table."""
        return self.sample.benchmark if self.sample else None

    @cached_property
    def n(self) -> int:
        """Return the number of questions."""
        return self.table.benchmark.items

    def config(self, row: BoardRow) -> Config | None:
        """Return the recorded configuration of a row, None where a republished run has none."""
        run = self.shown(row)
        return run.config if run else None

    @cached_property
    def configs(self) -> dict[str, Config]:
        """Return the recorded configuration of each row that has one, by row key."""
        found = ((row.key, self.config(row)) for row in self.rows)
        return {key: config for key, config in found if config is not None}

    @cached_property
    def paths(self) -> TablePaths:
        """Return where the pages of the table stand."""
        return table_paths(self.table)

    @cached_property
    def run_pages(self) -> Mapping[str, str]:
        """Return the page of each run by run id."""
        return run_paths(list(self.documents.values()))

    @cached_property
    def item_set(self) -> str | None:
        """Return the path of the served question set, None where it is served with its run alone."""
        found = downloads(self.board, list(self.documents.values()))
        own = self.benchmark
        return next((one.path for one in found if own is not None and one.benchmark == own), None)

    def named(self, row: BoardRow) -> Span:
        """Return a row's name, linked to its page."""
        page = self.paths.rows.get(row.key)
        return Link(row.name, page) if page else Text(row.name)

    def score(self, row: BoardRow) -> Span:
        """Return a row's score, linked to the run that has it."""
        return self.of_run(exact(row.score), row)

    def of_run(self, text: str, row: BoardRow) -> Span:
        """Return words linked to the run that a row shows."""
        run = self.shown(row)
        page = self.run_pages.get(run.predicate.run_id) if run else None
        return Link(text, page) if page else Text(text)

    def of_pair(self, text: str, pair: Pair) -> Span:
        """Return words linked to the page that compares two rows."""
        return Link(text, self.paths.pairs[pair.a, pair.b])

    def of_question(self, identity: str) -> Span:
        """Return a question's id, linked to its page."""
        page = self.paths.questions.get(identity)
        return Link(identity, page) if page else Text(identity)

    def pair(self, a: BoardRow, b: BoardRow) -> Pair | None:
        """Return the comparison of two rows, in whatever order it stands."""
        return next((pair for pair in self.table.pairs if {pair.a, pair.b} == {a.key, b.key}), None)


def on_board(text: str) -> Link:
    """Return words linked to the board."""
    return Link(text, BOARD)


def ground_of(board: Board, runs: Sequence[LoadedRun]) -> Ground | None:
    """Return what a specification is written from, None where no run of a table is there."""
    found = board.main
    if found is None:
        return None
    ground = Ground(board=board, table=found, runs=tuple(runs))
    return ground if ground.sample is not None else None
