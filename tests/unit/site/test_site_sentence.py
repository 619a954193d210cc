"""The one sentence in its different shapes."""

from __future__ import annotations

from pathlib import Path

import site_factory as make

from ragassay.site import build_board, load_runs, render_text

NOW = make.START + 9_999


def sentence(workspace: Path) -> str:
    """Return the board's sentence."""
    return build_board(load_runs(workspace, now=NOW), now=NOW).sentence


def test_one_row(tmp_path: Path) -> None:
    """A single row has a score and nobody to be compared with."""
    make.write_row(tmp_path, "bm25", "bm25", make.benchmark(20), make.losing(make.every(4)))
    assert sentence(tmp_path).startswith("bm25 scores .70 [")
    assert "no second row is ranked" in sentence(tmp_path)


def test_a_leader(tmp_path: Path) -> None:
    """A row that is distinguished from every other one leads, and each distance is given with its interval."""
    bench = make.benchmark(60)
    make.write_row(tmp_path, "a", "bm25", bench, lambda *_: "supports")
    make.write_row(tmp_path, "b", "bm25", bench, make.losing(make.every(2)))
    make.write_row(tmp_path, "c", "bm25", bench, make.losing(lambda n: n % 3 != 0))
    said = sentence(tmp_path)
    assert said.startswith("a leads; b is lower than a by .5")
    assert "; c is lower by .69 [" in said


def test_not_distinguished_is_not_passed_on(tmp_path: Path) -> None:
    """Where a and c are apart but b is apart from neither, only b is called not distinguished, and only from a."""
    bench = make.benchmark(60)
    make.write_row(tmp_path, "a", "bm25", bench, lambda n, _: "omits" if n <= 10 else "supports")
    make.write_row(tmp_path, "b", "bm25", bench, lambda n, _: "omits" if n <= 15 else "supports")
    make.write_row(tmp_path, "c", "bm25", bench, lambda n, _: "omits" if n <= 20 else "supports")
    said = sentence(tmp_path)
    assert said.startswith("a and b are not distinguished; c is lower than a by .17 [")


def test_many_rows_stay_one_sentence(tmp_path: Path) -> None:
    """Beyond four lower rows the rest are counted with their range."""
    bench = make.benchmark(30)
    make.write_row(tmp_path, "best", "bm25", bench, lambda *_: "supports", passes=1)
    for index in range(6):
        grades = make.losing_first(20 + index)
        make.write_row(tmp_path, f"low-{index}", "bm25", bench, grades, passes=1)
    said = sentence(tmp_path)
    assert "2 further rows are lower by .80 to .83" in said
    assert said.count(".") < 40


def test_the_terminal_ends_with_it(tmp_path: Path) -> None:
    """The printed board's last words are its sentence."""
    make.small_board(tmp_path, make.benchmark(12))
    board = build_board(load_runs(tmp_path, now=NOW), now=NOW)
    assert " ".join(render_text(board).split()).endswith(board.sentence)


def test_a_row_that_only_its_median_puts_first_does_not_lead(tmp_path: Path) -> None:
    """With one bad pass of three the mean is lower while the lower median is higher: nobody is said to lead."""
    bench = make.benchmark(60)
    make.write_row(tmp_path, "wobbly", "bm25", bench, lambda n, k: "omits" if k == 2 or n % 20 == 0 else "supports")
    make.write_row(tmp_path, "steady", "bm25", bench, lambda n, _: "omits" if n % 10 == 0 else "supports")
    said = sentence(tmp_path)
    assert said.startswith(
        "wobbly is shown first; steady is higher by .27 in the mean of its passes, though shown lower"
    )


def test_a_small_difference_is_not_rounded_to_nothing(tmp_path: Path) -> None:
    """A distinguished difference below .01 is given with three decimals."""
    bench = make.benchmark(1500)
    make.write_row(tmp_path, "a", "bm25", bench, lambda *_: "supports", passes=1)
    make.write_row(tmp_path, "b", "bm25", bench, lambda n, _: "omits" if n <= 12 else "supports", passes=1)
    assert sentence(tmp_path).startswith("a leads; b is lower than a by .008 [.003, .013]")
