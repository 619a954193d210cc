"""A run's manifest as a Sigstore bundle (v0.3), for tools that read those: the same envelope under the bare key. Pure.

The bundle holds no certificate, no log entry of Sigstore's and no timestamp: a verifier has to be given the public key
by the hint, which is the key's fingerprint. Form: the protobuf message `dev.sigstore.bundle.v1.Bundle` as JSON.
"""

from __future__ import annotations

from ragassay import canon
from ragassay.manifest.decode import decode_statement
from ragassay.manifest.dsse import decode_base64, decode_envelope
from ragassay.records import to_json

MEDIA_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"


def sigstore_bundle(manifest: bytes) -> bytes:
    """Return the bundle around the envelope of a run; raises `VerifyError` where `manifest` is none.

    The signature is not checked here: whoever reads the bundle does that, and `verify` before.
    """
    envelope = decode_envelope(manifest)
    signer = decode_statement(envelope.payload_type, decode_base64(envelope.payload)).predicate.signer
    bundle = {
        "mediaType": MEDIA_TYPE,
        "verificationMaterial": {"publicKey": {"hint": signer.kid}, "tlogEntries": []},
        "dsseEnvelope": to_json(envelope),
    }
    return canon.canonical(bundle)
