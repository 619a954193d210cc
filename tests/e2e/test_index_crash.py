"""Kill -9 in the middle of `ragassay index`, go on, and count what was embedded; a call afterwards embeds nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

CHUNKS = 1000
BLOCK = 256
RAGASSAY = [sys.executable, "-m", "ragassay"]
PLUGIN = '''
import os, time
from ragassay.testing.fake_embedder import WordEmbedder

class Slow(WordEmbedder):
    """Puts down how many chunks it was asked for, and holds the block of one number until it is let go."""

    def embed(self, texts, kind):
        if kind == "document":
            with open(os.environ["EMBEDDED_LOG"], "a") as log:
                log.write(f"{len(texts)}\\n")
            with open(os.environ["EMBEDDED_LOG"]) as log:
                held = len(log.readlines()) == int(os.environ.get("EMBEDDED_HELD", 0))
            while held and not os.path.exists(os.environ["EMBEDDED_LOG"] + ".go"):
                time.sleep(0.01)
        return super().embed(texts, kind)
'''
BOARD = """
name = "crash"
passes = 1
[corpus]
path = "docs"
chunker = { kind = "heading" }
[benchmark]
file = "questions.json"
[answer]
kind = "reader"
[judge]
kind = "literal"
[[rows]]
name = "no-retrieval"
stack = { kind = "none" }
[[rows]]
name = "dense"
stack = { kind = "dense", embedder = { kind = "slow" } }
[[rows]]
name = "again"
stack = { kind = "mmr", of = { kind = "bm25" }, embedder = { kind = "slow" } }
"""


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A board over a thousand small pages, and an installed embedder that is slow."""
    (tmp_path / "docs").mkdir()
    for n in range(CHUNKS):
        (tmp_path / "docs" / f"page-{n:04}.md").write_text(f"# Part {n}\n\nPart {n} weighs {n} grams.\n", "utf-8")
    (tmp_path / "board.toml").write_text(BOARD, "utf-8")
    about = tmp_path / "site" / "slow-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: slow\nVersion: 1\n", "utf-8")
    (about / "entry_points.txt").write_text("[ragassay.embedders]\nslow = slow_words:Slow\n", "utf-8")
    (tmp_path / "site" / "slow_words.py").write_text(PLUGIN, "utf-8")
    return tmp_path / "board.toml"


def _environment(board: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(board.parent / "site"),
        "EMBEDDED_LOG": str(board.parent / "embedded.log"),
    }


def _asked(board: Path) -> list[int]:
    log = board.parent / "embedded.log"
    return [int(line) for line in log.read_text("utf-8").splitlines()] if log.exists() else []


def _typed(board: Path, *words: str) -> tuple[int, Any]:
    done = subprocess.run(
        [*RAGASSAY, "index", "--json", *words],
        cwd=board.parent,
        env=_environment(board),
        capture_output=True,
        text=True,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def _stopped_after(board: Path, blocks: int, sign: signal.Signals) -> tuple[int, str]:
    """Begin to index, stop the process while the block of that number is embedded, and return code and errors."""
    begun, go = len(_asked(board)), board.parent / "embedded.log.go"
    go.unlink(missing_ok=True)
    process = subprocess.Popen(
        [*RAGASSAY, "index"],
        cwd=board.parent,
        env={**_environment(board), "EMBEDDED_HELD": str(begun + blocks)},
        stderr=subprocess.PIPE,
        text=True,
        # Whoever runs the tests in the background may have Ctrl-C ignored, and a child would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while len(_asked(board)) < begun + blocks and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, sign)
    go.touch()
    _, said = process.communicate(timeout=60)
    return process.returncode, said


def test_a_killed_index_is_continued(board: Path) -> None:
    """Two kills and a Ctrl-C: every block that was written is kept, and at most the one under way is embedded twice."""
    assert _stopped_after(board, 2, signal.SIGKILL)[0] == -signal.SIGKILL
    code, found = _typed(board, "--check")
    (vectors,) = found["rows"][1]["vectors"]
    assert (code, vectors["missing"]) == (1, CHUNKS - BLOCK)
    assert _stopped_after(board, 1, signal.SIGKILL)[0] == -signal.SIGKILL
    code, said = _stopped_after(board, 2, signal.SIGINT)
    assert code == 130
    assert "is kept; run the same command again to continue" in said
    code, found = _typed(board)
    assert code == 0
    assert [row["state"] for row in found["rows"]] == ["ready"] * 3
    assert found["rows"][2]["vectors"][0]["embedded"] == 0
    assert sum(_asked(board)) <= CHUNKS + 3 * BLOCK
    before = _asked(board)
    code, found = _typed(board)
    assert code == 0
    assert _asked(board) == before
