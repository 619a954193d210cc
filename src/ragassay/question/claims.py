"""What claims and their literals say of a text: the judge's own matching, for target, question and evidence."""

from __future__ import annotations

import re

from ragassay.literals import first_hit, hits, judge_claim, judgeable
from ragassay.records import Benchmark, Claim, Question

_KEY = re.compile(r"`([^`\n]+)`|(?<![\w-])(--?[A-Za-z][\w-]*)|(?<!\w)([A-Za-z]*_\w+)|(?<![\w.])(\d(?:[\w.,]*\w)?)")
"""What stands out in a target that has no literals: code, options, names with underscores, numbers."""
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def literal_problems(benchmark: Benchmark) -> list[str]:
    """Return the ids of the questions that cannot be judged literally: a claim of theirs carries no literals."""
    return [question.id for question in benchmark.questions if not all(map(judgeable, question.claims))]


def supports(claim: Claim, text: str) -> bool:
    """True when `claim` has literals and the literal judge would find it supported by `text`."""
    return judgeable(claim) and judge_claim(claim, text)[0] == "SUPPORTS"


def missing_lists(claim: Claim, text: str) -> list[tuple[str, ...]]:
    """Return the lists of `claim.must` without a hit in `text`."""
    return [literals for literals in claim.must if first_hit(literals, text) is None]


def forbidden(claim: Claim, text: str) -> list[str]:
    """Return the literals of `claim.must_not` that hit `text`."""
    return [literal for literal in claim.must_not if hits(literal, text)]


def key_literals_missing(question: Question, evidence: str) -> list[str]:
    """Return what the target hinges on and `evidence` does not hold, each in a form to be printed.

    With literals these are the lists of the central claims; without, the code, options and numbers of the target
    (a number up to twelve may be written as a word in the evidence).
    """
    if any(claim.must for claim in question.claims):
        central = [claim for claim in question.claims if claim.central]
        return [" | ".join(literals) for claim in central for literals in missing_lists(claim, evidence)]
    keys = dict.fromkeys(next(filter(None, found.groups())) for found in _KEY.finditer(question.target))
    return [key for key in keys if not any(hits(way, evidence) for way in _ways(key))]


def _ways(key: str) -> tuple[str, ...]:
    return (key, _WORDS[int(key)]) if key.isdecimal() and int(key) < len(_WORDS) else (key,)
