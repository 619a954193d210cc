"""The signed statement that texts of a run are withheld, and the list of them, read as strictly as a run. Pure."""

from __future__ import annotations

import re

from ragassay.manifest.announce import common_problem
from ragassay.manifest.decode import read_rows
from ragassay.manifest.files import BESIDE, PUBLIC_OUTPUTS, REDACTION, WITHHELD
from ragassay.manifest.sign import Signer
from ragassay.manifest.signed import Form, Signed, read_signed, sign_checked
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


class SignedRedaction(Signed[RedactionPredicate], frozen=True):
    """A redaction as it was read."""


def sign_redaction(predicate: RedactionPredicate, signer: Signer) -> bytes:
    """Return the signed envelope of a redaction; raises `ValueError` for one that no reader or no log would accept."""
    statement = RedactionStatement(
        type_=STATEMENT_TYPE,
        predicate_type=REDACTION_TYPE,
        subject=(Subject(name=PUBLIC_OUTPUTS, digest=predicate.outputs),),
        predicate=predicate,
    )
    signed = sign_checked(statement, _FORM, signer)
    if len(signed) > BESIDE[REDACTION]:
        raise ValueError(f"the statement has {len(signed)} bytes; a log takes {BESIDE[REDACTION]}: shorten its names")
    return signed


def decode_redaction(data: bytes) -> SignedRedaction:
    """Read a redaction, its signature unchecked.

    Raises `VerifyError`: TYPE_UNKNOWN, VERSION_UNKNOWN, ENVELOPE_MALFORMED or ENVELOPE_NOT_CANONICAL.
    """
    statement, envelope, payload = read_signed(data, _FORM)
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


_FORM = Form(kind=REDACTION_KIND, what="a redaction", shape=RedactionStatement, problem=_form_problem)


def decode_withheld(data: bytes) -> tuple[WithheldRow, ...]:
    """Read `withheld.jsonl`; raises ROW_MALFORMED naming the first bad line, and BUNDLE_TOO_LARGE."""
    return read_rows(data, WITHHELD, WithheldRow)
