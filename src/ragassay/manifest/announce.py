"""The signed statements that go to the log around a run: its announcement before, its voiding after. Pure.

A redaction (`manifest.redaction`) is read by the same rules. All are read as strictly as a run is, and none passes for
another or for a run: each has its own type.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn, TypeVar

import msgspec

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest import dsse
from ragassay.manifest.build import sign_payload
from ragassay.manifest.files import CONFIG, INTENT, MANIFEST
from ragassay.manifest.sign import Signer, check_signature
from ragassay.manifest.statement import (
    INTENT_KIND,
    INTENT_TYPE,
    PAYLOAD_TYPE,
    STATEMENT_TYPE,
    VOID_KIND,
    VOID_TYPE,
    Digest,
    IntentPredicate,
    IntentStatement,
    RedactionStatement,
    Subject,
    VoidPredicate,
    VoidStatement,
)
from ragassay.records import to_json

MAX_PASSES = 1000
MAX_REASON = 2000
"""The most characters of the reason for a voiding."""

_RUN_ID = re.compile(r"[0-9a-f]{32}")
_SHA256 = re.compile(r"[0-9a-f]{64}")

S = TypeVar("S", IntentStatement, VoidStatement, RedactionStatement)


class SignedIntent(msgspec.Struct, frozen=True):
    """An announcement as it was read; `data` are the envelope's bytes, which are also the log's entry."""

    predicate: IntentPredicate
    envelope: dsse.Envelope
    payload: bytes
    data: bytes

    @property
    def digest(self) -> str:
        """The SHA-256 of the envelope's bytes, by which a run names its announcement."""
        return canon.sha256(self.data)

    def signed_by(self, x: bytes) -> bool:
        """Tell whether the key with these 32 bytes made the signature."""
        return signature_holds(self.envelope, self.payload, x)


class SignedVoid(msgspec.Struct, frozen=True):
    """A voiding as it was read; `data` are the envelope's bytes, which are also the log's entry."""

    predicate: VoidPredicate
    envelope: dsse.Envelope
    payload: bytes
    data: bytes

    @property
    def digest(self) -> str:
        """The SHA-256 of the envelope's bytes."""
        return canon.sha256(self.data)

    def signed_by(self, x: bytes) -> bool:
        """Tell whether the key with these 32 bytes made the signature."""
        return signature_holds(self.envelope, self.payload, x)


def signature_holds(envelope: dsse.Envelope, payload: bytes, x: bytes) -> bool:
    """Tell whether the key with these 32 bytes made the one signature of an envelope around `payload`."""
    try:
        signature = dsse.decode_base64(envelope.signatures[0].sig)
    except VerifyError:
        return False
    return check_signature(x, signature, dsse.pae(envelope.payload_type, payload))


def sign_intent(predicate: IntentPredicate, signer: Signer) -> bytes:
    """Return the signed envelope of an announcement; raises `ValueError` for one that no reader would accept."""
    subject = Subject(name=CONFIG, digest=predicate.config.digest)
    statement = IntentStatement(
        type_=STATEMENT_TYPE, predicate_type=INTENT_TYPE, subject=(subject,), predicate=predicate
    )
    return sign_checked(statement, _intent_problem(statement), signer)


def sign_void(predicate: VoidPredicate, signer: Signer) -> bytes:
    """Return the signed envelope of a voiding; raises `ValueError` for one that no reader would accept."""
    subjects = tuple(subject for subject in (_void_subject(predicate),) if subject is not None)
    statement = VoidStatement(type_=STATEMENT_TYPE, predicate_type=VOID_TYPE, subject=subjects, predicate=predicate)
    return sign_checked(statement, _void_problem(statement), signer)


def sign_checked(
    statement: IntentStatement | VoidStatement | RedactionStatement, problem: str | None, signer: Signer
) -> bytes:
    """Return the signed envelope of a statement; raises `ValueError` with its `problem`, or for another signer's."""
    if problem is not None:
        raise ValueError(problem)
    if statement.predicate.signer.kid != signer.kid:
        raise ValueError("the statement names another key than the one that signs it")
    return sign_payload(canon.canonical(to_json(statement)), signer)


def decode_intent(data: bytes) -> SignedIntent:
    """Read an announcement, its signature unchecked.

    Raises `VerifyError`: TYPE_UNKNOWN, VERSION_UNKNOWN, ENVELOPE_MALFORMED or ENVELOPE_NOT_CANONICAL.
    """
    envelope, payload, statement = decode_as(data, IntentStatement, INTENT_KIND, "an announcement")
    refuse_problem(_intent_problem(statement))
    return SignedIntent(statement.predicate, envelope, payload, data)


def decode_void(data: bytes) -> SignedVoid:
    """Read a voiding, its signature unchecked; raises as `decode_intent` does."""
    envelope, payload, statement = decode_as(data, VoidStatement, VOID_KIND, "a voiding")
    refuse_problem(_void_problem(statement))
    return SignedVoid(statement.predicate, envelope, payload, data)


