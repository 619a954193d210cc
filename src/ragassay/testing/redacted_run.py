"""A logged run of which texts are withheld, honestly or not, in memory. Pure.

The publisher can sign whatever they like: each change below is made before the redaction is signed, and every digest of
the redaction is put right after it.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from ragassay import canon
from ragassay.manifest import sign_payload
from ragassay.manifest.files import (
    INTENT_PROOF,
    OUTPUTS,
    PUBLIC_OUTPUTS,
    PUBLIC_TELEMETRY,
    REDACTION,
    REDACTION_PROOF,
    RUN_PROOF,
    TELEMETRY,
    WITHHELD,
)
from ragassay.manifest.redaction import Withholding, build_redaction, salts_from
from ragassay.manifest.sign import Signer
from ragassay.records import to_json
from ragassay.testing.logged_run import OURS, SEEN_AT, Bundle, MemoryLog, Story, planned_id, tell

Rows: TypeAlias = "list[dict[str, Any]]"

WITHHOLD = (
    Withholding(id="q-001", field="answer", reason="it names a person", spans=((0, 9),)),
    Withholding(id="q-001", field="chunks/1/text", reason="the page is licensed"),
    Withholding(id="q-002", field="claims/1/reason", reason="it names a person"),
    Withholding(id="q-002", field="telemetry/judgeReplies/0/text", reason="it names a person"),
)
"""Four texts of two of the three questions; the third row is shown whole."""
REDACTED_AT = SEEN_AT + 60


class Redacting(msgspec.Struct, frozen=True, kw_only=True):
    """How texts of a run came to be withheld; each default is what an honest publisher does."""

    story: Story = Story()
    run: Mapping[str, bytes] | None = None
    """The unlogged run that the story is of, where it is not the sample."""
    withhold: Sequence[Withholding] = WITHHOLD
    signer: Signer = OURS
    created: int = REDACTED_AT
    rows: Callable[[Rows], object] | None = None
    """What the publisher does to the public rows."""
    telemetry: Callable[[Rows], object] | None = None
    """What the publisher does to the public telemetry."""
    entries: Callable[[Rows], object] | None = None
    """What the publisher does to the list of what is withheld."""
    claim: Callable[[dict[str, Any]], object] | None = None
    """What the publisher writes into the redaction's predicate last."""
    kind: str | None = None
    """The type that the publisher gives the statement instead."""
    logged: bool = True
    seen_at: int | None = REDACTED_AT


def redact(redacting: Redacting, *, with_log: bool = False) -> Bundle:
    """Return the bundle of a run with texts withheld, its redaction the last entry of its log."""
    plain = tell(redacting.story, redacting.run)
    built = build_redaction(
        plain.files,
        redacting.withhold,
        salts=salts_from(b"public secret of tests", planned_id(1)),
        signer=redacting.signer,
        created=redacting.created,
    )
    public = _changed(built, redacting)
    proofs: dict[str, bytes] = {}

    def after(log: MemoryLog, manifest: bytes) -> None:
        if redacting.story.after is not None:
            redacting.story.after(log, manifest)
        if redacting.logged:
            index = log.append(public[REDACTION])
            proofs[REDACTION_PROOF] = log.prove(index, redacting.seen_at, redacting.story.witness)

    story = msgspec.structs.replace(redacting.story, after=after)
    bundle = tell(story, redacting.run, with_log=with_log)
    kept = {name: bundle.files[name] for name in (INTENT_PROOF, RUN_PROOF)}
    return msgspec.structs.replace(bundle, files={**public, **kept, **proofs})


def beside_whole(redacting: Redacting) -> Bundle:
    """Return the run as it was signed, with its redaction beside it."""
    bundle = redact(redacting)
    whole = tell(redacting.story, redacting.run).files
    added = {name: bundle.files[name] for name in (REDACTION, REDACTION_PROOF)}
    return msgspec.structs.replace(bundle, files={**bundle.files, OUTPUTS: whole[OUTPUTS], **added})


def whole_telemetry() -> bytes:
    """Return the telemetry of the sample as it was signed."""
    return tell(Story()).files[TELEMETRY]


def _changed(files: Mapping[str, bytes], redacting: Redacting) -> dict[str, bytes]:
    """Return the public files after the publisher's changes, signed anew where there were any."""
    changes = {PUBLIC_OUTPUTS: redacting.rows, PUBLIC_TELEMETRY: redacting.telemetry, WITHHELD: redacting.entries}
    changed = dict(files)
    if not any([*changes.values(), redacting.claim, redacting.kind]):
        return changed
    for name, change in changes.items():
        if change is not None:
            rows = [json.loads(line) for line in files[name].splitlines()]
            change(rows)
            changed[name] = b"".join(canon.canonical(row) + b"\n" for row in rows)
    statement = json.loads(b64decode(json.loads(files[REDACTION])["payload"]))
    predicate = statement["predicate"]
    predicate["outputs"] = _digest(changed[PUBLIC_OUTPUTS])
    if PUBLIC_TELEMETRY in changed:
        predicate["telemetry"] = _digest(changed[PUBLIC_TELEMETRY])
    entries = [json.loads(line) for line in changed[WITHHELD].splitlines()]
    texts = sum(len(entry["texts"]) for entry in entries)
    predicate["withheld"] = {"digest": _digest(changed[WITHHELD]), "rows": len(entries), "texts": texts}
    predicate["signer"] = to_json(redacting.signer.ref())
    if redacting.claim is not None:
        redacting.claim(predicate)
    statement["subject"] = [{"name": PUBLIC_OUTPUTS, "digest": predicate["outputs"]}]
    statement["predicateType"] = redacting.kind or statement["predicateType"]
    return {**changed, REDACTION: sign_payload(canon.canonical(statement), redacting.signer)}


def _digest(data: bytes) -> dict[str, str]:
    return {"sha256": canon.sha256(data)}
