"""The signed statement that texts of a run are withheld, and the list of them, read as strictly as a run. Pure."""

from __future__ import annotations

import re

import msgspec

from ragassay import canon
from ragassay.manifest import dsse
from ragassay.manifest.announce import common_problem, decode_as, refuse_problem, sign_checked, signature_holds
from ragassay.manifest.decode import read_rows
from ragassay.manifest.files import BESIDE, PUBLIC_OUTPUTS, REDACTION, WITHHELD
from ragassay.manifest.sign import Signer
from ragassay.manifest.statement import (
    REDACTION_KIND,
    REDACTION_TYPE,
    STATEMENT_TYPE,
    RedactionPredicate,
    RedactionStatement,
    Subject,
    WithheldRow,
)

_RUN_ID = re.compile(r"[0-9a-f]{32}")


class SignedRedaction(msgspec.Struct, frozen=True):
    """A redaction as it was read; `data` are the envelope's bytes, which are also the log's entry."""

    predicate: RedactionPredicate
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


def sign_redaction(predicate: RedactionPredicate, signer: Signer) -> bytes:
    """Return the signed envelope of a redaction; raises `ValueError` for one that no reader or no log would accept."""
    statement = RedactionStatement(
        type_=STATEMENT_TYPE,
        predicate_type=REDACTION_TYPE,
        subject=(Subject(name=PUBLIC_OUTPUTS, digest=predicate.outputs),),
        predicate=predicate,
    )
    signed = sign_checked(statement, _form_problem(statement), signer)
    if len(signed) > BESIDE[REDACTION]:
        raise ValueError(f"the statement has {len(signed)} bytes; a log takes {BESIDE[REDACTION]}: shorten its names")
    return signed


def decode_redaction(data: bytes) -> SignedRedaction:
    """Read a redaction, its signature unchecked.

    Raises `VerifyError`: TYPE_UNKNOWN, VERSION_UNKNOWN, ENVELOPE_MALFORMED or ENVELOPE_NOT_CANONICAL.
    """
    envelope, payload, statement = decode_as(data, RedactionStatement, REDACTION_KIND, "a redaction")
    refuse_problem(_form_problem(statement))
    return SignedRedaction(statement.predicate, envelope, payload, data)


def _form_problem(statement: RedactionStatement) -> str | None:
    predicate, withheld = statement.predicate, statement.predicate.withheld
    if statement.subject != (Subject(name=PUBLIC_OUTPUTS, digest=predicate.outputs),):
        return f"the only subject must be {PUBLIC_OUTPUTS} with its digest"
    if not _RUN_ID.fullmatch(predicate.run_id):
        return "the run's id must be 32 lower-case hex digits"
    if not 1 <= predicate.pass_.k <= predicate.pass_.of:
        return f"there is no pass {predicate.pass_.k} of {predicate.pass_.of}"
    if not 1 <= withheld.rows <= withheld.texts:
        return "a redaction withholds at least one text, and of each row that it names"
    digests = [predicate.of, predicate.outputs, withheld.digest, *filter(None, [predicate.telemetry])]
    return common_problem(predicate.created, digests)


def decode_withheld(data: bytes) -> tuple[WithheldRow, ...]:
    """Read `withheld.jsonl`; raises ROW_MALFORMED naming the first bad line, and BUNDLE_TOO_LARGE."""
    return read_rows(data, WITHHELD, WithheldRow)
