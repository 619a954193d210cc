"""The shipped chat server: its counts, its log and its faults can be relied on by other tests."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from ragassay.errors import InputError, ModelError
from ragassay.judge import LLMJudge, build_item, read_verdict
from ragassay.plugins.models.openai import OpenAIModel
from ragassay.records import Claim, Message, Question
from ragassay.testing.chat_faults import FAULTS, fault_named
from ragassay.testing.chat_replies import counter, echo, judge
from ragassay.testing.chat_server import ChatServer, messages_digest


def asked(text: str) -> list[Message]:
    """Return the messages of one question."""
    return [Message(role="user", content=text)]


@contextlib.contextmanager
def serving(*options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run the server as a process of its own; yield its base URL and the process."""
    command = [sys.executable, "-m", "ragassay.testing.chat_server", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.terminate()


def ask_all(base_url: str, *texts: str) -> list[str | None]:
    """Ask one question after the other; a failed call gives None."""

    async def run() -> list[str | None]:
        model = OpenAIModel("m", base_url)
        said: list[str | None] = []
        for text in texts:
            try:
                said.append((await model.complete(asked(text), {})).text)
            except ModelError:
                said.append(None)
        await model.close()
        return said

    return asyncio.run(run())


def test_it_counts_calls_and_the_peak() -> None:
    """Every call is counted and kept in order; the peak is the number of calls that were there together."""

    async def run() -> tuple[int, int, list[str]]:
        async with ChatServer(echo, latency_ms=50) as server:
            model = OpenAIModel("m", server.base_url, concurrency=8)
            await asyncio.gather(*(model.complete(asked(str(n)), {}) for n in range(5)))
            await model.complete(asked("last"), {})
            await model.close()
            return server.calls, server.peak, [r["messages"][0]["content"] for r in server.requests]

    calls, peak, contents = asyncio.run(run())
    assert (calls, peak) == (6, 5)
    assert sorted(contents[:5]) == list("01234")
    assert contents[5] == "last"


def test_a_script_can_be_a_function_of_the_call() -> None:
    """Faults follow call numbers, given as a table or computed."""

    async def run() -> list[str]:
        kinds = []
        async with ChatServer(counter(), faults=lambda call: "500" if call % 2 else None) as server:
            model = OpenAIModel("m", server.base_url)
            for _ in range(4):
                try:
                    kinds.append(str((await model.complete(asked("x"), {})).text))
                except ModelError as error:
                    kinds.append(error.kind)
            await model.close()
        return kinds

    assert asyncio.run(run()) == ["server_error", "answer 1", "server_error", "answer 2"]


def test_an_unknown_fault_is_named_with_the_known_ones() -> None:
    """A misspelt fault is an error and not a server without faults."""
    with pytest.raises(InputError, match="hang-up"):
        fault_named("501")
    assert all(fault_named(name) is fault for name, fault in FAULTS.items())


def test_a_process_logs_each_call_at_once(tmp_path: Path) -> None:
    """The log holds a line per request, in order, while the server still runs, with the digest of its messages."""
    log = tmp_path / "calls.jsonl"
    with serving("--mode", "counter", "--log", str(log)) as (base_url, process):
        assert ask_all(base_url, "a", "b", "a") == ["answer 1", "answer 2", "answer 3"]
        process.kill()
    lines = [msgspec.json.decode(line) for line in log.read_bytes().splitlines()]
    assert [line["call"] for line in lines] == [1, 2, 3]
    assert lines[0]["messages"] == lines[2]["messages"] != lines[1]["messages"]
    assert lines[0]["messages"] == messages_digest({"messages": [{"role": "user", "content": "a"}]})


def test_a_process_takes_faults_and_latency() -> None:
    """Scripted faults, every n-th call and a latency can be asked for on the command line."""
    options = ("--faults", '{"1": "empty"}', "--fault-every", "3", "--fault", "429", "--latency-ms", "1")
    with serving(*options) as (base_url, process):
        assert ask_all(base_url, "a", "b", "c", "d") == ["", "b", None, "d"]
        process.terminate()
        assert process.wait(10) == 0


def test_the_judge_mode_gives_valid_verdicts() -> None:
    """A judge's prompt of profile 2 is answered with a verdict that its reader accepts; any other is echoed."""
    question = Question(
        id="q-1",
        input="Why?",
        target="1 bar and 2 bar.",
        claims=(Claim(id=1, text="1 bar", central=True), Claim(id=2, text="2 bar", central=False)),
    )
    item = build_item(question, 'It is "1 bar"\nand 2 bar.', (), "factual-consistency/2")

    async def run() -> tuple[list[str], str | None]:
        async with ChatServer(judge) as server:
            model = OpenAIModel("m", server.base_url)
            raw = await LLMJudge(model, "factual-consistency/2", {}).grade(item)
            verdict = read_verdict(raw, item, "factual-consistency/2")
            other = await model.complete(asked("hello"), {})
            await model.close()
            return [claim.verdict for claim in verdict.claims], other.text

    assert asyncio.run(run()) == (["SUPPORTS", "SUPPORTS"], "hello")
