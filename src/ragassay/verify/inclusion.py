"""Does a log hold a statement? Its proof against the checkpoint in it; who signed that is the policy's. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ragassay.errors import VerifyError
from ragassay.manifest.checkpoint import SignedCheckpoint
from ragassay.manifest.proof import decode_proof
from ragassay.verify.report import Findings


class Place(msgspec.Struct, frozen=True):
    """Where a proof shows a statement: its index under a checkpoint whose root the path leads to."""

    index: int
    checkpoint: SignedCheckpoint

    @property
    def origin(self) -> str:
        """The name of the log."""
        return self.checkpoint.origin


def check_inclusion(files: Mapping[str, bytes], name: str, entry: bytes, what: str, findings: Findings) -> Place | None:
    """Return where the proof file `name` shows the bytes `entry`, or None without a finding where it is not there."""
    check = f"inclusion of {what} in a log"
    if name not in files:
        findings.not_made(check, f"{name} is not there")
        return None
    findings.made(check)
    try:
        proof = decode_proof(files[name])
        checkpoint = proof.signed()
        if proof.includes(entry):
            return Place(proof.index, checkpoint)
    except VerifyError as error:
        findings.error(error, name)
        return None
    findings.add("LOG_INCLUSION", f"the proof does not lead from {what} to the root of its checkpoint", name)
    return None
