"""A signed run with everything around it, in memory: announcement, log, proofs, witness, registry, policies.

All keys are public and mean nothing; all times are fixed, so that the same call gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from ragassay import canon
from ragassay.manifest.announce import sign_intent, sign_void
from ragassay.manifest.checkpoint import Checkpoint, cosign, sign_checkpoint
from ragassay.manifest.decode import decode_statement
from ragassay.manifest.dsse import decode_base64, decode_envelope
from ragassay.manifest.files import INTENT, INTENT_PROOF, MANIFEST, RUN_PROOF
from ragassay.manifest.note import NoteKey
from ragassay.manifest.proof import Proof, encode_proof
from ragassay.manifest.sign import Signer
from ragassay.manifest.statement import (
    AGGREGATION,
    Digest,
    IntentPredicate,
    IntentRef,
    PassRef,
    RunPredicate,
    VoidPredicate,
)
from ragassay.manifest.tiles import CHECKPOINT, bundle_path, encode_bundle, hash_tile_path, widths
from ragassay.manifest.tree import inclusion_proof, leaf_hash, root_of
from ragassay.records import to_json
from ragassay.testing.signed_run import STARTED, OpenedRun, open_run, public_signer, seal_run, signed_run
from ragassay.verify import write_policy

OURS = public_signer()
"""The publisher's key."""
OTHER = public_signer("another")
LOG_SIGNER = public_signer("log")
WITNESS_SIGNER = public_signer("witness")
ROOT_SIGNER = public_signer("root")
ORIGIN = "example.org/log"
LOG_KEY = NoteKey(ORIGIN, "log", LOG_SIGNER.x)
WITNESS_KEY = NoteKey("example.org/witness", "witness", WITNESS_SIGNER.x)

CREATED = STARTED - 120
ANNOUNCED_AT = STARTED - 60
SEEN_AT = STARTED + 600
NOW = STARTED + 86_400
"""When the announcement was made and witnessed, the run witnessed, and the reader checks, in Unix seconds."""

KEY_POLICY = write_policy(keys=[OURS.public], log=LOG_KEY, witnesses=[WITNESS_KEY])
ROOT_POLICY = write_policy(roots=[ROOT_SIGNER.kid], log=LOG_KEY, witnesses=[WITNESS_KEY])
TWO_KEYS_POLICY = write_policy(keys=[OURS.public, OTHER.public], log=LOG_KEY, witnesses=[WITNESS_KEY])
"""That of a reader who trusts two publishers."""
PLAIN_KEY_POLICY = write_policy(keys=[OURS.public])
PLAIN_ROOT_POLICY = write_policy(roots=[ROOT_SIGNER.kid])

Change = Callable[[OpenedRun], None]


def planned_id(k: int) -> str:
    """Return the id of the run that is announced as pass k."""
    return f"{k:032x}"


class MemoryLog:
    """A log that signs whatever it is asked to sign, honest or not."""

    def __init__(self, signer: Signer = LOG_SIGNER, origin: str = ORIGIN, entries: Sequence[bytes] = ()) -> None:
        self.signer = signer
        self.origin = origin
        self.entries = list(entries)

    def append(self, entry: bytes) -> int:
        """Add an entry and return its index."""
        self.entries.append(entry)
        return len(self.entries) - 1

    def checkpoint(self, seen_at: int | None, witness: Signer = WITNESS_SIGNER) -> bytes:
        """Return the signed checkpoint of all entries, cosigned at `seen_at` where that is a time."""
        leaves = [leaf_hash(entry) for entry in self.entries]
        data = sign_checkpoint(Checkpoint(self.origin, len(leaves), root_of(leaves)), self.signer)
        return data if seen_at is None else cosign(data, witness, WITNESS_KEY.name, seen_at)

    def prove(self, index: int, seen_at: int | None, witness: Signer = WITNESS_SIGNER) -> bytes:
        """Return the proof of an entry under the checkpoint of all entries."""
        hashes = inclusion_proof(index, [leaf_hash(entry) for entry in self.entries])
        return encode_proof(Proof(index, tuple(hashes), self.checkpoint(seen_at, witness)))

    def files(self, seen_at: int | None = SEEN_AT) -> dict[str, bytes]:
        """Return the log as its folder holds it, its hash tiles with one level (at most 256 entries)."""
        leaves = [leaf_hash(entry) for entry in self.entries]
        files = {CHECKPOINT: self.checkpoint(seen_at)}
        for number, width in widths(len(leaves)):
            files[bundle_path(number, width)] = encode_bundle(self.entries)
            files[hash_tile_path(0, number, width)] = b"".join(leaves)
        return files


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader is given: the files of a run, and perhaps the whole log and a registry beside them."""

    files: dict[str, bytes]
    log: dict[str, bytes] | None = None
    registry: bytes | None = None
    now: int = NOW


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """How a run came to be logged; each default is what an honest publisher does."""

    change: Change | None = None
    """What the publisher does to the run before it is signed; every digest is put right after it."""
    claim: Change | None = None
    """What the publisher writes into the manifest last."""
    announce: Callable[[IntentPredicate], IntentPredicate] | None = None
    """What the publisher announces instead."""
    signer: Signer = OURS
    announcer: Signer | None = None
    created: int = CREATED
    announced_at: int | None = ANNOUNCED_AT
    seen_at: int | None = SEEN_AT
    others: tuple[int, ...] = (2, 3)
    """The other passes that are logged too."""
    announced_last: bool = False
    rehearsed: bool = False
    """Whether another manifest of the same run is logged before it."""
    after: Callable[[MemoryLog, bytes], None] | None = None
    """What else happens to the log; it is given the run's manifest."""
    log_signer: Signer = LOG_SIGNER
    origin: str = ORIGIN
    witness: Signer = WITNESS_SIGNER


