"""Keys, fingerprints, signatures, and the keys that are refused."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from ragassay.errors import InputError
from ragassay.manifest.sign import (
    FIELD_PRIME,
    WEAK_KEYS,
    PublicKey,
    Signer,
    check_signature,
    decode_x,
    encode_x,
    is_weak,
    parse_public_key,
    thumbprint,
)
from ragassay.records import Secret
from ragassay.testing.signed_run import public_signer

RFC_8037_X = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"


def test_thumbprint_is_that_of_rfc_8037() -> None:
    """The fingerprint of the RFC's example key is the one that its appendix A.3 prints."""
    assert thumbprint(decode_x(RFC_8037_X)) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


def test_signature_is_that_of_rfc_8032() -> None:
    """The first test vector of RFC 8032 comes out byte for byte."""
    seed = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    signer = Signer.from_seed(seed, "rfc")
    assert signer.x.hex() == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    assert signer.sign(b"").hex() == (
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    )


def test_weak_keys_are_those_of_the_shared_list(shared_data: Path) -> None:
    """Our table holds exactly the 14 encodings of the shared list."""
    listed = json.loads((shared_data / "attest" / "weak-ed25519-keys.json").read_bytes())
    assert {key.hex() for key in WEAK_KEYS} == set(listed.values())
    assert len(WEAK_KEYS) == 14


def _forged() -> tuple[bytes, bytes]:
    return bytes([1]) + bytes(63), b"any message"


def test_a_weak_key_verifies_a_fixed_forgery() -> None:
    """The reason for the table: under the identity point one constant signature fits every message."""
    signature, message = _forged()
    identity = bytes([1]) + bytes(31)
    Ed25519PublicKey.from_public_bytes(identity).verify(signature, message)
    Ed25519PublicKey.from_public_bytes(identity).verify(signature, b"another message")
    assert is_weak(identity)


@pytest.mark.parametrize("key", sorted(WEAK_KEYS), ids=lambda key: key.hex()[:8])
def test_weak_keys_are_refused_in_every_form(key: bytes) -> None:
    """No loader of public keys takes a key of small order."""
    assert is_weak(key)
    jwk = json.dumps({"kty": "OKP", "crv": "Ed25519", "x": encode_x(key)}).encode()
    with pytest.raises(InputError, match="KEY_WEAK"):
        parse_public_key(jwk, name="weak.json")
    prefix = bytes.fromhex("302a300506032b6570032100")
    pem = b"-----BEGIN PUBLIC KEY-----\n" + _base64(prefix + key) + b"\n-----END PUBLIC KEY-----\n"
    with pytest.raises(InputError, match="KEY_WEAK"):
        parse_public_key(pem, name="weak.pem")


def _base64(data: bytes) -> bytes:
    import base64

    return base64.b64encode(data)


def test_encodings_beyond_the_field_are_weak() -> None:
    """A y that is not reduced is refused whatever its point; the largest reduced one with real order is not."""
    assert all(is_weak((FIELD_PRIME + k).to_bytes(32, "little")) for k in range(19))
    assert not is_weak((FIELD_PRIME - 2).to_bytes(32, "little"))
    assert not is_weak(public_signer().x)


def test_check_signature_is_false_and_never_raises() -> None:
    """Keys and signatures of any length or value give False."""
    signer = public_signer()
    good = signer.sign(b"m")
    assert check_signature(signer.x, good, b"m")
    for x, signature in ((b"", good), (signer.x, b""), (signer.x, good + b"\0"), (b"\xff" * 32, good)):
        assert not check_signature(x, signature, b"m")
    order = 2**252 + 27742317777372353535851937790883648493
    s = int.from_bytes(good[32:], "little") + order
    assert not check_signature(signer.x, good[:32] + s.to_bytes(32, "little"), b"m")


def test_public_key_file_reads_back() -> None:
    """The file that `keys init` writes, and the PEM of other tools, give the same key."""
    public = public_signer().public
    assert parse_public_key(public.jwk(), name="file") == public
    pem = Ed25519PublicKey.from_public_bytes(public.x).public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    assert parse_public_key(pem, name="other") == PublicKey(x=public.x, name="other")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "neither"),
        (b"{}", "neither"),
        (b'{"kty":"OKP","crv":"Ed25519"}', "`x` is missing"),
        (b'{"kty":"OKP","crv":"Ed25519","x":"AA"}', "neither"),
        (b'{"kty":"OKP","crv":"Ed25519","x":"%b","kid":"other"}' % RFC_8037_X.encode(), "fingerprint"),
        (b'{"kty":"OKP","crv":"Ed25519","x":"%b"}' % (RFC_8037_X[:-1] + "p").encode(), "neither"),
        (b'{"kty":"OKP","crv":"Ed25519","d":"x","x":"y"}', "private key"),
        (public_signer().to_pem(Secret("p")), "private key"),
        (b"-----BEGIN PUBLIC KEY-----\nnothing\n-----END PUBLIC KEY-----\n", "neither"),
        (b"\xff\xfe", "neither"),
    ],
    ids=["empty", "no members", "no x", "short x", "other kid", "x with a loose tail", "private jwk", "private pem",
         "broken pem", "binary"],
)  # fmt: skip
def test_what_is_no_public_key_is_refused(data: bytes, message: str) -> None:
    """Every other file is refused with its reason."""
    with pytest.raises(InputError, match=message):
        parse_public_key(data, name="file")


def test_a_key_of_another_kind_is_refused() -> None:
    """An elliptic-curve key neither signs nor verifies runs."""
    other = generate_private_key(SECP256R1())
    pem = other.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with pytest.raises(InputError, match="another kind"):
        Signer.from_pem(pem, "other")
    public = other.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    with pytest.raises(InputError, match="another kind"):
        parse_public_key(public, name="other")


def test_a_signer_shows_no_secret() -> None:
    """Neither its text nor a pickle gives the private key away, and a broken key file is not quoted."""
    signer = public_signer()
    assert repr(signer) == f"Signer(kid={signer.kid!r}, name='test-key-never-trust')"
    with pytest.raises(TypeError):
        pickle.dumps(signer)
    with pytest.raises(InputError) as error:
        Signer.from_pem(b"-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n", "run")
    assert "c2VjcmV0" not in str(error.value)
