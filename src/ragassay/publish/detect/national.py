"""Numbers that states give to persons, by Presidio's recognisers for the countries that it knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ragassay.publish.detect.hit import Hit
from ragassay.publish.detect.presidio import FLOOR, Match, in_piece, recogniser, version, word_near
from ragassay.publish.detect.windows import around
from ragassay.records.publication import FindingKind

if TYPE_CHECKING:
    from presidio_analyzer import EntityRecognizer

RECOGNISERS: dict[str, tuple[str, ...]] = {
    "Australia": ("AuMedicareRecognizer", "AuTfnRecognizer"),
    "Canada": ("CaSinRecognizer",),
    "Finland": ("FiPersonalIdentityCodeRecognizer",),
    "Germany": (
        *("DeIdCardRecognizer", "DePassportRecognizer", "DeTaxIdRecognizer", "DeSocialSecurityRecognizer"),
        *("DeHealthInsuranceRecognizer", "DeFuehrerscheinRecognizer"),
    ),
    "India": ("InAadhaarRecognizer", "InPanRecognizer", "InPassportRecognizer", "InVoterRecognizer"),
    "Italy": (
        *("ItFiscalCodeRecognizer", "ItDriverLicenseRecognizer", "ItIdentityCardRecognizer", "ItPassportRecognizer"),
    ),
    "Korea": ("KrRrnRecognizer", "KrFrnRecognizer", "KrDriverLicenseRecognizer", "KrPassportRecognizer"),
    "Nigeria": ("NgNinRecognizer",),
    "the Philippines": ("PhPassportRecognizer", "PhTinRecognizer", "PhUmidRecognizer"),
    "Poland": ("PlPeselRecognizer",),
    "Singapore": ("SgFinRecognizer",),
    "South Africa": ("ZaIdNumberRecognizer", "ZaPassportRecognizer", "ZaIncomeTaxNumberRecognizer"),
    "Spain": ("EsNieRecognizer", "EsNifRecognizer", "EsPassportRecognizer"),
    "Sweden": ("SePersonnummerRecognizer",),
    "Thailand": ("ThTninRecognizer",),
    "Turkey": ("TrNationalIdRecognizer",),
    "the United Kingdom": ("NhsRecognizer", "UkDrivingLicenceRecognizer", "UkNinoRecognizer", "UkPassportRecognizer"),
    "the United States": ("UsItinRecognizer", "UsMbiRecognizer", "UsPassportRecognizer", "UsSsnRecognizer"),
}
"""The recognisers by country. Those of vehicles, companies, banks and post codes find no person and are left out, as
are the driving licences of the United States and South Africa, whose patterns fit any number."""

STRONG = 0.3
"""The least score of a pattern whose match counts without a word for it, once Presidio's own check has passed."""
MIN_DIGITS = 4
_COMMON = frozenset(
    (
        *(
            "us",
            "united",
            "states",
            "travel",
            "document",
            "individual",
            "taxpayer",
            "tax",
            "payer",
            "social",
            "security",
        ),
        *("ssid", "pass", "sin", "nas", "canada", "fin", "tin", "pan", "nin", "id", "epic", "cms", "hic", "cf", "cie"),
        *("carta", "documento", "elettronica", "elettronico", "italiano", "viaggio", "viaggiare", "estero", "dogana"),
        *("riconoscimento", "licenza", "rente", "npa", "mrz", "fev", "kba", "bir", "rdo", "sss", "dfa", "dha", "itr"),
    )
)
"""Words that Presidio lists as context and that ordinary text is full of; they vouch for nothing here."""
_DIGITS = re.compile(r"(?:\d[^\d\n]{0,6}){4}")


class NationalIds:
    """Finds ids of persons; a bare number counts only beside a word that says what it is."""

    kinds: frozenset[FindingKind] = frozenset({"national_id"})

    def __init__(self) -> None:
        names = [name for country in RECOGNISERS.values() for name in country]
        self._all = tuple(_prepared(recogniser(name)) for name in names)
        self.name = (
            f"presidio-analyzer {version()}: {len(names)} recognisers of national ids of {', '.join(RECOGNISERS)}; "
            f"scores from {FLOOR}, and weaker ones beside a word that says what it is"
        )

    def find(self, text: str) -> Iterator[Hit]:
        """Yield the hits of every recogniser; a recogniser sees only the surroundings of digits."""
        windows = list(around(text, _DIGITS, 40, 40))
        for one, near in self._all:
            seen: set[tuple[int, int]] = set()
            for offset, piece in windows:
                for found in in_piece(one, offset, piece):
                    span = found.start, found.end
                    if span not in seen and _counts(text, found, near):
                        seen.add(span)
                        yield Hit(kind="national_id", start=span[0], end=span[1], detector=type(one).__name__)


def _prepared(one: EntityRecognizer) -> tuple[EntityRecognizer, Callable[[str, int, int], bool]]:
    words = [word for word in one.context if word.lower() not in _COMMON]
    return one, word_near(words)


def _counts(text: str, found: Match, near: Callable[[str, int, int], bool]) -> bool:
    words = text[found.start : found.end]
    if sum(map(str.isdigit, words)) < MIN_DIGITS:
        return False
    if found.score >= FLOOR and found.pattern_score >= STRONG and _has_form(words):
        return True
    return near(text, found.start, found.end)


def _has_form(words: str) -> bool:
    """Tell whether an id looks like one: not digits alone, nor small letters among digits as in a hash."""
    return not words.isdigit() and words == words.upper()
