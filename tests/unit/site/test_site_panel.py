"""A board under further judges: scores, ranks, agreement, who leads; checked against figures worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import panel_factory as panel
import pytest
import site_factory as make

from ragassay import canon
from ragassay.manifest import MANIFEST, decode_run, read_run
from ragassay.manifest.judgement import decode_judgement
from ragassay.records import Claim
from ragassay.site import Board, build_board, decode_board, encode_board, load_runs, render_text
from ragassay.site.agreed import distinct
from ragassay.site.judgerecord import JudgedRow, Judging
from ragassay.site.pairtext import find_pair
from ragassay.site.pairwords import order_words, pair_sentence

NOW = make.START + 9_999
SMALL = make.benchmark(12)


def board_of(workspace: Path) -> Board:
    """Return the board of a workspace."""
    return build_board(load_runs(workspace, now=NOW), now=NOW)


def judging_of(board: Board) -> Judging:
    """Return what the main table says of its judges."""
    assert board.main is not None
    assert board.main.judging is not None
    return board.main.judging


def row_of(board: Board, name: str, judge: int = 1) -> JudgedRow:
    """Return a row under a judge by its place."""
    assert board.main is not None
    key = next(row.key for row in board.main.rows if row.name == name)
    return next(line for line in judging_of(board).judges[judge].rows if line.row == key)


def given(*grades: str) -> Any:
    """Return grades by question number."""
    return lambda n, *_: grades[n - 1]


def two_rows(workspace: Path, first: make.Grades, second: make.Grades, passes: int = 1) -> tuple[list[str], list[str]]:
    """Write two rows over twelve questions, each with answers of its own."""
    one = make.write_row(workspace, "bm25", "bm25", SMALL, first, passes=passes, text="The first row says this.")
    two = make.write_row(workspace, "dense", "dense", SMALL, second, passes=passes, text="The second row says that.")
    return one, two


def judge_all(workspace: Path, runs: Sequence[str], grade: panel.Grade, **changes: Any) -> None:
    """Have a further judge judge every run alike."""
    for run in runs:
        panel.judge_run(workspace, run, grade, **changes)


def test_agreement_is_that_of_the_hand_worked_example(tmp_path: Path) -> None:
    """Codes 0,0,0,2,4 and 0,0,2,2,4: ρ is 7÷√72 = .8250, QWK .8387, four of five alike, one 0.5 higher."""
    published = given("omits", "omits", "omits", "hedges", "supports")
    runs = make.write_row(tmp_path, "bm25", "bm25", make.benchmark(5), published)
    judge_all(tmp_path, runs, given("omits", "omits", "hedges", "hedges", "supports"))
    found = row_of(board_of(tmp_path), "bm25").agreement
    assert found is not None
    assert (found.n, found.rho, found.qwk) == (5, "0.824958", "0.838710")
    assert (found.bias, found.mae, found.exact) == ("0.100000", "0.100000", "0.800000")


def test_the_same_answer_in_three_passes_counts_once(tmp_path: Path) -> None:
    """Three passes that gave the same words are five answers, not fifteen, so that no interval is too narrow."""
    runs = make.write_row(tmp_path, "bm25", "bm25", make.benchmark(5), lambda n, _: "supports" if n > 2 else "omits")
    judge_all(tmp_path, runs, lambda n: "supports" if n > 2 else "omits")
    found = judging_of(board_of(tmp_path)).judges[1].agreement
    assert found is not None
    assert found.n == 5
    assert (found.rho, found.lower, found.undefined["interval"][:11]) == ("1.000000", None, "no interval")


@pytest.mark.parametrize(("profile", "items"), [("factual-consistency/1", 2), ("factual-consistency/2", 1)])
def test_the_context_tells_answers_apart_only_where_the_judge_sees_it(tmp_path: Path, profile: str, items: int) -> None:
    """Two rows with the same words over other chunks are two items in profile 1, whose judge is shown the chunks."""
    judged = []
    for name, reached in (("bm25", True), ("dense", False)):
        run = make.write_row(
            tmp_path,
            name,
            "bm25",
            make.benchmark(1),
            lambda *_: "supports",
            passes=1,
            reached=lambda _, reached=reached: reached,  # type: ignore[misc]
            text="So it is.",
            scorer=profile,
        )
        files = read_run(tmp_path / "runs" / run[0]).files
        document = decode_run(files)
        judgement = panel.judgement_files(document, canon.sha256(files[MANIFEST]), lambda _: "omits")
        judged.append((document, decode_judgement(judgement)))
    assert len(distinct(judged)) == items


def test_a_judge_that_gives_one_level_is_undefined(tmp_path: Path) -> None:
    """A constant judge has no ρ and no κ: the board says so instead of 0 or 1."""
    runs = make.write_row(tmp_path, "bm25", "bm25", SMALL, make.losing_first(4), passes=1)
    judge_all(tmp_path, runs, lambda _: "supports")
    board = board_of(tmp_path)
    found = row_of(board, "bm25").agreement
    assert found is not None
    assert found.rho is None
    assert "undefined: constant" in render_text(board)


def test_scores_by_the_lower_median_of_the_same_runs(tmp_path: Path) -> None:
    """Under the second judge three passes have 3, 1 and 2 of 4 right: the lower median, 2 of 4, is shown."""
    bench = make.benchmark(4)
    runs = make.write_row(tmp_path, "bm25", "bm25", bench, lambda *_: "supports", passes=3)
    for run, right in zip(runs, (3, 1, 2), strict=True):
        panel.judge_run(tmp_path, run, lambda n, right=right: "supports" if n <= right else "omits")  # type: ignore[misc]
    line = row_of(board_of(tmp_path), "bm25")
    assert line.score is not None
    assert (line.score.num, line.score.den, line.mean) == (200, 400, "0.500000")
    assert (line.runs, line.judged_runs, line.why) == (3, 3, None)


def test_a_run_without_a_judgement_leaves_the_row_without_a_number(tmp_path: Path) -> None:
    """Two of three runs judged give no score, no rank and no bounds; the agreement on what was judged stays."""
    runs = make.write_row(tmp_path, "bm25", "bm25", SMALL, make.losing_first(4), passes=3)
    judge_all(tmp_path, runs[:2], lambda n: "omits" if n <= 3 else "supports")
    board = board_of(tmp_path)
    line = row_of(board, "bm25")
    assert (line.score, line.mean, line.rank, line.bounds) == (None,) * 4
    assert line.why == "2 of 3 runs judged"
    assert line.agreement is not None
    assert "bm25: 2 of 3 runs judged" in render_text(board)


def test_only_the_runs_of_the_window_count(tmp_path: Path) -> None:
    """Of six runs the five most recent make the window; a judgement of the oldest changes nothing."""
    runs = make.write_row(tmp_path, "bm25", "bm25", SMALL, make.losing_first(4), passes=6)
    judge_all(tmp_path, runs[1:], lambda n: "omits" if n <= 3 else "supports")
    before = row_of(board_of(tmp_path), "bm25")
    panel.judge_run(tmp_path, runs[0], lambda _: "omits")
    assert row_of(board_of(tmp_path), "bm25") == before
    assert (before.runs, before.judged_runs) == (5, 5)


def test_unjudged_items_are_no_zeros(tmp_path: Path) -> None:
    """One question of twelve that the judge failed on leaves the row without a number, between both bounds."""
    runs = make.write_row(tmp_path, "bm25", "bm25", SMALL, make.losing_first(4), passes=1)
    judge_all(tmp_path, runs, lambda n: "judge_failed" if n == 12 else "omits" if n <= 4 else "supports")
    board = board_of(tmp_path)
    line = row_of(board, "bm25")
    assert (line.score, line.unjudged, line.asked) == (None, 1, 12)
    assert line.why == "1 of 12 questions without a score by this judge"
    assert line.bounds == ("0.583333", "0.666667")
    assert "1 of 12 unjudged; mean .583 to .667, all that is missing at 0 and at 1" in " ".join(
        render_text(board).split()
    )


def test_what_a_judge_cannot_judge_is_counted_by_reason(tmp_path: Path) -> None:
    """Questions whose claims have no literals are not judged by a literal judge, and are told apart from failures."""
    bench = make.benchmark(12, claims=(Claim(id=1, text="It is so.", central=True),))
    runs = make.write_row(tmp_path, "bm25", "bm25", bench, make.losing_first(4), passes=1)
    judge = {"kind": "literal", "id": "literal/1", "describe": {}}
    judge_all(tmp_path, runs, lambda _: "no_literals", judge=judge)
    board = board_of(tmp_path)
    line = row_of(board, "bm25")
    assert (line.not_judged, line.unjudged, line.agreement and line.agreement.n) == ({"no_literals": 12}, 0, 0)
    assert "12 of 12 without literals" in render_text(board)


def test_a_lead_needs_the_same_sign_under_every_judge(tmp_path: Path) -> None:
    """bm25 is far above dense under the published judge and below it under judge-2: it is shown first, not leading."""
    one, two = two_rows(tmp_path, lambda *_: "supports", lambda *_: "omits")
    assert board_of(tmp_path).sentence.startswith("bm25 leads; dense is lower than bm25 by 1.00")
    judge_all(tmp_path, one, lambda _: "omits")
    judge_all(tmp_path, two, lambda _: "supports")
    board = board_of(tmp_path)
    assert board.main is not None
    assert [row.leads for row in board.main.rows] == [False, None]
    assert board.sentence.startswith("bm25 is shown first, but the order changes under judge-2; dense is lower")
    assert judging_of(board).judges[1].order_changed is True
    assert row_of(board, "bm25").rank == 2
    table, pair = find_pair(board, "bm25", "dense")
    assert order_words(pair) == "order changes under judge-2"
    assert pair_sentence(pair, {r.key: r.name for r in table.rows}).endswith("order changes under judge-2.")
    _, back = find_pair(board, "dense", "bm25")
    assert back.against == ("judge-2",)
    text = render_text(board)
    assert "bm25 order changes under judge-2" in text
    assert "1 was 2" in text


def test_a_lead_that_every_judge_sees(tmp_path: Path) -> None:
    """With the same sign under both judges the first row leads under both; one that scored one row only is silent."""
    one, two = two_rows(tmp_path, lambda *_: "supports", lambda *_: "omits")
    judge_all(tmp_path, one, lambda n: "omits" if n == 1 else "supports")
    judge_all(tmp_path, two, lambda n: "hedges" if n == 1 else "omits")
    judge_all(tmp_path, one, lambda _: "omits", judge={**panel.JUDGE_2, "id": "judge-3"})
    board = board_of(tmp_path)
    assert board.main is not None
    assert board.main.rows[0].leads is True
    pair = board.main.pairs[0]
    assert [(u.judge, u.difference) for u in pair.under] == [("judge-2", "0.875000"), ("judge-3", None)]
    assert "bm25 leads" in board.sentence


def test_no_difference_is_not_the_same_sign(tmp_path: Path) -> None:
    """A judge that gives both rows the same does not confirm the lead, and the order is not called changed for it."""
    one, two = two_rows(tmp_path, lambda *_: "supports", lambda *_: "omits")
    judge_all(tmp_path, [*one, *two], lambda _: "hedges")
    board = board_of(tmp_path)
    assert board.main is not None
    assert board.main.rows[0].leads is False
    assert order_words(board.main.pairs[0]) == "no difference under judge-2"


def test_rows_that_are_not_distinguished_get_no_badge(tmp_path: Path) -> None:
    """Without Holm's p at most .05 there is no lead, whatever further judges see."""
    one, two = two_rows(tmp_path, make.losing_first(4), make.losing_first(5))
    judge_all(tmp_path, [*one, *two], lambda n: "omits" if n <= 3 else "supports")
    board = board_of(tmp_path)
    assert board.main is not None
    assert {row.leads for row in board.main.rows} == {None}