def tell(story: Story, run: Mapping[str, bytes] | None = None, *, with_log: bool = False) -> Bundle:
    """Return the bundle that a story ends with, from the unlogged run `run` (pass 1 of 3 where none is given)."""
    base = open_run(run or signed_run(run_id=planned_id(1)))
    plain = seal_run(base, story.signer)
    log = MemoryLog(story.log_signer, story.origin)
    envelope = _announcement(predicate_of(plain), story)
    index = 0
    proofs: dict[str, bytes] = {}
    if story.announced_last:
        index = 1
    else:
        log.append(envelope)
        proofs[INTENT_PROOF] = log.prove(0, story.announced_at, story.witness)
    ref = IntentRef(log=story.origin, index=index, digest=Digest(sha256=canon.sha256(envelope)))
    if story.rehearsed:
        log.append(signed_run(run_id=planned_id(1), signer=story.signer, intent=ref, failed=[0])[MANIFEST])
    files = _with_intent(base, ref, story)
    place = log.append(files[MANIFEST])
    if story.announced_last:
        log.append(envelope)
        proofs[INTENT_PROOF] = log.prove(1, story.announced_at, story.witness)
    for k in story.others:
        log.append(signed_run(run_id=planned_id(k), pass_k=k, signer=story.signer, intent=ref)[MANIFEST])
    if story.after is not None:
        story.after(log, files[MANIFEST])
    proofs[RUN_PROOF] = log.prove(place, story.seen_at, story.witness)
    return Bundle(files={**files, INTENT: envelope, **proofs}, log=log.files(story.seen_at) if with_log else None)


def predicate_of(files: Mapping[str, bytes]) -> RunPredicate:
    """Return what the manifest of a run claims."""
    envelope = decode_envelope(files[MANIFEST])
    return decode_statement(envelope.payload_type, decode_base64(envelope.payload)).predicate


def _announcement(run: RunPredicate, story: Story) -> bytes:
    announcer = story.announcer or story.signer
    assert run.config is not None
    assert run.corpus is not None
    assert run.stack is not None
    assert run.model is not None
    intent = IntentPredicate(
        row=run.row,
        runs=tuple(planned_id(k) for k in range(1, run.pass_.of + 1)),
        benchmark=run.benchmark,
        config=run.config,
        corpus=run.corpus,
        stack=run.stack,
        model=run.model,
        judge=run.judge,
        metric=run.metric,
        aggregation=AGGREGATION,
        created=story.created,
        signer=announcer.ref(),
    )
    return sign_intent(story.announce(intent) if story.announce else intent, announcer)


def _with_intent(base: OpenedRun, ref: IntentRef, story: Story) -> dict[str, bytes]:
    def claim(run: OpenedRun) -> None:
        run.predicate["intent"] = to_json(ref)
        if story.claim is not None:
            story.claim(run)

    if story.change is not None:
        story.change(base)
    return seal_run(base, story.signer, claim=claim)


def void_pass(k: int, signer: Signer = OURS) -> Callable[[MemoryLog, bytes], None]:
    """Return what logs that the announced pass k (of 3) was given up."""

    def append(log: MemoryLog, _: bytes) -> None:
        intent = Digest(sha256=canon.sha256(log.entries[0]))
        log.append(sign_void(_void(k, signer, intent, None), signer))

    return append


def void_run(signer: Signer = OURS) -> Callable[[MemoryLog, bytes], None]:
    """Return what logs that the run, which is pass 1 of 3, no longer counts."""

    def append(log: MemoryLog, manifest: bytes) -> None:
        log.append(sign_void(_void(1, signer, None, Digest(sha256=canon.sha256(manifest))), signer))

    return append


def _void(k: int, signer: Signer, intent: Digest | None, run: Digest | None) -> VoidPredicate:
    return VoidPredicate(
        run_id=planned_id(k),
        pass_=PassRef(k=k, of=3),
        intent=intent,
        run=run,
        reason="the index was of another version",
        created=SEEN_AT - 1,
        signer=signer.ref(),
    )
