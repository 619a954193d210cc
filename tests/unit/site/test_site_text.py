"""The board in a terminal: aligned, within its columns, complete."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import site_factory as make
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from ragassay.site import build_board, load_runs, render_text
from ragassay.site.numbers import bracket, shown
from ragassay.site.pairtext import find_pair, render_pair
from ragassay.site.record import Board, BoardPlan, PlannedRow
from ragassay.site.safe import fitted, one_line

NOW = make.START + 9_999


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Board:
    """A board with a waiting row, a refused run and a very long name."""
    workspace = tmp_path_factory.mktemp("text")
    bench = make.small_board(workspace)
    name = "qdrant with a name that is far too long for any column"
    ids = make.write_row(workspace, name, "qdrant", bench, make.losing(make.every(5)))
    (workspace / "runs" / ids[0] / "config.json").write_bytes(b"{}")
    names = {"no-retrieval": "none", "oracle": "oracle", "bm25": "bm25", "hybrid": "hybrid", "dense": "dense"}
    rows = [PlannedRow(name=n, stack=k) for n, k in {**names, name: "qdrant", "later": "dense"}.items()]
    plan = BoardPlan(name="Acme docs", rows=tuple(rows), benchmark=bench.digest())
    return build_board(load_runs(workspace, now=NOW), plan=plan, now=NOW)


@pytest.mark.parametrize("width", [80, 100, 140])
def test_no_line_is_wider_than_the_terminal(board: Board, width: int) -> None:
    """Every line fits, whatever the names."""
    assert max(cell_len(line) for line in render_text(board, width).splitlines()) <= width


def test_every_row_stands_in_the_table(board: Board) -> None:
    """Ranked, set apart and waiting rows each have their line, with what they are."""
    lines = render_text(board).splitlines()
    assert any(line.startswith("1 1–") and " hybrid " in line for line in lines)
    assert any("≈" in line and " bm25 " in line for line in lines)
    assert any(line.startswith("oracle    oracle") for line in lines)
    assert any(line.startswith("control   no-retrieval") for line in lines)
    assert any(line.startswith("not run   later") for line in lines)


def test_columns_are_aligned(board: Board) -> None:
    """The axis' 0 and each row's bar begin in the same column."""
    lines = render_text(board).splitlines()
    head = next(line for line in lines if line.startswith("rank"))
    start = head.index(" 0 ") + 1
    bars = [line for line in lines if "├" in line and line[0] in "1234oc"]
    assert len(bars) == 6
    assert all(line[start] in "█├" and line[start - 1] == " " for line in bars)


def test_refused_runs_and_warnings_are_printed(board: Board) -> None:
    """What could not be verified is named with its code; warnings stand in words; the preview says so."""
    text = render_text(board)
    assert "1 run not verified, neither drawn nor ranked:" in text
    assert "CONFIG_DIGEST" in text
    assert "local preview, not published" in text
    assert "! judge noise not recorded" in text


def test_compare_text_either_way_round(board: Board) -> None:
    """A minus B is the negative of B minus A, with wins and losses exchanged and the same p."""
    _, forth = find_pair(board, "bm25", "dense")
    table, back = find_pair(board, "dense", "bm25")
    assert forth.difference is not None
    assert back.difference == f"-{forth.difference}"
    assert (forth.wins, forth.losses, forth.p) == (back.losses, back.wins, back.p)
    text = render_pair(table, back)
    assert "bm25 is higher than dense by .4" in text
    assert "dense − bm25" in text
    assert max(cell_len(line) for line in text.splitlines()) <= 100


def test_deciding_questions_are_listed_with_causes(board: Board) -> None:
    """The questions that decide a comparison come with both rows' numbers and where each lost them."""
    table, pair = find_pair(board, "hybrid", "bm25")
    text = render_pair(table, pair)
    assert "+1.000 q-006" in text
    assert ".000 not retrieved" in text
    assert f"and {len(pair.deciding) - 12} more" in text


@given(st.text(max_size=60), st.integers(1, 30))
def test_fitting_fills_exactly_and_lets_no_control_through(text: str, width: int) -> None:
    """A fitted text takes exactly its cells and holds no control character."""
    line = fitted(text, width)
    assert cell_len(line) == width
    assert all(ord(char) >= 32 and char != "\x7f" for char in line)


def test_steering_characters_are_written_out() -> None:
    """ESC, bidirectional and zero-width controls become their code points; ordinary text of any script stays."""
    assert one_line("\x1b[31mred\u202e\u200b") == "[U+001B][31mred[U+202E][U+200B]"
    assert one_line("naïve שלום 漢字 é\n next") == "naïve שלום 漢字 é next"


def test_no_figure_and_no_note_is_cut(tmp_path: Path) -> None:
    """A wide interval of the gap and many notes take room from the drawing; below that the interval is left out."""
    bench = make.benchmark(12)
    make.write_row(tmp_path, "control", "none", bench, make.losing_first(7))
    make.write_row(tmp_path, "oracle", "oracle", bench, make.losing_first(2))
    make.write_row(tmp_path, "low", "bm25", bench, make.losing_first(12))
    board = build_board(load_runs(tmp_path, now=NOW), now=NOW)
    assert board.main is not None
    gap = next(row.gap for row in board.main.rows if row.name == "low")
    assert gap is not None
    assert gap.share is not None
    whole = f"{shown(gap.share, 2)} {bracket(gap.interval, 2)}"
    assert len(whole) > 16
    assert whole in render_text(board, 100)
    notes = tuple(f"note {n}" for n in range(12))
    noted = msgspec.structs.replace(
        board.main, rows=tuple(msgspec.structs.replace(row, warnings=notes) for row in board.main.rows)
    )
    text = render_text(msgspec.structs.replace(board, tables=(noted,)), 80)
    assert max(cell_len(line) for line in text.splitlines()) <= 80
    assert sum(line.endswith(" abcdefghijkl") for line in text.splitlines()) == 3
    assert "…" not in text


def test_wide_names_are_measured_in_cells(tmp_path: Path) -> None:
    """A name in wide characters gets the room it takes."""
    make.write_row(tmp_path, "検索エンジン一号", "bm25", make.benchmark(12), make.losing_first(2))
    text = render_text(build_board(load_runs(tmp_path, now=NOW), now=NOW), 100)
    assert next(line for line in text.splitlines() if line.startswith("1 ")).split()[2] == "検索エンジン一号"


def test_why_there_is_no_share_of_the_gap_is_said_once(tmp_path: Path) -> None:
    """Without an oracle the table says it; with one that has no number, a note of the row does."""
    bench = make.benchmark(12)
    make.write_row(tmp_path, "control", "none", bench, make.losing_first(12))
    make.write_row(tmp_path, "bm25", "bm25", bench, make.losing_first(3))
    note, warning = "gap not established: no oracle with a number", "no oracle row, so the share of the gap"
    text = render_text(build_board(load_runs(tmp_path, now=NOW), now=NOW), 100)
    assert (note in text, warning in text) == (False, True)
    make.write_row(tmp_path, "oracle", "oracle", bench, lambda n, _: "judge_failed" if n == 1 else "supports")
    text = render_text(build_board(load_runs(tmp_path, now=NOW), now=NOW), 100)
    assert (note in text, warning in text) == (True, False)
