"""One recogniser of Presidio, called without its engine: no language model, no network, no file."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ragassay.publish.detect.hit import NotScanned
from ragassay.publish.detect.windows import around

if TYPE_CHECKING:
    from presidio_analyzer import EntityRecognizer

FLOOR = 0.5
"""The least score, of Presidio's 0 to 1, that counts by itself."""
NEAR = 60
"""How many characters before and after a match are searched for a word that says what it is."""
_NO_MODEL: Any = None
"""What the recognisers of patterns are given in place of a language model's findings."""


class Match(msgspec.Struct, frozen=True):
    """One match: its offsets, Presidio's score after its own checks, and that of the pattern before them."""

    start: int
    end: int
    score: float
    pattern_score: float


def version() -> str:
    """Return the installed version of Presidio's analyzer."""
    return importlib.metadata.version("presidio-analyzer")


def recogniser(name: str, **options: Any) -> EntityRecognizer:
    """Return a predefined recogniser by its class's name; importing them takes about a second, once.

    Raises `NotScanned` where Presidio was told to give up patterns at once: it would pass over texts in silence.
    """
    import presidio_analyzer.pattern_recognizer as limits
    import presidio_analyzer.predefined_recognizers as known

    if limits.REGEX_TIMEOUT_SECONDS < 1:
        raise NotScanned(
            "REGEX_TIMEOUT_SECONDS lets Presidio pass over texts in silence; unset it, or set it to 1 or more"
        )
    made: EntityRecognizer = getattr(known, name)(**options)
    return made


def offline_email() -> EntityRecognizer:
    """Return the recogniser of e-mail addresses without its look-up of public suffixes, which wants the network."""
    from presidio_analyzer.predefined_recognizers import EmailRecognizer

    class Offline(EmailRecognizer):
        """Takes the pattern's word for it; the rules in `exempt` judge the host."""

        def validate_result(self, pattern_text: str) -> None:
            """Look nothing up."""

    return Offline()


def matches(one: EntityRecognizer, text: str, anchor: re.Pattern[str], *, before: int, after: int) -> Iterator[Match]:
    """Yield the matches of a recogniser near those of `anchor`, a cheap pattern that none of its matches lacks."""
    for offset, piece in around(text, anchor, before, after):
        yield from in_piece(one, offset, piece)


def in_piece(one: EntityRecognizer, offset: int, piece: str) -> Iterator[Match]:
    """Yield the matches of a recogniser in a short text that stands at `offset` of a longer one."""
    for found in one.analyze(piece, one.supported_entities, _NO_MODEL):
        explained = found.analysis_explanation
        weak = explained.original_score if explained else found.score
        yield Match(offset + found.start, offset + found.end, found.score, weak)


def word_near(words: Sequence[str]) -> Callable[[str, int, int], bool]:
    """Return a function of (text, start, end) that tells whether one of `words` stands near, in whatever case."""
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words), re.IGNORECASE)

    def near(text: str, start: int, end: int) -> bool:
        # the words must stand beside the match: one inside it says nothing
        return bool(pattern.search(text[max(0, start - NEAR) : start]) or pattern.search(text[end : end + NEAR]))

    return near
