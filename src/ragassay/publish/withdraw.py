"""Takes a public run back: a voiding in the log with its reason. Nothing is deleted, neither there nor on the disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.canon import NotCanonical
from ragassay.errors import InputError, VerifyError
from ragassay.manifest import LogFolder
from ragassay.manifest.announce import MAX_REASON, SignedVoid, decode_void, sign_void
from ragassay.manifest.files import MANIFEST, MAX_BYTES
from ragassay.manifest.log_disk import read_file
from ragassay.manifest.statement import Digest, VoidPredicate
from ragassay.publish.chosen import counted
from ragassay.publish.decisions import DecisionFile, undecided
from ragassay.publish.detect import Detector
from ragassay.publish.redact import Keys
from ragassay.publish.said import said_by_withdrawal
from ragassay.publish.scan import scan
from ragassay.publish.store import publishing, withdraw
from ragassay.records.publication import Decision, Finding
from ragassay.run.plan import all_passes
from ragassay.run.registration import Registrar
from ragassay.run.voiding import void_pass
from ragassay.run.workspace import Workspace
from ragassay.site.loaded import LoadedRun
from ragassay.site.publications import (
    RUN,
    PublicRuns,
    Withdrawal,
    load_public,
    predicate_of,
    public_folders,
    read_withdrawal,
)
from ragassay.site.record import BoardPlan
from ragassay.site.window import RowRuns
from ragassay.verify.log_entries import kind_of


class Lost(msgspec.Struct, frozen=True, kw_only=True):
    """What a row of the public board loses: how many runs its window had and has; `of` is its role."""

    row: str
    before: int
    after: int


class TakenBack(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was taken back; `earlier` where the log held the voiding already, and the folder did not say so.

    `without_control` names the rows that still have counted runs, where the last run of their control was taken back.
    """

    withdrawal: Withdrawal
    row: str
    pass_k: int
    lost: tuple[Lost, ...]
    earlier: bool
    without_control: tuple[str, ...] = ()


