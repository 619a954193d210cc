"""Looks at everything that the gate asks for before runs are published; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from ragassay.errors import InputError, VerifyError
from ragassay.manifest import LogFolder
from ragassay.manifest.files import INTENT, MANIFEST, REGISTRY
from ragassay.publish.already import Beside, of_public
from ragassay.publish.chosen import Uncounted, choose, uncounted
from ragassay.publish.deciding import of_run, standing, with_decisions
from ragassay.publish.decisions import DecisionFile
from ragassay.publish.detect import Detector
from ragassay.publish.gate import Looked, Verdict, check
from ragassay.publish.judged import Later, judged_later, judged_with
from ragassay.publish.reading import Reading, reading_of, touching
from ragassay.publish.redact import rehearsed
from ragassay.publish.said import left_out_of, said_by_board, said_in_log, said_in_public, said_of
from ragassay.publish.scan import ScanResult, scan
from ragassay.publish.signoffs import ReviewFile
from ragassay.publish.store import folder_of
from ragassay.publish.texts import PublicText, file_texts, public_texts
from ragassay.records.publication import Decision, Finding, LeftOut, ScanSummary, SignOff
from ragassay.run.workspace import Workspace
from ragassay.site.loaded import LoadedRun
from ragassay.site.publications import PublicRuns, load_public
from ragassay.site.record import BoardPlan
from ragassay.site.runs import load_runs


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be published: rows by name, runs by id or its beginning; nothing named is the whole main table."""

    rows: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was looked at for one publication, and what the gate says of it.

    `scan` is of the texts of the runs, `said` of what becomes public beside them; `later` holds, by run, what was
    judged since a run was published, `left_out` the judgements of a run that are not public with it. `broken` are the
    runs of the workspace that fail verification: they are in no window, so they are chosen only where they are named.
    `uncounted` are finished runs that are not eligible.
    """

    chosen: tuple[LoadedRun, ...]
    public: PublicRuns
    scan: ScanResult
    said: ScanResult
    looked: Looked
    verdicts: tuple[Verdict, ...]
    later: Mapping[str, Later]
    left_out: Mapping[str, tuple[LeftOut, ...]]
    broken: tuple[LoadedRun, ...]
    uncounted: tuple[Uncounted, ...]

    @property
    def passes(self) -> bool:
        """Tell whether something was chosen and nothing speaks against any of it."""
        return bool(self.verdicts) and all(verdict.passes for verdict in self.verdicts)

    @property
    def already(self) -> tuple[str, ...]:
        """The chosen runs that are public already."""
        return tuple(run.id for run in self.chosen if run.id in self.public.publications)


def look(
    workspace: Workspace,
    plan: BoardPlan | None,
    wanted: Wanted,
    detectors: Sequence[Detector],
    *,
    now: int,
    registry: bytes | None = None,
) -> Look:
    """Read, verify and scan what is to be published, and ask the gate; nothing is written.

    `registry` is the publisher's newest key registry, which goes with every run that holds one.

    Raises `InputError` for a row or run that there is none of, for files of decisions or sign-offs that cannot be read,
    and (`NotScanned`) for a text that cannot be scanned.
    """
    runs = load_runs(workspace.root, now=now)
    chosen = tuple(choose(runs, plan, wanted.rows, wanted.runs))
    read = _read_together(runs, chosen, plan)
    found = scan((text for run in read for text in public_texts(run)), detectors)
    decisions = tuple(standing(DecisionFile(workspace.root).decisions()).values())
    public = load_public(workspace.root, now)
    signed, lapsed = _signed(workspace.root, chosen, found, decisions)
    beside = {run.id: _beside(run, public, found, decisions, now) for run in chosen if run.document is not None}
    registered = () if registry is None else file_texts(None, REGISTRY, registry)
    texts = chain(registered, _said(workspace, plan, read, public, beside, found, decisions, signed))
    said = scan(texts, detectors)
    looked = Looked(
        workspace=runs,
        public=public.runs,
        plan=plan,
        named=frozenset(run.id for run in choose(runs, plan, (), wanted.runs)) if wanted.runs else frozenset(),
        logged=_logged(workspace, chosen),
        findings=found.findings,
        said=said.findings,
        unlisted=sum(found.more.values()) + sum(said.more.values()),
        decisions=decisions,
        signed=signed,
        lapsed=lapsed,
        now=now,
    )
    verdicts = tuple(
        of_public(verdict, run, looked, public, beside.get(run.id), there=folder_of(workspace.root, run.id).exists())
        for verdict, run in zip(check(chosen, looked), chosen, strict=True)
    )
    return Look(
        chosen=chosen,
        public=public,
        scan=found,
        said=said,
        looked=looked,
        verdicts=verdicts,
        later={run: one.later for run, one in beside.items() if one.later is not None},
        broken=tuple(
            run
            for run in runs
            if run.document is None and run.voided is None and run.id not in {one.id for one in chosen}
        ),
        uncounted=tuple(uncounted(runs, plan, chosen)),
        left_out={run: one.left_out for run, one in beside.items() if one.left_out},
    )


def _read_together(runs: Sequence[LoadedRun], chosen: Sequence[LoadedRun], plan: BoardPlan | None) -> list[LoadedRun]:
    """Return the runs that are scanned: the whole main table and what was chosen, whatever was named.

    So the same findings touch a run when it is read and when it is published.
    """
    ids = {run.id for run in (*choose(runs, plan), *chosen)}
    return [run for run in runs if run.id in ids and run.document is not None]


def _signed(
    workspace: Path, chosen: Sequence[LoadedRun], found: ScanResult, decisions: Sequence[Decision]
) -> tuple[dict[str, tuple[SignOff, ...]], dict[str, tuple[SignOff, ...]]]:
    file = ReviewFile(workspace)
    readings: list[Reading] = [reading for run in chosen if (reading := reading_of(run)) is not None]
    holding = file.holding([(one, touching(one.run, found.findings, decisions)) for one in readings])
    given = file.sign_offs()
    lapsed = {one.run: tuple(line for line in given if line.run == one.run) for one in readings}
    return holding, lapsed


def _beside(run: LoadedRun, public: PublicRuns, found: ScanResult, decisions: Sequence[Decision], now: int) -> Beside:
    """Return which judgements would stand beside a run; of one that is public, which are new."""
    published = next((one for one in public.runs if one.id == run.id), None)
    publication = public.publications.get(run.id)
    if published is not None and publication is not None:
        later = judged_later(run, published, publication, found.findings, decisions, now=now)
        compared = {*publication.judgements, *(one.judgement for one in publication.left_out)}
        same = publication.scan.version == found.summary.version and compared == {one.id for one in run.judgements}
        same &= not later.added
        return Beside(
            left_out=later.left_out, later=later, scan=summary_of(run, found, (), decisions) if same else None
        )
    try:
        files = rehearsed(run, found.findings, decisions)
    except InputError as error:
        return Beside(problem=str(error))
    return Beside(left_out=judged_with(run, files, found.findings, decisions, now=now).left_out)


def summary_of(
    run: LoadedRun, found: ScanResult, said: Sequence[Finding], decisions: Sequence[Decision]
) -> ScanSummary:
    """Return what a scan says of one run: its texts, the findings there and in what is `said` of it, and decisions."""
    summary = msgspec.structs.replace(found.summary, texts=len({text.text for text in public_texts(run)}))
    own = {one.id: one for one in (*of_run(said, run.id), *of_run(found.findings, run.id))}
    return with_decisions(summary, list(own.values()), decisions)


def _said(
    workspace: Workspace,
    plan: BoardPlan | None,
    read: Sequence[LoadedRun],
    public: PublicRuns,
    beside: Mapping[str, Beside],
    found: ScanResult,
    decisions: Sequence[Decision],
    signed: Mapping[str, Sequence[SignOff]],
) -> Iterator[PublicText]:
    """Yield what becomes public beside the texts of the runs, or is."""
    known = {run.files[name] for run in read for name in (MANIFEST, INTENT) if name in run.files}
    yield from said_by_board(plan)
    yield from said_in_log(_entries(workspace), known)
    for run, one in beside.items():
        if run in public.publications:
            files = next(loaded.files for loaded in public.runs if loaded.id == run)
            yield from said_in_public(run, files, public.publications[run])
        else:
            yield from said_of(run, found.findings, decisions, signed.get(run, ()))
        yield from left_out_of(run, one.left_out)


def _entries(workspace: Workspace) -> Sequence[bytes]:
    """Return every entry of the log; none of one that is damaged, for which each run of it is refused."""
    log = LogFolder(workspace.log, seen=workspace.log_seen)
    try:
        return log.view().entries if log.exists else ()
    except VerifyError:
        return ()


def _logged(workspace: Workspace, chosen: Sequence[LoadedRun]) -> frozenset[str]:
    """Return which runs the workspace's log holds together with their announcements."""
    log = LogFolder(workspace.log, seen=workspace.log_seen)
    return frozenset(
        run.id
        for run in chosen
        if all(name in run.files and log.find(run.files[name]) is not None for name in (MANIFEST, INTENT))
    )
