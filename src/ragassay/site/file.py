"""`board.json`: the board as canonical bytes, and back. Needs nothing but the record. Pure."""

from __future__ import annotations

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.records import to_json
from ragassay.site.record import READABLE, SCHEMA, Board

SCHEMA_KIND = SCHEMA.partition("/")[0] + "/"
MAX_BYTES = 256 * 1024 * 1024


def encode_board(board: Board) -> bytes:
    """Return the canonical bytes of `board.json`, ended by a line feed; it holds no fractional number."""
    return canon.canonical(to_json(board)) + b"\n"


def is_board(data: bytes) -> bool:
    """Tell whether bytes are a `board.json` of this program, of whatever version."""
    try:
        value = canon.load_strict(data, max_bytes=MAX_BYTES)
    except canon.NotCanonical:
        return False
    schema = value.get("schema") if isinstance(value, dict) else None
    return isinstance(schema, str) and schema.startswith(SCHEMA_KIND)


def decode_board(data: bytes, *, name: str = "board.json") -> Board:
    """Read `board.json`; raises `InputError` for anything that is no board of this schema or an earlier one."""
    try:
        value = canon.load_strict(data, max_bytes=MAX_BYTES)
        schema = value.get("schema") if isinstance(value, dict) else None
        if schema not in READABLE:
            known = " or ".join(READABLE)
            raise InputError(f"{name} is no board of schema {known} (it says {schema!r}); build it again")
        return msgspec.convert(value, Board)
    except (canon.NotCanonical, msgspec.ValidationError) as error:
        raise InputError(f"{name} cannot be read as a board: {error}; build it again") from error
