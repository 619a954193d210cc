"""Does the target answer the kind of thing that is asked: a number, an identifier, a day, so many things."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragassay.question.asserted import asserted
from ragassay.question.rules.asked import is_polar
from ragassay.question.rules.finding import LintFinding, broken
from ragassay.question.rules.material import Material
from ragassay.question.rules.words import prose
from ragassay.records import Question

_COUNTS = {
    word: value
    for value, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
}
_NUMERAL = (
    r"\d|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|"
    r"million|billion|none|no|any number|unlimited|infinite|infinitely|all|both|half|third|quarter|single|once|twice|"
    r"thrice|double|triple|first|several|arbitrar\w+|unbounded|without limit)\b"
)
_AMOUNT = re.compile(_NUMERAL, re.IGNORECASE)
_SIZE = re.compile(
    rf"{_NUMERAL}|\b(?:until|as (?:long|often|much|far|large|many)|size|equal|same|rounded|every|each|per|"
    r"forever|never|always|indefinite\w*|immediate\w*|daily|weekly|hourly|monthly|minutes?|seconds?|hours?|days?|weeks?|bytes?|[kmgt]i?b|"
    r"limit\w*|entire|whole|length|number|unchanged)\b",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(r"\bhow many\b", re.IGNORECASE)
_HOW_MUCH = re.compile(r"\bhow (?:much|long|large|big|often|far|old|wide|deep|fast|tall|high)\b", re.IGNORECASE)
_DIGITS = re.compile(
    r"\b(?:which|what) (?:\w+ )?(?:port|year|date|percentage|(?:http )?status code|http error(?: code)?|exit code|"
    r"line number|sqlstate code|version number)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(?:which|what) (?:[\w.'-]+ ){0,2}?(?:environment variable|variable|flag|command-line option|switch|"
    r"file|function|method|class|package|url|parameter|keyword argument|sysctl parameter|sqlstate code|attribute|"
    r"header|module)\b(?! (?:of|is the|are the) (?:type|kind|size))",
    re.IGNORECASE,
)
_WHO = re.compile(r"\bwho(?:m)?\b(?! (?:can|may|must|is allowed|should|could|has to|have to|needs to))", re.IGNORECASE)
_SO_MANY = re.compile(
    r"\b(?:which|what|the) (two|three|four|five|six|seven|eight|nine|ten|[2-9]|10)\b"
    r"(?! ?[-–/.]| (?:more|or|of|out|and)\b)(?! (?:minutes?|hours?|days?|bytes?|seconds?|bits?))",
    re.IGNORECASE,
)
_MARKED = re.compile(r"`[^`]+`|\"[^\"]+\"|[A-Z]|\w[._/:()-]\w|\(\)|^\W*[a-z0-9_-]+\.?$")
_ITEM = re.compile(r",(?!\d)|;|\band\b|\bor\b|\bplus\b|&", re.IGNORECASE)
_TEMPORAL = re.compile(
    r"\b(?:on what date|in (?:which|what) year|since (?:which|what) (?:version|release|year))\b", re.IGNORECASE
)


def answers(material: Material) -> Iterator[LintFinding]:
    """Yield targets of another kind, or of another number of things, than the question asks for."""
    for question in material.benchmark.questions:
        asked, target = prose(question.input), question.target
        if _HOW_MANY.search(asked) and not _AMOUNT.search(target):
            yield broken("answer-type", question.id, "asks how many, and the target holds no number")
        elif wanted := _lacks(asked, target):
            yield broken("answer-type", question.id, wanted, mild=True)
        elif is_polar(question) and not _says_yes_or_no(asked, target):
            message = "yes or no answers it, and the target begins with neither"
            yield broken("answer-type", question.id, message, mild=True)
        if (found := _SO_MANY.search(asked)) and not _lists(question, wanted_count(found[1])):
            message = f'asks for "{found[0]}" and the target lists another number of things'
            yield broken("answer-count", question.id, message)


def wanted_count(word: str) -> int:
    """Return the number that a word or a numeral says."""
    return int(word) if word.isdigit() else _COUNTS[word.casefold()]


def _lacks(asked: str, target: str) -> str | None:
    if (found := _HOW_MUCH.search(asked)) and not _SIZE.search(target):
        return f'asks "{found[0]}", and the target holds no number or measure'
    if (found := _DIGITS.search(asked) or _TEMPORAL.search(asked)) and not re.search(r"\d", target):
        return f'asks "{found[0]}", and the target holds no number'
    if (found := _NAMED.search(asked)) and not _names(target):
        return f'asks "{found[0]}", and the target holds no name of one'
    if (found := _WHO.search(asked)) and not re.search(
        r"[A-Z]|\bnobody\b|\banyone\b|`", target[:1].lower() + target[1:]
    ):
        return f'asks "{found[0]}", and the target names nobody'
    return None


def _names(target: str) -> bool:
    return bool(asserted(target)) or _MARKED.search(target[:1].lower() + target[1:]) is not None


def _says_yes_or_no(asked: str, target: str) -> bool:
    if re.search(r"\bor\b", asked, re.IGNORECASE):
        return True
    return (
        re.match(
            r"\W*(?:yes|no|not|never|always|only|neither|both|none|it (?:is|does|can|was)|they)\b",
            target,
            re.IGNORECASE,
        )
        is not None
    )


def _lists(question: Question, wanted: int) -> bool:
    items = [item for item in _ITEM.split(re.sub(r"\([^)]*\)|\{[^}]*\}", "x", question.target)) if item.strip(" .")]
    lists = sum(len(claim.must) for claim in question.claims)
    held = {len(items), len(asserted(question.target)), len(question.claims), lists}
    return wanted in held or re.search(rf"\b{wanted}\b", question.target) is not None
