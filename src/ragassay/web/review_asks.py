"""What the review page sends, and how it is read."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import Request

from ragassay.errors import InputError
from ragassay.records.publication import Action


class SeenUnit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the page sends when the end of what it was sent was on the screen."""

    reader: str
    unit: str
    page: int
    form: str


class OfUnit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the page sends to take reading back, and to say where the reader is."""

    reader: str
    unit: str


class Decide(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the page sends to decide a finding."""

    reader: str
    finding: str
    action: Action
    reason: str = ""


class RunShown(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A run as the page showed it when it was signed: its manifest's digest and that of its decisions."""

    run: str
    manifest: str
    decisions: str


class Sign(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the page sends to sign off runs: all of them, or none is signed."""

    reader: str
    runs: tuple[RunShown, ...]


async def sent_as(request: Request, kind: type[Any]) -> Any:
    """Return the body of a request as a record of one kind; raises `InputError` where it is none."""
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"the request cannot be read: {error}") from error
