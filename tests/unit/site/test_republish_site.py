"""Republished runs on a board and its pages: visible as such, apart, and never ranked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import site_factory as make

from ragassay.manifest import decode_run
from ragassay.manifest.republish import Claimed, own_items, republished_run
from ragassay.manifest.scores import read_scores
from ragassay.records import Benchmark
from ragassay.site import build_board, load_runs
from ragassay.site.file import decode_board, encode_board
from ragassay.site.pages import site_files
from ragassay.site.record import Board, BoardPlan, PlannedRow
from ragassay.site.text import render_text
from ragassay.testing.republished_run import PUBLISHED, SCORES, republished_files, written

NOW = make.START + 1000
BENCH = make.benchmark(5)


def own_set(source: str | None = None, judge: str = "gpt") -> dict[str, bytes]:
    """Return published scores over the very question set of the measured rows."""
    lines = [
        {"id": q.id, "question": q.input, "answer": q.target, "score": "1", "judge": judge} for q in BENCH.questions
    ]
    claimed = Claimed(row="theirs", evaluator="scorer", source=source)
    return republished_run(read_scores(written(lines), BENCH.questions), own_items(BENCH), claimed, make.SIGNER)


def write(workspace: Path, files: Mapping[str, bytes]) -> None:
    """Write a run under its id."""
    make.write_files(workspace / "runs" / decode_run(files).predicate.run_id, files)


def write_measured(workspace: Path, bench: Benchmark = BENCH) -> None:
    """Write a measured row and its control."""
    make.write_row(workspace, "bm25", "bm25", bench, lambda n, k: "supports" if n < 4 else "omits")
    make.write_row(workspace, "no-retrieval", "none", bench, lambda n, k: "omits")


def board_of(workspace: Path, plan: BoardPlan | None = None) -> Board:
    """Return the board of a workspace."""
    return build_board(load_runs(workspace, now=NOW), plan=plan, now=NOW)


def pages_of(workspace: Path) -> dict[str, str]:
    """Return the HTML pages of a workspace by path."""
    runs = load_runs(workspace, now=NOW)
    files = site_files(build_board(runs, now=NOW), runs)
    return {path: data.decode() for path, data in files.items() if path.endswith(".html")}


@pytest.fixture
def both(tmp_path: Path) -> Path:
    """A workspace of measured rows and of scores republished over the very same questions."""
    write_measured(tmp_path)
    write(tmp_path, own_set("https://example.org/theirs"))
    return tmp_path


def test_it_stands_apart_from_measured_rows(both: Path) -> None:
    """The same questions and a perfect score put it in no ranking: its table is its own and says why."""
    board = board_of(both)
    main, apart = board.tables
    assert [row.name for row in main.rows] == ["bm25", "no-retrieval"]
    assert apart.why_apart is not None
    assert apart.why_apart.startswith("republished scores, not measured here; another judge (gpt)")
    (row,) = apart.rows
    assert (row.name, row.rung, row.standing, row.rank) == ("theirs", "republished", "unranked", None)
    assert row.reason == "republished, not measured here"
    assert row.upstream == "https://example.org/theirs"
    assert main.pairs
    assert all(row.key not in (pair.a, pair.b) for pair in main.pairs)


def test_it_is_never_the_main_table_where_something_was_measured(tmp_path: Path) -> None:
    """Not even where the plan's question set is the one of the republished scores and the measured one is older."""
    write_measured(tmp_path, make.benchmark(5, name="older"))
    write(tmp_path, own_set())
    plan = BoardPlan(
        name="b", rows=(PlannedRow(name="bm25", stack="bm25"),), benchmark=BENCH.digest(), benchmark_id=BENCH.name
    )
    board = board_of(tmp_path, plan)
    assert [row.rung for row in board.tables[0].rows if row.rung] == ["measured", "measured"]
    assert [row.rung for row in board.tables[1].rows] == ["republished"]


def test_a_publisher_who_names_our_judge_stays_apart(tmp_path: Path) -> None:
    """Whatever judge a republished run names, its kind alone keeps it out of measured tables."""
    write_measured(tmp_path)
    write(tmp_path, own_set(judge="judge-1"))
    tables = board_of(tmp_path).tables
    assert tables[0].judge == tables[1].judge == "judge-1"
    assert [{row.rung for row in table.rows} for table in tables] == [{"measured"}, {"republished"}]


