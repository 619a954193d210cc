"""The example boards over other people's documentation, where that data lies beside the checkout."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def _board(name: str, folder: Path, rows: list[str], *more: str) -> dict[str, dict[str, Any]]:
    """Run rows of an example in a workspace of its own, verify every run, and return the board's rows by name."""
    ragassay = [sys.executable, "-m", "ragassay"]
    subprocess.run([*ragassay, "keys", "init", "--dir", str(folder / "w" / "keys")], check=True, capture_output=True)
    options = [option for row in rows for option in ("--row", row)]
    command = [*ragassay, "run", str(EXAMPLES / name / "board.toml")]
    command += ["--workspace", str(folder / "w"), "--site", str(folder / "site")]
    result = subprocess.run([*command, *options, *more], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    key = str(folder / "w" / "keys" / "run.pub.json")
    verified = subprocess.run(
        [*ragassay, "verify", str(folder / "w" / "runs"), "--key", key], capture_output=True, text=True, check=False
    )
    assert verified.returncode == 0, verified.stdout
    board = json.loads((folder / "site" / "board.json").read_text(encoding="utf-8"))
    return {row["name"]: row for row in board["tables"][0]["rows"] if row["standing"] != "not_run"}


def _reached(row: dict[str, Any]) -> int:
    return int(row["reach"]["exact"]) + int(row["reach"]["folded"])


def test_uv_docs_lexical_and_fused(shared_data: Path, tmp_path: Path) -> None:
    """bm25 reaches every evidence string in its top 5, the fusion nearly every; control and oracle bound the scores."""
    rows = _board("uv-docs", tmp_path, ["no-retrieval", "oracle", "bm25", "hybrid"])
    assert (_reached(rows["bm25"]), rows["bm25"]["reach"]["of"]) == (30, 30)
    assert _reached(rows["hybrid"]) >= 26
    assert _reached(rows["oracle"]) == 30
    scores = {name: row["score"]["num"] / row["score"]["den"] for name, row in rows.items()}
    assert scores["no-retrieval"] == 0
    assert scores["oracle"] >= 0.9
    assert scores["oracle"] > scores["bm25"] >= 0.75
    assert scores["oracle"] > scores["hybrid"] >= 0.65


@pytest.mark.slow
def test_postgresql_docs_lexical(shared_data: Path, tmp_path: Path) -> None:
    """bm25 finds the evidence of at least 24 of 30 questions among 1,169 HTML pages."""
    rows = _board("postgresql-docs", tmp_path, ["no-retrieval", "oracle", "bm25"])
    assert 24 <= _reached(rows["bm25"]) <= 28
    assert rows["oracle"]["score"]["num"] > rows["bm25"]["score"]["num"] > 0 == rows["no-retrieval"]["score"]["num"]


@pytest.mark.slow
def test_postgresql_docs_fused(shared_data: Path, tmp_path: Path) -> None:
    """The fusion of words and vectors finds about as much as its better part; 8,098 chunks are embedded."""
    rows = _board("postgresql-docs", tmp_path, ["no-retrieval", "bm25", "dense", "hybrid"])
    assert _reached(rows["dense"]) >= 22
    assert _reached(rows["hybrid"]) >= 24