def decode_as(data: bytes, kind: type[S], prefix: str, what: str) -> tuple[dsse.Envelope, bytes, S]:
    """Read the envelope of a statement of one type, version v0.1, as envelope, payload and statement.

    Raises `VerifyError`: TYPE_UNKNOWN, VERSION_UNKNOWN, ENVELOPE_MALFORMED or ENVELOPE_NOT_CANONICAL.
    """
    envelope = dsse.decode_envelope(data)
    payload = dsse.decode_base64(envelope.payload)
    dsse.decode_base64(envelope.signatures[0].sig)
    if envelope.payload_type != PAYLOAD_TYPE:
        _refuse("TYPE_UNKNOWN", f"the payload type is {envelope.payload_type[:200]!r}, not {PAYLOAD_TYPE!r}")
    value = _load(payload)
    given = value.get("predicateType")
    if value.get("_type") != STATEMENT_TYPE or not isinstance(given, str) or not given.startswith(prefix):
        _refuse("TYPE_UNKNOWN", f"the statement is of type {str(given)[:200]!r}, not {what}")
    if given != f"{prefix}v0.1":
        version = given.removeprefix(prefix)[:40]
        _refuse("VERSION_UNKNOWN", f"the statement is {what} of version {version!r}; this verifier knows v0.1")
    try:
        statement = msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise VerifyError(f"the statement lacks the form of {what}: {error}", code="ENVELOPE_MALFORMED") from error
    if envelope.signatures[0].keyid != statement.predicate.signer.kid:
        _refuse("ENVELOPE_MALFORMED", "the key id of the signature is not that of the named signer")
    return envelope, payload, statement


def _load(payload: bytes) -> dict[str, Any]:
    try:
        value = canon.load_strict(payload, max_bytes=dsse.MAX_ENVELOPE_BYTES, max_depth=16)
        written = canon.canonical(value)
    except canon.NotCanonical as error:
        raise VerifyError(f"the signed payload is no strict JSON: {error}", code="ENVELOPE_MALFORMED") from error
    if written != payload:
        _refuse("ENVELOPE_NOT_CANONICAL", "the signed payload is not in canonical form (RFC 8785)")
    if not isinstance(value, dict):
        _refuse("TYPE_UNKNOWN", f"the payload is no in-toto statement of type {STATEMENT_TYPE}")
    return value


def _intent_problem(statement: IntentStatement) -> str | None:
    predicate = statement.predicate
    if statement.subject != (Subject(name=CONFIG, digest=predicate.config.digest),):
        return f"the only subject must be {CONFIG} with the digest of the configuration"
    if not 1 <= len(predicate.runs) <= MAX_PASSES or len(set(predicate.runs)) != len(predicate.runs):
        return f"1 to {MAX_PASSES} passes are announced, each with a run id of its own"
    if not all(map(_RUN_ID.fullmatch, predicate.runs)):
        return "a run's id must be 32 lower-case hex digits"
    if predicate.metric.item_den != 100 or not predicate.metric.higher_is_better:
        return "item scores are hundredths, and higher is better"
    if predicate.judge.digest is None:
        return "`judge.digest` may not be null"
    return common_problem(predicate.created, [predicate.config.digest, predicate.benchmark.digest])


def _void_problem(statement: VoidStatement) -> str | None:
    predicate = statement.predicate
    if statement.subject != (_void_subject(predicate),):
        return f"the only subject must be the voided {MANIFEST}, or else the announcement {INTENT}, with its digest"
    if not _RUN_ID.fullmatch(predicate.run_id):
        return "the run's id must be 32 lower-case hex digits"
    if not 1 <= predicate.pass_.k <= predicate.pass_.of:
        return f"there is no pass {predicate.pass_.k} of {predicate.pass_.of}"
    if not predicate.reason.strip() or len(predicate.reason) > MAX_REASON:
        return f"a voiding gives a reason of 1 to {MAX_REASON} characters"
    return common_problem(predicate.created, [given for given in (predicate.intent, predicate.run) if given])


def common_problem(created: int, digests: list[Digest]) -> str | None:
    """Return what is wrong with digests or time of a statement, or None."""
    if not all(_SHA256.fullmatch(digest.sha256) for digest in digests):
        return "a SHA-256 is written as 64 lower-case hex digits"
    return None if created >= 0 else "`created` is no time in Unix seconds"


def _void_subject(predicate: VoidPredicate) -> Subject | None:
    if predicate.run is not None:
        return Subject(name=MANIFEST, digest=predicate.run)
    return None if predicate.intent is None else Subject(name=INTENT, digest=predicate.intent)


def refuse_problem(problem: str | None) -> None:
    """Raise ENVELOPE_MALFORMED where there is a problem."""
    if problem is not None:
        _refuse("ENVELOPE_MALFORMED", problem)


def _refuse(code: str, message: str) -> NoReturn:
    raise VerifyError(message, code=code)