def test_two_judges_of_one_name_are_two_columns(tmp_path: Path) -> None:
    """Judges are told apart by what they are: two that share an id carry the beginning of their digest."""
    runs = make.write_row(tmp_path, "bm25", "bm25", SMALL, make.losing_first(4), passes=1)
    judge_all(tmp_path, runs, lambda n: "omits" if n <= 4 else "supports")
    judge_all(tmp_path, runs, lambda _: "supports", judge={**panel.JUDGE_2, "describe": {"seed": 2}})
    names = [judge.name for judge in judging_of(board_of(tmp_path)).panel]
    assert len(set(names)) == 2
    assert all(name.startswith("judge-2 (") for name in names)


def test_of_two_judgements_alike_the_first_counts(tmp_path: Path) -> None:
    """A second judgement by the same judge is not used and is told; one whose first is gone is told as well."""
    runs = make.write_row(tmp_path, "bm25", "bm25", SMALL, make.losing_first(4), passes=1)
    first = panel.judge_run(tmp_path, runs[0], lambda _: "omits")
    panel.judge_run(tmp_path, runs[0], lambda _: "supports", n=2)
    board = board_of(tmp_path)
    line = row_of(board, "bm25")
    assert line.score is not None
    assert line.score.num == 0
    assert "1 further judgement is not used" in " ".join(judging_of(board).notes)
    for path in first.iterdir():
        path.unlink()
    first.rmdir()
    notes = " ".join(judging_of(board_of(tmp_path)).notes)
    assert f"missing though later ones are there: panel judgement 1 of run {runs[0][:8]} by judge-2" in notes


