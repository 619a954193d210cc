"""The how-to page for retrievers of other libraries, as it stands: its files, its board, its commands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="pip install 'ragassay[langchain]'")
pytest.importorskip("llama_index.core", reason="pip install 'ragassay[llamaindex]'")
pytest.importorskip("haystack", reason="pip install 'ragassay[haystack]'")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "compare-your-langchain-retriever.md"
DOCS = {
    "cache": "# Cache\n\nThe cache directory is set with the option `--cache-dir`, or with a variable.\n",
    "retries": "# Retries\n\nA request that fails is sent again; the default number of retries is 3.\n",
    "python": "# Python\n\nThe version of Python is pinned in the file `.python-version`, beside the project.\n",
    "lock": "# Lock\n\nThe lock file names the digest of every package, and is written when dependencies change.\n",
}
HEAD = """
name = "of other libraries"
passes = 1
[corpus]
path = "docs"
[benchmark]
file = "questions.json"
[answer]
kind = "reader"
[judge]
kind = "literal"
[[rows]]
name = "control"
stack = { kind = "none" }
"""


def question(at: int, text: str, evidence: str, must: str) -> dict[str, Any]:
    """Return one question whose only claim is a word."""
    claim = {"text": f"It is {must}.", "central": True, "must": [[must]]}
    return {"id": f"q-{at}", "input": text, "target": must, "evidence": evidence, "claims": [claim]}


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """The page's files and rows, with a small corpus and two questions."""
    text = PAGE.read_text("utf-8")
    for name, code in re.findall(r"```python\n# (\w+\.py)\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(code, "utf-8")
    (tmp_path / "docs").mkdir()
    for name, page in DOCS.items():
        (tmp_path / "docs" / f"{name}.md").write_text(page, "utf-8")
    samples = [
        question(1, "With which option is the cache directory set?", "option `--cache-dir`", "--cache-dir"),
        question(2, "What is the default number of retries?", "default number of retries is 3", "3"),
    ]
    (tmp_path / "questions.json").write_text(json.dumps({"name": "small", "version": "0", "samples": samples}))
    rows = "\n".join(re.findall(r"```toml\n(.*?)```", text, re.DOTALL))
    (tmp_path / "board.toml").write_text(HEAD + rows, "utf-8")
    return tmp_path


def ragassay(folder: Path, *words: str) -> Any:
    """Run the command line in the board's folder, with every tracing variable set; return what it says as JSON."""
    wanted = {
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_ENDPOINT": "http://127.0.0.1:9",
        "HAYSTACK_TELEMETRY_ENABLED": "true",
    }
    environment = {**os.environ, **wanted, "HOME": str(folder)}
    told = subprocess.run(
        [sys.executable, "-m", "ragassay", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    return json.loads(told.stdout) if "--json" in words else told.stdout


def test_the_rows_of_the_page_answer(board: Path) -> None:
    """Over the same chunks the three libraries deliver the same passages; a row with an index of its own its own."""
    rows = {row["row"]: row for row in ragassay(board, "stacks", "check", "--json")["rows"]}
    assert {row["state"] for row in rows.values()} == {"answers"}
    found = {name: [one["chunk"] for one in row["retrieval"]["delivered"]] for name, row in rows.items()}
    assert found["langchain"] == found["llamaindex"] == found["haystack"]
    assert (found["langchain"][0], found["in-production"]) == ("cache.md#0", ["faq-1"])
    assert {name: rows[name]["indexed"] for name in ("haystack", "in-production")} == {
        "haystack": len(DOCS),
        "in-production": None,
    }
    assert not (board / ".haystack").exists()


def test_the_board_of_the_page_runs(board: Path) -> None:
    """Each row is scored, its files are recorded, and the corpus of a row that owns its own is not."""
    ragassay(board, "keys", "init")
    ragassay(board, "run")
    found = {row["name"]: row for row in json.loads((board / "site" / "board.json").read_text())["tables"][0]["rows"]}
    shares = {name: found[name]["score"]["num"] / found[name]["score"]["den"] for name in ("control", "langchain")}
    assert shares == {"control": 0, "langchain": 1}
    configs = [json.loads(path.read_text()) for path in (board / ".ragassay" / "runs").glob("*/config.json")]
    digests = {config["row"]: config["measure"]["corpus"]["digest"] for config in configs}
    assert digests["in-production"] is None
    assert digests["langchain"] == digests["control"] is not None
    sources = {config["row"]: set(config["measure"]["stack"]["describe"].get("sources", ())) for config in configs}
    assert sources == {
        "control": set(),
        "langchain": {"my_embedding", "my_langchain"},
        "llamaindex": {"my_embedding", "my_llamaindex"},
        "haystack": {"my_embedding", "my_haystack"},
        "in-production": {"my_embedding", "my_langchain", "my_production"},
    }
