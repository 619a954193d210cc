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
from ragassay.errors import InputError, VerifyError
from ragassay.manifest import Signer
from ragassay.manifest.announce import SignedIntent, decode_intent, sign_intent, sign_void
from ragassay.manifest.build import benchmark_ref
from ragassay.manifest.files import BESIDE, INTENT, MANIFEST
from ragassay.manifest.log_disk import read_file
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
from ragassay.run.plan import VOID, PassPlan, all_passes, is_given_up, is_signed
from ragassay.run.proofs import prove_run, renew_proofs
from ragassay.run.workspace import Workspace, locked, write_bytes


class Announcement(msgspec.Struct, frozen=True, kw_only=True):
    """The signed announcement of a row's passes and its place in the log."""

    envelope: bytes
    ref: IntentRef
    created: int


class Registrar:
    """Announces, ends and voids the passes of one workspace, under its run key, in its log.

    `registry` is the key registry, as bytes, that lists the run key; raises `InputError` where it says that this key
    should sign no more.
    """

    def __init__(self, workspace: Workspace, signer: Signer, log_signer: Signer, registry: bytes | None = None) -> None:
        self.log = LogFolder(workspace.log, seen=workspace.log_seen)
        self.signer = signer
        self.registry = registry
        self.registry_version = None if registry is None else _version_for(signer, registry)
        self._workspace = workspace
        self._log_signer = log_signer
        self._logged: tuple[bytes, dict[str, SignedIntent]] = (b"", {})

    def announce(self, plans: Sequence[PassPlan], benchmark: Benchmark) -> None:
        """Log one announcement for each row among `plans` that has none; it covers all passes begun together.

        Passes that have answers already and no announcement stay without one: it would come too late. Raises
        `InputError` where another process gave one of them up, and where the clock is behind an announcement.
        """
        with locked(self._workspace.passes / ".lock"):
            for plan in plans:
                refuse_given_up(self._workspace, plan)
            stored = list(all_passes(self._workspace, given_up=True))
            for row, created in sorted({(plan.row, plan.created) for plan in plans}):
                group = [plan for plan in stored if (plan.row, plan.created) == (row, created)]
                known = [found for plan in group if (found := self.intent_of(plan.row, plan.run_id)) is not None]
                _refuse_early(row, known)
                if not known and not any(map(self._begun, group)):
                    group.sort(key=lambda plan: plan.k)
                    envelope = sign_intent(self._predicate(group, benchmark), self.signer)
                    write_bytes(self._folder(group[0]) / INTENT, envelope)
        self.sync()

    def announcement_of(self, plan: PassPlan) -> Announcement | None:
        """Return the announcement that covers a pass, or None where there is none.

        Raises `InputError` where the log no longer holds it: a run that named it could not be verified.
        """
        intent = self.intent_of(plan.row, plan.run_id)
        if intent is None:
            return None
        index = self.log.find(intent.data)
        if index is None:
            raise InputError(
                f"the log {self._workspace.log} does not hold the announcement of row {plan.row!r}; restore the log "
                "folder, or begin new passes with --new"
            )
        ref = IntentRef(log=self.log.origin, index=index, digest=Digest(sha256=intent.digest))
        return Announcement(envelope=intent.data, ref=ref, created=intent.predicate.created)

    def intent_of(self, row: str, run_id: str) -> SignedIntent | None:
        """Return the announcement that plans a run, or None where there is none.

        It stands beside the first of the passes begun together; where that folder is gone the log still has it.
        """
        for path in sorted(self._workspace.pass_folder(row, run_id).parent.glob(f"*/{INTENT}")):
            intent = _read_intent(path)
            if run_id in intent.predicate.runs:
                return intent
        return self.logged_intent(run_id)

    def logged_intent(self, run_id: str) -> SignedIntent | None:
        """Return the announcement of this key's log that plans a run; raises `InputError` for a damaged log."""
        if not self.log.exists:
            return None
        try:
            state = self.log.checkpoint().data
            if self._logged[0] != state:
                intents = list(filter(None, map(_as_intent, self.log.view().entries)))
                self._logged = (state, {run: intent for intent in reversed(intents) for run in intent.predicate.runs})
        except VerifyError as error:
            raise InputError(f"the log {self.log.path} is damaged: {error}. Restore the folder from a copy") from error
        return self._logged[1].get(run_id)

    def signed_by_others(self, plans: Sequence[PassPlan]) -> list[str]:
        """Return a line for each row whose passes were announced under another key than the one that now signs."""
        intents = {plan.row: intent for plan in plans if (intent := self.intent_of(plan.row, plan.run_id)) is not None}
        return [
            f"row {row!r} was announced under the key {intent.predicate.signer.kid}, and {self.signer.kid} signs now: "
            "its runs count for those alone who trust both; --new announces it anew"
            for row, intent in sorted(intents.items())
            if intent.predicate.signer.kid != self.signer.kid
        ]

    def unseen(self, plans: Sequence[PassPlan]) -> list[str]:
        """Return the rows whose announcement no witness saw yet, of passes that have no answer: there is still time."""
        seen = max((checkpoint.size for checkpoint in self.log.witnessed()), default=0)
        rows = []
        for plan in plans:
            announced = self.announcement_of(plan) if not self._begun(plan) else None
            if announced is not None and announced.ref.index >= seen:
                rows.append(plan.row)
        return sorted(set(rows))

    def void(self, plan: PassPlan, reason: str) -> None:
        """Log that a planned pass will not be finished; one that was never announced needs no voiding."""
        intent = self.intent_of(plan.row, plan.run_id)
        if intent is not None:
            self.void_announced(intent, plan.run_id, reason)

    def void_announced(self, intent: SignedIntent, run_id: str, reason: str) -> None:
        """Log that the pass which `intent` planned as `run_id` will not be finished; a voiding that is there stays."""
        planned = intent.predicate.runs
        predicate = VoidPredicate(
            run_id=run_id,
            pass_=PassRef(k=planned.index(run_id) + 1, of=len(planned)),
            intent=Digest(sha256=intent.digest),
            run=None,
            reason=reason,
            created=int(time.time()),
            signer=self.signer.ref(self.registry_version),
        )
        path = self._workspace.pass_folder(intent.predicate.row.name, run_id) / VOID
        if not path.exists():
            write_bytes(path, sign_void(predicate, self.signer))
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
            benchmark=benchmark_ref(benchmark, canon.sha256(benchmark.full_form())),
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


def refuse_given_up(workspace: Workspace, plan: PassPlan) -> None:
    """Raise `InputError` where a pass that was to be run was given up since it was planned."""
    folder = workspace.pass_folder(plan.row, plan.run_id)
    if is_given_up(workspace, folder):
        raise InputError(f"{folder} was given up or voided by another process meanwhile; run the same command again")


def _refuse_early(row: str, intents: Sequence[SignedIntent]) -> None:
    now = int(time.time())
    late = [intent.predicate.created for intent in intents if intent.predicate.created > now]
    if late:
        raise InputError(
            f"row {row!r} was announced {late[0] - now} seconds after the time that this machine's clock shows; its "
            "answers would be dated before their announcement, and no verifier would count them: set the clock right"
        )


def _read_intent(path: Path) -> SignedIntent:
    data = read_file(path, BESIDE[INTENT])
    try:
        return decode_intent(data or b"")
    except VerifyError as error:
        raise InputError(
            f"{path} is no announcement: {error}; move it away: the log holds it, if it was logged"
        ) from error


def _as_intent(entry: bytes) -> SignedIntent | None:
    """Return an entry of the log that is an announcement, None for any other."""
    try:
        return decode_intent(entry)
    except VerifyError:
        return None


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
