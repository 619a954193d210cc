"""The reader's scoring: declared, deterministic, and fixed as version 1.

A change to any constant, to the words or patterns below, or to how sentences are cut, is a new version.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import pairwise

import msgspec

from ragassay.plugins.models.reader_text import Sentence

STEM_CHARS = 6
"""A term is the first so many characters of a word, a final "s" dropped."""
CONTEXT = {"heading": 0.3, "before": 0.4, "two_before": 0.3, "after": 0.1}
"""What a question term counts where not the sentence holds it but its heading or a neighbour in its chunk does."""
PAIR_WEIGHT = 0.3
"""What two adjacent question terms that stand adjacent in the sentence add, times their mean weight."""
LENGTH_SHARE = 0.1
LENGTH_TERMS = 20
"""A score is divided by 1 - share + share × terms / 20."""
CUE_BONUS = 1.0
"""A sentence that holds what the question asks for (a figure, a variable, a reason) counts twice."""
SEEN_WEIGHT = 0.3
"""In choosing the second sentence, what a term counts that the first one holds."""
NEXT_BONUS = 0.8
"""The sentence right after the first one scores 1.8 times as much as second."""

_STOP_WORDS = """
a about after all also an and any are as at be been before being but by can could did do does for from had has
have how i if in into is it its may more most must no not of on one only or other our out over should so such
than that the their them then there these they this those to under up upon was we were what when where whether
which while who whom whose why will with would you your s
"""
STOP = frozenset(_STOP_WORDS.split())
"""Words that count as terms only in a question that has no others."""
CUES = (
    (
        re.compile(
            r"\b(how (many|much|long|large|big|new|old|often|small)|at (most|least)|maximum|minimum|limits?|range"
            r"|size|version|number|status|code|error|release|default|length)\b",
            re.IGNORECASE,
        ),
        re.compile(
            r"\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|twelve|double|twice|half)\b", re.IGNORECASE
        ),
    ),
    (re.compile(r"environment variable", re.IGNORECASE), re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")),
    (
        re.compile(r"\bwhy\b", re.IGNORECASE),
        re.compile(r"\b(because|since|so that|in order to|due to|otherwise|as it|reason)\b", re.IGNORECASE),
    ),
)
"""(what the question asks for, what a sentence that answers it holds)"""

_WORD = re.compile(r"[^\W_]+")


class Placed(msgspec.Struct, frozen=True):
    """A sentence with the number of the chunk that it stands in."""

    chunk: int
    sentence: Sentence


def best_two(question: str, placed: Sequence[Placed]) -> tuple[int, ...]:
    """Return the indices of at most two sentences that match the question best, in delivered order.

    Equal scores go to the earlier sentence; one that matches no term of the question is never taken.
    """
    if not placed:
        return ()
    matcher = _Matcher(question, placed)
    first = matcher.best(matcher.weights)
    if first is None:
        return ()
    left = {t: w * (SEEN_WEIGHT if t in matcher.held[first] else 1.0) for t, w in matcher.weights.items()}
    second = matcher.best(left, after=first)
    return (first,) if second is None else tuple(sorted((first, second)))


class _Matcher:
    """The sentences of one question as sets of terms, with what each term counts in each of them."""

    def __init__(self, question: str, placed: Sequence[Placed]) -> None:
        asked = terms(question)
        distinct = list(dict.fromkeys(asked))
        self._wanted = [term for term in distinct if term not in STOP] or distinct
        words = [terms(p.sentence.text) for p in placed]
        self.held = [frozenset(w) for w in words]
        self.weights = self._rarity()
        pairs = set(pairwise(asked))
        self._pairs = [sorted(pairs.intersection(pairwise(w))) for w in words]
        self._counts = [self._counted(i, placed) for i in range(len(placed))]
        self._factor = [
            _cue(question, p.sentence.text) / (1 - LENGTH_SHARE + LENGTH_SHARE * len(w) / LENGTH_TERMS)
            for p, w in zip(placed, words, strict=True)
        ]

    def _rarity(self) -> dict[str, float]:
        """Weigh each term by how few sentences hold it: ln(1 + (N + ½) / (n + ½))."""
        total = len(self.held)
        return {t: math.log(1 + (total + 0.5) / (sum(t in held for held in self.held) + 0.5)) for t in self._wanted}

    def _counted(self, index: int, placed: Sequence[Placed]) -> list[float]:
        near: list[tuple[frozenset[str], float]] = [
            (frozenset(terms(placed[index].sentence.heading)), CONTEXT["heading"])
        ]
        for step, name in ((-1, "before"), (-2, "two_before"), (1, "after")):
            other = index + step
            if 0 <= other < len(placed) and placed[other].chunk == placed[index].chunk:
                near.append((self.held[other], CONTEXT[name]))
        held = self.held[index]
        return [1.0 if t in held else max((w for s, w in near if t in s), default=0.0) for t in self._wanted]

    def best(self, weights: Mapping[str, float], after: int | None = None) -> int | None:
        """Return the sentence with the highest score; with `after`, the best beside that one."""
        found, highest = None, 0.0
        for index, counts in enumerate(self._counts):
            if index == after or not self.held[index].intersection(self._wanted):
                continue
            score = sum(weights[t] * c for t, c in zip(self._wanted, counts, strict=True))
            score += PAIR_WEIGHT * sum((weights.get(a, 0.0) + weights.get(b, 0.0)) / 2 for a, b in self._pairs[index])
            score *= self._factor[index] * (1 + NEXT_BONUS if after is not None and index == after + 1 else 1.0)
            if (score := round(score, 9)) > highest:  # rounded: the last bits of a logarithm differ by machine
                found, highest = index, score
        return found


def _cue(question: str, sentence: str) -> float:
    return 1 + CUE_BONUS * sum(1 for asks, holds in CUES if asks.search(question) and holds.search(sentence))


def terms(text: str) -> list[str]:
    """Return the terms of a text in order: NFKC, case folded, underscores split, a final "s" dropped, cut at six."""
    return [_stem(word) for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold())]


def _stem(word: str) -> str:
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return word[:STEM_CHARS]
