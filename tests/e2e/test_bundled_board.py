"""The lexical rows of the bundled board from the command line: signed, verified, complete and drawn."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BUNDLED = Path(__file__).resolve().parents[2] / "examples" / "bundled"
ROWS = ("no-retrieval", "oracle", "bm25")
PASSES = 3


def _ragassay(*arguments: str | Path, code: int = 0) -> str:
    command = [sys.executable, "-m", "ragassay", *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the bundled board, its workspace and its site, after a run of the lexical rows."""
    folder = tmp_path_factory.mktemp("bundled") / "board"
    shutil.copytree(BUNDLED, folder, ignore=shutil.ignore_patterns(".ragassay", "site", "board.json"))
    _ragassay("keys", "init", "--dir", folder / ".ragassay" / "keys")
    rows = [part for row in ROWS for part in ("--row", row)]
    _ragassay("run", folder / "board.toml", *rows)
    return folder


@pytest.fixture(scope="module")
def verified(ran: Path) -> list[dict[str, Any]]:
    """What `verify` says of every run, with the key pinned."""
    key = ran / ".ragassay" / "keys" / "run.pub.json"
    document = json.loads(_ragassay("verify", ran / ".ragassay" / "runs", "--key", key, "--json"))
    assert document["ok"]
    runs: list[dict[str, Any]] = document["runs"]
    return runs


def _questions(folder: Path) -> int:
    return len(json.loads((folder / "questions.json").read_text(encoding="utf-8"))["samples"])


def test_every_pass_is_signed_and_verifies(verified: list[dict[str, Any]]) -> None:
    """Three rows in three passes are nine runs, each accepted under the pinned key and without a missing item."""
    assert sorted((run["row"], run["passK"]) for run in verified) == sorted(
        (row, k) for row in ROWS for k in range(1, PASSES + 1)
    )
    for run in verified:
        assert run["ok"]
        assert run["pinned"]
        assert not {f["code"] for f in run["findings"]} & {"MISSING_ITEMS", "RETRIEVAL_FAILED"}


def test_every_question_of_every_run_is_scored(ran: Path, verified: list[dict[str, Any]]) -> None:
    """Counts are complete: all questions are asked and scored, and no failure of any kind is counted."""
    for run in verified:
        counts = run["counts"]
        assert counts["asked"] == counts["scored"] == _questions(ran)
        failed = ("unjudged", "answerFailed", "retrievalFailed", "harnessFailed", "retrievalEmpty", "filled")
        assert {name: counts[name] for name in failed} == dict.fromkeys(failed, 0)


def test_the_control_is_zero_and_the_oracle_the_ceiling(verified: list[dict[str, Any]]) -> None:
    """An extractive reader answers nothing without text, most with the evidence, and less with what bm25 finds."""
    scores = {run["row"]: run["score"] for run in verified}
    value = {row: score["num"] / score["den"] for row, score in scores.items()}
    assert scores["no-retrieval"]["num"] == 0
    assert 0 < value["bm25"] <= value["oracle"]
    assert value["oracle"] > 0.6


def test_the_board_ranks_the_candidate_and_writes_its_pages(ran: Path) -> None:
    """The row is eligible, the control and the oracle are marked, and the site has a page per question."""
    board = json.loads((ran / "board.json").read_text(encoding="utf-8"))
    text = _ragassay("board", ran)
    assert "the control is at .00" in " ".join(text.split())
    assert "extractive reader" in text
    (table,) = board["tables"]
    rows = {row["name"]: row for row in table["rows"]}
    assert rows["bm25"]["standing"] == "ranked"
    assert rows["bm25"]["rank"] == 1
    assert [run.get("whyNot") for run in rows["bm25"]["runs"]] == [None] * PASSES
    assert (ran / "site" / "index.html").is_file()
    assert len(list((ran / "site" / "questions").glob("*.html"))) == _questions(ran)
