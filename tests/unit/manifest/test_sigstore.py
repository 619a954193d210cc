"""A run's manifest as a Sigstore bundle: the same envelope, and the key's fingerprint to look its key up by."""

from __future__ import annotations

import json

import pytest

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest import MANIFEST
from ragassay.manifest.sigstore import MEDIA_TYPE, sigstore_bundle
from ragassay.testing.signed_run import public_signer, signed_run


def test_the_bundle_holds_the_envelope_and_the_hint() -> None:
    """The envelope stands in it unchanged, and no certificate, timestamp or log entry does."""
    manifest = signed_run()[MANIFEST]
    bundle = json.loads(sigstore_bundle(manifest))
    assert canon.canonical(bundle["dsseEnvelope"]) == manifest
    assert bundle["mediaType"] == MEDIA_TYPE
    assert bundle["verificationMaterial"] == {"publicKey": {"hint": public_signer().kid}, "tlogEntries": []}


def test_what_is_no_manifest_is_no_bundle() -> None:
    """Bytes that are no envelope are refused by reason code."""
    with pytest.raises(VerifyError) as caught:
        sigstore_bundle(b"{}")
    assert caught.value.code == "ENVELOPE_MALFORMED"
