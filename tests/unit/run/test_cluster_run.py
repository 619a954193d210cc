"""Runs on workers: what they come to is what one process comes to, whoever ends in the middle."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")

sys.path.insert(0, str(Path(__file__).resolve().parent))

from cluster_lab import Actor, ClusterLab, FakeCluster
from run_lab import Lab

from ragassay.errors import InputError, PluginError
from ragassay.manifest import decode_run, read_run
from ragassay.records import Secret
from ragassay.run.board_run import Ended
from ragassay.run.prepared import Options
from ragassay.testing import chat_replies
from ragassay.testing.chat_faults import Fault
from ragassay.testing.chat_server import ChatServer


def contents(lab: Lab, ended: dict[tuple[str, int], Ended]) -> dict[tuple[str, int], tuple[Any, ...]]:
    """Return content digest, counts and score of every signed pass."""
    found = {}
    for key, end in ended.items():
        assert end.held is None, end.held
        run = decode_run(read_run(lab.space.runs / end.run_id).files).predicate
        found[key] = (run.content, run.counts, run.score)
    return found


def journaled(lab: Lab) -> Counter[tuple[str, str, str]]:
    """Count the journaled answers by pass, question and text."""
    found: Counter[tuple[str, str, str]] = Counter()
    for path in lab.space.passes.glob("*/*/journal.jsonl"):
        for line in path.read_bytes().split(b"\n")[:-1]:
            entry = json.loads(line)
            if entry["event"] == "answered":
                found[path.parent.name, entry["q"], entry["answer"]["text"]] += 1
    return found


def same_place(server: ChatServer) -> ChatServer:
    """Return a server of the same address: another is another model."""
    return ChatServer(chat_replies.counter(), port=int(server.base_url.split(":")[2].split("/")[0]))


def test_workers_and_one_process_sign_the_same(tmp_path: Path) -> None:
    """Content digest, counts and score of rows that are deterministic are those of a local run, pass by pass."""
    lab = ClusterLab(tmp_path, 30)
    lab.write(head="passes = 2")
    there = contents(lab, lab.run())
    asked = {name: actor.inside for name, actor in lab.cluster.actors.items() if name != "gate"}
    assert all(actor.dead for actor in lab.cluster.actors.values())
    assert len(asked) == 3
    lab.local = True
    here = contents(lab, lab.run())
    assert there == here
    assert lab.status.rows["row"].done == 60


@pytest.mark.parametrize("seed", range(4))
def test_workers_that_are_killed_lose_nothing_that_they_handed_over(tmp_path: Path, seed: int) -> None:
    """Kills at random moments: every question ends, nothing journaled is asked again, slots come back."""
    lab = ClusterLab(tmp_path, 60)
    server = ChatServer(chat_replies.counter(), latency_ms=15)
    order = random.Random(seed)

    async def kill() -> None:
        for _ in range(3):
            await asyncio.sleep(order.uniform(0.02, 0.15))
            if lab.cluster.asking:
                lab.cluster.asking[order.choice(sorted(lab.cluster.asking))].kill()

    lab.begun = kill
    ended = lab.with_server(server, answer="limits = { concurrency = 6 }")
    assert all(end.held is None and not end.missing for end in ended.values())
    answers = journaled(lab)
    assert set(answers.values()) == {1}
    assert len({(run, q) for run, q, _ in answers}) == len(answers) == 120
    lost = sum("was lost" in note for note in lab.status.notes)
    assert lost == 3, lab.status.notes
    # only calls under way, and what a worker had not handed over yet, are asked twice
    assert 120 <= server.calls <= 120 + 3 * 12
    assert server.peak <= 6 + 3 * 6  # those of a killed worker may still be with the server
    assert lab.prepared.answering.limiter.report().slots <= 6


def test_begun_questions_of_a_lost_worker_go_on_from_their_last_step(tmp_path: Path) -> None:
    """A question that was answered on a worker that is killed while the judge is asked is only judged by the next."""
    lab = ClusterLab(tmp_path, 4, workers=1)
    judge = ChatServer(chat_replies.judge)
    killed: list[str] = []

    async def reply(body: Any) -> str:
        while not killed and len(journaled(lab)) < 8:
            await asyncio.sleep(0.005)
        if not killed:
            killed.append("once")
            lab.cluster.asking["1"].kill()
        return chat_replies.judge(body)

    async def work() -> dict[tuple[str, int], Ended]:
        async with answering, judge:
            judge._reply = reply  # the judge's server ends the worker
            table = f'kind = "openai"\nid = "m"\nbase_url = "{answering.base_url}"\nlimits = {{ concurrency = 8 }}'
            lab.write(
                answer=table,
                judge=f'kind = "llm"\nmodel = {{ kind = "openai", id = "j", base_url = "{judge.base_url}" }}',
            )
            return await lab.run_async()

    answering = ChatServer(chat_replies.counter())
    ended = asyncio.run(work())
    assert killed
    assert all(end.held is None for end in ended.values()), ended
    assert answering.calls == 8
    assert set(journaled(lab).values()) == {1}


def test_a_run_without_a_worker_left_is_continued_by_one_process(tmp_path: Path) -> None:
    """The error says why and how to go on; a local run then asks only what is not journaled."""
    lab = ClusterLab(tmp_path, 30, workers=2)
    server = ChatServer(chat_replies.counter(), latency_ms=10)

    async def kill() -> None:
        while sum(journaled(lab).values()) < 10:
            await asyncio.sleep(0.005)
        lab.cluster.machines.clear()
        for actor in lab.cluster.asking.values():
            actor.kill()

    lab.begun = kill
    with pytest.raises(PluginError, match=r"no worker is left: .* run the same command again to continue"):
        lab.with_server(server)
    before = journaled(lab)
    assert 10 <= len(before) < 60
    lab.local, calls = True, server.calls
    ended = lab.with_server(again := same_place(server))
    assert all(end.held is None for end in ended.values())
    assert calls >= len(before)
    assert again.calls == 60 - len(before)
    assert before.items() <= journaled(lab).items()


def test_a_worker_that_always_dies_ends_the_run(tmp_path: Path) -> None:
    """A stack that ends its process is not asked for ever."""
    lab = ClusterLab(tmp_path, 10, workers=1)
    lab.write()

    def deadly(_name: str, actor: Actor) -> None:
        async def before(method: str) -> None:
            if method == "give":
                actor.kill()
                await asyncio.sleep(1)

        actor.before = before

    lab.set_up = lambda cluster: setattr(cluster, "prepare", deadly)
    with pytest.raises(PluginError, match=r"5 workers were lost, .* what was journaled is kept"):
        lab.run()
    lab.local = True
    assert all(end.held is None for end in lab.run().values())


def test_one_limit_holds_for_all_workers(tmp_path: Path) -> None:
    """Calls at once and calls a minute are counted over the cluster, and the report is that of one endpoint."""
    lab = ClusterLab(tmp_path, 30, workers=3)
    server = ChatServer(chat_replies.counter(), latency_ms=60)
    began = time.monotonic()
    lab.with_server(server, answer="limits = { concurrency = 2, requests_per_minute = 3000 }")
    took = time.monotonic() - began
    assert server.calls == 60
    assert server.peak <= 2
    assert took >= 59 * 60 / 3000
    report = lab.prepared.answering.limiter.report()
    assert (report.slots, report.allowed) == (2, 2)
    assert lab.prepared.answering.calls == 60


def test_a_refused_call_cools_all_workers(tmp_path: Path) -> None:
    """One worker's `Retry-After` holds the calls of the others, and no call of it is lost."""
    lab = ClusterLab(tmp_path, 20, workers=3)
    times: list[float] = []

    def reply(_body: Any) -> str:
        times.append(asyncio.get_running_loop().time())
        return f"answer {len(times)}"

    server = ChatServer(reply, faults={5: Fault(status=429, headers={"Retry-After": "1"})})
    ended = lab.with_server(server, answer="limits = { concurrency = 2 }")
    assert all(not end.missing for end in ended.values())
    assert max(after - before for before, after in itertools.pairwise(times)) >= 0.9
    report = lab.prepared.answering.limiter.report()
    assert report.episodes == 1
    assert lab.prepared.answering.retries == {"rate_limited": 1}


