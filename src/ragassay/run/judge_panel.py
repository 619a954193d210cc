"""Which judgements a board asks for, which there are already, and which are begun: planned before the first call."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest import RunDocument
from ragassay.manifest.judgement import JUDGEMENT, decode_signed, folder_name
from ragassay.manifest.judgement_folder import FOLDER, judgement_folders, read_judgement
from ragassay.manifest.statement import JudgementPredicate
from ragassay.records import JSON, NullRow, Purpose, Record, to_json
from ragassay.run.board_file import JudgeTable
from ragassay.run.judge_items import is_control
from ragassay.run.judge_runs import VerifiedRun, called
from ragassay.run.null_rows import NULL_ROWS
from ragassay.run.workspace import Workspace, write_bytes
from ragassay.seams import Judge
from ragassay.verify import Unpinned
from ragassay.verify.judgement import verify_judgement

WITHOUT_MODEL = 4
"""Workers of a judge that asks no model behind our limits."""
PLAN = "plan.json"
JOURNAL = "journal.jsonl"


class PanelJudge(msgspec.Struct, frozen=True, kw_only=True):
    """A judge with the name that the board gives it; `described` is {kind, id, describe}, as in `judge.json`."""

    name: str
    table: JudgeTable
    judge: Judge
    described: JSON

    @property
    def digest(self) -> str:
        """The digest by which a judgement names its judge."""
        return canon.digest(self.described)

    @property
    def workers(self) -> int:
        """How many of its items are walked at once: its endpoint's limit is kept by the endpoint."""
        return 2 * self.table.model.limits.concurrency if self.table.model else WITHOUT_MODEL


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for: further judges, the share that the board's own judge is asked again, null rows of it."""

    panel: Sequence[PanelJudge] = ()
    own: PanelJudge | None = None
    reask: str | None = None
    null_rows: bool = False
    again: bool = False
    """Make another judgement where there is one already."""


class JudgementPlan(Record, frozen=True):
    """`plan.json` of a judgement that is begun; all but `n` must be the same for it to be continued."""

    of: str
    run_id: str
    judge: JSON
    purpose: Purpose
    null_row: NullRow | None
    shown: str | None
    share: str | None
    n: int


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One judgement to be made: of which run, by whom, and where it is written."""

    run: VerifiedRun
    judge: PanelJudge
    plan: JudgementPlan
    begun: bool

    @property
    def document(self) -> RunDocument:
        """The run that is judged."""
        assert self.run.document is not None
        return self.run.document

    @property
    def folder_name(self) -> str:
        """The name of the folder in which it ends."""
        return folder_name(self.judge.digest, self.plan.purpose, self.plan.n)


class Jobs(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done, how many judgements are there already, and what is left out and why."""

    jobs: Sequence[Job]
    there: int
    left_out: Sequence[str]


def judgement_place(workspace: Workspace, job: Job) -> Path:
    """Return the folder in which a judgement ends."""
    return workspace.root / FOLDER / job.run.id / job.folder_name


def working_place(workspace: Workspace, job: Job) -> Path:
    """Return the hidden folder in which a judgement is written: its plan and its journal."""
    return workspace.root / FOLDER / job.run.id / f".{job.folder_name}"


def plan_jobs(workspace: Workspace, runs: Sequence[VerifiedRun], wanted: Wanted, *, only_named: bool = False) -> Jobs:
    """Return the judgements to be made, begun ones first to be continued; those that are there are left alone.

    A reask or a null row is by the judge of the run: where the board's own is another by now, the run is left out. A
    null row is judged once with each judge, with the first pass of the control row, unless runs were named. Raises
    `InputError` where two judges are one and the same.
    """
    _check_different(wanted.panel)
    jobs: list[Job] = []
    left_out: list[str] = []
    there = 0
    made = {run.id: _Made(workspace, run) for run in runs}
    nulls = runs if only_named else sorted(runs, key=lambda run: _first_for_nulls(run, made[run.id], wanted.own))[:1]
    for run in runs:
        asked: list[tuple[PanelJudge, Purpose, NullRow | None]] = [(one, "panel", None) for one in wanted.panel]
        own = wanted.own
        if own is not None and (wanted.reask not in (None, "0%") or (wanted.null_rows and run in nulls)):
            if (why := _not_its_judge(run, own)) is not None:
                left_out.append(f"{called(run)} is not judged again: {why}")
            else:
                asked += [(own, "reask", None)] if wanted.reask not in (None, "0%") else []
                asked += [(own, "null-row", name) for name in NULL_ROWS] if wanted.null_rows and run in nulls else []
        for judge, purpose, null_row in asked:
            job = made[run.id].job(judge, purpose, null_row, wanted)
            if job is None:
                there += 1
            else:
                jobs.append(job)
        left_out += made[run.id].problems
    return Jobs(jobs=jobs, there=there, left_out=left_out)


