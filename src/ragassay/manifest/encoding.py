"""Canonical bytes of the lines and files of a run, and their digests; records are written by `records/encode.py`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from ragassay import canon
from ragassay.records import Benchmark, OutputRow, Record, to_json
from ragassay.records.encode import WIDE_INTEGER, encode_record

R = TypeVar("R", bound=Record)

_ENCODER = msgspec.json.Encoder(order="sorted")
_DECODER = msgspec.json.Decoder()


def encode_rows(rows: Iterable[Record]) -> bytes:
    """Return one canonical JSON line per row, each ended by a line feed."""
    return b"".join(encode_record(row) + b"\n" for row in rows)


class ContentDigest:
    """The SHA-256 over the canonical lines of the output rows without their members `run` and `pass`.

    Two runs of the same content have the same digest whoever ran them, whenever, and as whichever pass. It is taken
    over the members as they stand in the file, so that a member that later versions add changes no older digest.
    """

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, members: Mapping[str, Any]) -> None:
        """Add the next row by its JSON members."""
        kept = {name: member for name, member in members.items() if name not in ("run", "pass")}
        self._digest.update(_ENCODER.encode(kept) + b"\n")

    def hexdigest(self) -> str:
        """Return 64 lower-case hex digits."""
        return self._digest.hexdigest()


def content_digest(rows: Iterable[OutputRow]) -> str:
    """Return the `ContentDigest` of rows that this version made."""
    digest = ContentDigest()
    for row in rows:
        digest.add(to_json(row))
    return digest.hexdigest()


def decode_object(data: bytes) -> dict[str, Any]:
    """Read a JSON object that is in canonical form as far as ASCII keys go; raises `NotCanonical` on anything else.

    Fractional numbers and the order of other keys are the caller's to refuse: a record with fixed keys and no
    fractional member does so by itself.
    """
    try:
        value = _DECODER.decode(data)
        written = _ENCODER.encode(value)
    except (ValueError, RecursionError) as error:
        raise canon.NotCanonical(str(error)) from error
    if written != data:
        raise canon.NotCanonical("valid JSON but not in canonical form (RFC 8785)")
    if not isinstance(value, dict):
        raise canon.NotCanonical("no JSON object")
    if WIDE_INTEGER.search(data):
        _refuse_wide(value)
    return value


def _refuse_wide(value: object) -> None:
    if isinstance(value, dict):
        for member in value.values():
            _refuse_wide(member)
    elif isinstance(value, list):
        for member in value:
            _refuse_wide(member)
    elif isinstance(value, int) and abs(value) > canon.MAX_INTEGER:
        raise canon.NotCanonical(f"the integer {value} is outside ±(2^53 - 1)")


def decode_line(data: bytes, kind: type[R]) -> tuple[R, dict[str, Any]]:
    """Read one canonical line as a record and as its JSON members; raises `NotCanonical` on anything else.

    A member that has a default may be absent, so that lines of older versions are read for ever.
    """
    members = decode_object(data)
    try:
        return msgspec.convert(members, kind), members
    except (ValueError, RecursionError) as error:
        raise canon.NotCanonical(str(error)) from error


def item_set_digest(benchmark: Benchmark) -> str:
    """Return `benchmark.item_set_digest()`; its keys are fixed ASCII names, so msgspec writes it."""
    return canon.sha256(_ENCODER.encode(benchmark.item_set()))


def split_lines(data: bytes, *, max_rows: int, max_bytes: int) -> Sequence[bytes]:
    """Return the lines of a JSON Lines file, each ended by a line feed; raises `NotCanonical`, also over a limit."""
    if not data:
        return ()
    if not data.endswith(b"\n"):
        raise canon.NotCanonical("the last line does not end in a line feed: the file is torn or was cut")
    if data.count(b"\n") > max_rows:
        raise canon.NotCanonical(f"more than the {max_rows} lines allowed")
    lines = data[:-1].split(b"\n")
    if any(len(line) > max_bytes for line in lines):
        raise canon.NotCanonical(f"a line has more than the {max_bytes} bytes allowed")
    return lines
