"""Limits and budgets of whole runs before servers that refuse, echo, count nothing or spend everything."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Mapping
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "unit" / "run"))

from run_lab import Lab

from ragassay.cli.key_making import ensure_key
from ragassay.cli.spending import limits_said
from ragassay.errors import InputError
from ragassay.records import Secret
from ragassay.run.journal import read_entries
from ragassay.run.prepared import Prepared, prepare
from ragassay.testing import chat_replies
from ragassay.testing.chat_server import ChatServer, Fault

PRICE = 'price = { input_usd_per_mtok = "100", output_usd_per_mtok = "100" }'


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits between attempts are a thousandth of what they are."""
    monkeypatch.setattr("ragassay.run.limits.FIRST_WAIT_S", 0.001)
    monkeypatch.setattr("ragassay.run.limiter.FIRST_COOL_S", 0.001)
    monkeypatch.setattr("ragassay.run.limiter.LONGEST_COOL_S", 0.01)


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[Prepared]:
    """What each run was prepared as, oldest first."""
    kept: list[Prepared] = []

    def keeping(*given: Any) -> Prepared:
        kept.append(prepare(*given))
        return kept[-1]

    monkeypatch.setattr("run_lab.prepare", keeping)
    return kept


def _blind(_call: int) -> Fault:
    """Answer without a count of tokens."""
    body = {
        "choices": [{"message": {"role": "assistant", "content": "It weighs 1000 grams."}, "finish_reason": "stop"}]
    }
    return Fault(raw=json.dumps(body).encode())


def test_a_date_to_wait_for_holds_every_call(tmp_path: Path) -> None:
    """The first refusal names an HTTP date: no call of any row reaches the server before it."""
    lab, came = Lab(tmp_path, 4), []

    def script(call: int) -> Fault | None:
        came.append(time.time())
        if call == 1:
            date = formatdate(int(time.time()) + 2, usegmt=True)
            return Fault(status=429, error="slow down", headers={"Retry-After": date})
        return None

    ended = lab.with_server(ChatServer(chat_replies.echo, faults=script), answer="limits = { concurrency = 1 }")
    assert all(end.held is None for end in ended.values())
    assert len(came) == 9
    assert min(came[1:]) >= int(came[0]) + 2


def _sessions(lab: Lab, server: ChatServer, *answers: str) -> list[Any]:
    """Run the board once under each answer table, before one server; return how each session ended."""

    async def work() -> list[Any]:
        found: list[Any] = []
        async with server:
            for answer in answers:
                lab.write(answer=f'kind = "openai"\nid = "m"\nbase_url = "{server.base_url}"\n{answer}')
                try:
                    found.append(await lab.run_async())
                except InputError as error:
                    found.append(error)
        return found

    return asyncio.run(work())


def test_limits_prices_and_budget_may_change_between_sessions(tmp_path: Path) -> None:
    """A begun pass goes on under other limits, another price and another cap: they change no number (CASES 6)."""
    server = ChatServer(chat_replies.echo, faults=lambda call: "404" if 6 <= call <= 12 else None)
    other = "limits = { concurrency = 9, requests_per_minute = 60000, tokens_per_minute = 9000000 }\n" + PRICE
    first, second = _sessions(
        Lab(tmp_path, 6),
        server,
        "limits = { concurrency = 1 }",
        other + '\n[budget]\nmax_usd = "9"\nmax_tokens = 999999',
    )
    assert all(end.held is not None for end in first.values())
    assert all(end.held is None for end in second.values())
    assert {key: end.run_id for key, end in first.items()} == {key: end.run_id for key, end in second.items()}
    assert server.calls == 12 + 7


def test_a_budget_spent_on_thinking_is_counted(tmp_path: Path, prepared: list[Prepared]) -> None:
    """Content null with finish length is no answer and no crash, and its tokens count against the cap (CASES 16)."""
    lab = Lab(tmp_path, 4)
    server = ChatServer(chat_replies.echo, faults=lambda _: "null-length")
    ended = lab.with_server(server, answer=f"{PRICE}\nlimits = {{ concurrency = 2 }}\n[budget]\nmax_tokens = 100000")
    assert {status for end in ended.values() for status in end.missing} == {"answer_failed"}
    assert prepared[0].budget.spent_tokens == server.calls * 10
    assert prepared[0].budget.estimated_calls == 0


@pytest.mark.parametrize("status", [429, 503])
def test_a_key_echoed_in_a_refusal_is_nowhere(tmp_path: Path, status: int, prepared: list[Prepared]) -> None:
    """A server that refuses every call and echoes the key, with control characters, leaves neither (CASES 24, 27)."""
    lab = Lab(tmp_path, 6)
    echo = Fault(status=status, error="no more for {authorization} \x1b[2J \u202e today", headers={"Retry-After": "0"})
    ended = lab.with_server(
        ChatServer(chat_replies.echo, faults=lambda _: echo),
        answer='key_env = "K"\nlimits = { concurrency = 3 }',
        keys={"K": Secret("sk-limits-0123456789")},
    )
    journals = [entry for path in lab.space.passes.glob("*/*/journal.jsonl") for entry in read_entries(path)]
    failures = [entry.failure.message for entry in journals if entry.failure is not None]
    said = " ".join([*(end.held or "" for end in ended.values()), *failures, *limits_said(prepared[0])])
    assert "no more for" in said
    assert said.isprintable()
    assert "sk-limits-0123456789" not in said + lab.everything_written()
    assert {end.held is not None for end in ended.values()} == {True}


