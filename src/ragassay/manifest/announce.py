"""The signed statements that go to the log around a run: its announcement before, its voiding after. Pure."""

from __future__ import annotations

import re

from ragassay.manifest.files import CONFIG, INTENT, MANIFEST
from ragassay.manifest.sign import Signer
from ragassay.manifest.signed import Form, Signed, read_signed, sign_checked
from ragassay.manifest.statement import (
    INTENT_KIND,
    INTENT_TYPE,
    STATEMENT_TYPE,
    VOID_KIND,
    VOID_TYPE,
    Digest,
    IntentPredicate,
    IntentStatement,
    Subject,
    VoidPredicate,
    VoidStatement,
)

MAX_PASSES = 1000
MAX_REASON = 2000
"""The most characters of the reason for a voiding."""

_RUN_ID = re.compile(r"[0-9a-f]{32}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class SignedIntent(Signed[IntentPredicate], frozen=True):
    """An announcement as it was read; a run names it by its digest."""


class SignedVoid(Signed[VoidPredicate], frozen=True):
    """A voiding as it was read."""


def sign_intent(predicate: IntentPredicate, signer: Signer) -> bytes:
    """Return the signed envelope of an announcement; raises `ValueError` for one that no reader would accept."""
    subject = Subject(name=CONFIG, digest=predicate.config.digest)
    statement = IntentStatement(
        type_=STATEMENT_TYPE, predicate_type=INTENT_TYPE, subject=(subject,), predicate=predicate
    )
    return sign_checked(statement, _INTENT, signer)


def sign_void(predicate: VoidPredicate, signer: Signer) -> bytes:
    """Return the signed envelope of a voiding; raises `ValueError` for one that no reader would accept."""
    subjects = tuple(subject for subject in (_void_subject(predicate),) if subject is not None)
    statement = VoidStatement(type_=STATEMENT_TYPE, predicate_type=VOID_TYPE, subject=subjects, predicate=predicate)
    return sign_checked(statement, _VOID, signer)


def decode_intent(data: bytes) -> SignedIntent:
    """Read an announcement, its signature unchecked.

    Raises `VerifyError`: TYPE_UNKNOWN, VERSION_UNKNOWN, ENVELOPE_MALFORMED or ENVELOPE_NOT_CANONICAL.
    """
    statement, envelope, payload = read_signed(data, _INTENT)
    return SignedIntent(statement.predicate, envelope, payload, data)


def decode_void(data: bytes) -> SignedVoid:
    """Read a voiding, its signature unchecked; raises as `decode_intent` does."""
    statement, envelope, payload = read_signed(data, _VOID)
    return SignedVoid(statement.predicate, envelope, payload, data)


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


_INTENT = Form(kind=INTENT_KIND, what="an announcement", shape=IntentStatement, problem=_intent_problem)
_VOID = Form(kind=VOID_KIND, what="a voiding", shape=VoidStatement, problem=_void_problem)
