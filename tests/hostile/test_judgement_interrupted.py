"""Judging that is killed, stopped and run twice: nothing that is journaled is asked again, nothing appears half."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

UNIT = Path(__file__).resolve().parent.parent / "unit" / "run"
sys.path.insert(0, str(UNIT))

from judge_lab import PANEL_LLM, JudgeLab, literal_lab, model  # noqa: E402

from ragassay.run import judge_run, workspace  # noqa: E402
from ragassay.testing import chat_replies  # noqa: E402
from ragassay.testing.chat_server import ChatServer  # noqa: E402

RAGASSAY = [sys.executable, "-m", "ragassay"]


class Killed(BaseException):
    """Stands for a SIGKILL: no handler of ours may catch it."""


def _journaled(lab: JudgeLab) -> set[tuple[str, str]]:
    """Return run and question of every whole reply in the journals."""
    found = set()
    for path in (lab.space.root / "judgements").glob("*/.*/journal.jsonl"):
        for line in path.read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n"):
                found.add((path.parent.parent.name, json.loads(line)["q"]))
    return found


async def _kill_when(lab: JudgeLab, server: ChatServer, calls: int) -> None:
    """Judge in a process of its own and end it with SIGKILL once so many calls have come in."""
    process = await asyncio.create_subprocess_exec(
        *RAGASSAY, "judge", str(lab.folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ.copy()
    )
    until = time.monotonic() + 60
    while server.calls < calls and time.monotonic() < until and process.returncode is None:
        await asyncio.sleep(0.01)
    assert process.returncode is None, (await process.communicate())[1].decode()
    process.send_signal(signal.SIGKILL)
    await process.wait()


def test_judging_that_is_killed_asks_nothing_again_that_is_journaled(tmp_path: Path) -> None:
    """Two kills and an end: every journaled reply is used, and only calls that were under way are made again."""
    lab = literal_lab(tmp_path, 40)
    subprocess.run([*RAGASSAY, "keys", "init"], cwd=tmp_path, check=True, capture_output=True)
    before = lab.run_bytes()

    async def work() -> tuple[int, set[tuple[str, str]]]:
        async with ChatServer(chat_replies.judge, latency_ms=40) as server:
            lab.add_panel(PANEL_LLM.replace("{model}", model(server.base_url)))
            await _kill_when(lab, server, 20)
            kept = _journaled(lab)
            assert kept
            await _kill_when(lab, server, 50)
            kept = _journaled(lab)
            assert len(kept) > 20
            known = server.calls
            ended = await lab.judge_async(panel=True)
            assert all(one.held is None for one in ended)
            assert server.calls - known == 80 - len(kept)
            return server.calls, kept

    calls, kept = asyncio.run(work())
    assert calls >= 80
    documents = lab.all_documents()
    assert [len(document.rows) for document in documents] == [40, 40]
    assert all(row.score == 100 for document in documents for row in document.rows)
    assert all(took.judge_attempts == 1 for document in documents for took in document.replies)
    assert not list((lab.space.root / "judgements").glob("*/.*"))
    assert lab.run_bytes() == before
    assert {run for run, _ in kept} <= {document.predicate.run_id for document in documents}


@pytest.mark.parametrize("point", ["before", "renamed"])
def test_a_kill_while_a_judgement_is_sealed_leaves_none_or_a_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """Between journal and folder nothing is asked again; a judgement is there whole or not at all, and once."""
    lab = literal_lab(tmp_path, 5)

    def write_folder(folder: Path, files: dict[str, bytes]) -> None:
        if point == "renamed":
            workspace.write_folder(folder, files)
        raise Killed

    server = ChatServer(chat_replies.judge)
    with monkeypatch.context() as patch:
        patch.setattr(judge_run, "write_folder", write_folder)
        with pytest.raises(Killed):
            lab.judge(server, panel=True)
    assert server.calls == 10
    assert len(lab.all_documents()) == (1 if point == "renamed" else 0)
    silent = ChatServer(chat_replies.judge, port=int(server.base_url.rsplit(":", 1)[1].split("/")[0]))
    ended = lab.judge(silent, panel=True)
    assert silent.calls == 0
    assert all(one.held is None for one in ended)
    assert [document.predicate.n for document in lab.all_documents()] == [1, 1]
    assert not list((lab.space.root / "judgements").glob("*/.*"))


def test_a_torn_last_line_of_a_journal_is_asked_again_and_no_other(tmp_path: Path) -> None:
    """A record that a kill left half is cut off; that one item is asked again."""
    lab = literal_lab(tmp_path, 6)
    server = ChatServer(chat_replies.judge, latency_ms=30)

    async def stopped() -> None:
        async with server:
            lab.add_panel(PANEL_LLM.replace("{model}", model(server.base_url, "limits = { concurrency = 1 }")))
            task = asyncio.create_task(lab.judge_async(panel=True))
            while server.calls < 7:
                await asyncio.sleep(0.005)
            lab.status.stop = True
            assert any(one.held for one in await task)

    asyncio.run(stopped())
    journal = max((lab.space.root / "judgements").glob("*/.*/journal.jsonl"), key=lambda path: path.stat().st_size)
    journal.write_bytes(journal.read_bytes()[:-5])
    left = 12 - len(_journaled(lab))

    async def resumed() -> int:
        port = int(server.base_url.rsplit(":", 1)[1].split("/")[0])
        async with ChatServer(chat_replies.judge, port=port) as again:
            assert all(one.held is None for one in await lab.judge_async(panel=True))
            return again.calls

    assert asyncio.run(resumed()) == left
    assert [len(document.rows) for document in lab.all_documents()] == [6, 6]