def test_a_cap_holds_over_the_cluster(tmp_path: Path) -> None:
    """No worker starts a call that could pass the cap; what was answered is kept and counted in this process."""
    lab = ClusterLab(tmp_path, 40, workers=3)
    server = ChatServer(chat_replies.counter(), latency_ms=2)
    with pytest.raises(InputError, match="the budget of 600 tokens is"):
        lab.with_server(
            server,
            answer="limits = { concurrency = 4 }\nparams = { max_tokens = 50 }",
            head="passes = 1\n[budget]\nmax_tokens = 600",
        )
    spent = lab.prepared.budget.spent_tokens
    assert 0 < spent <= 600 + 200
    assert 0 < len(journaled(lab)) <= server.calls < 80


def test_a_refused_key_stops_the_run_and_keeps_what_was_answered(tmp_path: Path) -> None:
    """What one worker may not go on with stops all of them, and each hands over what it has."""
    lab = ClusterLab(tmp_path, 30, workers=3)
    server = ChatServer(chat_replies.counter(), faults=lambda call: "401-echo" if call > 20 else None)
    with pytest.raises(InputError, match="the answering model refused the key"):
        lab.with_server(
            server,
            answer='limits = { concurrency = 4 }\nkey_env = "SOME_KEY"',
            keys={"SOME_KEY": Secret("sk-never-shown-anywhere")},
        )
    assert len(journaled(lab)) == 20
    assert "sk-never-shown-anywhere" not in lab.everything_written()


