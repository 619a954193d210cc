"""Voids one pass of a workspace in its log: a planned one that will not be finished, or a run that no longer counts."""

from __future__ import annotations

import re
import time

import msgspec

from ragassay import canon
from ragassay.canon import NotCanonical
from ragassay.errors import InputError
from ragassay.manifest import Signer
from ragassay.manifest.announce import MAX_REASON, sign_void
from ragassay.manifest.decode import decode_statement
from ragassay.manifest.dsse import decode_base64, decode_envelope
from ragassay.manifest.files import MANIFEST
from ragassay.manifest.statement import Digest, PassRef, RunPredicate, VoidPredicate
from ragassay.run.journal import claimed
from ragassay.run.plan import VOID, PassPlan, all_passes, give_up
from ragassay.run.registration import Registrar
from ragassay.run.workspace import Workspace, locked, write_bytes

_RUN_ID = re.compile(r"[0-9a-f]{32}")


class Voided(msgspec.Struct, frozen=True, kw_only=True):
    """What was voided: pass `k` of `of`, and whether it had been signed already."""

    row: str
    k: int
    of: int
    signed: bool


def void_pass(workspace: Workspace, run_id: str, reason: str, signer: Signer, log_signer: Signer) -> Voided:
    """Log one voiding for the pass with this run id, and give an unfinished pass up.

    A pass that was announced and whose folder is gone is voided too, and a run that no announcement names: one that
    fills a pass. Raises `InputError` for a run id that is not of
    this workspace, a pass that was never announced, one that is void already, one that another process is writing, and
    a reason that is empty, over 2,000 characters or no text.
    """
    _check_reason(reason)
    registrar = Registrar(workspace, signer, log_signer)
    with locked(workspace.passes / ".lock"):
        plan = next((plan for plan in all_passes(workspace, given_up=True) if plan.run_id == run_id), None)
        if plan is None and is_unplanned(workspace, run_id, registrar):
            return _void_unplanned(workspace, run_id, reason, registrar)
        if plan is None:
            return _void_lost(workspace, run_id, reason, registrar)
        signed = (workspace.runs / run_id / MANIFEST).exists()
        if (workspace.pass_folder(plan.row, run_id) / VOID).exists():
            _complete(workspace, plan, registrar, signed=signed)
        elif signed:
            _void_signed(workspace, run_id, reason, registrar)
        else:
            _void_planned(workspace, plan, reason, registrar)
    return Voided(row=plan.row, k=plan.k, of=plan.of, signed=signed)


def _check_reason(reason: str) -> None:
    if not reason.strip() or len(reason) > MAX_REASON:
        raise InputError(f"a voiding gives a reason of 1 to {MAX_REASON} characters")
    try:
        canon.canonical(reason)
    except NotCanonical as error:
        raise InputError(f"the reason is no text that can be signed: {error}; write it in UTF-8") from error


def _complete(workspace: Workspace, plan: PassPlan, registrar: Registrar, *, signed: bool) -> None:
    """Do what a killed voiding left out: what was signed is logged, not a second voiding; else it is void already."""
    folder = workspace.pass_folder(plan.row, plan.run_id)
    ended = signed or (folder / "given-up.json").exists()
    if ended and registrar.log.find((folder / VOID).read_bytes()) is not None:
        raise InputError(f"the run {plan.run_id} is void already; `ragassay log audit` says why")
    registrar.sync()
    if not ended:
        give_up(workspace, plan, "void")


def _void_planned(workspace: Workspace, plan: PassPlan, reason: str, registrar: Registrar) -> None:
    with claimed(workspace.pass_folder(plan.row, plan.run_id) / "journal.jsonl"):
        if registrar.intent_of(plan.row, plan.run_id) is None:
            raise InputError(f"the pass {plan.run_id} was never announced, so there is nothing to void")
        registrar.void(plan, reason)
        give_up(workspace, plan, reason)


def _void_lost(workspace: Workspace, run_id: str, reason: str, registrar: Registrar) -> Voided:
    """Void a pass of which the log alone is left."""
    intent = registrar.logged_intent(run_id)
    if intent is None:
        raise InputError(f"{workspace.root} has no pass with the run id {run_id[:80]!r}, and its log announces none")
    row, runs = intent.predicate.row.name, intent.predicate.runs
    path = workspace.pass_folder(row, run_id) / VOID
    if path.exists() and registrar.log.find(path.read_bytes()) is not None:
        raise InputError(f"the run {run_id} is void already; `ragassay log audit` says why")
    registrar.void_announced(intent, run_id, reason)
    return Voided(row=row, k=runs.index(run_id) + 1, of=len(runs), signed=False)


def is_unplanned(workspace: Workspace, run_id: str, registrar: Registrar) -> bool:
    """Tell whether a run of this workspace stands in its log and no announcement names it, as one that fills a pass."""
    if not _RUN_ID.fullmatch(run_id) or registrar.logged_intent(run_id) is not None:
        return False
    manifest = workspace.runs / run_id / MANIFEST
    return manifest.is_file() and registrar.log.find(manifest.read_bytes()) is not None


def _void_unplanned(workspace: Workspace, run_id: str, reason: str, registrar: Registrar) -> Voided:
    run = _signed(workspace, run_id)
    path = workspace.pass_folder(run.row.name, run_id) / VOID
    if not path.exists():
        _void_signed(workspace, run_id, reason, registrar)
    elif registrar.log.find(path.read_bytes()) is not None:
        raise InputError(f"the run {run_id} is void already; `ragassay log audit` says why")
    registrar.sync()
    return Voided(row=run.row.name, k=run.pass_.k, of=run.pass_.of, signed=True)


def _signed(workspace: Workspace, run_id: str) -> RunPredicate:
    envelope = decode_envelope((workspace.runs / run_id / MANIFEST).read_bytes())
    return decode_statement(envelope.payload_type, decode_base64(envelope.payload)).predicate


def _void_signed(workspace: Workspace, run_id: str, reason: str, registrar: Registrar) -> None:
    manifest = (workspace.runs / run_id / MANIFEST).read_bytes()
    run = _signed(workspace, run_id)
    predicate = VoidPredicate(
        run_id=run_id,
        pass_=PassRef(k=run.pass_.k, of=run.pass_.of),
        intent=run.intent.digest if run.intent else None,
        run=Digest(sha256=canon.sha256(manifest)),
        reason=reason,
        created=int(time.time()),
        signer=registrar.signer.ref(),
    )
    write_bytes(workspace.pass_folder(run.row.name, run_id) / VOID, sign_void(predicate, registrar.signer))
    registrar.sync()
