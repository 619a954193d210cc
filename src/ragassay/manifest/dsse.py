"""The envelope of a signed statement: DSSE with exactly one signature, written as canonical bytes. Pure."""

from __future__ import annotations

import base64
import binascii

import msgspec

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.records import Record, to_json

MAX_ENVELOPE_BYTES = 1 << 20


class Signature(Record, frozen=True):
    """One signature: the id of the key and the signature in standard base64."""

    keyid: str
    sig: str


class Envelope(Record, frozen=True):
    """A DSSE envelope; `payload` is standard base64."""

    payload: str
    payload_type: str
    signatures: tuple[Signature, ...]


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return the pre-authentication encoding: the bytes that are signed (DSSE protocol, version 1)."""
    kind = payload_type.encode("utf-8")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def encode_envelope(*, payload_type: str, payload: bytes, keyid: str, signature: bytes) -> bytes:
    """Return the canonical bytes of an envelope with one signature."""
    signed = Signature(keyid=keyid, sig=base64.b64encode(signature).decode("ascii"))
    text = base64.b64encode(payload).decode("ascii")
    return canon.canonical(to_json(Envelope(payload=text, payload_type=payload_type, signatures=(signed,))))


def decode_envelope(data: bytes, *, max_bytes: int = MAX_ENVELOPE_BYTES) -> Envelope:
    """Read an envelope; raises `VerifyError` with ENVELOPE_MALFORMED or ENVELOPE_NOT_CANONICAL."""
    try:
        value = canon.load_strict(data, max_bytes=max_bytes, max_depth=8)
        envelope = msgspec.convert(value, Envelope)
        written = canon.canonical(value)
    except (canon.NotCanonical, msgspec.ValidationError) as error:
        raise VerifyError(f"the file is no signed envelope: {error}", code="ENVELOPE_MALFORMED") from error
    if len(envelope.signatures) != 1:
        count = len(envelope.signatures)
        raise VerifyError(f"there must be exactly one signature, not {count}", code="ENVELOPE_MALFORMED")
    if written != data:
        raise VerifyError(
            "the bytes of the envelope are not in canonical form (RFC 8785)", code="ENVELOPE_NOT_CANONICAL"
        )
    return envelope


def decode_base64(text: str) -> bytes:
    """Decode standard base64 that re-encodes to the same characters; raises `VerifyError` otherwise."""
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (ValueError, binascii.Error) as error:
        raise VerifyError(f"a part of the envelope is no base64: {error}", code="ENVELOPE_MALFORMED") from error
    if base64.b64encode(data).decode("ascii") != text:
        raise VerifyError(
            "a part of the envelope is base64 that does not re-encode to the same characters",
            code="ENVELOPE_NOT_CANONICAL",
        )
    return data
