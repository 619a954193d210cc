"""Which runs stand in one table, which are eligible, and which of them a row shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import site_factory as make

from ragassay.site import build_board, load_runs
from ragassay.site.record import Board, BoardPlan, BoardRow, PlannedRow, Table

NOW = make.START + 9_999


def board_of(workspace: Path, plan: BoardPlan | None = None) -> Board:
    """Return the board of a workspace."""
    runs = load_runs(workspace, now=NOW)
    assert [run.refused for run in runs if run.refused] == []
    return build_board(runs, plan=plan, now=NOW)


def main(board: Board) -> Table:
    """Return the main table."""
    assert board.main is not None
    return board.main


def row(table: Table, name: str, standing: str | None = None) -> BoardRow:
    """Return the one row of that name (and standing)."""
    found = [r for r in table.rows if r.name == name and standing in (None, r.standing)]
    assert len(found) == 1
    return found[0]


def test_rows_under_different_judges_are_never_ranked_against_each_other(tmp_path: Path) -> None:
    """CASES 20: each judge has its own table, each with its own first rank, and the second says why it is apart."""
    bench = make.benchmark(10)
    make.write_row(tmp_path, "bm25", "bm25", bench, make.losing(make.every(3)))
    other = {"kind": "llm", "id": "judge-2", "describe": {}}
    make.write_row(tmp_path, "dense", "dense", bench, make.losing(make.every(4)), judge=other, at=make.START + 1000)
    tables = board_of(tmp_path).tables
    assert [table.judge for table in tables] == ["judge-2", "judge-1"]
    assert [[r.rank for r in table.rows] for table in tables] == [[1], [1]]
    assert tables[1].why_apart == "another judge (judge-1)"
    assert all(not table.pairs for table in tables)


def test_other_question_sets_models_and_corpora_stand_apart(tmp_path: Path) -> None:
    """Rows share a table only where question set, answering model and corpus are the same."""
    bench = make.benchmark(6)
    grades = make.losing(make.every(3))
    make.write_row(tmp_path, "a", "bm25", bench, grades, at=make.START + 5000)
    make.write_row(tmp_path, "b", "bm25", make.benchmark(6, name="other-docs"), grades)
    make.write_row(tmp_path, "c", "bm25", bench, grades, answer={"kind": "openai", "id": "acme-70b", "describe": {}})
    corpus = {"digest": "d" * 64, "pages": 1, "chunks": 1, "chunker": {}, "extractor": "1"}
    make.write_row(tmp_path, "d", "bm25", bench, grades, corpus=corpus)
    tables = board_of(tmp_path).tables
    assert [r.name for r in tables[0].rows] == ["a"]
    assert sorted(table.why_apart or "" for table in tables[1:]) == [
        "another answering model or other parameters (acme-70b)",
        "another corpus or other chunks",
        "another question set (other-docs 1.0.0)",
    ]


def test_a_stack_that_owns_its_corpus_stands_with_the_others(tmp_path: Path) -> None:
    """A row without a corpus digest is compared with the rows of the newest corpus."""
    bench = make.benchmark(6)
    corpus: dict[str, Any] = {"digest": None, "pages": None, "chunks": None, "chunker": {}, "extractor": "1"}
    make.write_row(tmp_path, "a", "bm25", bench, make.losing(make.every(3)))
    make.write_row(tmp_path, "service", "http", bench, make.losing(make.every(2)), corpus=corpus)
    assert {r.name for r in main(board_of(tmp_path)).rows} == {"a", "service"}


def test_the_window_is_the_five_most_recent_runs(tmp_path: Path) -> None:
    """Of seven runs the two oldest are outside; the shown one is the lower median of the rest, a real run's score."""
    bench = make.benchmark(10)
    lost = {1: 9, 2: 9, 3: 1, 4: 2, 5: 3, 6: 4, 7: 5}
    make.write_row(tmp_path, "a", "bm25", bench, lambda n, k: "omits" if n <= lost[k] else "supports", passes=7)
    found = row(main(board_of(tmp_path)), "a")
    assert [run.in_window for run in found.runs] == [False, False, True, True, True, True, True]
    assert [run.shown for run in found.runs] == [False, False, False, False, True, False, False]
    assert found.score is not None
    assert found.range is not None
    assert (found.score.decimal, [end.decimal for end in found.range]) == ("0.7000", ["0.5000", "0.9000"])


