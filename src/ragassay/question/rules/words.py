"""Words of questions as the rules compare them: folded, without words that say nothing, without plural and tense."""

from __future__ import annotations

import re
from functools import lru_cache

from ragassay.fold import LITERAL, fold

_WORD = re.compile(r"[^\W_]+(?:['._/:+@-][^\W_]+)*|[^\W_]*_\w+")
_CODE = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”")
_STEM = re.compile(r"(?:'s|(?<=[^s\W])s|(?<=[a-z]{3})ing|(?<=[a-z]{3})ed|(?<=[a-z]{3})e)$")


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text with spaces between them."""
    return frozenset(text.split())


QUESTION_WORDS = word_set("what which who whom whose when where why how")
AUXILIARIES = word_set(
    "am is are was were be been being do does did done can could will would shall should may might must has have had"
)
_SMALL = word_set(
    "a an the this that these those it its they them their there he she his her him i my me we us our you your of in "
    "on at by for from to into onto with within without as than then so and or but nor not no yes if while about over "
    "under between out up off per via also any some each every all both either only just more most such same other "
    "another own too very one s t until during after before according"
)
STOP = QUESTION_WORDS | AUXILIARIES | _SMALL
"""Words that say nothing of what a question is about."""


def prose(text: str) -> str:
    """Return `text` with what stands in code or in double quotes blanked out."""
    return _CODE.sub(lambda found: " " * len(found[0]), text)


@lru_cache(maxsize=8192)
def content(text: str) -> tuple[str, ...]:
    """Return the words of `text` that say something, folded and stemmed, in order."""
    words = _WORD.findall(fold(text, LITERAL).text)
    return tuple(stem(word) for word in words if word not in STOP)


def stem(word: str) -> str:
    """Return a folded word without plural, possessive or ending of tense; a word with digits or marks stays."""
    if not word.isascii() or not word.replace("'", "").isalpha():
        return word
    before = None
    while before != word and len(word) > 3:
        before, word = word, _STEM.sub("", word)
    return word


def share(part: tuple[str, ...], whole: tuple[str, ...]) -> float:
    """Return which share of the words of `part` stands in `whole`; 0 for no words."""
    wanted = set(part)
    return len(wanted & set(whole)) / len(wanted) if wanted else 0.0


def jaccard(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Return the share of the words of either text that stands in both; 0 for no words."""
    first, second = set(one), set(other)
    return len(first & second) / len(first | second) if first | second else 0.0
