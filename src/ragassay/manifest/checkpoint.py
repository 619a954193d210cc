"""Checkpoints of a log, signed by the log and cosigned by witnesses (C2SP tlog-checkpoint, tlog-cosignature). Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NoReturn

import msgspec

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest.note import (
    Note,
    NoteKey,
    NoteSignature,
    add_signatures,
    decode_base64,
    encode_base64,
    name_problem,
    note_key,
    parse_note,
    signature_line,
)
from ragassay.manifest.sign import Signer, check_signature, is_weak

MAX_EXTENSIONS = 16

_SIZE = re.compile(r"0|[1-9][0-9]{0,15}")
_TIME_BYTES = 8


class Checkpoint(msgspec.Struct, frozen=True):
    """What a log says of itself: its origin, the number of its entries, and the root of its tree (32 bytes)."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        """Return the text that is signed."""
        return f"{self.origin}\n{self.size}\n{encode_base64(self.root)}\n"


class SignedCheckpoint(msgspec.Struct, frozen=True):
    """A checkpoint as it was read, with its note; nothing is believed before `signed_by`."""

    checkpoint: Checkpoint
    note: Note
    data: bytes

    @property
    def origin(self) -> str:
        """The name of the log."""
        return self.checkpoint.origin

    @property
    def size(self) -> int:
        """The number of entries."""
        return self.checkpoint.size

    @property
    def root(self) -> bytes:
        """The root of the tree."""
        return self.checkpoint.root

    @property
    def signatures(self) -> tuple[NoteSignature, ...]:
        """All signatures that it carries, none of them checked."""
        return self.note.signatures

    def signed_by(self, log: NoteKey) -> bool:
        """Tell whether the log of this key, whose name is the origin, signed the checkpoint."""
        signature = self.note.by(log)
        if signature is None or log.kind != "log" or log.name != self.origin or is_weak(log.x):
            return False
        return check_signature(log.x, signature, self.note.text.encode())

    def witnessed(self, keys: Sequence[NoteKey]) -> dict[NoteKey, int]:
        """Return the time (Unix seconds) at which each of these witnesses saw it, of those whose cosignature holds."""
        times = {key: self._time(key) for key in keys}
        return {key: time for key, time in times.items() if time is not None}

    def _time(self, key: NoteKey) -> int | None:
        value = self.note.by(key)
        if value is None or key.kind != "witness" or len(value) != _TIME_BYTES + 64 or is_weak(key.x):
            return None
        time = int.from_bytes(value[:_TIME_BYTES])
        if not 1 <= time <= canon.MAX_INTEGER:
            return None
        return time if check_signature(key.x, value[_TIME_BYTES:], _cosigned(self.note.text, time)) else None


def _cosigned(text: str, time: int) -> bytes:
    return f"cosignature/v1\ntime {time}\n{text}".encode()


def parse_checkpoint(data: bytes) -> SignedCheckpoint:
    """Read a signed checkpoint without checking a signature; raises `VerifyError` LOG_INCLUSION."""
    note = parse_note(data)
    lines = note.text.split("\n")[:-1]
    if not 3 <= len(lines) <= 3 + MAX_EXTENSIONS or not all(lines):
        _refuse("origin, size and root hash, each on a line of its own, are expected")
    if not _SIZE.fullmatch(lines[1]) or int(lines[1]) > canon.MAX_INTEGER:
        _refuse("the size is no whole number without leading zeros")
    if (problem := name_problem(lines[0])) is not None:
        _refuse(f"its origin cannot name a log: {problem}")
    try:
        root = decode_base64(lines[2])
    except ValueError:
        _refuse("the root is no canonical base64")
    if len(root) != 32:
        _refuse(f"the root has {len(root)} bytes, not 32")
    return SignedCheckpoint(Checkpoint(lines[0], int(lines[1]), root), note, data)


def sign_checkpoint(checkpoint: Checkpoint, signer: Signer) -> bytes:
    """Return the checkpoint signed by its log; the key's name is the origin. Raises `InputError` for a bad origin."""
    key = note_key(checkpoint.origin, "log", signer.x)
    text = checkpoint.text()
    signed = NoteSignature(key.name, key.key_id, signer.sign(text.encode()))
    return f"{text}\n{signature_line(signed)}".encode()


def cosign(data: bytes, signer: Signer, name: str, time: int) -> bytes:
    """Return the checkpoint with the cosignature of the witness `name`, made at `time` (Unix seconds), added.

    An older cosignature by the same key is replaced. It says that the witness saw no other history of this log: only
    who has checked that may call this. Raises `VerifyError` for bytes that are no checkpoint, `InputError` for a name
    that cannot be written, `ValueError` for a time that cannot be.
    """
    if not 1 <= time <= canon.MAX_INTEGER:
        raise ValueError(f"{time} is no time in Unix seconds")
    key = note_key(name, "witness", signer.x)
    value = time.to_bytes(_TIME_BYTES) + signer.sign(_cosigned(parse_checkpoint(data).note.text, time))
    return add_signatures(data, [NoteSignature(key.name, key.key_id, value)])


def _refuse(problem: str) -> NoReturn:
    raise VerifyError(f"this is no checkpoint of a log: {problem}", code="LOG_INCLUSION")
