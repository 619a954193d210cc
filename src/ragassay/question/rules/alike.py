"""Which questions are the same question in other words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

from ragassay import fold
from ragassay.question.rules.finding import LintFinding, broken
from ragassay.question.rules.material import Material
from ragassay.question.rules.words import content, jaccard

SAME_WORDS = 0.6
"""From this share of common words on, two questions are near duplicates."""
SAME_TARGET = 0.45
"""From this share on they are, where their targets have the same words too."""
SAME_MEANING = 0.85
"""From this similarity on, an embedding model finds two questions alike."""
FEWEST = 3
"""Words that a question has at least, where sharing them is remarkable."""


def all_differ(material: Material) -> Iterator[LintFinding]:
    """Yield pairs of questions that are the same but for typography, share most words, or mean the same."""
    first: dict[str, str] = {}
    told: set[tuple[str, str]] = set()
    for question in material.benchmark.questions:
        words = fold.fold(question.input, fold.LITERAL).text.strip()
        if (other := first.setdefault(words, question.id)) != question.id:
            told.add((other, question.id))
            message = "the two questions differ only in case, spacing or typography"
            yield broken("question-repeated", (other, question.id), message)
    for pair, why in _share_words(material):
        if pair not in told:
            told.add(pair)
            yield broken("near-duplicate", pair, f"{why}; keep one, or ask for another fact")
    for pair, value in _mean_the_same(material):
        if pair not in told:
            message = (
                f"the embedding model finds the two questions {value:.2f} alike; keep one, or ask for another fact"
            )
            yield broken("same-meaning", pair, message)


def _share_words(material: Material) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield pairs by their common words; only pairs with a common word are looked at."""
    questions = material.benchmark.questions
    asked = [content(question.input) for question in questions]
    targets = [frozenset(content(question.target)) for question in questions]
    holding: defaultdict[str, list[int]] = defaultdict(list)
    for index, words in enumerate(asked):
        for word in set(words):
            holding[word].append(index)
    common: defaultdict[tuple[int, int], int] = defaultdict(int)
    for indexes in holding.values():
        for pair in combinations(indexes, 2):
            common[pair] += 1
    for (one, other), count in sorted(common.items()):
        if count < FEWEST:
            continue
        shared = jaccard(asked[one], asked[other])
        same = bool(targets[one]) and targets[one] == targets[other]
        if shared >= SAME_WORDS or (same and shared >= SAME_TARGET):
            why = f"the two questions have {shared:.0%} of their words in common{' and one target' if same else ''}"
            yield (questions[one].id, questions[other].id), why


def _mean_the_same(material: Material) -> Iterator[tuple[tuple[str, str], float]]:
    questions = material.benchmark.questions
    if material.similar is None or len(questions) < 2:
        return
    matrix = material.similar([question.input for question in questions])
    for one, other in combinations(range(len(questions)), 2):
        if (value := float(matrix[one][other])) >= SAME_MEANING:
            yield (questions[one].id, questions[other].id), value
