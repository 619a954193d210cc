"""Is the manifest one canonical envelope, and which key does it name? Whose key it has to be is the policy's. Pure."""

from __future__ import annotations

import msgspec

from ragassay.errors import VerifyError
from ragassay.manifest import dsse
from ragassay.manifest.decode import decode_statement
from ragassay.manifest.sign import check_signature, decode_x, is_weak, thumbprint
from ragassay.manifest.statement import SignerRef, Statement
from ragassay.verify.report import Findings


class SignedRun(msgspec.Struct, frozen=True):
    """A run's statement as it was read, with the signature over its bytes; `data` is what a log holds as an entry."""

    statement: Statement
    signature: bytes
    message: bytes
    data: bytes

    def signed_by(self, x: bytes) -> bool:
        """Tell whether the key with these 32 bytes made the signature."""
        return check_signature(x, self.signature, self.message)


def read_envelope(data: bytes, findings: Findings, where: str) -> SignedRun | None:
    """Return the statement of a run where it can be read (whether or not its signature holds), else None."""
    try:
        envelope = dsse.decode_envelope(data)
        payload = dsse.decode_base64(envelope.payload)
        signature = dsse.decode_base64(envelope.signatures[0].sig)
        findings.made("envelope")
        statement = decode_statement(envelope.payload_type, payload)
        findings.made("statement")
    except VerifyError as error:
        findings.error(error, where)
        return None
    if envelope.signatures[0].keyid != statement.predicate.signer.kid:
        findings.add("ENVELOPE_MALFORMED", "the key id of the signature is not that of the named signer", where)
    return SignedRun(statement, signature, dsse.pae(envelope.payload_type, payload), data)


def note_signature(findings: Findings, *, checked: bool) -> None:
    """Note that a key was looked for, and that the signature was checked with one, or why it was not."""
    findings.made("key")
    if checked:
        findings.made("signature")
    else:
        findings.not_made("signature", "there is no usable key to check it with")


def named_key(signer: SignerRef, findings: Findings, where: str) -> bytes | None:
    """Return the bytes of the key that a statement names, or None where they are none, weak, or of another key."""
    try:
        named = decode_x(signer.x)
    except ValueError:
        findings.add("ENVELOPE_MALFORMED", "the signer's `x` is no public key: 32 bytes of base64url", where)
        return None
    if is_weak(named):
        findings.add("KEY_WEAK", None, where)
        return None
    if thumbprint(named) != signer.kid:
        message = "the statement claims the fingerprint of another key than the one that it names"
        findings.add("SIGNATURE_INVALID", message, where)
    return named
