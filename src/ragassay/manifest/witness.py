"""What a witness remembers of each log, and what it asks of a checkpoint before it cosigns it. Pure.

A cosignature says: this is the largest state of this log that I have seen, and it continues all that I saw before. A
witness that remembers what it signed can be asked by anybody, and trusts no log.
"""

from __future__ import annotations

import msgspec

from ragassay import canon
from ragassay.errors import InputError, VerifyError
from ragassay.manifest.checkpoint import SignedCheckpoint
from ragassay.manifest.note import NoteKey, decode_base64, encode_base64, parse_vkey
from ragassay.manifest.tile_tree import TileTree
from ragassay.manifest.tree import consistent
from ragassay.records import Record, to_json

MAX_STATE_BYTES = 1 << 22


class Seen(Record, frozen=True):
    """The last state of one log that was cosigned: its key, its size, its root in base64, and when (Unix seconds)."""

    vkey: str
    size: int
    root: str
    time: int


class WitnessState(Record, frozen=True):
    """What a witness has seen, by the origin of each log."""

    logs: dict[str, Seen] = msgspec.field(default_factory=dict)


def encode_state(state: WitnessState) -> bytes:
    """Return the state file: one canonical line."""
    return canon.canonical(to_json(state)) + b"\n"


def decode_state(data: bytes) -> WitnessState:
    """Read a state file; raises `InputError`: a witness that has forgotten must not go on as if it were new."""
    try:
        state = msgspec.convert(canon.load_strict(data, max_bytes=MAX_STATE_BYTES, max_depth=8), WitnessState)
        for seen in state.logs.values():
            parse_vkey(seen.vkey)
            if seen.size < 0 or len(decode_base64(seen.root)) != 32:
                raise ValueError("a size or root hash that cannot be")
    except (ValueError, msgspec.ValidationError, InputError) as error:
        raise InputError(
            f"the witness's state cannot be read: {error}. Restore it from a copy; a witness that begins anew can be "
            "shown another history of a log that it knew"
        ) from error
    return state


def log_key(state: WitnessState, origin: str, given: NoteKey | None) -> NoteKey | None:
    """Return the key that this log has to be signed by: the remembered one, else the given one.

    Raises `VerifyError` LOG_FORK where both are there and differ.
    """
    seen = state.logs.get(origin)
    if seen is None:
        return given
    known = parse_vkey(seen.vkey)
    if given is not None and given != known:
        raise VerifyError(f"the log {origin!r} was known under the key {known.vkey()}, not this one", code="LOG_FORK")
    return known


def observe(state: WitnessState, signed: SignedCheckpoint, key: NoteKey, tree: TileTree, time: int) -> WitnessState:
    """Return what the witness remembers once it has cosigned this checkpoint at `time`; call it before cosigning.

    `tree` is the tree of the log at the size of the checkpoint. Raises `VerifyError`: LOG_INCLUSION where the log did
    not sign it, LOG_FORK where it shrank or does not continue what was seen; `InputError` where the clock went back.
    """
    if not signed.signed_by(key):
        raise VerifyError(f"the checkpoint is not signed by {key.vkey()}", code="LOG_INCLUSION")
    seen = state.logs.get(signed.origin)
    if seen is not None:
        _continues(seen, signed, tree)
        if time < seen.time:
            raise InputError(f"the clock says {time}, and this witness last cosigned at {seen.time}; set the clock")
    if tree.root() != signed.root:
        raise VerifyError("the tiles of the log do not give the root of its checkpoint", code="LOG_FORK")
    new = Seen(vkey=key.vkey(), size=signed.size, root=encode_base64(signed.root), time=time)
    return WitnessState(logs={**state.logs, signed.origin: new})


def _continues(seen: Seen, signed: SignedCheckpoint, tree: TileTree) -> None:
    if signed.size < seen.size:
        raise VerifyError(
            f"the log shrank: it has {signed.size} entries, and this witness cosigned {seen.size}", code="LOG_FORK"
        )
    proof = tree.consistency(seen.size)
    if not consistent(seen.size, decode_base64(seen.root), signed.size, signed.root, proof):
        raise VerifyError(
            f"the log was rewritten: its {signed.size} entries do not begin with the {seen.size} that this witness saw",
            code="LOG_FORK",
        )
