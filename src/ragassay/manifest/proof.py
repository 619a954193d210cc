"""The proof that a log holds one entry, as one file of text that is checked without the log (C2SP tlog-proof). Pure."""

from __future__ import annotations

import re
from typing import NoReturn

import msgspec

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest.checkpoint import SignedCheckpoint, parse_checkpoint
from ragassay.manifest.note import decode_base64, encode_base64
from ragassay.manifest.tree import leaf_hash, root_from_inclusion

HEADER = "c2sp.org/tlog-proof@v1"
MAX_PROOF_BYTES = 1 << 16
MAX_HASHES = 64
"""The most hashes of a path: a tree of 2^53 entries needs 53."""

_INDEX = re.compile(r"index (0|[1-9][0-9]{0,15})")


class Proof(msgspec.Struct, frozen=True):
    """The index of an entry, the hashes from it to the root, and the signed checkpoint, as bytes, with that root.

    `extra` is opaque, covered by no signature, and never relied on.
    """

    index: int
    hashes: tuple[bytes, ...]
    checkpoint: bytes
    extra: bytes | None = None

    def signed(self) -> SignedCheckpoint:
        """Return the checkpoint, read and with no signature checked; raises `VerifyError` LOG_INCLUSION."""
        return parse_checkpoint(self.checkpoint)

    def includes(self, entry: bytes) -> bool:
        """Tell whether the path leads from `entry` to the root of the checkpoint; raises as `signed` does."""
        checkpoint = self.signed().checkpoint
        return root_from_inclusion(self.index, checkpoint.size, leaf_hash(entry), self.hashes) == checkpoint.root


def encode_proof(proof: Proof) -> bytes:
    """Return the bytes of a `.tlog-proof` file."""
    lines = [HEADER]
    if proof.extra is not None:
        lines.append(f"extra {encode_base64(proof.extra)}")
    lines += [f"index {proof.index}", *map(encode_base64, proof.hashes), "", ""]
    return "\n".join(lines).encode() + proof.checkpoint


def decode_proof(data: bytes) -> Proof:
    """Read a `.tlog-proof` file with a well-formed checkpoint, checking no hash; raises `VerifyError` LOG_INCLUSION."""
    if len(data) > MAX_PROOF_BYTES:
        _refuse(f"{len(data)} bytes are more than the {MAX_PROOF_BYTES} allowed")
    head, empty, checkpoint = data.partition(b"\n\n")
    try:
        lines = head.decode("ascii").split("\n")
    except UnicodeDecodeError:
        _refuse("it holds characters that have no place in one")
    if not empty or lines.pop(0) != HEADER:
        _refuse(f"its first line is not {HEADER}, or no checkpoint follows after an empty line")
    extra = None
    if lines and lines[0].startswith("extra "):
        extra = _base64(lines.pop(0).removeprefix("extra "))
    index = _INDEX.fullmatch(lines.pop(0)) if lines else None
    if index is None or int(index[1]) > canon.MAX_INTEGER:
        _refuse("the line `index` with a whole number without leading zeros is missing")
    if len(lines) > MAX_HASHES:
        _refuse(f"it has {len(lines)} hashes; {MAX_HASHES} are allowed")
    hashes = tuple(map(_base64, lines))
    if any(len(value) != 32 for value in hashes):
        _refuse("a hash has not 32 bytes")
    parse_checkpoint(checkpoint)
    return Proof(int(index[1]), hashes, checkpoint, extra)


def _base64(text: str) -> bytes:
    try:
        return decode_base64(text)
    except ValueError:
        _refuse("a line is no canonical base64")


def _refuse(problem: str) -> NoReturn:
    raise VerifyError(f"this is no proof of inclusion: {problem}", code="LOG_INCLUSION")
