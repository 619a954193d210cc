"""Is the manifest one canonical envelope, and is its signature by the key that it has to be by? Pure."""

from __future__ import annotations

from ragassay.errors import VerifyError
from ragassay.manifest import dsse
from ragassay.manifest.decode import decode_statement
from ragassay.manifest.sign import check_signature, decode_x, is_weak, thumbprint
from ragassay.manifest.statement import SignerRef, Statement
from ragassay.verify.policy import Policy
from ragassay.verify.report import Findings


def check_envelope(data: bytes, policy: Policy, findings: Findings, where: str) -> Statement | None:
    """Return the statement where it can be read (whether or not its signature holds), else None."""
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
    signer = statement.predicate.signer
    if envelope.signatures[0].keyid != signer.kid:
        findings.add("ENVELOPE_MALFORMED", "the key id of the signature is not that of the named signer", where)
    x = _key(signer, policy, findings, where)
    findings.made("key")
    if x is None:
        findings.not_made("signature", "there is no usable key to check it with")
        return statement
    if not check_signature(x, signature, dsse.pae(envelope.payload_type, payload)):
        whose = "the pinned key" if policy.key else "the key that the run names"
        findings.add("SIGNATURE_INVALID", f"the signature is not by {whose}, or something was changed", where)
    findings.made("signature")
    return statement


def _key(signer: SignerRef, policy: Policy, findings: Findings, where: str) -> bytes | None:
    """Return the bytes of the key to check with: the pinned one's where a key is pinned."""
    try:
        named = decode_x(signer.x)
    except ValueError:
        findings.add("ENVELOPE_MALFORMED", "the signer's `x` is no public key: 32 bytes of base64url", where)
        named = None
    if named is not None and is_weak(named):
        findings.add("KEY_WEAK", None, where)
    elif named is not None and thumbprint(named) != signer.kid:
        findings.add("SIGNATURE_INVALID", "the run claims the fingerprint of another key than the one it names", where)
    if policy.key is None:
        findings.add("SIGNER_UNPINNED", None, where)
        return named if named is None or not is_weak(named) else None
    if is_weak(policy.key.x):
        findings.add("KEY_WEAK", "the pinned key is weak: anyone can sign under it", where)
        return None
    if signer.kid != policy.key.kid:
        findings.add("KEY_UNKNOWN", "the run is signed by another key than the pinned one", where)
    return policy.key.x
