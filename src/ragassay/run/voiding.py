"""Voids one pass of a workspace in its log: a planned one that will not be finished, or a run that no longer counts."""

from __future__ import annotations

import time

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest import Signer
from ragassay.manifest.announce import MAX_REASON, sign_void
from ragassay.manifest.decode import decode_statement
from ragassay.manifest.dsse import decode_base64, decode_envelope
from ragassay.manifest.files import MANIFEST
from ragassay.manifest.statement import Digest, PassRef, VoidPredicate
from ragassay.run.plan import PassPlan, all_passes, give_up
from ragassay.run.registration import VOID, Registrar
from ragassay.run.workspace import Workspace, write_bytes


class Voided(msgspec.Struct, frozen=True, kw_only=True):
    """What was voided: pass `k` of `of`, and whether it had been signed already."""

    row: str
    k: int
    of: int
    signed: bool


def void_pass(workspace: Workspace, run_id: str, reason: str, signer: Signer, log_signer: Signer) -> Voided:
    """Log one voiding for the pass with this run id, and give an unfinished pass up.

    Raises `InputError` for a run id that is not of this workspace, a pass that was never announced, one that is void
    already, and a reason that is empty or over 2,000 characters.
    """
    if not reason.strip() or len(reason) > MAX_REASON:
        raise InputError(f"a voiding gives a reason of 1 to {MAX_REASON} characters")
    registrar = Registrar(workspace, signer, log_signer)
    manifest = workspace.runs / run_id / MANIFEST
    plan = next((plan for plan in all_passes(workspace) if plan.run_id == run_id), None)
    if plan is None:
        raise InputError(f"{workspace.root} has no pass with the run id {run_id[:80]!r} that is still open or signed")
    begun = (workspace.pass_folder(plan.row, run_id) / VOID).exists()
    if manifest.exists() and begun:
        raise InputError(f"the run {run_id} is void already; `ragassay log audit` says why")
    if manifest.exists():
        _void_signed(workspace, plan, manifest.read_bytes(), reason, registrar)
    elif begun:  # killed before the pass was given up: what was signed is logged, not a second voiding
        registrar.sync()
        give_up(workspace, plan, reason)
    elif registrar.announcement_of(plan) is None:
        raise InputError(f"the pass {run_id} was never announced, so there is nothing to void")
    else:
        registrar.void(plan, reason)
        give_up(workspace, plan, reason)
    return Voided(row=plan.row, k=plan.k, of=plan.of, signed=manifest.exists())


def _void_signed(workspace: Workspace, plan: PassPlan, manifest: bytes, reason: str, registrar: Registrar) -> None:
    envelope = decode_envelope(manifest)
    run = decode_statement(envelope.payload_type, decode_base64(envelope.payload)).predicate
    predicate = VoidPredicate(
        run_id=plan.run_id,
        pass_=PassRef(k=run.pass_.k, of=run.pass_.of),
        intent=run.intent.digest if run.intent else None,
        run=Digest(sha256=canon.sha256(manifest)),
        reason=reason,
        created=int(time.time()),
        signer=registrar.signer.ref(),
    )
    write_bytes(workspace.pass_folder(plan.row, plan.run_id) / VOID, sign_void(predicate, registrar.signer))
    registrar.sync()
