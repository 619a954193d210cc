"""E-mail addresses, telephone and card numbers, bank accounts and network addresses, by Presidio's recognisers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ragassay.publish.detect.exempt import email_rule, ip_rule, phone_rule
from ragassay.publish.detect.hit import Hit
from ragassay.publish.detect.presidio import FLOOR, matches, offline_email, recogniser, version, word_near
from ragassay.records.publication import FindingKind

if TYPE_CHECKING:
    from presidio_analyzer import EntityRecognizer

REGIONS = ("US", "GB", "DE", "FR", "ES", "IT", "NL", "PL", "IN", "AU", "BR", "JP")
"""The countries whose numbers are known without an international prefix, beside a word for a telephone."""
_PHONE_WORDS = (
    *("phone", "phone number", "telephone", "cellphone", "mobile", "mobile number", "tel", "fax", "whatsapp", "sms"),
    *("telefon", "handy", "téléphone", "teléfono", "telefono"),
)
_CARD_WORDS = ("credit card", "card", "card number", "visa", "mastercard", "amex", "discover", "jcb", "diners")
_AT = re.compile("@")
_NUMBER = re.compile(r"\d(?:[^\d\n]{0,4}\d){7}")
_PLUS = re.compile(r"[+＋]\D{0,3}\d")
_IBAN = re.compile(r"[A-Z]{2}\d{2}")
_IP = re.compile(r"\d\.\d|:[0-9A-Fa-f]{0,4}:")

_near_phone = word_near(_PHONE_WORDS)
_near_card = word_near(_CARD_WORDS)
_PHONE_WORD = re.compile("|".join(rf"(?<!\w){word}(?!\w)" for word in _PHONE_WORDS), re.IGNORECASE)


class Personal:
    """Finds what reaches or charges a person; see the rules in `exempt` for what it leaves out."""

    kinds: frozenset[FindingKind] = frozenset({"email", "phone", "card", "iban", "ip"})

    def __init__(self) -> None:
        self._email = offline_email()
        self._abroad = recogniser("PhoneRecognizer", supported_regions=(None,))
        self._at_home = recogniser("PhoneRecognizer", supported_regions=REGIONS)
        self._card = recogniser("CreditCardRecognizer")
        self._iban = recogniser("IbanRecognizer")
        self._ip = recogniser("IpRecognizer")
        self.name = (
            f"presidio-analyzer {version()}: EmailRecognizer without its suffix look-up, PhoneRecognizer "
            f"(international numbers; near a word for it those of {' '.join(REGIONS)}), CreditCardRecognizer, "
            f"IbanRecognizer, IpRecognizer; scores from {FLOOR}"
        )

    def find(self, text: str) -> Iterator[Hit]:
        """Yield the hits of every recogniser, one after the other."""
        yield from self._ruled(text, "email", self._email, _AT, lambda found, *_: email_rule(found))
        yield from self._ruled(text, "ip", self._ip, _IP, ip_rule)
        yield from self._ruled(text, "iban", self._iban, _IBAN, lambda *_: None)
        yield from self._phones(text)
        yield from self._cards(text)

    def _ruled(
        self,
        text: str,
        kind: FindingKind,
        one: EntityRecognizer,
        anchor: re.Pattern[str],
        rule: Callable[[str, str, str], str | None],
    ) -> Iterator[Hit]:
        for found in matches(one, text, anchor, before=100, after=260):
            if found.score >= FLOOR:
                words = text[found.start : found.end]
                around = text[max(0, found.start - 80) : found.start], text[found.end : found.end + 80]
                yield _hit(kind, found.start, found.end, one, rule(words, *around))

    def _phones(self, text: str) -> Iterator[Hit]:
        """Yield international numbers anywhere, and those of `REGIONS` beside a word for a telephone."""
        for found in matches(self._abroad, text, _PLUS, before=4, after=60):
            yield _phone(text, found.start, found.end, self._abroad)
        for found in matches(self._at_home, text, _PHONE_WORD, before=100, after=100):
            if _near_phone(text, found.start, found.end):
                yield _phone(text, found.start, found.end, self._at_home)

    def _cards(self, text: str) -> Iterator[Hit]:
        """Yield numbers that pass Luhn's check and begin like a card's; one that begins with 1 needs a word for it."""
        for found in matches(self._card, text, _NUMBER, before=30, after=60):
            if found.score < FLOOR:
                continue
            if text[found.start] != "1" or _near_card(text, found.start, found.end):
                yield _hit("card", found.start, found.end, self._card, None)


def _phone(text: str, start: int, end: int, one: EntityRecognizer) -> Hit:
    return _hit("phone", start, end, one, phone_rule(text[start:end]))


def _hit(kind: FindingKind, start: int, end: int, one: EntityRecognizer, rule: str | None) -> Hit:
    name = type(one).__mro__[1].__name__ if type(one).__name__ == "Offline" else type(one).__name__
    return Hit(kind=kind, start=start, end=end, detector=name, exempt=rule)
