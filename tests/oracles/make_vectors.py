"""Write signed things of ours into a folder, for verifiers that others wrote: envelopes, a log on disk, proofs.

Used by `make oracles`: `python tests/oracles/make_vectors.py FOLDER`.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

from ragassay.manifest import MANIFEST, Signer, sign_payload
from ragassay.manifest.checkpoint import Checkpoint, cosign, sign_checkpoint
from ragassay.manifest.dsse import decode_base64, decode_envelope
from ragassay.manifest.log_folder import LogFolder
from ragassay.manifest.note import note_key
from ragassay.manifest.proof import decode_proof
from ragassay.manifest.sigstore import sigstore_bundle
from ragassay.manifest.tree import consistency_proof, inclusion_proof, leaf_hash, root_of
from ragassay.testing.signed_run import public_signer, signed_run

ENTRIES = 300
SIZES = (1, 2, 3, 5, 8, 13, 64, 65, 255, 256, 257, 300)
WITNESSED_AT = 1_790_000_100


def text_of(data: bytes) -> str:
    """Return standard base64."""
    return base64.b64encode(data).decode("ascii")


def envelopes() -> list[dict[str, Any]]:
    """Return envelopes with the key to check them with, and whether the signature holds."""
    signer, other = public_signer(), public_signer("another")
    good = signed_run()[MANIFEST]
    envelope = decode_envelope(good)
    payload = decode_base64(envelope.payload)
    changed = sign_payload(payload.replace(b"bm25", b"bm26"), signer)
    foreign = sign_payload(payload, other)
    cases = [("a run", good, signer, True), ("a changed run, signed again", changed, signer, True)]
    cases += [("by another key", foreign, signer, False), ("by another key, under it", foreign, other, True)]
    for at in range(0, len(payload), 97):
        flipped = payload[:at] + bytes([payload[at] ^ 1]) + payload[at + 1 :]
        data = good.replace(text_of(payload).encode(), text_of(flipped).encode())
        cases.append((f"byte {at} of the payload flipped", data, signer, False))
    return [
        {"name": name, "envelope": data.decode(), "x": key.x.hex(), "kid": key.kid, "holds": holds}
        for name, data, key, holds in cases
    ]


def sigstore() -> list[dict[str, Any]]:
    """Return Sigstore bundles with the key to check them with, and whether they hold."""
    signer, other = public_signer(), public_signer("another")
    bundle = sigstore_bundle(signed_run()[MANIFEST]).decode()
    changed = sigstore_bundle(signed_run(row="dense")[MANIFEST]).decode()
    payload = json.loads(changed)["dsseEnvelope"]["payload"]
    swapped = bundle.replace(json.loads(bundle)["dsseEnvelope"]["payload"], payload)
    cases = [("a run", bundle, signer, True), ("under another key", bundle, other, False)]
    cases += [("the payload of another run", swapped, signer, False)]
    return [{"name": n, "bundle": b, "x": k.x.hex(), "kid": signer.kid, "holds": holds} for n, b, k, holds in cases]


def trees(entries: list[bytes]) -> list[dict[str, Any]]:
    """Return roots and proofs of trees over the first entries."""
    hashes = [leaf_hash(entry) for entry in entries]
    return [
        {
            "size": size,
            "root": text_of(root_of(hashes[:size])),
            "inclusion": [[text_of(h) for h in inclusion_proof(index, hashes[:size])] for index in range(size)],
            "consistency": {
                str(old): [text_of(h) for h in consistency_proof(old, hashes[:size])] for old in SIZES if old <= size
            },
        }
        for size in SIZES
    ]


def log(folder: Path, entries: list[bytes], signer: Signer, witness: Signer) -> dict[str, Any]:
    """Write a log of the entries in three batches, let a witness cosign it, and return its keys and proofs."""
    disk = LogFolder(folder)
    for start, end in ((0, 5), (5, 256), (256, ENTRIES)):
        disk.append(entries[start:end], signer)
    witness_key = note_key("witness.test", "witness", witness.x)
    disk.accept(cosign((folder / "checkpoint").read_bytes(), witness, "witness.test", WITNESSED_AT), [witness_key])
    return {
        "folder": folder.name,
        "vkey": disk.vkey.strip(),
        "witness": witness_key.vkey(),
        "witnessedAt": WITNESSED_AT,
        "proofs": [_proof(disk.prove(index)) for index in (0, 4, 255, 256, ENTRIES - 1)],
    }


def _proof(data: bytes) -> dict[str, Any]:
    proof = decode_proof(data)
    hashes = [text_of(value) for value in proof.hashes]
    return {"index": proof.index, "hashes": hashes, "checkpoint": proof.checkpoint.decode()}


def main(folder: Path) -> None:
    """Write `vectors.json` and the log's files."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = [f"entry {n}".encode() * (n % 7 + 1) for n in range(ENTRIES)]
    signer, witness = public_signer("log"), public_signer("witness")
    checkpoint = sign_checkpoint(Checkpoint("log.test", 1, root_of([leaf_hash(b"x")])), signer)
    vectors = {
        "envelopes": envelopes(),
        "sigstore": sigstore(),
        "entries": [text_of(entry) for entry in entries],
        "trees": trees(entries),
        "checkpoint": {"note": checkpoint.decode(), "vkey": note_key("log.test", "log", signer.x).vkey()},
        "log": log(folder / "log", entries, signer, witness),
    }
    (folder / "vectors.json").write_text(json.dumps(vectors), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
