"""A prepared board from its rows to signed runs: plan or continue, traverse, seal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

import msgspec

from ragassay.manifest import build_run
from ragassay.manifest.files import INTENT, REGISTRY
from ragassay.manifest.readable import unreadable
from ragassay.records import Benchmark, Outcome
from ragassay.run.journal import GroupWriter, Journal
from ragassay.run.passes import Fixed, PassRun, Row, traverse
from ragassay.run.plan import PassPlan, planned
from ragassay.run.prepared import Options, Prepared
from ragassay.run.registration import Announcement, Registrar, refuse_given_up
from ragassay.run.search_threads import SearchThreads
from ragassay.run.spent import tally
from ragassay.run.state import outcomes_of, refusals, replay
from ragassay.run.status import RowStatus, RunStatus
from ragassay.run.workspace import Workspace, write_folder

FEW = 10
"""A pass of which at most one question in ten failed for a service's sake has those asked once more before it ends."""


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
    on_signed: Callable[[Ended], None] | None = None,
) -> list[Ended]:
    """Ask what is left of every planned pass, then sign and log each that has ended; closes endpoints and journals."""
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
        passes = []
        for plan in plans:
            journal = Journal(workspace.pass_folder(plan.row, plan.run_id) / "journal.jsonl", writer)
            stack.callback(journal.close)
            refuse_given_up(workspace, plan)
            states = replay(journal.entries())
            passes.append(PassRun(by_name[plan.row], plan.k, plan.run_id, fixed, journal, states))
            _note_resumed(status, plan, journal, passes[-1], len(prepared.benchmark.questions))
        _count_spent(prepared, passes)
        await _ask_all(passes, prepared, status)
        writer.flush()
        ended = []
        for run, plan in zip(passes, plans, strict=True):
            ended.append(_seal(run, plan, prepared, workspace, registrar, options))
            if on_signed:
                on_signed(ended[-1])
        return ended


async def _ask_all(passes: Sequence[PassRun], prepared: Prepared, status: RunStatus) -> None:
    """Ask what is left of every pass, once more where a service failed on few questions; closes the endpoints."""
    seed, workers = prepared.board.seed, _workers(prepared)
    status.begin()
    try:
        await _warm_up(passes, status)
        await traverse(passes, seed=seed, workers=workers, status=status)
        if few := [] if status.stop else _few_failed(passes, len(prepared.benchmark.questions), status):
            await traverse(few, seed=seed, workers=workers, status=status)
    finally:
        status.notes += getattr(prepared.judge, "notes", ())
        for endpoint in prepared.endpoints:
            await endpoint.close()


async def _warm_up(passes: Sequence[PassRun], status: RunStatus) -> None:
    """Search once in every row that has something to ask, one row after the other."""
    for run in {run.row.name: run for run in passes if run.to_ask()}.values():
        if (failed := await run.warm_up()) is not None:
            status.notes.append(f"{run.row.name}: {failed}")


def _few_failed(passes: Sequence[PassRun], questions: int, status: RunStatus) -> list[PassRun]:
    """Return the passes in which a service failed on few questions, which are then asked once more."""
    few = [run for run in passes if 0 < len(run.to_ask()) <= questions // FEW]
    for run in few:
        for question in run.to_ask():
            if (failed := run.states[question.id].failed) is not None:
                status.reopened(run.row.name, failed[0])
    return few


def _workers(prepared: Prepared) -> int:
    judging = prepared.board.judge.model.limits.concurrency if prepared.board.judge.model else 0
    return 2 * (prepared.board.answer.limits.concurrency + judging)


def _note_resumed(status: RunStatus, plan: PassPlan, journal: Journal, run: PassRun, questions: int) -> None:
    counters = status.rows.setdefault(plan.row, RowStatus())
    left = len(run.to_ask())
    counters.asked += questions
    counters.done += questions - left
    counters.resumed += questions - left
    if journal.torn_bytes:
        status.notes.append(f"{plan.row} pass {plan.k}: cut off a torn last record of {journal.torn_bytes} bytes")
    under_way = sum(1 for q in run.to_ask() if q.id in run.states)
    if run.states and left:
        begun = f"; {under_way} were begun, and go on from their last journaled step" if under_way else ""
        status.notes.append(
            f"{plan.row} pass {plan.k}: continues with {questions - left} of {questions} questions ended{begun}"
        )


def _count_spent(prepared: Prepared, passes: Sequence[PassRun]) -> None:
    """Count against the budget what earlier sessions of these passes took."""
    states = (state for run in passes for state in run.states.values())
    done = tally(states, prepared.board.answer, prepared.board.judge.model)
    prepared.budget.resume(done.spent, estimated=done.estimated, estimated_calls=done.estimated_calls)


def _seal(
    run: PassRun, plan: PassPlan, prepared: Prepared, workspace: Workspace, registrar: Registrar, options: Options
) -> Ended:
    outcomes = outcomes_of(prepared.benchmark, run.states, run.row.config.measure.scorer)
    if outcomes is None:
        left = len(run.to_ask())
        return Ended(row=plan.row, k=plan.k, run_id=plan.run_id, held=f"{left} questions not asked yet", missing={})
    missing: dict[str, int] = {}
    for outcome in outcomes:
        if outcome.score is None:
            missing[outcome.status] = missing.get(outcome.status, 0) + 1
    announced = registrar.announcement_of(plan)
    held = _why_backdated(plan, announced, outcomes) or (None if options.seal else _why_held(run, outcomes))
    if held is None:
        files = _run_files(run, plan, prepared, registrar, announced, outcomes)
        held = _why_unreadable(plan, files)
        if held is None:
            write_folder(workspace.runs / plan.run_id, files)
            registrar.enter(plan)
    return Ended(row=plan.row, k=plan.k, run_id=plan.run_id, held=held, missing=missing)


def _run_files(
    run: PassRun,
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
        problems=refusals(prepared.benchmark, run.states, plan.config.measure.scorer),
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


def _why_held(run: PassRun, outcomes: Sequence[Outcome]) -> str | None:
    """Return why a pass stays open: a service failed on more questions than an eligible pass may miss."""
    again = [outcome for outcome in outcomes if run.states[outcome.question].may_ask_again]
    lost = [outcome for outcome in again if outcome.status == "retrieval_failed"]
    missing = sum(outcome.score is None for outcome in outcomes)
    if not lost and (not again or missing <= len(outcomes) // 50):
        return None
    first = again[0].failure
    return f"{len(again)} of {len(outcomes)} questions failed ({first.kind}: {first.message})" if first else None
