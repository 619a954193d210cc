"""The texts of a row that may be withheld, where they stand, and what shows that one of them is missing. Pure."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from ragassay import canon
from ragassay.manifest.announce import MAX_REASON

GONE = "[withheld]"
"""What stands in the place of a text that is withheld whole; the text of a chunk is null."""
CUT = "[redacted]"
"""What stands in the place of the words that were taken out of a text."""
IN_TELEMETRY = "telemetry/"
"""How the field of a text in telemetry begins."""
SALT_BYTES = 16

Salts: TypeAlias = Callable[[str, str], bytes]
"""Gives the 16 bytes of salt for the text of a question's id and a field."""


def salts_from(secret: bytes, run_id: str) -> Salts:
    """Return salts that follow from a secret of the publisher's, so that this alone has to be kept."""

    def salt(name: str, field: str) -> bytes:
        return hmac.digest(secret, canon.canonical([run_id, name, field]), hashlib.sha256)[:SALT_BYTES]

    return salt


def salted_digest(salt: bytes, text: str) -> str:
    """Return the SHA-256 by which a withheld text can be shown later.

    Raises `ValueError` for a salt that has not 16 bytes: where it ends and the text begins would be open, and one
    digest could be shown to be that of several texts.
    """
    if len(salt) != SALT_BYTES:
        raise ValueError(f"a salt has {SALT_BYTES} bytes, and this one {len(salt)}")
    return canon.sha256(salt + text.encode("utf-8"))


def texts_of(members: Mapping[str, Any]) -> dict[str, tuple[dict[str, Any], str]]:
    """Return where each text of a row that may be withheld stands, by its field: the object and the member's name.

    `members` are those of a row of outputs or of telemetry. What stands twice under one name has none.
    """
    found: dict[str, tuple[dict[str, Any], str]] = {}
    twice = set()
    for field, holder, name in _texts(members):
        if field in found:
            twice.add(field)
        found[field] = (holder, name)
    return {field: place for field, place in found.items() if field not in twice}


def _texts(members: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    row = dict(members) if not isinstance(members, dict) else members
    if row.get("answer") is not None:
        yield "answer", row, "answer"
    for chunk in row.get("chunks", ()):
        yield f"chunks/{chunk['rank']}/text", chunk, "text"
    for claim in row.get("claims", ()):
        yield f"claims/{claim['id']}/quote", claim, "quote"
        yield f"claims/{claim['id']}/reason", claim, "reason"
    if row.get("failure") is not None:
        yield "failure/message", row["failure"], "message"
    for at, reply in enumerate(row.get("judgeReplies", ())):
        for name in ("text", "problem"):
            if reply[name] is not None:
                yield f"{IN_TELEMETRY}judgeReplies/{at}/{name}", reply, name


def is_chunk(field: str) -> bool:
    """Tell whether a field is the text of a chunk, which is null where it is withheld."""
    return field.startswith("chunks/")


def looks_withheld(field: str, text: str | None) -> bool:
    """Tell whether a text has the form of one that is withheld, or of which words were taken out."""
    if is_chunk(field):
        return text is None
    return text is not None and (text == GONE or CUT in text)


def reason_problem(reason: str) -> str | None:
    """Return why nothing may be withheld for a reason, or None."""
    if not reason.strip() or len(reason) > MAX_REASON:
        return f"withholding takes a reason of 1 to {MAX_REASON} characters"
    return None