def test_a_board_with_judges_reads_back(tmp_path: Path) -> None:
    """board.json holds all of it, without a fractional number, and reads back to the same board."""
    one, two = two_rows(tmp_path, lambda *_: "supports", lambda *_: "omits", passes=3)
    judge_all(tmp_path, [*one, *two], lambda n: "omits" if n <= 4 else "supports")
    board = board_of(tmp_path)
    assert decode_board(encode_board(board)) == board
    assert judging_of(board).components is not None


def test_an_older_board_without_the_members_reads(tmp_path: Path) -> None:
    """A board.json that knows nothing of panels decodes, and says nothing of judges."""
    make.write_row(tmp_path, "bm25", "bm25", SMALL, make.losing_first(4), passes=1)
    data = encode_board(board_of(tmp_path))
    old = data.replace(b'"judging":null,', b"").replace(b'"leads":null,', b"").replace(b',"under":[]', b"")
    assert old != data
    found = decode_board(old)
    assert found.main is not None
    assert found.main.judging is None


def test_a_board_without_further_judges_says_one_line(tmp_path: Path) -> None:
    """Where nothing but the runs is there, one warning names what was not measured, and no block follows."""
    make.write_row(tmp_path, "bm25", "bm25", SMALL, make.losing_first(4), passes=1)
    board = board_of(tmp_path)
    assert board.main is not None
    assert board.main.judging is None
    said = "not measured of the judge: further judges, null rows, conformance, human calibration"
    assert board.main.warnings.count(said) == 1
    assert render_text(board).count("judge-1") == 1


@pytest.mark.parametrize("width", [80, 100, 140])
def test_no_line_is_wider_than_the_terminal_with_judges(tmp_path: Path, width: int) -> None:
    """Long names of rows and judges, changed orders and refused judgements stay within the columns."""
    name = "a row with a name that is far too long for any column of any terminal"
    one = make.write_row(tmp_path, name, "bm25", SMALL, lambda *_: "supports", passes=1, text="First answer.")
    two = make.write_row(tmp_path, "dense", "dense", SMALL, lambda *_: "omits", passes=1, text="Second answer.")
    judge = {**panel.JUDGE_2, "id": "vendor/" + "a-very-long-judge-name-" * 6}
    judge_all(tmp_path, one, lambda _: "omits", judge=judge)
    judge_all(tmp_path, two, lambda _: "supports", judge=judge)
    folder = panel.judge_run(tmp_path, one[0], lambda _: "omits", n=2)
    (folder / "verdicts.jsonl").write_bytes(b"{}\n")
    from rich.cells import cell_len

    lines = render_text(board_of(tmp_path), width).splitlines()
    assert max(cell_len(line) for line in lines) <= width
