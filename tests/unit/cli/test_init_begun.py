"""`ragassay init` completes a board that only says where documentation and questions are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ragassay.cli import root
from ragassay.errors import InputError
from ragassay.run.board_file import load_board

BEGUN = '# our documentation\n[corpus]\npath = "handbook"\nchunker = { kind = "sentences" }\n'
CLAIM = {"text": "Port 8080.", "central": True, "must": [["8080"]]}
SAMPLE = {
    "input": "Which port has Acme?",
    "target": "Port 8080.",
    "claims": [CLAIM],
    "evidence": "listens on port 8080",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a handbook and questions, in which the command line stands, without a passphrase."""
    (tmp_path / "handbook").mkdir()
    (tmp_path / "handbook" / "net.md").write_text("The server listens on port 8080.\n", encoding="utf-8")
    (tmp_path / "set.json").write_text(json.dumps({"samples": [SAMPLE]}), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAGASSAY_PASSPHRASE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def init(*arguments: str) -> Result:
    """Run `ragassay init`."""
    return CliRunner().invoke(root, ["init", *arguments], standalone_mode=False)


@pytest.mark.parametrize("named", [True, False])
def test_what_was_begun_stays_and_the_rest_is_added(folder: Path, named: bool) -> None:
    """The text that was there stands in the board as it was, and the board can be loaded."""
    begun = f'name = "ours"\n{BEGUN}\n[benchmark]\nfile = "set.json"\n' if named else BEGUN
    (folder / "board.toml").write_text(begun, encoding="utf-8")
    result = init() if named else init("--questions", "set.json")
    assert result.exception is None
    assert "completed board.toml" in result.output
    text = (folder / "board.toml").read_text(encoding="utf-8")
    assert begun.strip() in text
    board = load_board(folder / "board.toml")
    assert (board.corpus.name, board.benchmark.name, board.chunker["kind"]) == ("handbook", "set.json", "sentences")
    assert board.name == ("ours" if named else f"{folder.name}: retrieval QA")
    assert [row.name for row in board.rows][:3] == ["no-retrieval", "oracle", "bm25"]


@pytest.mark.parametrize(
    ("begun", "arguments", "said"),
    [
        (BEGUN, ["--docs", "handbook"], "leave --docs out"),
        (BEGUN + '[benchmark]\nfile = "set.json"\n', ["--questions", "set.json"], "leave --questions out"),
        (BEGUN + '[judge]\nkind = "literal"\n', [], "board.toml exists"),
        ("# nothing yet\n", [], "board.toml exists"),
        ('name = "ours"\n', [], "has no [corpus] table"),
        (BEGUN.replace("handbook", "nowhere"), [], "nowhere does not exist"),
        ('[corpus]\ncrawl = "https://docs.acme.example/"\n', [], "was not crawled yet"),
    ],
)
def test_what_contradicts_or_is_absent_is_said_and_nothing_is_written(
    folder: Path, begun: str, arguments: list[str], said: str
) -> None:
    """The board stays as it was, byte for byte."""
    (folder / "board.toml").write_text(begun, encoding="utf-8")
    result = init(*arguments)
    assert isinstance(result.exception, InputError)
    assert said in str(result.exception)
    assert (folder / "board.toml").read_text(encoding="utf-8") == begun
