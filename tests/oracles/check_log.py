"""Hold our log against aics-tlog: `python check_log.py FOLDER` in its environment (Python 3.12 or later)."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aics_tlog as oracle


def bytes_of(texts: list[str]) -> list[bytes]:
    """Return what standard base64 holds."""
    return [base64.b64decode(text) for text in texts]


def tree_problems(entries: list[bytes], trees: list[dict[str, Any]]) -> Iterator[str]:
    """Yield where roots or proofs of ours are not the oracle's, or are not accepted by it."""
    roots = {tree["size"]: base64.b64decode(tree["root"]) for tree in trees}
    for tree in trees:
        size, root = tree["size"], roots[tree["size"]]
        theirs = oracle.MerkleTree(entries[:size])
        if theirs.root() != root:
            yield f"the root of {size} entries"
        for index, proof in enumerate(map(bytes_of, tree["inclusion"])):
            if proof != theirs.inclusion_proof(index):
                yield f"the inclusion proof of {index} in {size}"
            if not oracle.verify_leaf_inclusion(entries[index], index, size, proof, root):
                yield f"the oracle refuses the inclusion of {index} in {size}"
            if index and oracle.verify_leaf_inclusion(entries[index - 1], index, size, proof, root):
                yield f"the oracle accepts another entry as {index} in {size}"
        for old, texts in tree["consistency"].items():
            if not oracle.verify_consistency(int(old), size, roots[int(old)], root, bytes_of(texts)):
                yield f"the oracle refuses that {old} is a prefix of {size}"


def log_problems(folder: Path, entries: list[bytes], log: dict[str, Any]) -> Iterator[str]:
    """Yield where the log on disk, its checkpoint, its cosignature or a proof does not hold for the oracle."""
    key, witness = oracle.parse_vkey(log["vkey"]), oracle.parse_vkey(log["witness"])
    disk = folder / log["folder"]
    note = oracle.parse_note((disk / "checkpoint").read_bytes())
    found = oracle.verify_checkpoint(note, key, [witness], 1)
    if not found.ok:
        yield f"the checkpoint: {found.error}"
    checkpoint = oracle.parse_checkpoint(note.text)
    reader = oracle.FileSystemTileReader(disk)
    oracle.audit_tiles(reader, checkpoint.size, checkpoint.root)
    verified = oracle.VerifiedTileReader(reader, checkpoint.size, checkpoint.root)
    for index, entry in enumerate(entries):
        if oracle.read_entry(verified, index, checkpoint.size) != entry:
            yield f"entry {index} of the tiles"
    for proof in log["proofs"]:
        bundle = oracle.Bundle(
            entry_bytes=entries[proof["index"]],
            index=proof["index"],
            inclusion_proof=tuple(bytes_of(proof["hashes"])),
            checkpoint_note=proof["checkpoint"],
        )
        if not oracle.verify_bundle(bundle, key, [witness], 1).ok:
            yield f"the proof of entry {proof['index']}"


def main(folder: Path) -> int:
    """Compare everything, print one line, and return 1 where the oracle says something else."""
    vectors = json.loads((folder / "vectors.json").read_text(encoding="utf-8"))
    entries = bytes_of(vectors["entries"])
    wrong = [*tree_problems(entries, vectors["trees"]), *log_problems(folder, entries, vectors["log"])]
    own = vectors["checkpoint"]
    if not oracle.verify_checkpoint(oracle.parse_note(own["note"]), oracle.parse_vkey(own["vkey"])).ok:
        wrong.append("the oracle refuses a checkpoint of ours")
    print(
        "\n".join(wrong) or f"log: aics-tlog agrees on {len(vectors['trees'])} trees and {len(entries)} entries on disk"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
