"""From finished runs to public ones: looks at everything that the gate asks for, and publishes what passes it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest import LogFolder
from ragassay.manifest.files import INTENT, MANIFEST, RUN_PROOF
from ragassay.publish.chosen import choose
from ragassay.publish.deciding import of_run, with_decisions
from ragassay.publish.decisions import DecisionFile
from ragassay.publish.detect import Detector
from ragassay.publish.gate import UNREAD, Looked, Refusal, Verdict, check
from ragassay.publish.reading import Reading, reading_of, touching
from ragassay.publish.redact import Keys, public_files, same_public, would_be_public
from ragassay.publish.scan import ScanResult, scan
from ragassay.publish.signoffs import ReviewFile
from ragassay.publish.store import Bundle, folder_of, renew_public_proofs, store
from ragassay.publish.texts import public_texts
from ragassay.records.publication import Decision, Publication, ScanSummary, SignOff
from ragassay.run.registration import Registrar
from ragassay.run.workspace import Workspace
from ragassay.site.group import is_measured
from ragassay.site.loaded import LoadedRun
from ragassay.site.publications import PublicRuns, load_public
from ragassay.site.record import BoardPlan
from ragassay.site.runs import load_runs


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be published: rows by name, runs by id or its beginning; nothing named is the whole main table."""

    rows: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was looked at for one publication, and what the gate says of it."""

    chosen: tuple[LoadedRun, ...]
    public: PublicRuns
    scan: ScanResult
    looked: Looked
    verdicts: tuple[Verdict, ...]

    @property
    def passes(self) -> bool:
        """Tell whether something was chosen and nothing speaks against any of it."""
        return bool(self.verdicts) and all(verdict.passes for verdict in self.verdicts)

    @property
    def already(self) -> tuple[str, ...]:
        """The chosen runs that are public already."""
        return tuple(run.id for run in self.chosen if run.id in self.public.publications)


def look(
    workspace: Workspace, plan: BoardPlan | None, wanted: Wanted, detectors: Sequence[Detector], *, now: int
) -> Look:
    """Read, verify and scan what is to be published, and ask the gate; nothing is written.

    Raises `InputError` for a row or run that there is none of, for files of decisions or sign-offs that cannot be read,
    and (`NotScanned`) for a text that cannot be scanned.
    """
    runs = load_runs(workspace.root, now=now)
    chosen = choose(runs, plan, wanted.rows, wanted.runs)
    found = scan([text for run in _read_together(runs, chosen, plan) for text in public_texts(run)], detectors)
    decisions = DecisionFile(workspace.root).decisions()
    public = load_public(workspace.root, now)
    signed, lapsed = _signed(workspace.root, chosen, found, decisions)
    looked = Looked(
        workspace=runs,
        public=public.runs,
        plan=plan,
        named=frozenset(run.id for run in choose(runs, plan, (), wanted.runs)) if wanted.runs else frozenset(),
        logged=_logged(workspace, chosen),
        findings=found.findings,
        unlisted=sum(found.more.values()),
        decisions=decisions,
        signed=signed,
        lapsed=lapsed,
    )
    verdicts = tuple(_of_public(one, chosen, looked, public, workspace.root) for one in check(chosen, looked))
    return Look(chosen=tuple(chosen), public=public, scan=found, looked=looked, verdicts=verdicts)


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


def _logged(workspace: Workspace, chosen: Sequence[LoadedRun]) -> frozenset[str]:
    """Return which runs the workspace's log holds together with their announcements."""
    log = LogFolder(workspace.log, seen=workspace.log_seen)
    return frozenset(
        run.id
        for run in chosen
        if all(name in run.files and log.find(run.files[name]) is not None for name in (MANIFEST, INTENT))
    )