def test_an_even_window_shows_the_lower_of_the_middle_two_and_says_so(tmp_path: Path) -> None:
    """With two passes the lower one is shown, and the table warns that this leans low."""
    bench = make.benchmark(10)
    make.write_row(tmp_path, "a", "bm25", bench, lambda n, k: "omits" if n <= k else "supports", passes=2)
    table = main(board_of(tmp_path))
    found = row(table, "a")
    assert found.score is not None
    assert found.score.decimal == "0.8000"
    assert "2 passes per row: the lower median of an even number leans low" in table.warnings


def test_a_changed_measure_is_a_new_row_and_the_old_one_stays_superseded(tmp_path: Path) -> None:
    """The same name with another top-k has another key; the older row is kept, marked, unranked and not compared."""
    bench = make.benchmark(10)
    make.write_row(tmp_path, "a", "bm25", bench, make.losing(make.every(3)), top_k=3)
    make.write_row(tmp_path, "a", "bm25", bench, make.losing(make.every(4)), top_k=8, at=make.START + 1000)
    table = main(board_of(tmp_path))
    now, old = row(table, "a", "ranked"), row(table, "a", "superseded")
    assert (now.top_k, old.top_k, old.rank) == (8, 3, None)
    assert now.key != old.key
    assert table.pairs == ()


def test_the_plan_says_which_key_stands_even_against_a_later_run(tmp_path: Path) -> None:
    """Where the board file's row key is known, an older run of it stands and the newer one is superseded."""
    bench = make.benchmark(10)
    make.write_row(tmp_path, "a", "bm25", bench, make.losing(make.every(3)), top_k=3)
    make.write_row(tmp_path, "a", "bm25", bench, make.losing(make.every(4)), top_k=8, at=make.START + 1000)
    key = make.config("a", "bm25", bench, top_k=3, circumstance_passes=3).row_key()
    plan = BoardPlan(name="x", rows=(PlannedRow(name="a", stack="bm25", key=key),))
    assert row(main(board_of(tmp_path, plan)), "a", "ranked").top_k == 3


def test_planned_rows_without_a_run_are_shown_with_the_reason(tmp_path: Path) -> None:
    """A row that was left out or not run yet stands on the board in words; one that left the board is unranked."""
    bench = make.benchmark(10)
    make.write_row(tmp_path, "a", "bm25", bench, make.losing(make.every(3)))
    make.write_row(tmp_path, "gone", "bm25", bench, make.losing(make.every(4)))
    rows = (
        PlannedRow(name="a", stack="bm25"),
        PlannedRow(name="later", stack="dense"),
        PlannedRow(name="oracle", stack="oracle", left_out="no question has evidence"),
    )
    table = main(board_of(tmp_path, BoardPlan(name="x", rows=rows, benchmark=bench.digest())))
    assert {r.name: (r.standing, r.reason) for r in table.rows} == {
        "a": ("ranked", None),
        "gone": ("unranked", "no longer in the board file"),
        "later": ("not_run", "not run yet"),
        "oracle": ("not_run", "no question has evidence"),
    }
    assert "no oracle row, so the share of the gap cannot be given (no question has evidence)" in table.warnings


def test_a_subset_is_shown_and_never_eligible(tmp_path: Path) -> None:
    """A subset's rows show their latest run, unranked, with the reason, and stand behind the full set."""
    full, part = make.benchmark(20), make.benchmark(6, name="acme-docs#6")
    make.write_row(tmp_path, "a", "bm25", full, make.losing(make.every(3)))
    make.write_row(tmp_path, "a", "bm25", part, make.losing(make.every(3)), at=make.START + 9000)
    tables = board_of(tmp_path).tables
    assert [table.benchmark.id for table in tables] == ["acme-docs", "acme-docs#6"]
    found = row(tables[1], "a")
    assert (found.standing, found.reason, found.rank) == ("unranked", "subset, not eligible", None)
    assert found.score is not None


def test_an_older_version_of_the_questions_is_not_eligible(tmp_path: Path) -> None:
    """Runs of another version than the current one stay visible, apart and unranked."""
    old, new = make.benchmark(10), make.benchmark(10, version="1.1.0")
    make.write_row(tmp_path, "a", "bm25", old, make.losing(make.every(3)), at=make.START + 9000)
    make.write_row(tmp_path, "a", "bm25", new, make.losing(make.every(3)))
    plan = BoardPlan(name="x", rows=(), benchmark=new.digest(), benchmark_id="acme-docs")
    tables = board_of(tmp_path, plan).tables
    assert [table.benchmark.version for table in tables] == ["1.1.0", "1.0.0"]
    assert tables[1].rows[0].reason == "another version of the question set than the current one"