def _check_different(panel: Sequence[PanelJudge]) -> None:
    by_digest: dict[str, list[str]] = {}
    for one in panel:
        by_digest.setdefault(one.digest, []).append(one.name)
    same = [names for names in by_digest.values() if len(names) > 1]
    if same:
        raise InputError(
            f"the judges {', '.join(map(repr, same[0]))} of the panel are one and the same: what a judge is, and not "
            "its name, tells judgements apart; change one or remove it"
        )


def _not_its_judge(run: VerifiedRun, own: PanelJudge) -> str | None:
    assert run.document is not None
    digest = run.document.predicate.judge.digest
    if digest is not None and digest.sha256 == own.digest:
        return None
    return f"its judge, {run.document.predicate.judge.id}, is not the one that [judge] describes now"


class _Made:
    """The judgements of one run that are there, signed or begun."""

    def __init__(self, workspace: Workspace, run: VerifiedRun) -> None:
        self.problems: list[str] = []
        self._run = run
        self._signed: list[JudgementPredicate] = []
        self._numbers: set[tuple[str, str, int]] = set()
        for folder in judgement_folders(workspace.root, run.id):
            self._take(folder)
        self._begun = list(_begun(workspace.root / FOLDER / run.id))
        self._numbers |= {(canon.digest(plan.judge)[:16], plan.purpose, plan.n) for plan in self._begun}

    def _take(self, folder: Path) -> None:
        read = read_judgement(folder)
        report = verify_judgement(
            read.files,
            run_files=self._run.files,
            policy=Unpinned(),
            now=int(time.time()),
            problems=read.problems,
        )
        if failed := [found for found in report.findings if found.severity == "fail"]:
            judge, _, number = folder.name.partition("-")
            purpose, _, n = number.rpartition("-")
            self._numbers.add((judge, purpose, int(n) if n.isdecimal() else 0))
            self.problems.append(f"{folder} does not count: {failed[0].code}: {failed[0].message}")
            return
        predicate = decode_signed(read.files[JUDGEMENT]).predicate
        assert predicate.judge.digest is not None
        self._signed.append(predicate)
        self._numbers.add((predicate.judge.digest.sha256[:16], predicate.purpose, predicate.n))

    def has_nulls(self, judge: str) -> bool:
        """Tell whether the judge with this digest was shown a null row with this run."""
        shown = [(one.judge.digest.sha256 if one.judge.digest else None, one.purpose) for one in self._signed]
        shown += [(canon.digest(plan.judge), plan.purpose) for plan in self._begun]
        return (judge, "null-row") in shown

    def job(self, judge: PanelJudge, purpose: Purpose, null_row: NullRow | None, wanted: Wanted) -> Job | None:
        """Return the judgement to be made or continued, None where it is there.

        A begun one asks about the share that it began with, whatever the board says by now.
        """
        own = JudgementPlan(
            of=self._run.of,
            run_id=self._run.id,
            judge=judge.described,
            purpose=purpose,
            null_row=null_row,
            shown=None if null_row is None else NULL_ROWS[null_row],
            share=wanted.reask if purpose == "reask" else None,
            n=0,
        )
        for plan in self._begun:
            if msgspec.structs.replace(plan, n=0, share=own.share) == own:
                return Job(run=self._run, judge=judge, plan=plan, begun=True)
        if not wanted.again and any(_same(one, own, judge.digest) for one in self._signed):
            return None
        n = 1 + max((n for d, p, n in self._numbers if (d, p) == (judge.digest[:16], purpose)), default=0)
        self._numbers.add((judge.digest[:16], purpose, n))
        return Job(run=self._run, judge=judge, plan=msgspec.structs.replace(own, n=n), begun=False)


def _first_for_nulls(run: VerifiedRun, made: _Made, own: PanelJudge | None) -> tuple[bool, bool, int, str]:
    assert run.document is not None
    there = own is not None and made.has_nulls(own.digest)
    return not there, not is_control(run.document), run.document.predicate.pass_.k, run.id


def _same(made: JudgementPredicate, plan: JudgementPlan, judge: str) -> bool:
    digest = made.judge.digest.sha256 if made.judge.digest else None
    return (digest, made.purpose, made.null_row) == (judge, plan.purpose, plan.null_row)


def _begun(place: Path) -> Iterable[JudgementPlan]:
    for path in sorted(place.glob(f".*/{PLAN}")):
        try:
            plan = msgspec.json.decode(path.read_bytes(), type=JudgementPlan)
        except (OSError, ValueError) as error:
            raise InputError(f"{path} is no plan: {error}; move its folder away to go on") from error
        if f".{folder_name(canon.digest(plan.judge), plan.purpose, plan.n)}" != path.parent.name:
            raise InputError(f"{path} is the plan of another folder; move this folder away to go on")
        yield plan


def store_plan(workspace: Workspace, job: Job) -> None:
    """Write the plan from which a begun judgement is continued."""
    write_bytes(working_place(workspace, job) / PLAN, canon.canonical(to_json(job.plan)))
