"""Makes the judgements that were planned: every judge at its own pace, each judgement signed as it ends."""

from __future__ import annotations

import asyncio
import random
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from ragassay.canon import NotCanonical
from ragassay.errors import VerifyError, legible
from ragassay.manifest import Signer
from ragassay.manifest.judgement import build_judgement, decode_judgement
from ragassay.records import JudgementCounts, JudgementRow, NullRow, Outcome, Purpose, Score
from ragassay.run.journal import GroupWriter, Journal
from ragassay.run.judge_items import Asking, Put, put_items, run_profile
from ragassay.run.judge_making import Judges
from ragassay.run.judge_panel import JOURNAL, Job, judgement_place, store_plan, working_place
from ragassay.run.rejudge import Rejudging
from ragassay.run.spent import tally
from ragassay.run.state import replay
from ragassay.run.status import RowStatus, RunStatus
from ragassay.run.workspace import Workspace, write_folder

BATCH = 100
"""Judgements under way together: each holds its journal open."""


class JudgementEnded(msgspec.Struct, frozen=True, kw_only=True):
    """One judgement after judging: where it lies, or why it is not signed yet."""

    run_id: str
    row: str
    k: int
    judge: str
    purpose: Purpose
    null_row: NullRow | None
    n: int
    folder: Path
    held: str | None
    counts: JudgementCounts | None = None
    score: Score | None = None


def puts_of(job: Job) -> list[Put]:
    """Return what of the job's run is put to its judge."""
    asking = Asking(needs_literals=job.judge.judge.needs_literals, share=job.plan.share, shown=job.plan.shown)
    return put_items(job.document, job.plan.of, asking)


async def make_judgements(
    jobs: Sequence[Job],
    workspace: Workspace,
    judges: Judges,
    *,
    signer: Signer,
    registry_version: int | None = None,
    seed: int = 0,
    seal: bool = False,
    status: RunStatus,
) -> list[JudgementEnded]:
    """Ask what is left of every judgement, and sign each that has ended; closes the endpoints.

    `seal` signs those too of which a judge's service failed on many items. The caller holds the workspace's lock.
    """
    ended: list[JudgementEnded] = []
    for job in jobs:
        status.rows.setdefault(job.judge.name, RowStatus()).asked += sum(put.item is not None for put in puts_of(job))
    status.phase = "judging"
    try:
        for start in range(0, len(jobs), BATCH):
            batch = jobs[start : start + BATCH]
            ended += await _batch(batch, workspace, judges, signer, registry_version, seed, seal, status)
    finally:
        for one in {job.judge.name: job.judge for job in jobs}.values():
            status.notes += getattr(one.judge, "notes", ())
        for endpoint in judges.endpoints:
            await endpoint.close()
    return ended


async def _batch(
    jobs: Sequence[Job],
    workspace: Workspace,
    judges: Judges,
    signer: Signer,
    registry_version: int | None,
    seed: int,
    seal: bool,
    status: RunStatus,
) -> list[JudgementEnded]:
    under_way: list[tuple[Job, Rejudging]] = []
    with ExitStack() as stack:
        writer = stack.enter_context(GroupWriter())
        for job in jobs:
            if not job.begun:
                store_plan(workspace, job)
            journal = Journal(working_place(workspace, job) / JOURNAL, writer)
            stack.callback(journal.close)
            states = replay(journal.entries())
            rejudging = Rejudging(puts_of(job), job.judge.judge, run_profile(job.document), journal, states)
            under_way.append((job, rejudging))
            _count_resumed(status, job, rejudging)
            _count_spent(judges, job, rejudging)
        await _ask_all(under_way, seed, status)
        if few := [] if status.stop else _few_failed(under_way, status):
            await _ask_all(few, seed, status)
        writer.flush()
        ended = [_seal(job, one, workspace, signer, registry_version, seal) for job, one in under_way]
    for job, end in zip(jobs, ended, strict=True):
        if end.held is None:
            shutil.rmtree(working_place(workspace, job), ignore_errors=True)
    return ended


def _count_spent(judges: Judges, job: Job, rejudging: Rejudging) -> None:
    """Count against the budget what earlier sessions of this judgement took."""
    model = job.judge.table.model
    if model is None:
        return
    done = tally(rejudging.states.values(), model, model)
    judges.budget.resume(done.spent, estimated=done.estimated, estimated_calls=done.estimated_calls)


