"""Which words of a question name something: products, identifiers, options, quoted names, terms of few pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ragassay.question.asserted import asserted
from ragassay.question.rules.finding import LintFinding, broken
from ragassay.question.rules.material import Material
from ragassay.question.rules.words import STOP, prose, word_set
from ragassay.records import Benchmark

RARE_SHARE = 100
"""A word is a term of few pages when at most one page in so many holds it, one page being enough."""
FREQUENT = 3
"""Times that such a term stands on one of its pages at least: names come again, other rare words do not."""
TITLE_SHARE = 20
"""A word that is a page's whole title or file name is a name when at most one page in so many holds it."""

_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^'\n]+)'(?!\w)")
_CAPITAL = re.compile(r"(?<=[\w,;)`'’] )[A-Z][a-z]{2,}\b")
_MEASURE = re.compile(r"[\d.,:%+-]+[A-Za-z]{0,2}|[\d.,]+[- ]?(?:bit|byte|fold|way|day|hour|minute|second)s?")
_WORD = re.compile(r"[^\W\d_]{4,}")
_WEAK = word_set(
    "HTTP HTTPS URL URLs URI API APIs ID IDs OS CPU GPU RAM JSON XML HTML CSV YAML TOML PDF UTC TLS SSL SQL CLI GUI UI "
    "IP TCP UDP DNS FAQ OK Unix Linux Windows macOS Debian Ubuntu POSIX English I NOT EXCEPT AND OR NULL January "
    "February March April May June July August September October November December Monday Tuesday Wednesday Thursday "
    "Friday Saturday Sunday"
)
"""Names that say nothing of the subject by themselves."""
_GENERIC = word_set(
    "docs doc documentation qa public questions question set sets faq test tests eval evals benchmark bench board "
    "retrieval held heldout out private dev train sample samples data dataset the of and for full small large new old "
    "mini items item version en help support guide manual reference"
)
"""Words of a set's name that are no name of its subject."""


def subject(material: Material) -> Iterator[LintFinding]:
    """Yield each question in which nothing says what it is about; without a corpus as a warning."""
    for question in material.benchmark.questions:
        if names_in(question.input, material.benchmark) or _terms(question.input, material):
            continue
        hint = "" if material.pages else " (without a corpus its rare terms are not known)"
        message = f"it does not stand alone: it names no product, identifier, option or quoted name{hint}"
        yield broken("subject", question.id, message, mild=not material.pages)


def names_in(text: str, benchmark: Benchmark) -> list[str]:
    """Return what names something in `text` without looking at a corpus."""
    spans = [next(filter(None, found.groups())) for found in _QUOTED.finditer(text)]
    marked = [token for token in asserted(prose(text)) if token not in _WEAK and not _MEASURE.fullmatch(token)]
    capital = [word for word in _CAPITAL.findall(prose(text)) if word not in _WEAK]
    own = [word for word in re.findall(r"[^\W_]+", text) if word.casefold() in _own_names(benchmark.name)]
    return [*spans, *marked, *capital, *own]


@lru_cache(maxsize=64)
def _own_names(name: str) -> frozenset[str]:
    words = re.findall(r"[^\W\d_]{2,}", name.casefold())
    return frozenset(word for word in words if word not in _GENERIC)


def _terms(text: str, material: Material) -> list[str]:
    """Return the words of `text` that few pages hold and that no verb is made of: `pgbench`, but not `terminate`."""
    if not material.pages:
        return []
    words = {word for word in _WORD.findall(text.casefold()) if word not in STOP and not material.is_verb(word)}
    return [word for word in sorted(words) if _is_term(word, material)]


def _is_term(word: str, material: Material) -> bool:
    pages = len(material.folded)
    holding = material.pages_with(word)
    if 1 <= len(holding) <= max(1, pages // RARE_SHARE):
        pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
        return any(len(pattern.findall(material.folded[page])) >= FREQUENT for page in holding)
    return word in material.title_words and len(holding) <= max(1, pages // TITLE_SHARE)