def test_what_nobody_knows_is_unknown(both: Path) -> None:
    """Latency, tokens, cost, context, reach and top-k of a republished row are unknown and not 0."""
    row = board_of(both).tables[1].rows[0]
    assert (row.reach, row.context_tokens, row.retrieval_latency, row.answer_latency) == (None,) * 4
    assert (row.input_tokens.known, row.cost_microusd.known, row.cost_per_1000_microusd) == (None,) * 3
    assert (row.top_k, row.insufficient, row.retrieval_empty, row.correct_without_reach) == (0, 0, 0, None)


def test_the_text_says_republished(both: Path) -> None:
    """The one line of a short print, the table of a long one and the warnings all say so, with the source."""
    board = board_of(both)
    assert "republished scores, not measured here" in render_text(board, whole=False)
    whole = " ".join(render_text(board).split())
    assert "republished, not measured here" in whole
    assert "source: https://example.org/theirs" in whole
    assert "computed elsewhere and judged by gpt; no model was invoked here" in whole
    assert "REPUBLISHED in 1 of 7 runs" in whole


def test_the_board_file_keeps_it(both: Path) -> None:
    """board.json holds rung and source, and reads back the same."""
    board = board_of(both)
    assert decode_board(encode_board(board)) == board


def test_the_pages_say_republished(both: Path) -> None:
    """Board, row and run page name it; the run page says by what the scores were computed and where they come from."""
    pages = pages_of(both)
    assert "Apart: republished scores, not measured here" in pages["index.html"]
    assert "Of republished runs the item scores cannot be recomputed" in pages["index.html"]
    (run,) = [page for path, page in pages.items() if path.startswith("runs/") and "<b>Republished:</b>" in page]
    assert "computed elsewhere, by scorer, and judged by gpt" in run
    assert "https://example.org/theirs" in run
    assert "What was delivered is not known." in run
    assert "scored elsewhere" in run
    (question, *_) = [page for path, page in pages.items() if path.startswith("tables/") and "questions/" in path]
    assert "What was delivered is not known." in question


def test_measured_pages_say_nothing_of_it(tmp_path: Path) -> None:
    """A board without republished runs does not speak of them beside its list of rungs."""
    write_measured(tmp_path)
    pages = pages_of(tmp_path)
    assert "Of republished runs" not in pages["index.html"]
    assert not any("<b>Republished:</b>" in page or "scored elsewhere" in page for page in pages.values())


def test_a_board_of_republished_runs_alone(tmp_path: Path) -> None:
    """It is drawn, ranks nothing, and says that nothing can be ranked."""
    write(tmp_path, republished_files())
    board = board_of(tmp_path)
    (table,) = board.tables
    assert table.rows[0].score is not None
    assert board.sentence == "no row can be ranked (republished, not measured here)."
    assert "ports-board" in render_text(board)
    assert "index.html" in pages_of(tmp_path)


def test_a_missing_score_leaves_no_number(tmp_path: Path) -> None:
    """A question without a published score is missing, is said, and takes the row's number with it."""
    write(tmp_path, republished_files(scores=[None, *SCORES[1:]]))
    (row,) = board_of(tmp_path).tables[0].rows
    assert (row.score, row.missing.unjudged) == (None, 1)
    assert "no number: not every question has a published score" in row.warnings
    run = next(page for path, page in pages_of(tmp_path).items() if path.startswith("runs/"))
    assert "no score was published" in run


def test_a_lost_answer_has_no_cause(tmp_path: Path) -> None:
    """Nobody knows whether the evidence was delivered, so a lost question is unexplained."""
    write(tmp_path, republished_files())
    causes = {line.id: line.cells[0].cause for line in board_of(tmp_path).tables[0].questions}
    assert causes == {"a1": "correct", **dict.fromkeys(("a2", "a3", "a4", "a5"), "unexplained")}


def test_a_foreign_set_is_not_rewritten(tmp_path: Path) -> None:
    """Only the published form is offered as one; other sets lie beside their run as they were published."""
    table = b"id,input\n" + b"".join(f"{s['id']},{s['input']}\n".encode() for s in PUBLISHED["samples"])
    published, foreign = republished_files(), republished_files(table)
    write(tmp_path, published)
    write(tmp_path, foreign)
    runs = load_runs(tmp_path, now=NOW)
    files = site_files(build_board(runs, now=NOW), runs)
    offered = [data for path, data in files.items() if path.startswith("benchmarks/")]
    assert offered == [published["benchmark.foreign"]]
    kept = [data for path, data in files.items() if path.endswith("/benchmark.foreign")]
    assert sorted(kept) == sorted([published["benchmark.foreign"], foreign["benchmark.foreign"]])