def _count_resumed(status: RunStatus, job: Job, rejudging: Rejudging) -> None:
    put = sum(one.item is not None for one in rejudging.puts)
    done = put - len(rejudging.to_ask())
    counters = status.rows[job.judge.name]
    counters.done += done
    counters.resumed += done
    if job.begun:
        called = f"{job.document.predicate.row.name} pass {job.document.predicate.pass_.k}"
        status.notes.append(f"{called}: the judgement by {job.judge.name} continues with {done} of {put} items ended")


def _few_failed(under_way: Sequence[tuple[Job, Rejudging]], status: RunStatus) -> list[tuple[Job, Rejudging]]:
    """Return the judgements in which a service failed on at most one item in ten, which are asked once more."""
    few = [(job, one) for job, one in under_way if 0 < len(one.to_ask()) <= len(one.puts) // 10]
    for job, one in few:
        for _ in one.to_ask():
            status.reopened(job.judge.name, "judge_failed")
    return few


async def _ask_all(under_way: Sequence[tuple[Job, Rejudging]], seed: int, status: RunStatus) -> None:
    """Work off all items, each judge by workers of its own, so that a slow one keeps no other waiting."""
    names = list(dict.fromkeys(job.judge.name for job, _ in under_way))
    try:
        async with asyncio.TaskGroup() as group:
            for name in names:
                mine = [(job, one) for job, one in under_way if job.judge.name == name]
                work = _interleaved(mine, seed)
                for _ in range(mine[0][0].judge.workers):
                    group.create_task(_worker(work, status))
    except BaseExceptionGroup as faults:
        fault: BaseException = faults
        while isinstance(fault, BaseExceptionGroup):
            fault = fault.exceptions[0]
        raise fault from None


async def _worker(work: Iterator[tuple[Job, Rejudging, Put]], status: RunStatus) -> None:
    for job, rejudging, put in work:
        if status.stop:
            return
        row = await rejudging.ask(put)
        outcome = Outcome(question=row.id, status="judge_failed" if row.score is None else "ok", score=row.score)
        status.ended(job.judge.name, outcome)
        await asyncio.sleep(0)


def _interleaved(under_way: Sequence[tuple[Job, Rejudging]], seed: int) -> Iterator[tuple[Job, Rejudging, Put]]:
    """Yield the items in seeded order, all runs of a question side by side: drift hits all rows alike."""
    wanted = [(job, one, {put.id: put for put in one.to_ask()}) for job, one in under_way]
    order = random.Random(f"{seed}/judge")
    ids = sorted({name for _, _, puts in wanted for name in puts})
    order.shuffle(ids)
    for name in ids:
        order.shuffle(wanted)
        for job, one, puts in wanted:
            if name in puts:
                yield job, one, puts[name]


def _seal(
    job: Job, rejudging: Rejudging, workspace: Workspace, signer: Signer, registry_version: int | None, seal: bool
) -> JudgementEnded:
    predicate, folder = job.document.predicate, judgement_place(workspace, job)
    ended = JudgementEnded(
        run_id=job.run.id,
        row=predicate.row.name,
        k=predicate.pass_.k,
        judge=job.judge.name,
        purpose=job.plan.purpose,
        null_row=job.plan.null_row,
        n=job.plan.n,
        folder=folder,
        held=None,
    )
    rows = rejudging.rows()
    if rows is None:
        return msgspec.structs.replace(ended, held=f"{len(rejudging.to_ask())} items not judged yet")
    if not seal and (held := rejudging.why_held()) is not None:
        return msgspec.structs.replace(ended, held=held)
    try:
        files = _files(job, rejudging, rows, signer, registry_version)
        document = decode_judgement(files)
    except (NotCanonical, VerifyError) as error:
        held = f"nobody could read this judgement: {legible(error)}"
        return msgspec.structs.replace(ended, held=held)
    write_folder(folder, files)
    return msgspec.structs.replace(ended, counts=document.predicate.counts, score=document.predicate.score)


def _files(
    job: Job, rejudging: Rejudging, rows: Sequence[JudgementRow], signer: Signer, registry_version: int | None
) -> dict[str, bytes]:
    return build_judgement(
        of=job.plan.of,
        run=job.document.predicate,
        judge=job.judge.described,
        purpose=job.plan.purpose,
        null_row=job.plan.null_row,
        shown=job.plan.shown,
        n=job.plan.n,
        rows=rows,
        replies=rejudging.replies(),
        created=int(time.time()),
        signer=signer,
        registry_version=registry_version,
    )
