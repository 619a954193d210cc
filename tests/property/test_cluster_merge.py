"""The journal of a pass over many workers: however entries of different questions interleave, the same is signed."""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

UNIT = Path(__file__).resolve().parent.parent / "unit" / "run"
sys.path.insert(0, str(UNIT))

from run_lab import SIGNER, Lab  # noqa: E402

from ragassay.manifest import build_run  # noqa: E402
from ragassay.records import JSON, Benchmark  # noqa: E402
from ragassay.run.asked import asked_questions  # noqa: E402
from ragassay.run.board_file import load_board  # noqa: E402
from ragassay.run.course import ENDED, Course, Order  # noqa: E402
from ragassay.run.journal import Entry, read_entries  # noqa: E402
from ragassay.run.plan import PassPlan, all_passes  # noqa: E402
from ragassay.run.state import outcomes_of, refusals, replay  # noqa: E402
from ragassay.testing import chat_replies  # noqa: E402
from ragassay.testing.chat_server import ChatServer  # noqa: E402


class Finished(msgspec.Struct):
    """A pass that has ended, from its plan to its journal."""

    plan: PassPlan
    benchmark: Benchmark
    entries: list[Entry]

    def __repr__(self) -> str:
        return "a finished pass"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """A pass with failures that were asked again, refused replies of the judge, and scores."""
    lab, replies = Lab(tmp_path_factory.mktemp("merge"), 12), iter(range(10_000))

    def reply(body: JSON) -> str:
        return "no verdict" if next(replies) % 5 == 4 else chat_replies.judge(body)

    server = ChatServer(reply, faults=lambda call: "400" if call % 7 == 6 else None)

    async def work() -> None:
        async with server:
            model = f'kind = "openai"\nid = "m"\nbase_url = "{server.base_url}"'
            judge = model.replace("\n", ", ")
            lab.write(answer=model, judge=f'kind = "llm"\nmodel = {{ {judge} }}')
            for _ in range(12):
                await lab.run_async()
                if len(list(lab.space.runs.glob("*"))) == 2:
                    return

    asyncio.run(work())
    (plan,) = (one for one in all_passes(lab.space) if one.row == "row")
    journal = lab.space.pass_folder(plan.row, plan.run_id) / "journal.jsonl"
    benchmark, _ = asked_questions(load_board(lab.folder / "board.toml"), None, lab.space.root)
    return Finished(plan, benchmark, list(read_entries(journal)))


def _signed(plan: PassPlan, benchmark: Benchmark, entries: list[Entry]) -> dict[str, bytes]:
    states, profile = replay(entries), plan.config.measure.scorer
    outcomes = outcomes_of(benchmark, states, profile)
    assert outcomes is not None
    return build_run(
        run_id=plan.run_id,
        pass_k=plan.k,
        config=plan.config,
        benchmark=benchmark,
        outcomes=outcomes,
        signer=SIGNER,
        problems=refusals(benchmark, states, profile),
    )


@settings(max_examples=40, deadline=None)
@given(order=st.randoms(use_true_random=False))
def test_any_interleaving_of_workers_gives_the_same_signed_bytes(finished: Finished, order: random.Random) -> None:
    """Entries of one question keep their order; between questions there is none, and no byte of the run knows it."""
    plan, benchmark, entries = finished.plan, finished.benchmark, finished.entries
    streams: dict[str, list[Entry]] = {}
    for entry in entries:
        streams.setdefault(entry.q, []).append(entry)
    assert max(map(len, streams.values())) > 4
    turns = [q for q, stream in streams.items() for _ in stream]
    order.shuffle(turns)
    taken = {q: iter(stream) for q, stream in streams.items()}
    merged = [next(taken[q]) for q in turns]
    assert _signed(plan, benchmark, merged) == _signed(plan, benchmark, entries)
    course = Course(Order(benchmark), plan.config.measure.scorer)
    for place, entry in enumerate(merged):
        course.take(entry, place)
    assert course.count()[ENDED] == len(benchmark.questions)
