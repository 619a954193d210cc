"""Signed statements of every kind, made and read by the same rules; none passes for one of another kind. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NoReturn, TypeVar

import msgspec

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest import dsse
from ragassay.manifest.build import sign_payload
from ragassay.manifest.item_statement import HeldOutStatement, QuestionSetStatement
from ragassay.manifest.sign import Signer, check_signature, decode_x, is_weak, thumbprint
from ragassay.manifest.statement import (
    PAYLOAD_TYPE,
    STATEMENT_TYPE,
    IntentStatement,
    JudgementStatement,
    RedactionStatement,
    SignerRef,
    Statement,
    VoidStatement,
)
from ragassay.records import to_json

P = TypeVar("P")
S = TypeVar(
    "S",
    Statement,
    IntentStatement,
    VoidStatement,
    JudgementStatement,
    RedactionStatement,
    QuestionSetStatement,
    HeldOutStatement,
)


class Form(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """A kind of statement: how its type's name begins, every version that is read, and what one must be.

    `what` names it with its article; `problem` says what is wrong with a statement that has the shape, None if nothing.
    `max_bytes` is the most that an envelope of this kind may have.
    """

    kind: str
    versions: tuple[str, ...] = ("v0.1",)
    what: str
    shape: type[S]
    problem: Callable[[S], str | None]
    max_bytes: int = dsse.MAX_ENVELOPE_BYTES


class Signed(msgspec.Struct, Generic[P], frozen=True):
    """A signed statement as it was read; `data` are the envelope's bytes, which are also the log's entry."""

    predicate: P
    envelope: dsse.Envelope
    payload: bytes
    data: bytes

    @property
    def digest(self) -> str:
        """The SHA-256 of the envelope's bytes, by which other statements name this one."""
        return canon.sha256(self.data)

    def signed_by(self, x: bytes) -> bool:
        """Tell whether the key with these 32 bytes made the signature."""
        signature = dsse.decode_base64(self.envelope.signatures[0].sig)
        return check_signature(x, signature, dsse.pae(self.envelope.payload_type, self.payload))

    def signed_by_named(self) -> bool:
        """Tell whether the key that the statement names made the signature; whose key that is, no code can say here."""
        signer: SignerRef = self.predicate.signer  # type: ignore[attr-defined]
        try:
            x = decode_x(signer.x)
        except ValueError:
            return False
        return not is_weak(x) and thumbprint(x) == signer.kid and self.signed_by(x)


def sign_checked(statement: S, form: Form[S], signer: Signer) -> bytes:
    """Return the signed envelope of a statement; raises `ValueError` for one no reader would accept, or of another."""
    if (problem := form.problem(statement)) is not None:
        raise ValueError(problem)
    if statement.predicate.signer.kid != signer.kid:
        raise ValueError("the statement names another key than the one that signs it")
    return sign_payload(canon.canonical(to_json(statement)), signer)


def read_signed(data: bytes, form: Form[S]) -> tuple[S, dsse.Envelope, bytes]:
    """Read the envelope of a statement, its signature unchecked, as statement, envelope and payload.

    Raises `VerifyError`: TYPE_UNKNOWN, VERSION_UNKNOWN, ENVELOPE_MALFORMED or ENVELOPE_NOT_CANONICAL.
    """
    envelope = dsse.decode_envelope(data, max_bytes=form.max_bytes)
    payload = dsse.decode_base64(envelope.payload)
    dsse.decode_base64(envelope.signatures[0].sig)
    statement = read_statement(envelope.payload_type, payload, form)
    if envelope.signatures[0].keyid != statement.predicate.signer.kid:
        _refuse("ENVELOPE_MALFORMED", "the key id of the signature is not that of the named signer")
    return statement, envelope, payload


def read_statement(payload_type: str, payload: bytes, form: Form[S]) -> S:
    """Read what an envelope holds as a statement of one kind; raises as `read_signed` does."""
    if payload_type != PAYLOAD_TYPE:
        _refuse("TYPE_UNKNOWN", f"the payload type is {payload_type[:200]!r}, not {PAYLOAD_TYPE!r}")
    value = _load(payload, form.max_bytes)
    given = value.get("predicateType")
    if not isinstance(given, str) or not given.startswith(form.kind):
        _refuse("TYPE_UNKNOWN", f"the statement is of type {str(given)[:200]!r}, not {form.what}")
    if (version := given.removeprefix(form.kind)) not in form.versions:
        known = ", ".join(form.versions)
        _refuse(
            "VERSION_UNKNOWN", f"the statement is {form.what} of version {version[:40]!r}; this verifier knows {known}"
        )
    try:
        statement = msgspec.convert(value, form.shape)
    except msgspec.ValidationError as error:
        raise VerifyError(f"the statement lacks the form of {form.what}: {error}", code="ENVELOPE_MALFORMED") from error
    if (problem := form.problem(statement)) is not None:
        _refuse("ENVELOPE_MALFORMED", problem)
    return statement


def _load(payload: bytes, max_bytes: int) -> dict[str, Any]:
    try:
        value = canon.load_strict(payload, max_bytes=max_bytes, max_depth=16)
        written = canon.canonical(value)
    except canon.NotCanonical as error:
        raise VerifyError(f"the signed payload is no strict JSON: {error}", code="ENVELOPE_MALFORMED") from error
    if written != payload:
        _refuse("ENVELOPE_NOT_CANONICAL", "the signed payload is not in canonical form (RFC 8785)")
    if not isinstance(value, dict) or value.get("_type") != STATEMENT_TYPE:
        _refuse("TYPE_UNKNOWN", f"the payload is no in-toto statement of type {STATEMENT_TYPE}")
    return value


def _refuse(code: str, message: str) -> NoReturn:
    raise VerifyError(message, code=code)
