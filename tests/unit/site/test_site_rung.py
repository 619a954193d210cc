"""The rung of each run: what a workspace saw when it executed a run again, told beside what is signed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import site_factory as make

from ragassay import canon
from ragassay.manifest import MANIFEST
from ragassay.records import Reexecution, to_json
from ragassay.site import build_board, load_runs, render_text, site_files
from ragassay.site.loaded import LoadedRun
from ragassay.site.record import Board, BoardRow

NOW = make.START + 10_000


@pytest.fixture
def space(tmp_path: Path) -> Path:
    """A workspace with a control and one row, each in three passes over twelve questions."""
    bench = make.benchmark(12)
    make.write_row(tmp_path, "no-retrieval", "none", bench, make.losing_first(12))
    make.write_row(tmp_path, "bm25", "bm25", bench, make.losing_first(3))
    return tmp_path


def _ids(space: Path, row: str) -> list[str]:
    return [r.id for r in load_runs(space, now=NOW) if r.document is not None and r.document.predicate.row.name == row]


def _record(space: Path, run_id: str, **changes: Any) -> None:
    manifest = canon.sha256((space / "runs" / run_id / MANIFEST).read_bytes())
    day = 1_796_083_200
    record = Reexecution(
        run=run_id, manifest=manifest, outcome="equal", rows=12, differing=0, content="c", harness="9.9", at=day
    )
    data = canon.canonical(to_json(msgspec.structs.replace(record, **changes)))
    (space / "reexecutions").mkdir(exist_ok=True)
    (space / "reexecutions" / f"{run_id}.json").write_bytes(data)


def _board(space: Path) -> tuple[Board, list[LoadedRun]]:
    runs = load_runs(space, now=NOW)
    return build_board(runs, now=NOW), runs


def _row(board: Board, name: str = "bm25") -> BoardRow:
    assert board.main is not None
    return next(row for row in board.main.rows if row.name == name)


def test_a_row_is_re_executed_when_every_run_of_its_window_is(space: Path) -> None:
    """Two of three leave the row measured; three of three put it on the rung, on page, terminal and in the data."""
    first, second, third = _ids(space, "bm25")
    for run in (first, second):
        _record(space, run)
    board, _ = _board(space)
    assert _row(board).rung == "measured"
    assert sorted(run.rung for run in _row(board).runs) == ["measured", "re-executed", "re-executed"]
    assert "re-executed here" not in render_text(board)
    _record(space, third)
    board, runs = _board(space)
    assert _row(board).rung == "re-executed"
    assert _row(board, "no-retrieval").rung == "measured"
    assert "re-executed here with equal content, counts and score: bm25" in " ".join(render_text(board).split())
    page = site_files(board, runs)["index.html"].decode()
    assert page.count("re-executed here: equal") == 1
    assert "what this workspace saw and no part of what is signed" in page


def test_the_page_of_a_run_says_whose_observation_it_is(space: Path) -> None:
    """The check names day and version, and says that it is no part of what is signed."""
    (run, *_) = _ids(space, "bm25")
    _record(space, run)
    board, runs = _board(space)
    files = site_files(board, runs)
    page = next(data.decode() for path, data in files.items() if path == f"runs/{run}.html")
    assert "re-executed with equal content, counts and score on 2026-12-01 with ragassay 9.9" in page
    assert "it is no part of what is signed" in page


def test_a_run_that_came_out_different_gives_no_number(space: Path) -> None:
    """It stays on the board as a failed check, is not eligible, and board and row say so."""
    first, *others = _ids(space, "bm25")
    _record(space, first, outcome="different", differing=2)
    board, runs = _board(space)
    row = _row(board)
    assert {run.id: run.in_window for run in row.runs} == {first: False, **dict.fromkeys(others, True)}
    for other in others:
        _record(space, other)
    assert _row(_board(space)[0]).rung == "measured"
    why = next(run.why_not for run in row.runs if run.id == first)
    assert why == "RERUN_DIFFERS: executed again, 2 of 12 rows came out different"
    assert any(said == "RERUN_DIFFERS: 1 run not counted, different when executed again" for said in row.warnings)
    assert board.warnings[0].startswith("RERUN_DIFFERS in 1 of 6 runs")
    loaded = next(run for run in runs if run.id == first)
    assert loaded.checks[0].severity == "fail"
    assert "RERUN_DIFFERS" in render_text(board)
    page = site_files(board, runs)
    text = next(data.decode() for path, data in page.items() if path == f"runs/{first}.html")
    assert "<code>RERUN_DIFFERS</code>" in text


def test_a_row_of_which_every_run_came_out_different_is_not_ranked(space: Path) -> None:
    """With no run left that counts, the row has no rank and its reason is the difference."""
    for run in _ids(space, "bm25"):
        _record(space, run, outcome="different", differing=1)
    row = _row(_board(space)[0])
    assert (row.standing, row.rank) == ("unranked", None)
    assert (row.reason or "").startswith("RERUN_DIFFERS")


@pytest.mark.parametrize(
    "changes", [{"manifest": "0" * 64}, {"run": "f" * 32}], ids=["other bytes", "another run's record"]
)
def test_a_record_of_other_bytes_has_no_effect(space: Path, changes: dict[str, Any]) -> None:
    """A record that was made of another manifest is told as a check that was not made; the run stays measured."""
    (run, *_) = _ids(space, "bm25")
    _record(space, run, **changes)
    board, runs = _board(space)
    assert {one.rung for one in _row(board).runs} == {"measured"}
    checks = next(one for one in runs if one.id == run).checks
    assert "re-execution: the record is of other bytes than this run's" in [c.text for c in checks]


@pytest.mark.parametrize("data", [b"", b"{", b'{"run":1}', b"\xff\xfe", b"[" * 20_000, b'{"at":1.5}'])
def test_a_record_that_cannot_be_read_is_told(space: Path, data: bytes) -> None:
    """Damaged, oversized and foreign bytes are a check that was not made, and no run gains a rung by them."""
    (run, *_) = _ids(space, "bm25")
    (space / "reexecutions").mkdir()
    (space / "reexecutions" / f"{run}.json").write_bytes(data)
    board, runs = _board(space)
    assert {one.rung for one in _row(board).runs} == {"measured"}
    checks = next(one for one in runs if one.id == run).checks
    assert any(c.severity == "not_made" and "cannot be read" in c.text for c in checks)


@pytest.mark.parametrize("at", [2**53 - 1, 1 - 2**53, -1])
def test_an_absurd_time_is_shown(space: Path, at: int) -> None:
    """A record of any time that JSON carries is a check and no crash."""
    (first, *_) = _ids(space, "bm25")
    _record(space, first, at=at)
    assert [run.rung for run in _row(_board(space)[0]).runs].count("re-executed") == 1
