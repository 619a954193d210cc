"""What a detector is, what it finds, and the words for each kind. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import msgspec

from ragassay.errors import InputError
from ragassay.records.publication import FindingKind

KINDS: dict[FindingKind, str] = {
    "email": "e-mail addresses",
    "phone": "telephone numbers",
    "card": "card numbers",
    "iban": "bank accounts (IBAN)",
    "ip": "network addresses",
    "national_id": "national ids of persons",
    "person": "names of people",
    "place": "places",
    "health": "health terms",
    "secret": "secrets",
    "error_text": "answers that are the text of an error",
}
"""Every kind of finding, in the order in which they are listed, and its name in a sentence."""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One found text: `start` and `end` in characters of the text that was searched.

    `exempt` names the documented rule by which it is no finding, None where it is one.
    """

    kind: FindingKind
    start: int
    end: int
    detector: str
    exempt: str | None = None


class Detector(Protocol):
    """Something that finds texts of certain kinds; equal texts give equal hits, in whatever order."""

    @property
    def name(self) -> str:
        """Return what a reader of a scan's summary is told: library, version, and what of it runs."""

    @property
    def kinds(self) -> frozenset[FindingKind]:
        """Return the kinds that it can find."""

    def find(self, text: str) -> Iterable[Hit]:
        """Yield what stands in `text`, of any length; never raises on what stands there."""


class NotScanned(InputError):
    """Something cannot be scanned, so nothing may be published on the strength of that scan."""
