"""Void runs: shown struck with reason and date, counted nowhere, never deleted."""

from __future__ import annotations

from pathlib import Path

import pages_factory as rich
import pytest
import site_factory as make
from test_site_log import workspace

from ragassay.site import LoadedRun, build_board, load_runs, render_text, site_files
from ragassay.site.record import Board, BoardRow
from ragassay.testing.logged_run import NOW as LOG_NOW
from ragassay.testing.logged_run import Story, tell, void_run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[LoadedRun]:
    """All runs of the rich board."""
    return rich.rich(tmp_path_factory.mktemp("void"))


@pytest.fixture(scope="module")
def board(runs: list[LoadedRun]) -> Board:
    """The rich board."""
    return build_board(runs, now=rich.NOW)


def row(board: Board, name: str) -> BoardRow:
    """Return the row of the main table that stands under this name."""
    assert board.main is not None
    return next(row for row in board.main.rows if row.name == name and row.standing != "superseded")


def test_a_run_that_its_log_takes_back_is_read_as_void(tmp_path: Path) -> None:
    """From a real log: it keeps its reason and date, has no document, and counts for no caller that asks for one."""
    space = workspace(tmp_path, tell(Story(after=void_run()), with_log=True))
    (run,) = load_runs(space, now=LOG_NOW)
    assert run.document is None
    assert run.refused is not None
    assert run.refused.startswith("RUN_VOIDED: ")
    assert run.voided is not None
    assert run.voided.at is not None
    assert run.refused == f"RUN_VOIDED: {run.voided.reason}"
    board = build_board([run], now=LOG_NOW)
    assert board.refused == ()
    assert [one.taken_back.reason for one in board.voided] == [run.voided.reason]
    assert "taken back, counted nowhere" in render_text(board)


def test_a_void_run_stands_on_its_row_and_in_no_figure(board: Board, runs: list[LoadedRun]) -> None:
    """The row has the figures that it would have without the run, and lists the run beside the others."""
    without = build_board([run for run in runs if run.voided is None], now=rich.NOW)
    shown, other = row(board, "bm25"), row(without, "bm25")
    assert (shown.score, shown.interval, shown.passes, shown.rank) == (
        other.score,
        other.interval,
        other.passes,
        other.rank,
    )
    assert len(shown.runs) == len(other.runs) + 1
    (line,) = [run for run in shown.runs if run.taken_back]
    assert line.why_not == f"voided: {rich.REASON}"
    assert not line.in_window


def test_a_row_of_void_runs_alone_stays(board: Board) -> None:
    """It has no number and no rank, and says why."""
    found = row(board, "sparse")
    assert (found.standing, found.score, found.rank) == ("voided", None, None)
    assert found.reason == f"voided: {rich.REASON}"


def test_a_void_row_takes_the_place_of_one_that_was_never_run(runs: list[LoadedRun]) -> None:
    """A row of the board file of which only a void run is left is not called 'not run yet' as well."""
    board = build_board(runs, now=rich.NOW, plan=rich.plan("bm25", "sparse"))
    assert board.main is not None
    assert [row.standing for row in board.main.rows if row.name == "sparse"] == ["voided"]


def test_pages_strike_it_with_reason_and_date(board: Board, runs: list[LoadedRun]) -> None:
    """Board and row page say when and why; the run's own page and files are not served."""
    files = site_files(board, runs)
    void = [run.id for run in runs if run.voided is not None]
    for path in ("index.html", "rows/bm25.html", "rows/sparse.html"):
        page = rich.parsed(files[path])
        assert f"voided on 2026-09-21: {rich.REASON}" in page.text_content(), path
        assert page.xpath("//s"), path
    assert not [path for path in files if any(identity in path for identity in void)]
    assert rich.parsed(files["rows/sparse.html"]).xpath("string(//h1/s)") == "sparse"


def test_void_runs_leave_no_board_without_rows(tmp_path: Path) -> None:
    """Where every run is void there is no table, and each is named all the same."""
    make.write_row(tmp_path, "bm25", "bm25", make.benchmark(4), make.losing_first(1), passes=2)
    runs = [rich.voided(run) for run in load_runs(tmp_path, now=rich.NOW)]
    board = build_board(runs, now=rich.NOW)
    assert board.tables == ()
    assert len(board.voided) == 2
    assert rich.REASON in rich.words(site_files(board, runs)["index.html"])


def test_many_void_runs_are_counted_in_the_terminal(tmp_path: Path) -> None:
    """Ten are named, the others counted; the data names all."""
    make.write_row(tmp_path, "bm25", "bm25", make.benchmark(2), make.losing_first(1), passes=12)
    board = build_board([rich.voided(run) for run in load_runs(tmp_path, now=rich.NOW)], now=rich.NOW)
    assert "x and 2 more; `ragassay board --json` names all" in render_text(board)
    assert len(board.voided) == 12
