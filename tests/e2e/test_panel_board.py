"""A board of 5 rows x 60 questions x 3 passes under its judge and two more, with faults on every server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

RAGASSAY = [sys.executable, "-m", "ragassay"]
ROWS, QUESTIONS, PASSES = 5, 60, 3
ANSWERS = ROWS * QUESTIONS * PASSES


@contextmanager
def server(mode: str, log: Path, fault: str) -> Iterator[str]:
    """Run a counting server whose every 50th call fails; yield its base URL."""
    command = [sys.executable, "-m", "ragassay.testing.chat_server", "--mode", mode, "--log", str(log)]
    process = subprocess.Popen(
        [*command, "--fault-every", "50", "--fault", fault], stdout=subprocess.PIPE, text=True, env=os.environ.copy()
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10)
        process.stdout.close()


def write_board(folder: Path, answer: str, judge: str, panel: str) -> None:
    """Write documents, questions and a board of five rows, one LLM judge and a panel of two."""
    (folder / "docs").mkdir()
    samples = []
    for n in range(QUESTIONS):
        text = f"The part {n} weighs {n + 1000} grams."
        (folder / "docs" / f"page-{n:03}.md").write_text(f"# Part {n}\n\n{text}\n", encoding="utf-8")
        claim = {"text": f"It weighs {n + 1000} grams.", "central": True, "must": [[str(n + 1000)]]}
        sample = {"id": f"q-{n:03}", "input": f"How many grams does the part {n} weigh?", "claims": [claim]}
        samples.append({**sample, "page": f"page-{n:03}.md", "target": f"{n + 1000} grams.", "evidence": text})
    (folder / "questions.json").write_text(json.dumps({"name": "parts", "samples": samples}), encoding="utf-8")
    price = 'price = { input_usd_per_mtok = "1", output_usd_per_mtok = "2" }\nlimits = { concurrency = 8 }'
    rows = "".join(
        f'[[rows]]\nname = "bm25-{k}"\nstack = {{ kind = "bm25", k1 = "{k}.2" }}\ntop_k = 3\n' for k in (0, 1, 2)
    )
    (folder / "board.toml").write_text(
        f"""name = "panel"
passes = {PASSES}
[corpus]
path = "docs"
[benchmark]
file = "questions.json"
[answer]
kind = "openai"
id = "answering"
base_url = "{answer}"
{price}
[judge]
kind = "llm"
reask = "0%"
[judge.model]
kind = "openai"
id = "judging"
base_url = "{judge}"
{price}
[[panel]]
name = "second"
kind = "llm"
[panel.model]
kind = "openai"
id = "second"
base_url = "{panel}"
{price}
[[panel]]
name = "literal"
kind = "literal"
[[rows]]
name = "no-retrieval"
stack = {{ kind = "none" }}
[[rows]]
name = "oracle"
stack = {{ kind = "oracle" }}
{rows}""",
        encoding="utf-8",
    )


def lines_of(paths: Iterator[Path]) -> list[dict[str, Any]]:
    """Return the JSON lines of files."""
    return [json.loads(line) for path in paths for line in path.read_bytes().splitlines()]


def calls(log: Path) -> int:
    """Return how many requests reached a server."""
    return len(log.read_bytes().splitlines())


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The board after `run` and `judge`, with the logs of its three servers beside it."""
    folder = tmp_path_factory.mktemp("panel")
    logs = {name: folder / f"{name}.log" for name in ("answer", "judge", "panel")}
    with ExitStack() as stack:
        addresses = [
            stack.enter_context(server(mode, logs[name], fault))
            for name, mode, fault in (
                ("answer", "reader", "500"),
                ("judge", "judge", "429"),
                ("panel", "judge", "no-json"),
            )
        ]
        write_board(folder, *addresses)
        for words in (["keys", "init"], ["run"], ["judge"]):
            done = subprocess.run([*RAGASSAY, *words], cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_answer_is_scored_and_every_attempt_is_counted(job: Path) -> None:
    """No fault ends as a score or a gap: 900 rows are scored, and the attempts are the servers' own counts."""
    telemetry = lines_of((job / ".ragassay" / "runs").glob("*/telemetry.jsonl"))
    outputs = lines_of((job / ".ragassay" / "runs").glob("*/outputs.jsonl"))
    assert len(outputs) == len(telemetry) == ANSWERS
    assert {row["status"] for row in outputs} == {"ok"}
    assert sum(row["answerAttempts"] for row in telemetry) == calls(job / "answer.log") > ANSWERS
    assert sum(row["judgeAttempts"] for row in telemetry) == calls(job / "judge.log") > ANSWERS


def test_money_is_what_the_tokens_cost(job: Path) -> None:
    """One micro-USD an input token and two an output token, for every answer and every verdict."""
    for row in lines_of((job / ".ragassay" / "runs").glob("*/telemetry.jsonl")):
        for stage in ("answer", "judge"):
            usage = row[f"{stage}Usage"]
            assert row[f"{stage}CostMicrousd"] == usage["inputTokens"] + 2 * usage["outputTokens"] > 0


def test_the_panel_judges_every_stored_answer(job: Path) -> None:
    """Two further judges of fifteen runs: thirty judgements, each of 60 items, with the second server's own count."""
    folder = job / ".ragassay" / "judgements"
    assert len(list(folder.glob("*/*/judgement.dsse.json"))) == 2 * ROWS * PASSES
    verdicts = lines_of(folder.glob("*/*/verdicts.jsonl"))
    assert len(verdicts) == 2 * ANSWERS
    assert {row["status"] for row in verdicts} == {"judged"}
    replies = lines_of(folder.glob("*/*/replies.jsonl"))
    assert sum(row["judgeAttempts"] for row in replies) == calls(job / "panel.log") > ANSWERS


def test_a_second_call_has_nothing_left_to_ask(job: Path) -> None:
    """`ragassay judge` once more asks nobody: what was judged is there."""
    before = calls(job / "panel.log")
    done = subprocess.run([*RAGASSAY, "judge"], cwd=job, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert calls(job / "panel.log") == before
