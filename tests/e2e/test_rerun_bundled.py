"""The deterministic rows of the bundled board, executed again from the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ragassay.manifest import read_run
from ragassay.testing.signed_run import OpenedRun, public_signer, resigned

BUNDLED = Path(__file__).resolve().parents[2] / "examples" / "bundled"
HYBRID = """
[[rows]]
name = "two-bm25"
stack = { kind = "hybrid", of = [ { kind = "bm25" }, { kind = "bm25", k1 = 0.9, b = 0.4 } ] }
"""
ROWS = ("no-retrieval", "oracle", "bm25", "two-bm25")


def _ragassay(*arguments: str | Path, code: int = 0, env: Mapping[str, str] | None = None) -> str:
    command = [sys.executable, "-m", "ragassay", *map(str, arguments)]
    given = {**os.environ, "RAGASSAY_PASSPHRASE": "only-for-this-test", **(env or {})}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=given)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the bundled board with one pass of each deterministic row, run and signed."""
    folder = tmp_path_factory.mktemp("rerun") / "board"
    shutil.copytree(BUNDLED, folder, ignore=shutil.ignore_patterns(".ragassay", "site", "board.json"))
    text = (folder / "board.toml").read_text(encoding="utf-8").replace("passes = 3", "passes = 1") + HYBRID
    (folder / "board.toml").write_text(text, encoding="utf-8")
    _ragassay("keys", "init", "--dir", folder / ".ragassay" / "keys")
    rows = [part for row in ROWS for part in ("--row", row)]
    _ragassay("run", folder / "board.toml", *rows, env={"PYTHONHASHSEED": "3"})
    return folder


def _reruns(*arguments: str | Path, code: int = 0, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    said = json.loads(_ragassay("verify", "--rerun", "--json", *arguments, code=code, env=env))
    return {run["row"]: run["rerun"] for run in said["runs"]}


@pytest.mark.parametrize("seed", ["0", "1"])
def test_every_row_comes_out_equal_under_any_hash_seed(board: Path, seed: str) -> None:
    """bm25, a hybrid of two bm25, oracle and control are equal in a new process, whatever the order of its sets."""
    reruns = _reruns(board / ".ragassay" / "runs", env={"PYTHONHASHSEED": seed})
    assert {row: one["outcome"] for row, one in reruns.items()} == dict.fromkeys(ROWS, "equal")
    assert {one["rows"] for one in reruns.values()} == {60}
    assert all(one["differing"] == 0 and one["differences"] == [] for one in reruns.values())


def test_the_board_shows_the_rung(board: Path) -> None:
    """After a re-execution the board names the rows, and board.json holds the rung of each run."""
    assert "re-executed: equal (60 of 60 rows, content " in _ragassay("verify", "--rerun", board)
    said = " ".join(_ragassay("board", board / "board.toml").split())
    assert "re-executed here with equal content, counts and score:" in said
    document = json.loads((board / "board.json").read_text(encoding="utf-8"))
    rungs = {row["name"]: row["rung"] for row in document["tables"][0]["rows"] if row["runs"]}
    assert rungs == dict.fromkeys(ROWS, "re-executed")
    page = (board / "site" / "index.html").read_text(encoding="utf-8")
    assert page.count("re-executed here: equal") == len(ROWS)


def _of_row(board: Path, row: str) -> Path:
    said = json.loads(_ragassay("verify", board / ".ragassay" / "runs", "--json"))
    return Path(next(run["path"] for run in said["runs"] if run["row"] == row))


def test_one_edited_answer_signed_again_is_refused_and_named(board: Path, tmp_path: Path) -> None:
    """A run that verifies, with one answer that its stack never gave, is different: exit code 1 and RERUN_DIFFERS."""

    def edit(run: OpenedRun) -> None:
        row = next(row for row in run.outputs if row["score"] == 0 and not any(c["quote"] for c in row["claims"]))
        row["answer"] += " And this was written later."
        run.predicate["intent"] = None
        edited.append(row["id"])

    edited: list[str] = []
    files = resigned(read_run(_of_row(board, "bm25")).files, edit)
    folder = tmp_path / "run"
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    key = tmp_path / "key.pub.json"
    key.write_bytes(public_signer().public.jwk())
    said = _ragassay("verify", "--rerun", folder, "--corpus", board / "corpus", code=1)
    assert "RERUN_DIFFERS" in said
    assert f"{edited[0]}: answer" in said
    assert not (board / ".ragassay" / "reexecutions" / "run.json").exists()


def test_a_changed_document_is_told_by_digest(board: Path, tmp_path: Path) -> None:
    """Documents of another digest than the signed one are not executed against; that is no success."""
    docs = tmp_path / "corpus"
    shutil.copytree(board / "corpus", docs)
    page = sorted(docs.rglob("*.md"))[0]
    page.write_text(page.read_text(encoding="utf-8") + "\nOne line more.\n", encoding="utf-8")
    said = _ragassay("verify", "--rerun", _of_row(board, "bm25"), "--corpus", docs, code=3)
    assert "re-executed: NOT POSSIBLE" in said
    assert "the run was made over" in said