def test_one_of_sixty_may_be_missing_where_another_pass_has_it(tmp_path: Path) -> None:
    """A pass that misses one of 60 is eligible; the row has a number because other passes scored the question."""
    bench = make.benchmark(60)
    make.write_row(tmp_path, "a", "bm25", bench, lambda n, k: "judge_failed" if n == k == 1 else "supports")
    found = row(main(board_of(tmp_path)), "a")
    assert (found.standing, found.missing.total, found.missing.unjudged) == ("ranked", 1, 1)
    assert found.bounds is not None
    assert "1 of 180 unjudged" in found.warnings


def test_a_question_without_a_scored_pass_leaves_no_headline_number(tmp_path: Path) -> None:
    """Where no pass scored a question the row has no number, no rank and no gap, and says why. Absent is not zero."""
    bench = make.benchmark(60)
    make.write_row(tmp_path, "a", "bm25", bench, lambda n, _: "judge_failed" if n == 1 else "supports")
    found = row(main(board_of(tmp_path)), "a")
    assert (found.score, found.rank, found.interval, found.standing) == (None, None, None, "unranked")
    assert found.reason == "1 of 60 questions without a scored pass: no headline number"


def test_two_of_sixty_missing_or_a_failed_retrieval_make_a_run_ineligible(tmp_path: Path) -> None:
    """Above the floor, or with a retrieval failure, a run enters no window and says why."""
    bench = make.benchmark(60)
    make.write_row(tmp_path, "a", "bm25", bench, lambda n, _: "judge_failed" if n < 3 else "supports", passes=1)
    make.write_row(tmp_path, "b", "dense", bench, lambda n, _: "retrieval_failed" if n == 1 else "supports", passes=1)
    table = main(board_of(tmp_path))
    assert row(table, "a").runs[0].why_not == "2 of 60 without a score, where at most 1 may be missing"
    assert row(table, "b").runs[0].why_not == "1 of 60 retrievals failed: ask them again"
    assert [r.score for r in table.rows] == [None, None]
    assert table.sentence.startswith("no row can be ranked")


def test_a_run_that_fails_verification_is_counted_named_and_never_drawn(tmp_path: Path) -> None:
    """One flipped byte takes a run out of every table; the board names it with its reason code and says so on top."""
    bench = make.benchmark(6)
    ids = make.write_row(tmp_path, "a", "bm25", bench, make.losing(make.every(3)))
    outputs = tmp_path / "runs" / ids[0] / "outputs.jsonl"
    outputs.write_bytes(outputs.read_bytes().replace(b"CLI", b"CLJ", 1))
    board = build_board(load_runs(tmp_path, now=NOW), now=NOW)
    assert [run.id for run in board.refused] == [ids[0]]
    assert "OUTPUTS_DIGEST" in board.refused[0].codes
    assert {run.id for run in row(main(board), "a").runs} == set(ids[1:])
    assert board.warnings[0] == "1 run not verified, and neither drawn nor ranked"
    assert board.sentence.endswith("; 1 run could not be verified and is left out.")


def test_a_run_under_another_folder_name_is_refused(tmp_path: Path) -> None:
    """A folder that does not carry its run's id is not drawn, so that one run cannot count twice."""
    bench = make.benchmark(4)
    ids = make.write_row(tmp_path, "a", "bm25", bench, make.losing(make.every(3)), passes=1)
    files = {path.name: path.read_bytes() for path in (tmp_path / "runs" / ids[0]).iterdir()}
    make.write_files(tmp_path / "runs" / ("f" * 32), files)
    assert [run.refused is None for run in load_runs(tmp_path, now=NOW)].count(True) == 1


def test_an_empty_workspace_is_a_board_that_says_so(tmp_path: Path) -> None:
    """No run is no error: the board has no table and its sentence says what to do."""
    board = build_board(load_runs(tmp_path, now=NOW), now=NOW)
    assert (board.tables, board.sentence) == ((), "No run yet: `ragassay run` makes them.")


def test_the_board_does_not_depend_on_the_order_of_its_runs(tmp_path: Path) -> None:
    """Runs in any order give the same board."""
    make.small_board(tmp_path, make.benchmark(12))
    runs = load_runs(tmp_path, now=NOW)
    assert build_board(runs, now=NOW) == build_board(runs[::-1], now=NOW)
    assert msgspec.json.encode(build_board(runs, now=NOW)) == msgspec.json.encode(build_board(runs, now=NOW))
