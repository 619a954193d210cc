"""Signed notes as C2SP signed-note says: a text, an empty line, and one line per Ed25519 signature. Pure, and strict.

A key is written as `<name>+<key id as 8 hex digits>+<base64 of the algorithm byte and the public key>`; the key id is
the first four bytes of SHA-256 over name, line feed, algorithm byte and public key. Byte 0x01 is a log's key, byte
0x04 that of a witness whose cosignatures carry a time (C2SP tlog-cosignature).
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from typing import Literal, NoReturn, TypeAlias

import msgspec

from ragassay.errors import InputError, VerifyError
from ragassay.manifest.sign import is_weak

KeyKind: TypeAlias = Literal["log", "witness"]

MAX_NOTE_BYTES = 1 << 16
MAX_SIGNATURES = 64
MAX_NAME = 200
"""The most characters of a key's name."""

_ALGORITHM: dict[KeyKind, int] = {"log": 0x01, "witness": 0x04}
_MARK = "\u2014 "
_NAME = re.compile(r"[!-*,-~]+")
_HEX_ID = re.compile(r"[0-9a-f]{8}")


def name_problem(name: str) -> str | None:
    """Return why a text cannot name a key (empty, long, a space, a plus sign, a character beyond ASCII).

    Names are compared by eye, and must be the same names under every version of Unicode.
    """
    if not name:
        return "it is empty"
    if len(name) > MAX_NAME:
        return f"it has {len(name)} characters; {MAX_NAME} are allowed"
    if not _NAME.fullmatch(name):
        return "a name is printable ASCII without a space or plus sign"
    return None


class NoteKey(msgspec.Struct, frozen=True):
    """A public key that signs notes: a log's, or that of a witness."""

    name: str
    kind: KeyKind
    x: bytes

    @property
    def key_id(self) -> bytes:
        """The four bytes that stand before each signature by this key."""
        return hashlib.sha256(self.name.encode() + b"\n" + self._material()).digest()[:4]

    def vkey(self) -> str:
        """Return the key as one line of text, as `parse_vkey` reads it."""
        return f"{self.name}+{self.key_id.hex()}+{encode_base64(self._material())}"

    def _material(self) -> bytes:
        return bytes([_ALGORITHM[self.kind]]) + self.x


def note_key(name: str, kind: KeyKind, x: bytes) -> NoteKey:
    """Return the key of these parts; raises `InputError` for a name that cannot be written and for a weak key."""
    if (problem := name_problem(name)) is not None:
        raise InputError(f"{name[:MAX_NAME]!r} cannot name a key of a log: {problem}")
    if len(x) != 32:
        raise InputError(f"the key {name!r} has {len(x)} bytes; an Ed25519 key has 32")
    if is_weak(x):
        raise InputError(f"{name!r} is a weak key (KEY_WEAK): anyone can sign under it; ask its owner for a real one")
    return NoteKey(name, kind, x)


def parse_vkey(text: str) -> NoteKey:
    """Read the key of a log (algorithm byte 1) or of a witness (byte 4); raises `InputError`, also for a weak key."""
    parts = text.strip().split("+", 2)
    if len(parts) != 3 or not _HEX_ID.fullmatch(parts[1]):
        raise InputError(f"{text[:80]!r} is no key of a log or witness; one looks like NAME+8 hex digits+base64")
    try:
        material = decode_base64(parts[2])
    except ValueError:
        raise InputError(f"the key {parts[0][:80]!r} does not end in standard base64") from None
    kinds = [kind for kind, byte in _ALGORITHM.items() if material[:1] == bytes([byte])]
    if not kinds or len(material) != 33:
        raise InputError(f"the key {parts[0][:80]!r} is neither an Ed25519 log key (1) nor a witness key (4)")
    key = note_key(parts[0], kinds[0], material[1:])
    if key.key_id.hex() != parts[1]:
        raise InputError(f"the key {parts[0]!r} has the id {key.key_id.hex()}, not {parts[1]}: it was changed or torn")
    return key


class NoteSignature(msgspec.Struct, frozen=True):
    """One signature line: who claims to have signed, the four bytes of the key's id, and what follows them."""

    name: str
    key_id: bytes
    signature: bytes


class Note(msgspec.Struct, frozen=True):
    """A text (with its last line feed) and its signatures, none of them checked."""

    text: str
    signatures: tuple[NoteSignature, ...]

    def by(self, key: NoteKey) -> bytes | None:
        """Return the signature that claims to be by `key`, unchecked."""
        for signature in self.signatures:
            if signature.name == key.name and signature.key_id == key.key_id:
                return signature.signature
        return None


def parse_note(data: bytes) -> Note:
    """Read a signed note; raises `VerifyError` LOG_INCLUSION. Signatures by keys that nobody knows are kept."""
    if len(data) > MAX_NOTE_BYTES:
        _refuse(f"{len(data)} bytes are more than the {MAX_NOTE_BYTES} allowed")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        _refuse("it is no UTF-8")
    if any(char != "\n" and (char < " " or char == "\x7f") for char in text):
        _refuse("it holds a control character")
    at = text.rfind("\n\n")
    if at < 0 or not text.endswith("\n"):
        _refuse("a text, an empty line and signature lines, each ended by a line feed, are expected")
    body, lines = text[: at + 1], text[at + 2 :].split("\n")[:-1]
    if not lines or len(lines) > MAX_SIGNATURES:
        _refuse(f"it has {len(lines)} signatures; 1 to {MAX_SIGNATURES} are allowed")
    signatures = tuple(_signature(line) for line in lines)
    if len({(signature.name, signature.key_id) for signature in signatures}) != len(signatures):
        _refuse("two signatures are by one key")
    return Note(body, signatures)


def _signature(line: str) -> NoteSignature:
    name, space, encoded = line.removeprefix(_MARK).partition(" ")
    if not line.startswith(_MARK) or not space or name_problem(name) is not None:
        _refuse("a signature line is not an em dash, a name and base64")
    try:
        value = decode_base64(encoded)
    except ValueError:
        _refuse("a signature is no canonical base64")
    if len(value) < 5:
        _refuse("a signature has no bytes after the key's id")
    return NoteSignature(name, value[:4], value[4:])


def signature_line(signature: NoteSignature) -> str:
    """Return the line by which a note carries a signature."""
    return f"{_MARK}{signature.name} {encode_base64(signature.key_id + signature.signature)}\n"


def add_signatures(data: bytes, added: Sequence[NoteSignature]) -> bytes:
    """Return a note with these signatures after its own, each in place of one by the same key; raises `VerifyError`."""
    note = parse_note(data)
    new = {(signature.name, signature.key_id): signature for signature in added}
    kept = [signature for signature in note.signatures if (signature.name, signature.key_id) not in new]
    lines = [signature_line(signature) for signature in (*kept, *new.values())]
    if len(lines) > MAX_SIGNATURES:
        _refuse(f"it would have {len(lines)} signatures; {MAX_SIGNATURES} are allowed")
    return f"{note.text}\n{''.join(lines)}".encode()


def encode_base64(data: bytes) -> str:
    """Return standard base64 with padding."""
    return base64.b64encode(data).decode("ascii")


def decode_base64(text: str) -> bytes:
    """Read standard base64 that re-encodes to the same characters; raises `ValueError`."""
    data = base64.b64decode(text.encode("ascii"), validate=True)
    if encode_base64(data) != text:
        raise ValueError("the base64 is not canonical")
    return data


def _refuse(problem: str) -> NoReturn:
    raise VerifyError(f"this is no signed note: {problem}", code="LOG_INCLUSION")
