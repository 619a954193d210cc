"""A prepared board from its rows to signed runs: plan or continue, traverse, seal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

import msgspec

from ragassay.manifest import build_run
from ragassay.manifest.files import INTENT, REGISTRY
from ragassay.manifest.readable import unreadable
from ragassay.records import Benchmark, Outcome
from ragassay.run.course import BEGUN, ENDED, FAILED, Course, Order
from ragassay.run.executor import Executor, Local
from ragassay.run.journal import GroupWriter, Journal, read_entries
from ragassay.run.passes import Fixed, PassRun, Row
from ragassay.run.plan import PassPlan, planned
from ragassay.run.prepared import Options, Prepared
from ragassay.run.registration import Announcement, Registrar, refuse_given_up
from ragassay.run.search_threads import SearchThreads
from ragassay.run.spent import Tally
from ragassay.run.state import ItemState, outcomes_of, refusals, replay
from ragassay.run.status import RowStatus, RunStatus
from ragassay.run.workspace import Workspace, write_folder


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """One pass after a run: signed under its id, or held open with the reason."""

    row: str
    k: int
    run_id: str
    held: str | None
    missing: Mapping[str, int]


def plan_passes(
    rows: Sequence[Row], benchmark: Benchmark, workspace: Workspace, registrar: Registrar, options: Options
) -> list[PassPlan]:
    """Return the passes to run, stored (see `plan.planned`) and announced in the log."""
    plans = planned(
        workspace,
        {row.name: row.config for row in rows},
        benchmark,
        subset=options.subset is not None,
        new=options.new,
        announced=lambda plan: registrar.intent_of(plan.row, plan.run_id) is not None,
        before_given_up=registrar.void,
    )
    registrar.announce(plans, benchmark)
    return plans


async def run_passes(
    prepared: Prepared,
    rows: Sequence[Row],
    plans: Sequence[PassPlan],
    workspace: Workspace,
    *,
    registrar: Registrar,
    options: Options,
    status: RunStatus,
    executor: Executor | None = None,
    on_signed: Callable[[Ended], None] | None = None,
) -> list[Ended]:
    """Ask what is left of every planned pass, then sign and log each that has ended; closes endpoints and journals.

    `executor` is who asks: this process where none is given.
    """
    by_name = {row.name: row for row in rows}
    with ExitStack() as stack:
        threads = {row.name: SearchThreads(row.name) for row in rows}
        writer = stack.enter_context(GroupWriter())
        fixed = Fixed(
            benchmark=prepared.benchmark,
            chunks={chunk.id: chunk for chunk in prepared.corpus.chunks},
            answering=prepared.answering,
            judge=prepared.judge,
            template=prepared.board.template,
            threads=threads,
            budget=prepared.budget,
        )
        order, spent = Order(prepared.benchmark), Tally()
        passes = []
        for plan in plans:
            journal = Journal(workspace.pass_folder(plan.row, plan.run_id) / "journal.jsonl", writer)
            stack.callback(journal.close)
            refuse_given_up(workspace, plan)
            course = Course(order, plan.config.measure.scorer, journal.at)
            for state in course.resume(journal.placed()):
                spent.add_state(state, prepared.board.answer, prepared.board.judge.model)
            passes.append(PassRun(by_name[plan.row], plan.k, plan.run_id, fixed, journal, course))
            _note_resumed(status, plan, journal, course)
        prepared.budget.resume(spent.spent, estimated=spent.estimated, estimated_calls=spent.estimated_calls)
        await _ask_all(executor or Local(), passes, prepared, status)
        writer.flush()
        ended = []
        for run, plan in zip(passes, plans, strict=True):
            ended.append(_seal(run, plan, prepared, workspace, registrar, options))
            if on_signed:
                on_signed(ended[-1])
        return ended


async def _ask_all(executor: Executor, passes: Sequence[PassRun], prepared: Prepared, status: RunStatus) -> None:
    """Let the executor ask what is left; closes the endpoints."""
    status.begin()
    try:
        await executor.ask_all(passes, prepared, status)
    finally:
        status.notes += getattr(prepared.judge, "notes", ())
        for endpoint in prepared.endpoints:
            await endpoint.close()


def _note_resumed(status: RunStatus, plan: PassPlan, journal: Journal, course: Course) -> None:
    counters = status.rows.setdefault(plan.row, RowStatus())
    stands = course.count()
    questions, done = stands.total(), stands[ENDED]
    under_way = stands[BEGUN] + stands[FAILED]
    counters.asked += questions
    counters.done += done
    counters.resumed += done
    if journal.torn_bytes:
        status.notes.append(f"{plan.row} pass {plan.k}: cut off a torn last record of {journal.torn_bytes} bytes")
    if done < questions and (done or under_way):
        begun = f"; {under_way} were begun, and go on from their last journaled step" if under_way else ""
        status.notes.append(f"{plan.row} pass {plan.k}: continues with {done} of {questions} questions ended{begun}")


def _seal(
    run: PassRun, plan: PassPlan, prepared: Prepared, workspace: Workspace, registrar: Registrar, options: Options
) -> Ended:
    """Sign a pass from its journal, or say why it stays open."""
    journal = workspace.pass_folder(plan.row, plan.run_id) / "journal.jsonl"
    states = replay(read_entries(journal))
    outcomes = outcomes_of(prepared.benchmark, states, run.row.config.measure.scorer)
    if outcomes is None:
        why = _why_not_ended(run, plan)
        return Ended(row=plan.row, k=plan.k, run_id=plan.run_id, held=why, missing={})
    missing: dict[str, int] = {}
    for outcome in outcomes:
        if outcome.score is None:
            missing[outcome.status] = missing.get(outcome.status, 0) + 1
    announced = registrar.announcement_of(plan)
    held = _why_backdated(plan, announced, outcomes) or (None if options.seal else _why_held(states, outcomes))
    if held is None:
        files = _run_files(states, plan, prepared, registrar, announced, outcomes)
        held = _why_unreadable(plan, files)
        if held is None:
            write_folder(workspace.runs / plan.run_id, files)
            registrar.enter(plan)
    return Ended(row=plan.row, k=plan.k, run_id=plan.run_id, held=held, missing=missing)


def _run_files(
    states: dict[str, ItemState],
    plan: PassPlan,
    prepared: Prepared,
    registrar: Registrar,
    announced: Announcement | None,
    outcomes: Sequence[Outcome],
) -> dict[str, bytes]:
    """Return the signed files of a pass that has ended, with its announcement and the registry beside them."""
    files = build_run(
        run_id=plan.run_id,
        pass_k=plan.k,
        config=plan.config,
        benchmark=prepared.benchmark,
        outcomes=outcomes,
        signer=registrar.signer,
        problems=refusals(prepared.benchmark, states, plan.config.measure.scorer),
        intent=announced.ref if announced else None,
        registry_version=registrar.registry_version,
    )
    if announced is not None:
        files[INTENT] = announced.envelope
    if registrar.registry is not None:
        files[REGISTRY] = registrar.registry
    return files


def _why_unreadable(plan: PassPlan, files: Mapping[str, bytes]) -> str | None:
    """Return why a pass is not signed whose run every reader would refuse, as it is over a limit."""
    fault = unreadable(files)
    if fault is None:
        return None
    return (
        f"nobody could verify its run: {fault}. Let the rows deliver less or ask fewer questions, and give the pass up "
        f"with `ragassay log void {plan.run_id} --reason …`"
    )


def _why_backdated(plan: PassPlan, announced: Announcement | None, outcomes: Sequence[Outcome]) -> str | None:
    """Return why a pass is not signed whose answers the clock dates before its announcement: nobody would count it."""
    first = min((one.answered_at for one in outcomes if one.answered_at is not None), default=None)
    if announced is None or first is None or first >= announced.created:
        return None
    return (
        f"its first answer is dated {announced.created - first} s before its announcement, so the clock was set back; "
        f"set it right, and give the pass up with `ragassay log void {plan.run_id} --reason …`"
    )


def _why_not_ended(run: PassRun, plan: PassPlan) -> str:
    """Return why a pass is not signed of which a question has no outcome."""
    if run.course.left:
        return f"{run.course.left} questions not asked yet"
    return (
        "its journal says that every question ended, and the records of one do not: they were altered. Put them back, "
        f"or give the pass up with `ragassay log void {plan.run_id} --reason …`"
    )


def _why_held(states: Mapping[str, ItemState], outcomes: Sequence[Outcome]) -> str | None:
    """Return why a pass stays open: a service failed on more questions than an eligible pass may miss."""
    again = [outcome for outcome in outcomes if states[outcome.question].may_ask_again]
    lost = [outcome for outcome in again if outcome.status == "retrieval_failed"]
    missing = sum(outcome.score is None for outcome in outcomes)
    if not lost and (not again or missing <= len(outcomes) // 50):
        return None
    first = again[0].failure
    return f"{len(again)} of {len(outcomes)} questions failed ({first.kind}: {first.message})" if first else None
