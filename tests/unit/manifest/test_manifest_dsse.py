"""The envelope and its pre-authentication encoding."""

from __future__ import annotations

import pytest

from ragassay.errors import VerifyError
from ragassay.manifest.dsse import decode_base64, decode_envelope, encode_envelope, pae

GOOD = encode_envelope(payload_type="text/x", payload=b"hello world", keyid="k", signature=b"s" * 64)


def test_pae_is_the_published_example() -> None:
    """The encoding is that of the protocol's own example."""
    assert pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_pae_counts_bytes_and_not_characters() -> None:
    """Lengths are those of the UTF-8 bytes."""
    assert pae("é", b"") == b"DSSEv1 2 \xc3\xa9 0 "


def test_an_envelope_reads_back() -> None:
    """What is encoded is decoded to the same parts."""
    envelope = decode_envelope(GOOD)
    assert envelope.payload_type == "text/x"
    assert decode_base64(envelope.payload) == b"hello world"
    assert envelope.signatures[0].keyid == "k"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "ENVELOPE_MALFORMED"),
        (b"null", "ENVELOPE_MALFORMED"),
        (b"[" * 5000, "ENVELOPE_MALFORMED"),
        (b"\xef\xbb\xbf" + GOOD, "ENVELOPE_MALFORMED"),
        (b" " * (1 << 20) + GOOD, "ENVELOPE_MALFORMED"),
        (GOOD + b"\n", "ENVELOPE_NOT_CANONICAL"),
        (GOOD.replace(b'"text/x"', b'"text\\/x"'), "ENVELOPE_NOT_CANONICAL"),
        (GOOD.replace(b'"text/x"', b'"\\ud800"'), "ENVELOPE_MALFORMED"),
        (GOOD.replace(b'"payloadType"', b'"payloadtype"'), "ENVELOPE_MALFORMED"),
        (GOOD.replace(b'{"payload"', b'{"extra":1,"payload"'), "ENVELOPE_MALFORMED"),
        (GOOD.replace(b'{"payload"', b'{"payload":"","payload"'), "ENVELOPE_MALFORMED"),
        (GOOD.replace(b'"keyid":"k"', b'"keyid":1'), "ENVELOPE_MALFORMED"),
        (GOOD.replace(b"]}", b',{"keyid":"k","sig":""}]}'), "ENVELOPE_MALFORMED"),
        (b'{"payload":"","payloadType":"t","signatures":[]}', "ENVELOPE_MALFORMED"),
    ],
    ids=["empty", "null", "deep", "byte order mark", "too large", "trailing line feed", "escaped slash",
         "lone surrogate", "renamed member", "extra member", "duplicate member", "wrong type", "two signatures",
         "no signature"],
)  # fmt: skip
def test_other_envelopes_are_refused(data: bytes, code: str) -> None:
    """Anything but the one canonical form is refused with its reason code."""
    with pytest.raises(VerifyError) as error:
        decode_envelope(data)
    assert error.value.code == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("QR==", "ENVELOPE_NOT_CANONICAL"),
        ("QQ", "ENVELOPE_MALFORMED"),
        ("QQ==\n", "ENVELOPE_MALFORMED"),
        ("-_==", "ENVELOPE_MALFORMED"),
        ("é", "ENVELOPE_MALFORMED"),
    ],
    ids=["loose tail", "no padding", "line feed", "url alphabet", "not ASCII"],
)
def test_base64_has_one_form(text: str, code: str) -> None:
    """`QR==` decodes like `QQ==`, and is refused all the same."""
    with pytest.raises(VerifyError) as error:
        decode_base64(text)
    assert error.value.code == code
    assert decode_base64("QQ==") == b"A"
