"""What a manifest binds beside the file of rows: each line by itself, and rows without withholdable texts. Pure.

With both a stranger who is given rows from which texts were withheld still sees that every other row is, byte for byte,
the signed one, and that in no row a verdict, an id, a score or a figure was touched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ragassay.manifest.tree import leaf_hash, root_of

_ENCODER = msgspec.json.Encoder(order="sorted")


def lines_root(leaves: Sequence[bytes]) -> str:
    """Return the root of the RFC 6962 tree over the lines of `outputs.jsonl` (without line feeds), in hex."""
    return root_of(leaves).hex()


def line_leaf(line: bytes) -> bytes:
    """Return the leaf of one line, given without its line feed."""
    return leaf_hash(line)


class VerdictsDigest:
    """The SHA-256 over the canonical lines of the rows without run and pass and without texts that may be withheld.

    Those texts are the answer, of which stays whether there is one, the text of a chunk, quote and reason of a claim,
    and the message of a failure. It is taken over the members as they stand in the file, so that a member that later
    versions add changes no older digest.
    """

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, members: Mapping[str, Any]) -> None:
        """Add the next row by its JSON members."""
        self._digest.update(_ENCODER.encode(without_texts(members)) + b"\n")

    def hexdigest(self) -> str:
        """Return 64 lower-case hex digits."""
        return self._digest.hexdigest()


def without_texts(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a row no redaction may touch; `members` are those of an `OutputRow`."""
    kept = {name: member for name, member in members.items() if name not in ("run", "pass")}
    kept["answer"] = members["answer"] is not None
    kept["chunks"] = [_less(chunk, "text") for chunk in members["chunks"]]
    kept["claims"] = [_less(claim, "quote", "reason") for claim in members["claims"]]
    if isinstance(failure := members.get("failure"), dict):
        kept["failure"] = _less(failure, "message")
    return kept


def figure_leaves(members: Mapping[str, Any], line: bytes) -> tuple[bytes, bytes]:
    """Return the two leaves of a row of telemetry: of the row without texts, and of its line as it stands.

    Left out are the text of each of the judge's replies and why it was refused; whether there is one stays.
    """
    replies = members.get("judgeReplies")
    if not replies:
        return (leaf := leaf_hash(line)), leaf
    kept = [{**reply, "text": reply["text"] is not None, "problem": reply["problem"] is not None} for reply in replies]
    return leaf_hash(_ENCODER.encode({**members, "judgeReplies": kept})), leaf_hash(line)


def figures_root(leaves: Sequence[bytes]) -> str:
    """Return the root of the RFC 6962 tree over the leaves of all rows of telemetry, two for each, in hex."""
    return root_of(leaves).hex()


def _less(members: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: member for name, member in members.items() if name not in names}
