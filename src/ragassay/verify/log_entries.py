"""The entries of a log, each read as what it is: announcement, run, voiding, redaction, or nothing known. Pure."""

from __future__ import annotations

import base64
from functools import lru_cache
from typing import Literal, TypeAlias

import msgspec

from ragassay.errors import VerifyError
from ragassay.manifest import dsse
from ragassay.manifest.announce import SignedIntent, SignedVoid, decode_intent, decode_void
from ragassay.manifest.decode import RUN_FORM
from ragassay.manifest.redaction_statement import SignedRedaction, decode_redaction
from ragassay.manifest.sign import decode_x, is_weak, thumbprint
from ragassay.manifest.signed import Signed, read_signed
from ragassay.manifest.statement import INTENT_KIND, REDACTION_KIND, VOID_KIND, RunPredicate, SignerRef

EntryKind: TypeAlias = Literal["intent", "run", "void", "redaction"]


class LoggedRun(Signed[RunPredicate], frozen=True):
    """The manifest of a run as the log holds it; a voiding names the run by its digest."""


LoggedStatement: TypeAlias = SignedIntent | LoggedRun | SignedVoid | SignedRedaction


class _Type(msgspec.Struct, rename="camel"):
    predicate_type: str = ""


@lru_cache(maxsize=4096)
def read_entry(data: bytes) -> LoggedStatement:
    """Return the statement that an entry is, its form checked and its signature by the key that it names itself.

    What was read is remembered: each run of a workspace is held against the same log.
    Raises `VerifyError` with the reason code of what speaks against it.
    """
    kind = kind_of(data)
    statement: LoggedStatement
    if kind == "intent":
        statement = decode_intent(data)
    elif kind == "void":
        statement = decode_void(data)
    elif kind == "redaction":
        statement = decode_redaction(data)
    else:
        statement = _read_run(data)
    _check_signature(statement, statement.predicate.signer)
    return statement


def kind_of(data: bytes) -> EntryKind:
    """Return what an entry claims to be, read loosely; what is nothing known is read as a run, and refused."""
    try:
        payload = base64.b64decode(msgspec.json.decode(data, type=dsse.Envelope).payload)
        given = msgspec.json.decode(payload, type=_Type).predicate_type
    except (ValueError, RecursionError):
        return "run"
    kinds: tuple[tuple[str, EntryKind], ...] = (
        (INTENT_KIND, "intent"),
        (VOID_KIND, "void"),
        (REDACTION_KIND, "redaction"),
    )
    return next((kind for prefix, kind in kinds if given.startswith(prefix)), "run")


def _read_run(data: bytes) -> LoggedRun:
    statement, envelope, payload = read_signed(data, RUN_FORM)
    return LoggedRun(statement.predicate, envelope, payload, data)


def _check_signature(statement: LoggedStatement, signer: SignerRef) -> None:
    try:
        x = decode_x(signer.x)
    except ValueError as error:
        raise VerifyError(f"the signer's `x` is no public key: {error}", code="ENVELOPE_MALFORMED") from error
    if is_weak(x):
        raise VerifyError("under the named key anyone can sign", code="KEY_WEAK")
    if thumbprint(x) != signer.kid or not statement.signed_by(x):
        raise VerifyError("the signature is not by the key that the statement names", code="SIGNATURE_INVALID")