def _of_public(
    verdict: Verdict, chosen: Sequence[LoadedRun], looked: Looked, public: PublicRuns, workspace: Path
) -> Verdict:
    """Return the verdict on a run with what is public of it already: that stays, and is never changed silently."""
    run = next(one for one in chosen if one.id == verdict.run)
    published = next((one for one in public.runs if one.id == verdict.run), None)
    refusal = None
    if verdict.run in public.withdrawn:
        refusal = Refusal(code="withdrawn", text=f"it was withdrawn: {public.withdrawn[verdict.run].reason}")
    elif run.document is None:
        return verdict
    elif published is not None and verdict.run not in public.publications:
        refusal = Refusal(code="damaged", text=f"it is public already, and its public files: {published.refused}")
    elif published is None and folder_of(workspace, verdict.run).exists():
        refusal = Refusal(code="damaged", text="it has a public folder that cannot be read")
    else:
        refusal = _changed(run, published, looked)
    if refusal is not None:
        return msgspec.structs.replace(verdict, refusals=(*verdict.refusals, refusal))
    if published is None:
        return verdict
    left = tuple(one for one in verdict.refusals if one.code != UNREAD)  # it was read, and nothing is done to it now
    return msgspec.structs.replace(verdict, refusals=left)


def _changed(run: LoadedRun, published: LoadedRun | None, looked: Looked) -> Refusal | None:
    """Return why a run cannot be published as decided, or no more than it is."""
    try:
        if published is None:
            would_be_public(run, looked.findings, looked.decisions)
            return None
        if same_public(run, published, looked.findings, looked.decisions):
            return None
    except InputError as error:
        return Refusal(code="not-withholdable", text=str(error))
    text = (
        "it is public already, and decisions that were made since would change what is public; that is never done "
        "silently: `ragassay unpublish` withdraws it, and the row is run anew"
    )
    return Refusal(code="changed", text=text)


def release(workspace: Workspace, found: Look, keys: Keys, *, now: int) -> list[str]:
    """Publish each chosen run that is not public yet, and return their ids; the caller holds `store.publishing`.

    Proofs of what is public are renewed where more witnesses have seen the log. The gate must have let all runs pass
    (`ValueError` otherwise). One that was killed leaves whole publications and
    none that is half there; the next one publishes the rest.
    """
    if not found.passes:
        raise ValueError("the gate did not let these runs pass")
    done = []
    for run in found.chosen:
        if run.id not in found.public.publications:
            store(workspace.root, run.id, _bundle(workspace, run, found, keys, now))
            done.append(run.id)
    renew_public_proofs(workspace.root, LogFolder(workspace.log, seen=workspace.log_seen))
    return done


def _bundle(workspace: Workspace, run: LoadedRun, found: Look, keys: Keys, now: int) -> Bundle:
    assert run.document is not None, "the gate lets no other run pass"
    looked = found.looked
    public = public_files(workspace, run, looked.findings, looked.decisions, keys, now=now)
    predicate = run.document.predicate
    files = dict(public.files)
    if not is_measured(run.document):
        files |= _logged_now(workspace, run, keys)
    publication = Publication(
        run=run.id,
        manifest=canon.sha256(run.files[MANIFEST]),
        row=predicate.row.name,
        pass_=predicate.pass_.k,
        at=now,
        signer=predicate.signer.kid,
        scan=_summary(run, found),
        sign_offs=tuple(looked.signed.get(run.id, ())),
        redaction=public.redaction,
        judgements=tuple(sorted(public.judgements)),
        left_out=public.left_out,
    )
    return Bundle(run=files, judgements=public.judgements, publication=publication)


def _summary(run: LoadedRun, found: Look) -> ScanSummary:
    """Return what the scan says of one run: its own texts and findings, and what was decided of them."""
    summary = msgspec.structs.replace(found.scan.summary, texts=len({text.text for text in public_texts(run)}))
    return with_decisions(summary, of_run(found.looked.findings, run.id), found.looked.decisions)


def _logged_now(workspace: Workspace, run: LoadedRun, keys: Keys) -> dict[str, bytes]:
    """Log a run that was taken over from elsewhere, so that it can be withdrawn there; return its proof."""
    registrar = Registrar(workspace, keys.run(), keys.log(), keys.registry)
    (index,) = registrar.log.append([run.files[MANIFEST]], keys.log())
    return {RUN_PROOF: registrar.log.prove(index)}
