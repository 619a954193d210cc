"""Pre-registration: a row is announced in the log before its first answer, and each planned pass ends in the log.

Statements are written beside the passes first and appended to the log then. Whatever a killed process left out is
appended by the next one; the log gives an entry that it holds already its old index.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest import Signer
from ragassay.manifest.announce import decode_intent, sign_intent, sign_void
from ragassay.manifest.build import benchmark_ref
from ragassay.manifest.encoding import encode_benchmark
from ragassay.manifest.files import INTENT, MANIFEST
from ragassay.manifest.log_folder import LogFolder
from ragassay.manifest.refs import config_refs
from ragassay.manifest.registry import decode_registry
from ragassay.manifest.statement import (
    AGGREGATION,
    Digest,
    DigestOf,
    IntentPredicate,
    IntentRef,
    PassRef,
    RowRef,
    VoidPredicate,
)
from ragassay.records import Benchmark, to_json
from ragassay.run.plan import PassPlan, all_passes, is_signed
from ragassay.run.proofs import prove_run, renew_proofs
from ragassay.run.workspace import Workspace, locked, write_bytes

VOID = "void.dsse.json"


class Announcement(msgspec.Struct, frozen=True, kw_only=True):
    """The signed announcement of a row's passes and its place in the log."""

    envelope: bytes
    ref: IntentRef


class Registrar:
    """Announces, ends and voids the passes of one workspace, under its run key, in its log.

    `registry` is the key registry, as bytes, that lists the run key; raises `InputError` where it says that this key
    should sign no more.
    """

    def __init__(self, workspace: Workspace, signer: Signer, log_signer: Signer, registry: bytes | None = None) -> None:
        self.log = LogFolder(workspace.log)
        self.signer = signer
        self.registry = registry
        self.registry_version = None if registry is None else _version_for(signer, registry)
        self._workspace = workspace
        self._log_signer = log_signer

    def announce(self, plans: Sequence[PassPlan], benchmark: Benchmark) -> None:
        """Log one announcement for each row among `plans` that has none; it covers all passes begun together.

        Passes that have answers already and no announcement stay without one: it would come too late.
        """
        with locked(self._workspace.passes / ".lock"):
            for row, created in sorted({(plan.row, plan.created) for plan in plans}):
                group = [
                    plan
                    for plan in all_passes(self._workspace, given_up=True)
                    if (plan.row, plan.created) == (row, created)
                ]
                if not any(self._envelope_of(plan) or self._begun(plan) for plan in group):
                    group.sort(key=lambda plan: plan.k)
                    envelope = sign_intent(self._predicate(group, benchmark), self.signer)
                    write_bytes(self._folder(group[0]) / INTENT, envelope)
        self.sync()

    def announcement_of(self, plan: PassPlan) -> Announcement | None:
        """Return the announcement that covers a pass, or None where there is none.

        Raises `InputError` where the log no longer holds it: a run that named it could not be verified.
        """
        envelope = self._envelope_of(plan)
        if envelope is None:
            return None
        index = self.log.find(envelope)
        if index is None:
            raise InputError(
                f"the log {self._workspace.log} does not hold the announcement of row {plan.row!r}; restore the log "
                "folder, or begin new passes with --new"
            )
        digest = Digest(sha256=canon.sha256(envelope))
        return Announcement(envelope=envelope, ref=IntentRef(log=self.log.origin, index=index, digest=digest))

    def _envelope_of(self, plan: PassPlan) -> bytes | None:
        """Return the announcement that plans a pass, which stands beside the first of those begun together."""
        for path in sorted(self._folder(plan).parent.glob(f"*/{INTENT}")):
            envelope = path.read_bytes()
            if plan.run_id in decode_intent(envelope).predicate.runs:
                return envelope
        return None

    def void(self, plan: PassPlan, reason: str) -> None:
        """Log that a planned pass will not be finished; one that was never announced needs no voiding."""
        announced = self.announcement_of(plan)
        if announced is not None:
            predicate = VoidPredicate(
                run_id=plan.run_id,
                pass_=PassRef(k=plan.k, of=plan.of),
                intent=announced.ref.digest,
                run=None,
                reason=reason,
                created=int(time.time()),
                signer=self.signer.ref(self.registry_version),
            )
            write_bytes(self._folder(plan) / VOID, sign_void(predicate, self.signer))
            self.sync()

    def enter(self, plan: PassPlan) -> None:
        """Log the signed run of a pass and write its proofs."""
        self.log.append([(self._workspace.runs / plan.run_id / MANIFEST).read_bytes()], self._log_signer)
        prove_run(self.log, self._workspace.runs / plan.run_id)

    def sync(self) -> None:
        """Append the announcements, runs and voidings of this workspace that the log lacks, and write the proofs."""
        statements = sorted(self._workspace.passes.glob(f"*/*/{INTENT}"))
        runs = [self._workspace.runs / plan.run_id for plan in all_passes(self._workspace)]
        statements += [run / MANIFEST for run in runs if (run / MANIFEST).exists()]
        statements += sorted(self._workspace.passes.glob(f"*/*/{VOID}"))
        self.log.append([path.read_bytes() for path in statements], self._log_signer)
        renew_proofs(self._workspace)

    def _predicate(self, group: Sequence[PassPlan], benchmark: Benchmark) -> IntentPredicate:
        config = group[0].config
        refs = config_refs(config)
        return IntentPredicate(
            row=RowRef(name=config.row, key=config.row_key()),
            runs=tuple(plan.run_id for plan in group),
            benchmark=benchmark_ref(benchmark, canon.sha256(encode_benchmark(benchmark))),
            config=DigestOf(digest=Digest(sha256=canon.digest(to_json(config)))),
            corpus=refs.corpus,
            stack=refs.stack,
            model=refs.model,
            judge=refs.judge,
            metric=refs.metric,
            aggregation=AGGREGATION,
            created=int(time.time()),
            signer=self.signer.ref(self.registry_version),
        )

    def _begun(self, plan: PassPlan) -> bool:
        journal = self._folder(plan) / "journal.jsonl"
        return is_signed(self._workspace, plan) or (journal.exists() and journal.stat().st_size > 0)

    def _folder(self, plan: PassPlan) -> Path:
        return self._workspace.pass_folder(plan.row, plan.run_id)


def _version_for(signer: Signer, registry: bytes) -> int:
    """Return the version of a key registry; raises `InputError` where by it the key should sign nothing any more."""
    found = decode_registry(registry).registry
    record = found.key(signer.kid)
    if record is None or record.status != "active":
        state = "does not list" if record is None else f"calls {record.status}"
        raise InputError(
            f"the key registry of version {found.version} {state} the key {signer.kid} that would sign; add it with "
            "`ragassay keys registry --add`, or sign with the key that it lists as active"
        )
    return found.version
