"""What runs record of the fairness of the questions, on the board: in words, in data, and never believed as a lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pages_factory as rich
import pytest
import site_factory as make
import spec_factory as spec

from ragassay.records import Fairness
from ragassay.site import build_board, load_runs, site_files
from ragassay.site.file import decode_board, encode_board
from ragassay.site.record import Board, BoardRow
from ragassay.site.text import render_text

NOW = make.START + 10_000
OWN: dict[str, Any] = {"digest": None, "pages": None, "chunks": None, "chunker": {}, "extractor": "1"}
COUNT = 6


def _board(workspace: Path, found: Fairness | None, *, kind: str = "bm25", **changes: Any) -> Board:
    bench = changes.pop("bench", None) or make.benchmark(COUNT)
    given: dict[str, Any] = {} if found is None else {"circumstance_fairness": found}
    make.write_row(workspace, "one", kind, bench, make.losing_first(2), reached=lambda n: n < 5, **given, **changes)
    return build_board(load_runs(workspace, now=NOW), now=NOW)


def _row(board: Board, name: str = "one") -> BoardRow:
    assert board.main is not None
    return next(row for row in board.main.rows if row.name == name)


def _site(workspace: Path, board: Board) -> dict[str, bytes]:
    return site_files(board, load_runs(workspace, now=NOW))


def test_evidence_that_is_there_is_a_fact_and_no_warning(tmp_path: Path) -> None:
    """The board says in whose texts it is, and how; nothing is marked; the record adds up and is read back."""
    board = _board(tmp_path, Fairness(folded=("q-002",), split=("q-001", "q-002"), unread=()))
    found = _row(board).fairness
    assert found is not None
    assert (found.present, found.folded, found.absent, found.unknowable) == (5, ("q-002",), (), ())
    assert board.main is not None
    fact = "evidence of the questions: in the texts of one (1 under folds, 2 over the edge of a chunk)"
    assert board.main.facts == (fact,)
    assert not [said for said in board.main.warnings if "fairness" in said]
    assert not [said for said in _row(board).warnings if "evidence of" in said]
    assert fact in " ".join(render_text(board).split())
    assert decode_board(encode_board(board)) == board


def test_absent_evidence_marks_the_row(tmp_path: Path) -> None:
    """In the table, its notes, the terminal, the row's and the run's page and the specification."""
    board = _board(tmp_path, Fairness(absent=("q-005", "q-006")))
    words = "searches another corpus: evidence of 2 of 6 questions is not in its texts (q-005 and q-006)"
    assert words in _row(board).warnings
    assert board.main is not None
    assert board.main.facts == ("evidence of the questions: not all in those of one",)
    assert words in " ".join(render_text(board).split())
    files = _site(tmp_path, board)
    index = rich.parsed(files["index.html"])
    assert index.xpath("//span[@class='badge']/text()").count("searches another corpus") == 1
    assert words in rich.words(files["index.html"])
    for path in ("rows/one.html", next(path for path in files if path.startswith("runs/") and path.endswith(".html"))):
        assert "evidence of 4 of 6 questions is in its texts; absent: q-005 and q-006" in rich.words(files[path])
    text = spec.said(tmp_path)
    assert "A row searches another corpus. Evidence of questions is not in the texts of one (2 of 6 questions:" in text
    assert "one: evidence of 4 of 6 questions is in its texts; absent: q-005 and q-006." in text


def test_a_corpus_of_its_own_is_unknowable_and_what_it_delivered_is_seen(tmp_path: Path) -> None:
    """Nothing is called there or absent; what was delivered is counted as seen, of what could be seen."""
    board = _board(tmp_path, Fairness(own_texts=True), kind="http", corpus=OWN)
    found = _row(board).fairness
    assert found is not None
    assert (found.present, len(found.unknowable), found.seen, found.seen_of) == (0, 6, 4, 6)
    assert (
        "whether the evidence is in its corpus is unknowable for 6 questions; it was seen in what the row delivered "
        "for 4 of 6"
    ) in _row(board).warnings
    assert board.main is not None
    assert board.main.facts == ("evidence of the questions: unknowable for one",)
    assert "unknowable, as it searches a corpus of its own; seen in what it delivered for 4 of 6" in spec.said(tmp_path)


def test_questions_without_evidence_are_unknowable_and_said_once(tmp_path: Path) -> None:
    """They are in the record and not in a note of each row: the table says it of the questions."""
    bench = make.benchmark(COUNT)
    bare = msgspec.structs.replace(bench.questions[0], evidence=())
    bench = msgspec.structs.replace(bench, questions=(bare, *bench.questions[1:]))
    board = _board(tmp_path, Fairness(unknowable=("q-001",)), bench=bench)
    found = _row(board).fairness
    assert found is not None
    assert (found.present, found.unknowable, found.seen_of) == (5, ("q-001",), None)
    assert not [said for said in _row(board).warnings if "unknowable" in said]
    assert board.main is not None
    assert board.main.facts == ("evidence of the questions: in the texts of one",)


def test_what_an_embedder_does_not_read_is_noted(tmp_path: Path) -> None:
    """Evidence behind its cut is in the row's texts, and a note of the row."""
    board = _board(tmp_path, Fairness(unread=("q-003",)))
    assert "evidence of 1 of 6 questions ends behind what its embedder reads of a chunk (q-003)" in _row(board).warnings


