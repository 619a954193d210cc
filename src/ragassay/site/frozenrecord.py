"""What a board says of the item manifest of its question set, as one value."""

from __future__ import annotations

from ragassay.records import Record


class FrozenLine(Record, frozen=True):
    """The item manifest of a table's question set: `envelope` is its SHA-256, `named_by` how many of `runs` name it.

    `problem` says why nothing more is known of it, and then all else is None. `declared` tells whether its signer
    declares that no item was derived from a system under test. `created` is in Unix seconds, as the signer claims.
    """

    envelope: str
    named_by: int
    runs: int
    problem: str | None = None
    version: str | None = None
    previous: str | None = None
    created: int | None = None
    signer: str | None = None
    signer_name: str | None = None
    items: int | None = None
    reviewed: int | None = None
    derived: int | None = None
    declared: bool | None = None
