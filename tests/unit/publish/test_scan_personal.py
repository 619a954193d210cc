"""E-mail, telephone, card, bank account and address: found, and left out by a rule that has a name."""

from __future__ import annotations

import pytest
from scan_lab import found, left_out, of

from ragassay.publish.detect import exempt
from ragassay.publish.detect.personal import Personal
from ragassay.publish.detect.presidio import FLOOR
from ragassay.records.publication import FindingKind


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("write to ann.lee@acme.io now", ["ann.lee@acme.io"]),
        ("<ann@xn--80ak6aa92e.com>, carl@acme.museum.", ["ann@xn--80ak6aa92e.com", "carl@acme.museum"]),
        ("bob@MÜLLER.de", ["bob@MÜLLER.de"]),
        ("x@notexample.com, y@example.com.evil.io", ["x@notexample.com", "y@example.com.evil.io"]),
        ("a" * 60 + "@acme.io", ["a" * 60 + "@acme.io"]),
    ],
)
def test_an_email_address_is_found(text: str, words: list[str]) -> None:
    """Addresses with any top-level domain are found; one whose host only looks reserved is one."""
    assert found(text) == of("email", *words)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("me@example.com me@a.b.example.org me@EXAMPLE.NET", exempt.RESERVED),
        ("me@foo.example me@foo.test me@foo.invalid me@box.localhost", exempt.RESERVED),
        ("git clone git@github.com:acme/sdk.git", exempt.GIT),
        ("uvx ruff@0.6.0 and cpython@3.12 and acme/action@v1.x", exempt.FILE),
        ("icon@2x.png and conf@prod.site.yaml", exempt.FILE),
    ],
)
def test_an_email_rule_has_a_name(text: str, rule: str) -> None:
    """Reserved names, git's user, versions and files are no findings, and the rule is counted."""
    assert found(text) == []
    assert left_out(text) == [rule]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Call +49 30 901820 or +1 650-253-0000.", ["+49 30 901820", "+1 650-253-0000"]),
        ("phone: (650) 253-0000", ["(650) 253-0000"]),
        ("mobile 07911 123456", ["07911 123456"]),
        ("Telefon 030 901820", ["030 901820"]),
    ],
)
def test_a_telephone_number_is_found(text: str, words: list[str]) -> None:
    """International numbers stand for themselves; national ones need a word for a telephone beside them."""
    assert found(text) == of("phone", *words)


def test_numbers_without_a_word_for_a_telephone_are_none() -> None:
    """Dates, times, timestamps, versions and figures are no telephone numbers."""
    assert found("650-253-0000 of 2024-01-15 12:30:45, 1790000000 s, 0.283600703686639, +1 and +1000") == []
    assert left_out("+1 212 555 0123") == [exempt.FICTION]


def test_a_card_number_passes_luhn() -> None:
    """A number with a wrong check digit is no card, nor is a time in milli-, micro- or nanoseconds."""
    assert found("4111 1111 1111 1111, 4111111111111112, 5500-0000-0000-0004") == of(
        "card", "4111 1111 1111 1111", "5500-0000-0000-0004"
    )
    assert found("1790000000000 1790000000123457 1790000000000000000") == []


def test_a_bank_account_passes_its_check() -> None:
    """The check digits of an IBAN decide, with and without spaces."""
    assert found("DE89 3704 0044 0532 0130 00; GB82WEST12345698765432; GB82WEST12345698765431") == of(
        "iban", "DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("from 212.78.10.32 and 2a00:1450:4001:81b::200e", ["212.78.10.32", "2a00:1450:4001:81b::200e"]),
        ("connect to 10.0.0.5", ["10.0.0.5"]),
        ("http://10.1.2.3:8080/", ["10.1.2.3"]),
        ("192.168.1.0/24 and fe80::1", ["192.168.1.0/24", "fe80::1"]),
        ("192.0.3.1 stands beside 203.0.114.1, not in what is for documentation", ["192.0.3.1", "203.0.114.1"]),
    ],
)
def test_a_network_address_is_found(text: str, words: list[str]) -> None:
    """Public, private and link-local addresses are found."""
    assert found(text) == of("ip", *words)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("192.0.2.1, 198.51.100.9/24, 203.0.113.7, 2001:db8::1", exempt.DOCUMENTATION),
        ("127.0.0.1, 0.0.0.0, ::1, 127.1.2.3", exempt.LOCAL),
        ("255.255.255.0 and 255.255.255.255", exempt.MASK),
        ("release 1.2.3.4, v100.20.30.40, acme==212.78.10.32, 1.2.3.4.5 and 100.2.3.4rc1", exempt.VERSION),
        ("see Section 100.4.1.3", exempt.VERSION),
        ("\n  34.5.1.2. Pipelines of a server\n", exempt.VERSION),
        ("08:00:2b:01:02:03:04:05", exempt.HARDWARE),
        ("dead::beef and a::b in std::fs", exempt.NAMESPACE),
    ],
)
def test_a_rule_of_addresses_has_a_name(text: str, rule: str) -> None:
    """Addresses for documentation, loopback, masks, versions, sections and names are no findings."""
    assert found(text) == []
    assert left_out(text) == [rule]


def test_what_is_no_address_at_all() -> None:
    """Times, ports, digests, UUIDs and casts give nothing, not even by a rule."""
    text = (
        "12:34:56 2024-01-15T12:34:56Z 5432:5432 x::int 'a'::text 629e59c0-9c6e-4013-9ad4-adb2bcf5080d sha256:"
        + "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 3f2a9c1b df5049994 1.2.3"
    )
    assert found(text) == []
    assert left_out(text) == []


@pytest.mark.parametrize(("score", "expected"), [(FLOOR, 1), (FLOOR - 0.01, 0)])
def test_a_score_at_the_floor_counts_and_one_below_does_not(
    score: float, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The floor is the least score that counts."""
    personal = Personal()
    pattern = personal._email.patterns[0]  # type: ignore[attr-defined]
    monkeypatch.setattr(pattern, "score", score)
    assert len(list(personal.find("ann@acme.io"))) == expected


def test_a_long_number_of_addresses_is_found_wherever_a_text_is_cut() -> None:
    """Texts are searched in pieces; an address on any cut is found whole, once."""
    for pad in range(940, 1060, 7):
        text = "x" * pad + " ann.lee@acme.io " + "y " * 600 + "bob@acme.io"
        kinds: list[tuple[FindingKind, str]] = of("email", "ann.lee@acme.io", "bob@acme.io")
        assert found(text) == kinds