def test_a_run_from_before_is_not_recorded(tmp_path: Path) -> None:
    """It verifies and prints as ever; beside rows that record it, it is named."""
    board = _board(tmp_path, None)
    assert _row(board).fairness is None
    assert board.main is not None
    assert board.main.facts == ()
    assert "fairness of the questions to the rows: not recorded" in board.main.warnings
    assert "Fairness of the questions to it not recorded" in rich.words(_site(tmp_path, board)["rows/one.html"])
    assert "Whether their evidence stands in the texts that the rows search is not recorded." in spec.said(tmp_path)
    make.write_row(
        tmp_path, "two", "bm25", make.benchmark(COUNT), make.losing_first(1), circumstance_fairness=Fairness()
    )
    board = build_board(load_runs(tmp_path, now=NOW), now=NOW)
    assert board.main is not None
    assert board.main.facts == ("evidence of the questions: in the texts of two",)
    assert "fairness of the questions to the rows: not recorded of one" in board.main.warnings
    assert "Of one it is not recorded." in spec.said(tmp_path)


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (Fairness(absent=("q-099",)), "it names q-099, which is no question of the set"),
        (Fairness(unread=("\x1b[31m",)), "which is no question of the set"),
        (Fairness(folded=("q-006",), absent=("q-006",)), "it names q-006 twice"),
        (Fairness(split=("q-005", "q-005")), "it names q-005 twice"),
        (Fairness(absent=("q-006",), split=("q-006",)), "that the evidence is there, and that it is not"),
        (Fairness(own_texts=True), "otherwise than the configuration whether the row searches a corpus of its own"),
        (Fairness(absent=("q-001",)), "it says that the evidence of q-001 is absent, and the run delivered it"),
    ],
)
def test_a_record_that_contradicts_its_run_is_not_believed(tmp_path: Path, found: Fairness, why: str) -> None:
    """The run verifies, its score stands, and what it says of fairness is printed nowhere as truth."""
    board = _board(tmp_path, found)
    row = _row(board)
    assert row.score is not None
    assert row.fairness is None
    assert row.fairness_fault is not None
    assert why in row.fairness_fault
    assert [
        said for said in row.warnings if said.startswith("what is recorded of the fairness of the questions is not")
    ]
    assert board.main is not None
    assert board.main.facts == ()
    files = _site(tmp_path, board)
    assert "recorded, and not believed:" in rich.words(files["rows/one.html"])
    assert "A record of fairness is not believed." in spec.said(tmp_path)
    assert "\x1b" not in render_text(board)
    assert not [path for path, data in files.items() if path.endswith(".html") and b"\x1b" in data]


def test_questions_without_evidence_cannot_be_there(tmp_path: Path) -> None:
    """A record that says where nothing stands is not believed, nor one of a corpus that nobody looked into."""
    bench = make.benchmark(COUNT, evidence=())
    assert "which has none" in str(_row(_board(tmp_path / "a", Fairness(), bench=bench)).fairness_fault)
    own = _row(_board(tmp_path / "b", Fairness(own_texts=True, folded=("q-001",)), corpus=OWN))
    assert "a corpus that nobody looked into" in str(own.fairness_fault)
    both = _row(_board(tmp_path / "c", Fairness(), corpus=OWN))
    assert "otherwise than the configuration" in str(both.fairness_fault)


def test_a_control_searches_nothing(tmp_path: Path) -> None:
    """Nothing is recorded of it, and one that records something is not believed."""
    bench = make.benchmark(COUNT)
    make.write_row(tmp_path, "no-retrieval", "none", bench, make.losing_first(6))
    make.write_row(tmp_path, "oracle", "oracle", bench, make.losing_first(0), circumstance_fairness=Fairness())
    board = _board(tmp_path, Fairness())
    assert _row(board, "no-retrieval").fairness_fault is None
    assert _row(board, "oracle").fairness_fault == "its row searches nothing"
    assert "Fairness of the questions to it it searches nothing" in rich.words(
        _site(tmp_path, board)["rows/no-retrieval.html"]
    )


def test_runs_of_a_row_that_record_otherwise_are_not_believed(tmp_path: Path) -> None:
    """They search the same texts; what one of them leaves out is taken from the others."""
    bench = make.benchmark(COUNT)
    for at, found in ((0, Fairness()), (500, Fairness(folded=("q-001",)))):
        make.write_row(
            tmp_path, "one", "bm25", bench, make.losing_first(1), passes=1, at=make.START + at,
            circumstance_fairness=found,
        )  # fmt: skip
    board = build_board(load_runs(tmp_path, now=NOW), now=NOW)
    assert _row(board).fairness_fault == "the runs of the row record otherwise of the same texts"
    other = tmp_path / "other"
    make.write_row(other, "one", "bm25", bench, make.losing_first(1), passes=1)
    make.write_row(
        other,
        "one",
        "bm25",
        bench,
        make.losing_first(1),
        passes=1,
        at=make.START + 500,
        circumstance_fairness=Fairness(),
    )
    assert _row(build_board(load_runs(other, now=NOW), now=NOW)).fairness is not None


def test_a_published_board_reads_it_from_its_runs(tmp_path: Path) -> None:
    """Nothing but the runs is there, and the same is said."""
    _board(tmp_path, Fairness(absent=("q-006",)))
    runs = load_runs(tmp_path, now=NOW)
    assert [said for said in _row(rich.public_board(runs)).warnings if said.startswith("searches another corpus")]
