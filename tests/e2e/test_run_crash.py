"""Kill -9 in the middle of a run, resume, and check against the server's own count."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragassay.manifest import read_run
from ragassay.run.journal import GROUP_RECORDS

QUESTIONS = 100
CONCURRENCY = 8
RAGASSAY = [sys.executable, "-m", "ragassay"]


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A board of two rows over 100 questions on 100 small pages; the model is a counter behind a slow server."""
    docs = tmp_path / "docs"
    docs.mkdir()
    samples = []
    for n in range(QUESTIONS):
        (docs / f"page-{n:03}.md").write_text(
            f"# Part {n}\n\nThe part {n} weighs {n + 1000} grams.\n", encoding="utf-8"
        )
        claim = {"text": f"It weighs {n + 1000} grams.", "central": True, "must": [[str(n + 1000)]]}
        samples.append(
            {
                "id": f"q-{n:03}",
                "page": f"page-{n:03}.md",
                "input": f"How many grams does the part {n} weigh?",
                "target": f"{n + 1000} grams.",
                "evidence": f"The part {n} weighs {n + 1000} grams.",
                "claims": [claim],
            }
        )
    (tmp_path / "questions.json").write_text(json.dumps({"samples": samples}), encoding="utf-8")
    subprocess.run([*RAGASSAY, "keys", "init"], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path / "board.toml"


@pytest.fixture
def server(tmp_path: Path) -> object:
    """A counting server in its own process; its log has one line a request, flushed at once."""
    log = tmp_path / "calls.log"
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "ragassay.testing.chat_server", "--port", "0", "--latency-ms", "60"),
            *("--mode", "counter", "--log", str(log)),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    yield address, log
    process.send_signal(signal.SIGTERM)
    process.wait(10)
    process.stdout.close()


def _write_board(path: Path, address: str) -> None:
    path.write_text(
        f"""
name = "crash"
passes = 1
[corpus]
path = "docs"
[benchmark]
file = "questions.json"
[answer]
kind = "openai"
id = "counter"
base_url = "{address}"
limits = {{ concurrency = {CONCURRENCY} }}
[judge]
kind = "literal"
[[rows]]
name = "no-retrieval"
stack = {{ kind = "none" }}
[[rows]]
name = "bm25"
stack = {{ kind = "bm25" }}
top_k = 2
""",
        encoding="utf-8",
    )


def _answers(folder: Path) -> dict[tuple[str, str], str]:
    """Return every whole journaled answer by row and question."""
    found = {}
    for path in folder.glob(".ragassay/passes/*/*/journal.jsonl"):
        for line in path.read_bytes().split(b"\n")[:-1]:
            entry = json.loads(line)
            if entry["event"] == "answered":
                found[(path.parent.parent.name, entry["q"])] = entry["answer"]["text"]
    return found


def test_ten_kills_lose_nothing_and_ask_little_twice(board: Path, server: tuple[str, Path]) -> None:
    """Ten SIGKILLs at random moments: every journaled answer stands in the signed runs, and the server was asked at
    most the calls under way and one group twice for each kill.
    """
    address, log = server
    _write_board(board, address)
    moments = random.Random(20261130)
    kept: dict[tuple[str, str], str] = {}
    kills = 0
    for _ in range(10):
        process = subprocess.Popen(
            [*RAGASSAY, "run"], cwd=board.parent, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        _wait_for_calls(log, process, len(kept) + moments.randrange(1, 12))
        time.sleep(moments.random() * 0.05)
        kills += process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        now = _answers(board.parent)
        assert {key: now.get(key) for key in kept} == kept
        kept = now
    assert kills >= 8
    result = subprocess.run([*RAGASSAY, "run"], cwd=board.parent, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "continues with" in result.stderr
    ended = _answers(board.parent)
    assert len(ended) == 2 * QUESTIONS
    assert {key: ended[key] for key in kept} == kept
    assert len(set(ended.values())) == 2 * QUESTIONS
    calls = len(log.read_text(encoding="utf-8").splitlines())
    assert 2 * QUESTIONS <= calls <= 2 * QUESTIONS + kills * (CONCURRENCY + GROUP_RECORDS)
    runs = list((board.parent / ".ragassay" / "runs").iterdir())
    assert len(runs) == 2
    signed = {json.loads(line)["answer"] for run in runs for line in read_run(run).files["outputs.jsonl"].splitlines()}
    assert signed == set(ended.values())
    verified = subprocess.run(
        [*RAGASSAY, "verify", ".ragassay/runs"], cwd=board.parent, capture_output=True, text=True, check=False
    )
    assert verified.returncode == 0, verified.stdout


def _wait_for_calls(log: Path, process: subprocess.Popen[bytes], more: int) -> None:
    before = len(log.read_text(encoding="utf-8").splitlines()) if log.exists() else 0
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        now = len(log.read_text(encoding="utf-8").splitlines()) if log.exists() else 0
        if now >= before + min(more, 12):
            return
        time.sleep(0.01)


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(board: Path, server: tuple[str, Path]) -> None:
    """SIGINT lets the calls under way end, keeps them, asks nothing twice, and names the command that continues."""
    address, log = server
    _write_board(board, address)
    process = subprocess.Popen([*RAGASSAY, "run"], cwd=board.parent, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while (not log.exists() or log.read_text(encoding="utf-8").count("\n") < 20) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "run the same command again to continue" in said
    asked = log.read_text(encoding="utf-8").count("\n")
    assert len(_answers(board.parent)) == asked < 2 * QUESTIONS
    result = subprocess.run([*RAGASSAY, "run"], cwd=board.parent, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert log.read_text(encoding="utf-8").count("\n") == 2 * QUESTIONS
