"""Failures of every kind in one run: each is counted by its name, none is a score, and no key is printed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "unit" / "run"))

from run_lab import Lab, register

from ragassay.cli.board import build, find_places
from ragassay.errors import StackError
from ragassay.manifest import decode_run, read_run
from ragassay.records import Hit
from ragassay.run.prepared import Options
from ragassay.testing import chat_replies
from ragassay.testing.chat_server import ChatServer, Fault

JUDGE = 'kind = "llm"\nmodel = { kind = "openai", id = "j", base_url = "{url}", limits = { concurrency = 4 } }'


def test_six_of_ten_with_each_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """6 judged, 2 unjudged, 1 answer failed, 1 retrieval failed: counted apart, and no headline number (CASES 12)."""
    lab = Lab(tmp_path, 10)

    def search(text: str, k: int, chunks: list[object]) -> list[Hit]:
        if "part 0 " in text:
            raise StackError("down")
        return []

    def reply(body: dict[str, Any]) -> str:
        said = json.dumps(body)
        if "response_format" in body:
            prose = "part 1 " in said or "part 2 " in said
            return "It is fine." if prose else chat_replies.judge(body)
        return "" if "part 3 " in said else "It weighs something."

    monkeypatch.setattr("ragassay.run.limits.FIRST_WAIT_S", 0.01)
    stack = register(monkeypatch, search)
    end = lab.with_server(ChatServer(reply), judge=JUDGE, stack=stack, options=Options(seal=True))["row", 1]
    assert end.missing == {"retrieval_failed": 1, "judge_failed": 2, "answer_failed": 1}
    counts = decode_run(read_run(lab.space.runs / end.run_id).files).predicate.counts
    assert (counts.asked, counts.scored, counts.unjudged) == (10, 6, 2)
    rows = lab.outputs(end)
    assert sum(row.score is None for row in rows.values()) == 4
    assert all((row.score is None) == (row.failure is not None) for row in rows.values())
    main = build(find_places(lab.folder)).main
    assert main is not None
    assert [(row.rank, row.standing) for row in main.rows if row.name == "row"] == [(None, "unranked")]


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_whole_run_keeps_to_its_limit(tmp_path: Path, concurrency: int) -> None:
    """Over rows, passes and retries the server never sees more calls at once than the board allows (CASES 14)."""
    lab = Lab(tmp_path, 12)
    server = ChatServer(chat_replies.counter(), latency_ms=15, faults=lambda call: "429" if call % 5 == 0 else None)
    lab.with_server(server, answer=f"limits = {{ concurrency = {concurrency} }}", head="passes = 2")
    assert server.peak == concurrency


@pytest.mark.parametrize(
    "raw",
    [
        b'{"choices":[{"message":{"content":"\\ud800 1000"},"finish_reason":"stop"}]}',
        b'{"choices":[{"message":{"content":"\xff\xfe"},"finish_reason":"stop"}]}',
        b"[" * 100_000,
        b'{"a":"' + b"x" * 17_000_000 + b'"}',
        b'{"choices":[null]}',
        b"",
    ],
    ids=["half a surrogate pair", "invalid UTF-8", "nested", "17 MB", "null choice", "empty"],
)
def test_bytes_that_are_no_reply_are_never_an_answer(tmp_path: Path, raw: bytes) -> None:
    """Each is `answer_failed` for every question: no text, no score, and the pass stays open."""
    lab = Lab(tmp_path, 3)
    server = ChatServer(chat_replies.echo, faults=lambda call: Fault(raw=raw))
    end = lab.with_server(server, options=Options(seal=True))["row", 1]
    rows = lab.outputs(end)
    assert {(row.status, row.score, row.answer) for row in rows.values()} == {("answer_failed", None, None)}


def test_tokens_that_nobody_counted_do_not_stop_a_run(tmp_path: Path) -> None:
    """A server that counts 2^53 tokens a call is taken as one that does not count, and the pass is signed."""
    usage = {"prompt_tokens": 2**53 - 1, "completion_tokens": 2**53 - 1}
    body = {"choices": [{"message": {"content": "1000"}, "finish_reason": "stop"}], "usage": usage}
    server = ChatServer(chat_replies.echo, faults=lambda call: Fault(raw=json.dumps(body).encode()))
    price = 'price = { input_usd_per_mtok = "1000000", output_usd_per_mtok = "1000000" }'
    lab = Lab(tmp_path, 3)
    end = lab.with_server(server, answer=price)["row", 1]
    assert end.held is None
    assert {row.answer_cost_microusd for row in lab.telemetry(end).values()} == {None}


def test_a_key_that_a_server_echoes_is_printed_nowhere(tmp_path: Path) -> None:
    """Neither the refusal nor any file or output of the command holds the key; the exit code is 2 (CASES 27)."""
    lab = Lab(tmp_path, 3)
    subprocess.run([sys.executable, "-m", "ragassay", "keys", "init"], cwd=tmp_path, check=True, capture_output=True)
    server = subprocess.Popen(
        [sys.executable, "-m", "ragassay.testing.chat_server", "--fault-every", "1", "--fault", "401-echo"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    key = "sk-very-secret-0123456789"
    try:
        address = server.stdout.readline().strip()
        lab.write(answer=f'kind = "openai"\nid = "m"\nbase_url = "{address}"\nkey_env = "LAB_KEY"')
        ran = subprocess.run(
            [sys.executable, "-m", "ragassay", "run"],
            cwd=tmp_path,
            env={**os.environ, "LAB_KEY": key},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=10)
    assert ran.returncode == 2
    assert "LAB_KEY" not in ran.stdout
    assert "refused the key" in ran.stderr
    assert key not in ran.stdout + ran.stderr + lab.everything_written()