def test_stopping_lets_open_questions_end(tmp_path: Path) -> None:
    """After the first Ctrl-C nothing is begun, what is under way is kept, and the passes stay open."""
    lab = ClusterLab(tmp_path, 60, workers=2)
    server = ChatServer(chat_replies.counter(), latency_ms=10)

    async def stop() -> None:
        while server.calls < 20:
            await asyncio.sleep(0.005)
        lab.status.stop = True

    lab.begun = stop
    ended = lab.with_server(server, answer="limits = { concurrency = 4 }")
    assert all("questions not asked yet" in str(end.held) for end in ended.values())
    assert len(journaled(lab)) == server.calls < 120
    lab.begun = None
    again = same_place(server)
    assert all(end.held is None for end in lab.with_server(again).values())
    assert again.calls == 120 - server.calls


def test_few_failures_are_asked_once_more(tmp_path: Path) -> None:
    """As in one process, questions that a service failed on are asked again before the run ends."""
    lab = ClusterLab(tmp_path, 30, workers=3)
    server = ChatServer(chat_replies.counter(), faults={3: "400"})
    ended = lab.with_server(server)
    assert all(end.held is None and not end.missing for end in ended.values())
    assert server.calls == 61


def test_a_batch_that_did_not_arrive_is_sent_again(tmp_path: Path) -> None:
    """Where a worker cannot be reached for a moment, nothing is journaled twice and nothing is missing."""
    from ray.exceptions import ActorUnavailableError

    lab = ClusterLab(tmp_path, 30, workers=2)
    server = ChatServer(chat_replies.counter())
    lost: list[str] = []

    def unreachable(_name: str, actor: Actor) -> None:
        inside = actor.inside
        for method in ("pull", "give"):
            setattr(inside, method, _dropping(getattr(inside, method), lost))

    def _dropping(method: Any, lost: list[str]) -> Any:
        async def call(*given: Any) -> Any:
            found = await method(*given)
            if len(lost) < 6:
                lost.append(method.__name__)
                raise ActorUnavailableError("gone for a moment", None)
            return found

        return call

    lab.set_up = lambda cluster: setattr(cluster, "prepare", unreachable)
    ended = lab.with_server(server)
    assert len(lost) == 6
    assert all(end.held is None and not end.missing for end in ended.values())
    assert server.calls == 60
    assert set(journaled(lab).values()) == {1}


def test_a_worker_that_describes_a_stack_otherwise_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version of an engine on a worker's machine ends the run before anything is announced."""
    from ragassay.plugins.stacks.bm25 import BM25

    lab = ClusterLab(tmp_path, 5)
    lab.write()
    built = BM25.build
    made: list[int] = []

    def build(self: Any, *given: Any) -> Any:
        retriever = built(self, *given)
        made.append(1)
        if len(made) > 1:
            monkeypatch.setattr(type(retriever), "describe", lambda _self: {"kind": "bm25", "engine": "other"})
        return retriever

    monkeypatch.setattr(BM25, "build", build)
    with pytest.raises(InputError, match="it would not measure what was planned") as caught:
        lab.run()
    assert "row 'row': stack.engine was None and is now 'other'" in str(caught.value)
    assert not list(lab.space.passes.glob("*/*"))


def test_only_the_chosen_rows_are_built(tmp_path: Path) -> None:
    """`--row` and `--subset` mean on a cluster what they mean in one process."""
    lab = ClusterLab(tmp_path, 12)
    lab.write()
    ended = lab.run(Options(rows=("row",), subset=5))
    assert list(ended) == [("row", 1)]
    assert lab.status.rows["row"].done == 5


def test_the_clock_of_the_journal_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker whose clock is a day off dates no answer: the process that announced the passes does."""
    monkeypatch.setattr("ragassay.run.passes._now_ms", lambda: 1)
    lab = ClusterLab(tmp_path, 5)
    lab.write()
    assert all(end.held is None for end in lab.run().values())


def test_workers_are_let_go_where_the_rows_cannot_be_built(tmp_path: Path) -> None:
    """A stack that cannot be built ends the run with its error, and no worker stays."""
    lab = ClusterLab(tmp_path, 5)
    lab.write(stack='{ kind = "qdrant", url = "http://127.0.0.1:9" }')
    seen: list[FakeCluster] = []
    lab.set_up = seen.append
    with pytest.raises(PluginError):
        lab.run()
    assert all(actor.dead for actor in seen[0].actors.values())
