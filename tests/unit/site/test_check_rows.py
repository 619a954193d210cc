"""`ragassay check`: what it takes for whole, for enough, and for a drop; and that no failure is ever a pass."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import check_lab as lab
import pytest
import site_factory as make
from check_lab import first, one_is, run

from ragassay.errors import InputError

BENCH = make.benchmark(60)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A board whose first twelve questions are lost, and an earlier one that answered all but two."""
    folder = tmp_path_factory.mktemp("boards")
    now = lab.write_board(folder / "now", BENCH, first(12), reached=lambda n: n > 12)
    return now, lab.write_board(folder / "before", BENCH, first(2), at=make.START)


@pytest.fixture
def folders(tmp_path: Path, written: tuple[Path, Path]) -> tuple[Path, Path]:
    """A copy of those two boards that a test may change."""
    now, before = (Path(shutil.copytree(one, tmp_path / one.name)) for one in written)
    return now, before


def report(*arguments: str | Path) -> dict[str, Any]:
    """Return the JSON of a check."""
    found: dict[str, Any] = json.loads(run(*arguments, "--json").stdout)
    return found


def outcomes(found: dict[str, Any]) -> dict[str, str]:
    """Return how each thing that was asked of the first row came out."""
    return {one["check"]: one["outcome"] for one in found["rows"][0]["findings"]}


def text(found: dict[str, Any], check: str) -> str:
    """Return what was said of one thing that was asked of the first row."""
    return str(next(one["text"] for one in found["rows"][0]["findings"] if one["check"] == check))


def test_a_whole_board_holds(folders: tuple[Path, Path]) -> None:
    """Without any option every row but the control is asked to be whole."""
    result = run(folders[0])
    assert result.exit_code == 0
    assert "holds        whole     3 passes of 60 questions, each with a score" in result.output
    assert "no-retrieval" not in result.output


@pytest.mark.parametrize(("least", "code"), [("0.8", 0), ("0.80001", 1), ("0", 0), ("1", 1)])
def test_min_score_compares_the_exact_score(folders: tuple[Path, Path], least: str, code: int) -> None:
    """48 of 60 is .8 exactly, and not a hair more."""
    assert run(folders[0], "--min-score", least).exit_code == code


def test_a_drop_that_chance_does_not_allow_fails(folders: tuple[Path, Path]) -> None:
    """Ten of sixty questions got worse: exit code 1, and each is named with its passes and where it was lost."""
    result = run(folders[0], "--vs", folders[1])
    assert result.exit_code == 1
    assert "failed       max-drop  .967 → .800, −.167" in result.output
    assert "10 questions got worse, 0 better, 50 equal" in result.output
    assert "−1.000  q-003  1.000 → .000  (100 100 100 → 0 0 0)  not retrieved" in result.output
    found = report(folders[0], "--vs", folders[1])
    worse = found["rows"][0]["worse"]
    assert [one["id"] for one in worse] == [f"q-{n:03d}" for n in range(3, 13)]
    assert worse[0]["page"] == "cli/page-3.md"
    assert found["rows"][0]["drop"]["difference"] == "-0.166667"


def test_a_drop_within_what_is_allowed_holds(folders: tuple[Path, Path]) -> None:
    """The same drop holds where .2 is allowed, and is inconclusive where .1 is: never a failure on noise."""
    assert outcomes(report(folders[0], "--vs", folders[1], "--max-drop", ".2"))["max-drop"] == "ok"
    result = run(folders[0], "--vs", folders[1], "--max-drop", ".1")
    assert result.exit_code == 0
    assert "inconclusive" in result.output
    assert "such questions would tell" in " ".join(result.output.split())


def test_a_rise_holds(folders: tuple[Path, Path]) -> None:
    """The other way round nothing got worse."""
    found = report(folders[1], "--vs", folders[0])
    assert outcomes(found) == {"whole": "ok", "max-drop": "ok"}
    assert (found["rows"][0]["better"], found["rows"][0]["worse"]) == (10, [])


