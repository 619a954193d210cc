"""National ids: by form and check digit, or beside a word that says what they are; all else is a number."""

from __future__ import annotations

import pytest
from scan_lab import found, of

from ragassay.publish.detect.national import RECOGNISERS, NationalIds


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("SSN 536-90-4399", "536-90-4399"),
        ("the ssn is 219099999", "219099999"),
        ("DNI 12345678Z", "12345678Z"),
        ("X1234567L", "X1234567L"),
        ("AB123456C", "AB123456C"),
        ("RSSMRA85T10A562S", "RSSMRA85T10A562S"),
        ("S1234567D", "S1234567D"),
        ("131052-308T", "131052-308T"),
        ("640823-3234", "640823-3234"),
        ("PESEL 44051401359", "44051401359"),
        ("nhs 9434765919", "9434765919"),
        ("943 476 5919", "943 476 5919"),
        ("tfn 123 456 782", "123 456 782"),
        ("ABCPE1234F", "ABCPE1234F"),
        ("passport number 123456789", "123456789"),
    ],
)
def test_an_id_is_found(text: str, word: str) -> None:
    """An id with its own form stands for itself, a weaker one beside a word."""
    assert found(text) == of("national_id", word)


@pytest.mark.parametrize(
    "text",
    [
        "219099999",  # nine digits
        "1790000002 and 9434765919",  # a Unix time and ten digits whose check fits by chance
        "44051401359",  # eleven digits
        "0123456789abcdef0123456789abcdef01234567 3f2a9c1b x12020390 df5049994",  # digests and commits
        "cFormatResultmmd",  # a name in code
        "Ed25519 under the Apache License 2.0, RFC 3339, L540",
        "12-19671967-03",
        "123-45-6789",  # the number that every form shows
    ],
)
def test_a_number_is_no_id(text: str) -> None:
    """Bare numbers, hashes and code are no ids, however well a check digit fits."""
    assert found(text) == []


def test_common_words_vouch_for_nothing() -> None:
    """Words such as "document", "us" or "id", which Presidio lists as context, make no id of a number."""
    assert found("the document of the United States lets us travel with id 123456789") == []


def test_every_country_is_named() -> None:
    """The summary names each country whose ids are looked for."""
    name = NationalIds().name
    assert all(country in name for country in RECOGNISERS)
    assert len(RECOGNISERS) == 18