def test_a_server_that_counts_nothing_does_not_run_past_the_cap(tmp_path: Path, prepared: list[Prepared]) -> None:
    """Replies without usage count by estimate; the run stops, keeps what was answered, and the next one counts it."""
    lab = Lab(tmp_path, 20)
    table = "params = { max_tokens = 100 }\nlimits = { concurrency = 4 }\n[budget]\nmax_tokens = "
    server = ChatServer(chat_replies.echo, faults=_blind)
    stopped, again, through = _sessions(lab, server, table + "800", table + "800", table + "9000")
    first, second, third = (one.budget for one in prepared)
    assert "the budget of 800 tokens" in str(stopped)
    assert "the budget of 800 tokens" in str(again)
    assert 0 < first.spent_tokens <= 800
    assert second.estimated_calls == first.estimated_calls > 0
    assert second.spent_tokens >= 0.9 * first.spent_tokens
    assert "came back without a token count" in limits_said(prepared[0])[-1]
    assert all(end.held is None for end in through.values())
    assert lab.everything_written().count('"event":"answered"') == server.calls == third.estimated_calls == 40


async def _ragassay(board: Path, *options: str, terminal: str | None = None) -> tuple[int, str]:
    """Run the command line as a process, on a terminal that types something where `terminal` says what."""
    command = [sys.executable, "-m", "ragassay", "run", str(board), *options]
    if terminal is None:
        process = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT)
        out, _ = await process.communicate()
        return process.returncode or 0, out.decode()
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(*command, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    os.write(ours, terminal.encode())
    text = await asyncio.to_thread(_drained, ours)
    return await process.wait(), text


def _drained(file: int) -> str:
    blocks: list[bytes] = []
    while True:
        try:
            block = os.read(file, 65536)
        except OSError:  # Linux says so where the other end is closed
            block = b""
        if not block:
            os.close(file)
            return b"".join(blocks).decode()
        blocks.append(block)


def _runs(folder: Path, server: ChatServer, answer: str, *runs: Mapping[str, Any]) -> list[tuple[int, str, int]]:
    """Run the command line several times before one server; return exit code, what was printed, and calls of each."""

    async def work() -> list[tuple[int, str, int]]:
        found = []
        async with server:
            folder.mkdir(exist_ok=True)
            lab = Lab(folder, 6)
            lab.write(answer=f'kind = "openai"\nid = "m"\nbase_url = "{server.base_url}"\n{answer}')
            lab.space.prepare()
            ensure_key(lab.space.keys, "run")
            ensure_key(lab.space.keys, "log")
            for given in runs:
                began = server.calls
                code, text = await _ragassay(
                    folder / "board.toml", *given.get("options", ()), terminal=given.get("types")
                )
                found.append((code, text, server.calls - began))
        return found

    return asyncio.run(work())


def test_an_estimate_over_the_cap_begins_nothing(tmp_path: Path) -> None:
    """Exit 2 with the estimate: nothing is announced and nothing asked; --over-budget runs until the cap."""
    answer = f'{PRICE}\nparams = {{ max_tokens = 300 }}\n[budget]\nmax_usd = "0.1"'
    server = ChatServer(chat_replies.echo)
    refused, gone_on = _runs(tmp_path, server, answer, {}, {"options": ["--over-budget"]})
    assert (refused[0], refused[2]) == (2, 0), refused[1]
    assert "estimate: 12 calls" in refused[1]
    assert "about 0.3" in refused[1]
    assert "and [budget] max_usd is 0.1 USD" in refused[1]
    assert (gone_on[0], gone_on[2]) == (0, 12), gone_on[1]
    assert "answering model: at most" in gone_on[1]
    assert len(list((tmp_path / ".ragassay").glob("passes/*/*/plan.json"))) == 2


def test_over_a_dollar_a_terminal_is_asked(tmp_path: Path) -> None:
    """Without a cap and over 1 USD: 'n' on a terminal ends before the first call; elsewhere the run goes on."""
    answer = 'price = { input_usd_per_mtok = "1000", output_usd_per_mtok = "1000" }'
    declined, batch, told = _runs(
        tmp_path,
        ChatServer(chat_replies.echo),
        answer,
        {"types": "n\n"},
        {},
        {"options": ["--over-budget"], "types": ""},
    )
    assert (declined[0], declined[2]) == (130, 0), declined[1]
    assert "no [budget] is set; go on? [y/N]" in declined[1]
    assert (batch[0], batch[2]) == (0, 12), batch[1]
    assert "estimate: 12 calls" in batch[1]
    assert (told[0], told[2]) == (0, 12), told[1]
    assert "go on?" not in told[1]


def test_a_continued_run_estimates_by_what_was_measured(tmp_path: Path) -> None:
    """The second session says how many replies its estimate rests on, asks only what is left, and ends signed."""
    server = ChatServer(chat_replies.echo, faults=lambda call: "404" if 9 <= call <= 12 else None)
    answer = f'{PRICE}\nlimits = {{ concurrency = 1 }}\n[budget]\nmax_usd = "5"'
    first, second = _runs(tmp_path, server, answer, {}, {})
    assert (first[0], first[2]) == (3, 12), first[1]
    assert "estimate: 12 calls" in first[1]
    assert (second[0], second[2]) == (0, 4), second[1]
    assert "estimate: 4 calls" in second[1]
    assert "by the mean of 8 replies" in second[1]