def test_what_is_measured_otherwise_is_listed(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    """Another top-k is what is being changed: compared, and said."""
    other = lab.write_board(tmp_path / "other", BENCH, first(2), top_k=3, at=make.START)
    found = report(folders[0], "--vs", other)
    assert [(one["field"], one["before"], one["after"]) for one in found["rows"][0]["changed"]] == [("topK", "3", "5")]


@pytest.mark.parametrize("grade", ["judge_failed", "answer_failed", "harness_failed", "retrieval_failed"])
def test_a_failure_in_the_row_fails_the_check(tmp_path: Path, grade: str) -> None:
    """One answer without a score, of whatever class, is no pass, however good the rest is."""
    now = lab.write_board(tmp_path / "now", BENCH, one_is(grade, 7, 2))
    result = run(now, "--min-score", ".5")
    assert result.exit_code == 1
    assert "failed       whole" in result.output


def test_missing_answers_count_against_the_row_where_they_are_allowed(tmp_path: Path) -> None:
    """With --allow-missing one unjudged answer of 180 passes at .99, and fails where it could have decided."""
    now = lab.write_board(tmp_path / "now", BENCH, one_is("judge_failed", 7, 2))
    before = lab.write_board(tmp_path / "before", BENCH, first(0), at=make.START)
    assert run(now, "--allow-missing", "--min-score", ".99").exit_code == 0
    assert run(now, "--allow-missing", "--min-score", ".999").exit_code == 1
    found = report(now, "--allow-missing", "--vs", before)
    assert found["passed"]
    assert found["rows"][0]["drop"]["filled"] == 1
    assert [(one["id"], one["passes"]) for one in found["rows"][0]["worse"]] == [("q-007", [100, None, 100])]


def test_earlier_runs_do_not_stand_in_for_later_ones_that_failed(tmp_path: Path) -> None:
    """Three good passes, then three in which the stack was down: the board shows the old number, the check fails."""
    now = lab.write_board(tmp_path / "now", BENCH, first(0), at=make.START)
    make.write_row(now / ".ragassay", "bm25", "bm25", BENCH, first(8, "retrieval_failed"), at=lab.LATER)
    found = report(now, "--min-score", ".9")
    assert found["rows"][0]["score"]["decimal"] == "1.0000"
    assert outcomes(found) == {"whole": "failed", "min-score": "ok"}
    assert "8 of 60 retrievals failed" in text(found, "whole")


def test_fewer_passes_than_the_board_asks_for_fail(tmp_path: Path) -> None:
    """Two of three passes are no row."""
    now = lab.write_board(tmp_path / "now", BENCH, first(0), passes=2)
    assert "2 of 3 passes signed and eligible" in text(report(now), "whole")


def test_a_row_that_was_not_run_fails(folders: tuple[Path, Path]) -> None:
    """A planned row without a run fails, also against a baseline; a row that nobody knows is an input error."""
    board = (folders[0] / "board.toml").read_text(encoding="utf-8")
    (folders[0] / "board.toml").write_text(board + '[[rows]]\nname = "dense"\nstack = { kind = "dense" }\n', "utf-8")
    found = report(folders[0], "--row", "dense", "--min-score", "0", "--vs", folders[1])
    assert outcomes(found) == {"whole": "failed", "min-score": "failed", "max-drop": "failed"}
    with pytest.raises(InputError, match="there is no row 'splade'; the rows are bm25, dense and no-retrieval"):
        run(folders[0], "--row", "splade")


def test_a_workspace_without_runs_fails(tmp_path: Path) -> None:
    """A board that was never run has no row that is whole."""
    (tmp_path / ".ragassay").mkdir()
    (tmp_path / "board.toml").write_text(lab.BOARD, encoding="utf-8")
    (tmp_path / "questions.json").write_bytes(BENCH.full_form())
    result = run(tmp_path)
    assert result.exit_code == 1
    assert "not run yet" in result.output


def test_a_damaged_run_fails_the_board(folders: tuple[Path, Path]) -> None:
    """A run that cannot be verified stands against the whole check, and in a baseline is an input error."""
    for folder in folders:
        path = sorted((folder / ".ragassay" / "runs").iterdir())[0] / "telemetry.jsonl"
        path.write_bytes(path.read_bytes().replace(b"640", b"641", 1))
    result = run(folders[0])
    assert result.exit_code == 1
    assert "could not be verified" in result.output
    with pytest.raises(InputError, match="not every run of it could be verified"):
        run(folders[0], "--vs", folders[1])


def test_a_board_that_was_edited_and_not_run_fails(folders: tuple[Path, Path]) -> None:
    """The runs have to be of what the board file asks for now."""
    path = folders[0] / "board.toml"
    path.write_text(path.read_text("utf-8").replace('{ kind = "bm25" }', '{ kind = "bm25", k1 = 2.0 }\ntop_k = 3'))
    said = text(report(folders[0]), "whole")
    assert "top_k is 3 and was 5" in said
    assert 'stack is {"k1":"2","kind":"bm25"} and was {"kind":"bm25"}' in said


def test_a_question_set_that_was_edited_and_not_run_fails(folders: tuple[Path, Path]) -> None:
    """Runs on another version of the questions are no runs of this board."""
    (folders[0] / "questions.json").write_bytes(make.benchmark(61).full_form())
    assert run(folders[0]).exit_code == 1


def test_the_control_is_checked_too(tmp_path: Path) -> None:
    """A control that failed fails the check; one that answers questions weakens it; none is said."""
    failed = one_is("judge_failed", 4, 2, lost=60)
    result = run(lab.write_board(tmp_path / "failed", BENCH, first(0), control=failed))
    assert result.exit_code == 1
    assert "the control is without a score: 1 of 180 unjudged" in result.output
    result = run(lab.write_board(tmp_path / "down", BENCH, first(0), control=first(9, "answer_failed")))
    assert result.exit_code == 1
    assert "the control has no number: 9 of 60 without a score" in result.output
    knows = first(30, "supports", "omits")
    result = run(lab.write_board(tmp_path / "knows", BENCH, first(0), control=knows))
    assert result.exit_code == 0
    assert "the control answers 30 of 60 questions" in " ".join(result.output.split())
    assert "a drop there is not seen" in " ".join(result.output.split())
    result = run(lab.write_board(tmp_path / "none", BENCH, first(0), control=None))
    assert "no control row was run" in result.output


def test_a_passing_copy_of_the_same_runs_is_no_check(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    """Runs that are on both sides say nothing: with none left it is an input error, with some left they are taken."""
    shutil.copytree(folders[0], tmp_path / "copy")
    with pytest.raises(InputError, match="the very runs that are checked"):
        run(folders[0], "--vs", tmp_path / "copy")
    make.write_row(folders[0] / ".ragassay", "bm25", "bm25", BENCH, first(30), at=lab.LATER + 1000, passes=2)
    found = report(folders[0], "--vs", tmp_path / "copy")
    assert len(found["rows"][0]["runs"]) == 2
    assert found["rows"][0]["drop"]["now"] == "0.500000"