class ReasonNotDecided(InputError):
    """The reason itself holds what a scan finds, and nobody allowed that: `findings` are what was found."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__(
            "nothing was withdrawn: the scan found something in the reason, which stands in the log for good"
        )
        self.findings = tuple(findings)


def take_back(
    workspace: Workspace,
    name: str,
    reason: str,
    keys: Keys,
    plan: BoardPlan | None,
    *,
    now: int,
    detectors: Sequence[Detector] = (),
    allowed: Callable[[Finding], Decision | None] = lambda _: None,
) -> TakenBack:
    """Void a public run in the log and mark its folder as withdrawn; `name` is its id or the beginning of it.

    The reason is scanned with `detectors` first; `allowed` may decide a finding in it, which is stored. A run that is
    void already by the log alone is marked with the reason that stands there. Raises `InputError` for a run that is
    unknown, not public or withdrawn already, for a reason that is empty, too long or no text, and where the clock says
    that the run has not ended; `ReasonNotDecided` where a finding in the reason was not allowed.
    """
    check_reason(reason)
    with publishing(workspace.root):
        folder = _folder(workspace, name)
        if (said := read_withdrawal(folder)) is not None:
            raise InputError(f"run {folder.name} is withdrawn already: {said.reason}")
        manifest = read_file(folder / RUN / MANIFEST, MAX_BYTES[MANIFEST])
        if manifest is None:
            raise InputError(f"{folder} has lost its {MANIFEST}; restore the folder from a copy")
        before = load_public(workspace.root, now)
        known = voiding_of(workspace, manifest)
        if known is None:
            _check_clock(manifest, now)
            _scan_reason(workspace, reason, detectors, allowed)
            _void(workspace, folder.name, manifest, reason, keys, now)
            found = voiding_of(workspace, manifest)
            assert found is not None, "what was appended to the log is in it"
        else:
            found = known
        withdrawal = Withdrawal(
            run=folder.name, at=found.predicate.created, reason=found.predicate.reason, void=found.digest
        )
        withdraw(workspace.root, withdrawal)
        after = load_public(workspace.root, now)
    run = predicate_of({MANIFEST: manifest})
    return TakenBack(
        withdrawal=withdrawal,
        row=run.row.name,
        pass_k=run.pass_.k,
        lost=_lost(before, after, plan),
        earlier=known is not None,
        without_control=_without_control(after, plan),
    )


def check_reason(reason: str) -> None:
    """Raise `InputError` for a reason that no voiding can give."""
    if not reason.strip() or len(reason) > MAX_REASON:
        raise InputError(f"a run is withdrawn for a reason of 1 to {MAX_REASON} characters, which everybody can read")
    try:
        canon.canonical(reason)
    except NotCanonical as error:
        raise InputError(f"the reason is no text that can be signed: {error}; write it in UTF-8") from error


def _check_clock(manifest: bytes, now: int) -> None:
    window = predicate_of({MANIFEST: manifest}).window
    if window is not None and now < window.end:
        raise InputError(
            "by the clock of this machine the run has not ended yet; set the clock: the voiding is signed with its time"
        )


def _scan_reason(
    workspace: Workspace, reason: str, detectors: Sequence[Detector], allowed: Callable[[Finding], Decision | None]
) -> None:
    """Store what is allowed of the findings in a reason; raises `ReasonNotDecided` where one of them is not."""
    file = DecisionFile(workspace.root)
    found = undecided(scan([said_by_withdrawal(reason)], detectors).findings, file.decisions())
    decisions = {one.id: allowed(one) for one in found}
    if left := [one for one in found if decisions[one.id] is None]:
        raise ReasonNotDecided(left)
    file.add_all([decision for decision in decisions.values() if decision is not None])


def _folder(workspace: Workspace, name: str) -> Path:
    public = {path.name: path for path in public_folders(workspace.root)}
    found = [one for one in public if one == name] or [one for one in public if name and one.startswith(name)]
    if len(found) == 1:
        return public[found[0]]
    if len(found) > 1:
        raise InputError(f"{len(found)} public runs have an id that begins with {name[:80]!r}; give one whole")
    private = [path.name for path in _private(workspace) if name and path.name.startswith(name)]
    if private:
        raise InputError(
            f"run {private[0]} is not public, so there is nothing to withdraw; `ragassay log void` voids it"
        )
    raise InputError(f"{workspace.root} has no run, public or not, whose id begins with {name[:80]!r}")


def _private(workspace: Workspace) -> Sequence[Path]:
    return sorted(workspace.runs.iterdir()) if workspace.runs.is_dir() else []


def voiding_of(workspace: Workspace, manifest: bytes) -> SignedVoid | None:
    """Return the first voiding in the workspace's log that names a run by its manifest's bytes; None where none does.

    Raises `InputError` where the log is damaged.
    """
    log = LogFolder(workspace.log, seen=workspace.log_seen)
    if not log.exists:
        return None
    wanted = canon.sha256(manifest)
    try:
        entries = log.view().entries
    except VerifyError as error:
        raise InputError(f"the log {log.path} is damaged: {error}. Restore the folder from a copy") from error
    for entry in entries:
        if kind_of(entry) == "void" and (void := _as_void(entry)) is not None:
            named = void.predicate.run
            if named is not None and named.sha256 == wanted:
                return void
    return None


def _as_void(entry: bytes) -> SignedVoid | None:
    try:
        return decode_void(entry)
    except VerifyError:
        return None


def _void(workspace: Workspace, run_id: str, manifest: bytes, reason: str, keys: Keys, now: int) -> None:
    """Log the voiding; a pass of this workspace keeps it beside its journal too, as any voiding."""
    signer, log_signer = keys.run(), keys.log()
    if any(plan.run_id == run_id for plan in all_passes(workspace, given_up=True)):
        void_pass(workspace, run_id, reason, signer, log_signer)
        return
    run = predicate_of({MANIFEST: manifest})
    predicate = VoidPredicate(
        run_id=run_id,
        pass_=run.pass_,
        intent=run.intent.digest if run.intent else None,
        run=Digest(sha256=canon.sha256(manifest)),
        reason=reason,
        created=now,
        signer=signer.ref(keys.version()),
    )
    log = Registrar(workspace, signer, log_signer, keys.registry).log
    log.append([manifest, sign_void(predicate, signer)], log_signer)


def _lost(before: PublicRuns, after: PublicRuns, plan: BoardPlan | None) -> tuple[Lost, ...]:
    old, new = _windows(before.runs, plan), _windows(after.runs, plan)
    return tuple(
        Lost(row=row, before=count, after=new.get(row, 0)) for row, count in old.items() if new.get(row, 0) != count
    )


def _without_control(public: PublicRuns, plan: BoardPlan | None) -> tuple[str, ...]:
    """Return the rows of the public board that stand there without their control; none where that is waived."""
    rows = [row for row in counted(public.runs, plan) if _counts(row)]
    if (plan is not None and plan.control_waiver) or any(row.role == "control" for row in rows):
        return ()
    return tuple(row.name for row in rows)


def _windows(runs: Sequence[LoadedRun], plan: BoardPlan | None) -> Mapping[str, int]:
    return {row.name: _counts(row) for row in counted(runs, plan)}


def _counts(row: RowRuns) -> int:
    """Return how many runs of a row's window are eligible."""
    return sum(document.predicate.run_id not in row.why_not for document in row.window)
