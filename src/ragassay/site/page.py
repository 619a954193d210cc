"""What every page of a site is made from: the board, its runs, where each page stands, and the templates. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ragassay.manifest.statement import RunDocument
from ragassay.site.loaded import LoadedRun
from ragassay.site.paths import Download, TablePaths, downloads, run_paths, table_paths
from ragassay.site.record import Board, BoardRow, Table
from ragassay.site.render import environment

PLACES = (
    ("index.html", "Board"),
    ("compare/index.html", "Compare"),
    ("judges.html", "Judges"),
    ("corpus.html", "Corpus"),
    ("spec.html", "Specification"),
    ("verify.html", "Verify"),
)
"""The pages that every page leads to: path and name."""


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """A table, where its pages stand, and each row that stands with the run that it shows, in the table's order."""

    table: Table
    paths: TablePaths
    shown: tuple[tuple[BoardRow, RunDocument], ...]

    @property
    def names(self) -> dict[str, str]:
        """Return the rows' names by key."""
        return {row.key: row.name for row in self.table.rows}


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """A board with its verified runs by id, and the path of everything that is made of them."""

    board: Board
    runs: tuple[LoadedRun, ...]
    documents: Mapping[str, RunDocument]
    run_paths: Mapping[str, str]
    tables: tuple[Placed, ...]
    benchmarks: tuple[Download, ...]
    log: Mapping[str, bytes]

    @property
    def public(self) -> bool:
        """Tell whether the board is a published one."""
        return self.board.scope == "public"

    def page(self, template: str, path: str, **context: Any) -> bytes:
        """Return the page at `path` (relative to the site's root) from a template.

        `here` is the path where it is one of PLACES, `script` a script of ours that runs in it.
        """
        root = "../" * path.count("/")
        given = {"here": None, "script": None, **context}
        found = environment().get_template(template)
        return found.render(
            board=self.board, root=root, public=self.public, run_paths=self.run_paths, places=PLACES, **given
        ).encode("utf-8")


def site_of(board: Board, runs: Sequence[LoadedRun], log: Mapping[str, bytes] | None) -> Site:
    """Return the parts of a site."""
    documents = [run.document for run in runs if run.document is not None]
    by_id = {document.predicate.run_id: document for document in documents}
    return Site(
        board=board,
        runs=tuple(runs),
        documents=by_id,
        run_paths=run_paths(documents),
        tables=tuple(
            Placed(table=table, paths=table_paths(table), shown=tuple(shown_runs(table, by_id)))
            for table in board.tables
        ),
        benchmarks=tuple(downloads(board, documents)),
        log=log or {},
    )


def shown_runs(table: Table, documents: Mapping[str, RunDocument]) -> list[tuple[BoardRow, RunDocument]]:
    """Return each row that stands with the run whose score it shows."""
    return [
        (row, documents[run.id])
        for row in table.rows
        if row.standing != "superseded"
        for run in row.runs
        if run.shown and run.id in documents
    ]
