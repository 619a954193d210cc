"""`ragassay questions fairness` over a board: every row, its exit code, its JSON, and that it builds nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ragassay.cli import main

BOARD = """
name = "b"
[corpus]
path = "docs"
[benchmark]
file = "questions.json"
[answer]
kind = "reader"
[judge]
kind = "literal"
"""
NONE = '[[rows]]\nname = "no-retrieval"\nstack = { kind = "none" }\n'
BM25 = '[[rows]]\nname = "bm25"\nstack = { kind = "bm25" }\n'
OWN = '[[rows]]\nname = "svc"\nstack = { kind = "http", url = "http://127.0.0.1:9/search" }\n'
REWRITTEN = (
    '[[rows]]\nname = "hyde"\nstack = { kind = "hyde", of = { kind = "http", url = "http://127.0.0.1:9/s" }, '
    'model = { kind = "openai", id = "m", base_url = "http://127.0.0.1:9/v1" } }\n'
)
FILTERED = (
    '[[rows]]\nname = "part"\nstack = { kind = "vectorize", account_id = "%s", key_env = "ACME_KEY", filter = '
    '{ page = "log.md" }, embedder = { kind = "minilm-l6-v2-int8" } }\n' % ("0" * 32)
)


def _folder(folder: Path, *rows: str, port: str = "The server listens on port 8080.") -> Path:
    (folder / "docs").mkdir()
    (folder / "docs" / "net.md").write_text("# Net\n\nThe server\nlistens on port 8080.\n", encoding="utf-8")
    (folder / "docs" / "log.md").write_text("# Log\n\nIt logs to `server.log`.\n", encoding="utf-8")
    samples: list[dict[str, Any]] = [
        {"id": "net", "input": "Which port?", "target": "Port 8080.", "evidence": port},
        {"id": "log", "input": "Where to?", "target": "server.log", "evidence": "It logs to `server.log`."},
    ]
    (folder / "questions.json").write_text(json.dumps({"name": "set", "samples": samples}), encoding="utf-8")
    path = folder / "board.toml"
    waiver = "" if NONE in rows else 'control_waiver = "a test"'
    path.write_text(waiver + BOARD + "".join(rows), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["ragassay", "questions", "fairness"])


def _asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    sys.argv[3:] = arguments
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out + said.err


def test_rows_are_told_one_by_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There, folded, unknowable; nothing absent is exit code 0; no service is asked and nothing is written."""
    board = _folder(tmp_path, NONE, BM25, OWN, REWRITTEN)
    code, said = _asked(capsys, str(board))
    assert code == 0
    assert said.splitlines() == [
        "2 questions of set; 2 chunks of 2 pages",
        "row           present  folded  absent  unknowable  split",
        "no-retrieval  searches nothing",
        "bm25                1       1       0           0      0",
        "svc                 0       0       0           2      0",
        "hyde                0       0       0           2      0",
        "svc: it searches a corpus of its own",
        "hyde: it searches a corpus of its own",
        "folded, bm25: net",
        "no evidence is absent from the texts of 1 row; of 2 rows it cannot be known",
    ]
    assert not (tmp_path / ".ragassay").exists()


def test_absent_evidence_is_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A changed figure is absent from rows over the board's texts, and unknowable of a corpus that nobody sees."""
    board = _folder(tmp_path, BM25, OWN, port="The server listens on port 9090.")
    code, said = _asked(capsys, str(board), "--json")
    told = json.loads(said)
    assert (code, told["ok"]) == (1, False)
    bm25, own = told["rows"]
    assert (bm25["present"], bm25["absent"], bm25["texts"]) == (1, ["net"], "board")
    assert (own["present"], own["absent"], own["unknowable"], own["texts"]) == (0, [], ["net", "log"], "own")
    code, said = _asked(capsys, str(board))
    assert code == 1
    assert "absent, bm25: net" in said
    assert "searches another corpus" in said
    assert "the documentation has changed under the questions" in said, "bm25 is the only row that can be known"


def test_a_filter_makes_a_row_search_less(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a row's filter keeps out of every search is not in its texts."""
    code, said = _asked(capsys, str(_folder(tmp_path, BM25, FILTERED)), "--json")
    assert code == 1
    assert [(row["row"], row["absent"]) for row in json.loads(said)["rows"]] == [("bm25", []), ("part", ["net"])]
    assert "has changed" not in _asked(capsys, str(tmp_path / "board.toml"))[1], "the other row has it all"


def test_what_another_library_was_given_is_unknowable_before_it_is_built(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its code is not imported; evidence that no page holds is absent all the same."""
    pytest.importorskip("haystack")
    row = '[[rows]]\nname = "mine"\nstack = { kind = "haystack", retriever = "absent_module:make" }\n'
    code, said = _asked(capsys, str(_folder(tmp_path, row)))
    assert code == 0
    assert "mine: what it indexes of the board's texts is known once it is built" in said
    own = row.replace('make" }', 'make", corpus = "own" }')
    (tmp_path / "board.toml").write_text('control_waiver = "a test"' + BOARD + own, encoding="utf-8")
    assert "mine: it searches a corpus of its own" in _asked(capsys, str(tmp_path / "board.toml"))[1]


def test_all_problems_of_a_board_are_told_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong parameter and a question file with a fault are one error with exit code 2."""
    board = _folder(tmp_path, '[[rows]]\nname = "x"\nstack = { kind = "bm25", k1 = "no" }\n')
    (tmp_path / "questions.json").write_text("{}", encoding="utf-8")
    code, said = _asked(capsys, str(board))
    assert code == 2
    assert "row 'x'" in said
    assert "questions.json" in said
