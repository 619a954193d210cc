"""What somebody can do to a bundle on its way, who cannot sign: changes of bytes, each by its name. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from ragassay import canon
from ragassay.manifest import sign_payload
from ragassay.manifest.files import (
    BENCHMARK,
    CONFIG,
    FOREIGN,
    INTENT,
    INTENT_PROOF,
    MANIFEST,
    OUTPUTS,
    REGISTRY,
    RUN_PROOF,
    TELEMETRY,
)
from ragassay.manifest.proof import Proof, decode_proof, encode_proof
from ragassay.testing.logged_run import OURS
from ragassay.testing.signed_run import signed_run

Files: TypeAlias = Mapping[str, bytes]
Tampering: TypeAlias = Callable[[Files], dict[str, bytes]]


def change_envelope(files: Files, change: Callable[[dict[str, Any]], object], name: str = MANIFEST) -> dict[str, bytes]:
    """Return the files with the envelope of one statement changed and written canonically, its signature untouched."""
    envelope = json.loads(files[name])
    change(envelope)
    return {**files, name: canon.canonical(envelope)}


def flip_bit(at: int) -> Tampering:
    """Return the attack that flips bit `at` of the signed payload."""

    def change(envelope: dict[str, Any]) -> None:
        payload = bytearray(base64.b64decode(envelope["payload"]))
        payload[at // 8] ^= 1 << at % 8
        envelope["payload"] = base64.b64encode(payload).decode()

    return lambda files: change_envelope(files, change)


def loosen_base64(files: Files) -> dict[str, bytes]:
    """Return the files with a signature whose last character differs and decodes to the same bytes."""

    def change(envelope: dict[str, Any]) -> None:
        signature = envelope["signatures"][0]["sig"]
        envelope["signatures"][0]["sig"] = f"{signature[:-3]}{chr(ord(signature[-3]) + 1)}=="

    return change_envelope(files, change)


def swap_payload_type(files: Files) -> dict[str, bytes]:
    """Return the files with a run of another payload type, which the signature does not cover."""
    return change_envelope(files, lambda envelope: envelope.update(payloadType="application/vnd.in-toto+jsonx"))


def sign_other_payload_type(files: Files) -> dict[str, bytes]:
    """Return the files with a run that is well signed as another payload type."""
    payload = base64.b64decode(json.loads(files[MANIFEST])["payload"])
    return {**files, MANIFEST: sign_payload(payload, OURS, "text/plain")}


def edit(name: str, old: bytes, new: bytes) -> Tampering:
    """Return the attack that replaces some bytes of one file."""

    def attack(files: Files) -> dict[str, bytes]:
        assert old in files[name]
        return {**files, name: files[name].replace(old, new, 1)}

    return attack


def take_out(name: str) -> Tampering:
    """Return the attack that removes one file."""
    return lambda files: {kept: data for kept, data in files.items() if kept != name}


def put(name: str, source: str) -> Tampering:
    """Return the attack that puts the bytes of one file in the place of another."""
    return lambda files: {**files, name: files[source]}


def add(name: str, data: bytes) -> Tampering:
    """Return the attack that adds or replaces one file."""
    return lambda files: {**files, name: data}


def change_proof(name: str, change: Callable[[Proof], Proof]) -> Tampering:
    """Return the attack that changes a proof of inclusion."""
    return lambda files: {**files, name: encode_proof(change(decode_proof(files[name])))}


def _moved(proof: Proof) -> Proof:
    return msgspec.structs.replace(proof, index=proof.index + 1)


def _bent(proof: Proof) -> Proof:
    return msgspec.structs.replace(proof, hashes=(bytes(32), *proof.hashes[1:]))


TAMPERINGS: dict[str, tuple[Tampering, tuple[str, ...]]] = {
    **{f"bit {at} of the payload flipped": (flip_bit(at), ()) for at in range(0, 12_000, 997)},
    "base64 of the signature loosened": (loosen_base64, ("ENVELOPE_NOT_CANONICAL",)),
    "payload type swapped": (swap_payload_type, ("TYPE_UNKNOWN",)),
    "payload type signed as another": (sign_other_payload_type, ("TYPE_UNKNOWN",)),
    "announcement in the place of the run": (put(MANIFEST, INTENT), ("TYPE_UNKNOWN",)),
    "run in the place of its announcement": (put(INTENT, MANIFEST), ("TYPE_UNKNOWN", "INTENT_MISMATCH")),
    "answer edited": (edit(OUTPUTS, b"listens on", b"listened on"), ("OUTPUTS_DIGEST", "CONTENT_DIGEST")),
    "one character of the benchmark changed": (edit(BENCHMARK, b"Port 8001", b"Port 9001"), ("BENCHMARK_DIGEST",)),
    "configuration of another run": (add(CONFIG, signed_run(row="dense")[CONFIG]), ("CONFIG_DIGEST",)),
    "telemetry of another run": (add(TELEMETRY, signed_run(items=4)[TELEMETRY]), ("TELEMETRY_DIGEST",)),
    "telemetry taken out": (take_out(TELEMETRY), ("FILE_MISSING",)),
    "announcement taken out": (take_out(INTENT), ("FILE_MISSING",)),
    "a file that nothing covers": (add("notes.txt", b"x"), ("BUNDLE_NAME",)),
    "a question set of either form": (add(FOREIGN, b"id,input\n"), ("BUNDLE_NAME",)),
    "proof of the announcement in the place of the run's": (put(RUN_PROOF, INTENT_PROOF), ("LOG_INCLUSION",)),
    "proof of another index": (change_proof(RUN_PROOF, _moved), ("LOG_INCLUSION",)),
    "proof with another hash": (change_proof(RUN_PROOF, _bent), ("LOG_INCLUSION",)),
    "proof that is none": (add(RUN_PROOF, b"yes"), ("LOG_INCLUSION",)),
    "proof of the announcement that is none": (add(INTENT_PROOF, b""), ("LOG_INCLUSION",)),
    "registry that is none": (add(REGISTRY, b"{}"), ("ENVELOPE_MALFORMED",)),
}
"""What somebody can do to the files of a logged run on their way, and by which codes it is refused."""
