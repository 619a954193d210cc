"""Secrets: found whole, so that what replaces them leaves nothing; digests and placeholders are none.

The keys are put together here, so that this file holds none.
"""

from __future__ import annotations

import base64
import json

import pytest
from scan_lab import found, left_out, of

from ragassay.publish.detect import exempt

_A36 = "a1B2c3D4e5" * 4


def _jwt() -> str:
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({"a": 1}, {"b": 2})]
    return ".".join([*parts, "abc-DEF_123"])


KEYS = [
    "AKIA" + "Z7QWERTYUIOPAS9D",
    "gh" + "p_" + _A36[:36],
    "github" + "_pat_11ABCDEFG0abcdefghijklmnop",
    "glp" + "at-abcdefghij0123456789",
    "sk-" + "proj-abcDEF123456789_xyz",
    "sk-" + "ant-api03-abcDEF123456789_xyz",
    "sk-" + _A36[:40],
    "AI" + "za" + _A36[:35],
    "h" + "f_" + _A36[:34],
    "SG" + "." + "a1" * 11 + "." + ("b2" * 22)[:43],
    "xoxb" + "-123456789012-abcdefABCDEF",
    "sk_" + "live_" + "a1" * 20,
    "AccountKey=" + "a1" * 43 + "==",
    _jwt(),
]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[:6])
def test_a_key_is_found_to_its_last_character(key: str) -> None:
    """A key is found whole in a sentence, in quotation marks and at the end of a line."""
    for text in (f"use {key} here", f'"{key}"', f"x\n{key}\ny", key):
        assert found(text) == of("secret", key)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('password = "hunter22"', "hunter22"),
        ('{"api_key": "abc123def456"}', "abc123def456"),
        ("postgresql://app:s3cr3t-x@db/app", "s3cr3t-x"),
        ("Authorization: Bearer abcdef0123456789abcdef0123", "abcdef0123456789abcdef0123"),
        ("https://api.host.io/v1?api_key=abcdefgh12345678&x=1", "abcdefgh12345678"),
        ("CREATE USER davide WITH PASSWORD = 'jw8s0F4'", "jw8s0F4"),
    ],
)
def test_what_opens_a_door_is_found_by_where_it_stands(text: str, word: str) -> None:
    """Assignments, URLs and headers give away what has no form of its own."""
    assert ("secret", word) in found(text)


def test_a_user_in_a_base_url_is_a_secret() -> None:
    """A URL with a user and no password may carry a token; one with a password carries it for certain."""
    assert ("secret", "t0k3nabc") in found("https://t0k3nabc@host.io/v1")
    assert ("secret", "hunter22") in found("https://me:hunter22@host.io/v1")


def test_a_private_key_is_found_to_its_end() -> None:
    """The whole block is one finding, with or without its last line; words after it are not part of it."""
    body = "MIIEabcdefghijklmnopqrstuvwxyz0123456789\n" * 3
    block = f"-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----"
    assert found(f"before\n{block}\nafter") == of("secret", block)
    torn = f"-----BEGIN PRIVATE KEY-----\n{body}".rstrip()
    assert found(f"{torn}\nand then") == of("secret", torn)
    assert found("begins with -----BEGIN PRIVATE KEY----- and so on") == of("secret", "-----BEGIN PRIVATE KEY-----")


@pytest.mark.parametrize(
    "text",
    [
        "https://<user>:<password>@host.io and https://{user}:{token}@host.io",
        'password = "********" and token = "xxxxxxxx"',
        "AKIA" + "IOSFODNN7EXAMPLE",
        "https://user:password@host.io",
        'secret = "your-secret-here"',
    ],
)
def test_a_placeholder_is_left_out_by_name(text: str) -> None:
    """What a reader is to replace is no secret."""
    assert [kind for kind, _ in found(text) if kind == "secret"] == []
    assert exempt.PLACEHOLDER in left_out(text) or left_out(text) == []


def test_digests_commits_and_ids_are_no_secrets() -> None:
    """The plugins of high entropy are off: digests, commits, UUIDs, signatures and base64 give nothing."""
    digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    coded = base64.b64encode(digest.encode()).decode()
    text = f"commit 326b9431c761e1ef1e00b9f760d1f654c8db48c6, sha256:{digest}, {coded}"
    assert found(text, 'PASSWORD = os.environ["ACME_PASSWORD"]', "scikit sk-learn-is-a-long-name-of-a-package") == []


def test_a_secret_beyond_a_thousand_characters_of_one_line_is_found() -> None:
    """Long lines are searched in pieces that overlap."""
    for pad in (900, 995, 1_000, 1_990, 5_000):
        line = f'{"x " * (pad // 2)}password = "hunter22" {"y " * 900}'
        assert found(line) == of("secret", "hunter22")
