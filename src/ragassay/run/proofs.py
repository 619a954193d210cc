"""Renews the proofs that stand beside the runs of a workspace, as witnesses cosign the log."""

from __future__ import annotations

from pathlib import Path

from ragassay.errors import VerifyError
from ragassay.manifest.files import (
    BESIDE,
    INTENT,
    INTENT_PROOF,
    MANIFEST,
    MAX_BYTES,
    REDACTION,
    REDACTION_PROOF,
    RUN_PROOF,
)
from ragassay.manifest.log_disk import read_file, write_proof
from ragassay.manifest.log_folder import LogFolder
from ragassay.manifest.proof import decode_proof
from ragassay.run.workspace import Workspace

PROOFS = ((INTENT, INTENT_PROOF), (MANIFEST, RUN_PROOF), (REDACTION, REDACTION_PROOF))


def renew_proofs(workspace: Workspace, *, quorum: int = 1) -> int:
    """Write each proof that is missing, or that more witnesses cosigned than the one that is there; return how many.

    A proof is against the earliest checkpoint that `quorum` witnesses cosigned and that covers its statement, where
    there is one. A statement that the log does not hold gets none.
    """
    log = LogFolder(workspace.log)
    folders = sorted(workspace.runs.iterdir()) if workspace.runs.is_dir() else []
    return sum(prove_run(log, folder, quorum=quorum) for folder in folders if not folder.name.startswith("."))


def prove_run(log: LogFolder, folder: Path, *, quorum: int = 1) -> int:
    """Do as `renew_proofs` for the run in one folder."""
    renewed = better_proofs(log, folder, quorum=quorum)
    for proof, new in renewed.items():
        write_proof(folder, proof, new)
    return len(renewed)


def better_proofs(log: LogFolder, folder: Path, *, quorum: int = 1) -> dict[str, bytes]:
    """Return each proof of the run in one folder that `renew_proofs` would write, by the name of its file."""
    found = {}
    for statement, proof in PROOFS:
        data = read_file(folder / statement, BESIDE.get(statement, MAX_BYTES[MANIFEST]))
        index = log.find(data) if data is not None else None
        if index is None:
            continue
        new = log.prove(index, quorum=quorum)
        if _signatures(new) > _signatures(read_file(folder / proof, BESIDE[proof])):
            found[proof] = new
    return found


def _signatures(proof: bytes | None) -> int:
    """Return how many signatures the checkpoint of a proof of ours carries; none where there is no readable proof."""
    try:
        return len(decode_proof(proof).signed().signatures) if proof is not None else 0
    except VerifyError:
        return 0
