"""What code can say against proposed claims before a person freezes them; each finding names its claim."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from ragassay.question.asserted import asserted, unfounded, unknown_names, words
from ragassay.question.claims import missing_lists
from ragassay.question.rules import literals_hold
from ragassay.question.written import text_problem
from ragassay.records import Claim, Question, Record

ClaimRule = Literal[
    "insufficient",
    "count",
    "ids",
    "central",
    "text",
    "literals",
    "duplicate",
    "adds-facts",
    "claim-fails",
    "target-fails",
    "question-answers",
    "must-not-hits",
    "key-literal",
    "several-central",
    "self-contained",
    "atomic",
    "names",
]
MAX_CLAIMS = 8
MAX_TEXT = 500
"""Characters of a claim."""
MAX_LISTS = 16
MAX_ALTERNATIVES = 32
MAX_LITERAL = 200
"""Lists of a claim, literals of a list, characters of a literal."""

_PRONOUN = re.compile(
    r"(it|its|they|their|them|this|that|these|those|he|she|his|her|such|there|both|here|the (former|latter|same))\b",
    re.IGNORECASE,
)
_POINTS_AT_PAGE = re.compile(
    r"\b(this|the) (page|document|passage|section|paragraph|evidence|reference|text above)\b|\bas (shown|described) "
    r"(above|below)\b",
    re.IGNORECASE,
)
_SECOND_SENTENCE = re.compile(r"[^.\s]{3}[.!?]\s+[A-Z]|;\s")
_OF_THE_QUESTION: frozenset[str] = frozenset({"key-literal", "insufficient"})


class ClaimFinding(Record, frozen=True):
    """One thing against proposed claims; `claim` is its id, None for the claims as a whole."""

    rule: ClaimRule
    severity: Literal["error", "warning"]
    message: str
    claim: int | None = None

    @property
    def of_question(self) -> bool:
        """True when other claims would not mend it: the question, its target or its evidence is at fault."""
        return self.rule in _OF_THE_QUESTION


def check_claims(question: Question, claims: Sequence[Claim], sufficient: bool) -> list[ClaimFinding]:
    """Return everything that code has against `claims` as the frozen claims of `question`, errors first."""
    found = list(_whole(claims, sufficient))
    sources = (question.input, question.target, *question.evidence)
    for claim in claims:
        found += _form(claim)
        found += _content(claim, sources)
    found += _duplicates(claims)
    if claims and not any(finding.severity == "error" and finding.rule == "literals" for finding in found):
        found += _linted(question, claims)
    return sorted(found, key=lambda finding: finding.severity)


def forbidding(findings: Sequence[ClaimFinding]) -> list[ClaimFinding]:
    """Return the findings that forbid to freeze."""
    return [finding for finding in findings if finding.severity == "error"]


def _error(rule: ClaimRule, message: str, claim: Claim | None = None) -> ClaimFinding:
    return _finding(rule, "error", message, claim)


def _warning(rule: ClaimRule, message: str, claim: Claim | None = None) -> ClaimFinding:
    return _finding(rule, "warning", message, claim)


def _finding(rule: ClaimRule, severity: Literal["error", "warning"], message: str, claim: Claim | None) -> ClaimFinding:
    where = f"claim {claim.id}: " if claim else ""
    return ClaimFinding(rule=rule, severity=severity, message=where + message, claim=claim.id if claim else None)


def _whole(claims: Sequence[Claim], sufficient: bool) -> Iterator[ClaimFinding]:
    if not sufficient:
        yield _error("insufficient", "the reference is marked insufficient; mend target or evidence, or leave it out")
    if not 1 <= len(claims) <= MAX_CLAIMS:
        yield _error("count", f"there are {len(claims)} claims; a question has 1 to {MAX_CLAIMS}")
    if [claim.id for claim in claims] != list(range(1, len(claims) + 1)):
        yield _error("ids", f"the ids are {[claim.id for claim in claims]}; they count from 1 in order")
    central = [claim.id for claim in claims if claim.central]
    if claims and not central:
        yield _error("central", "no claim is central; mark the one that answers the question")
    if len(central) > 1:
        message = f"{len(central)} claims are central; right only if the question asks for each"
        yield _warning("several-central", message)


def _form(claim: Claim) -> Iterator[ClaimFinding]:
    if problem := _line_problem(claim.text, MAX_TEXT):
        yield _error("text", f"the text {problem}", claim)
    if len(claim.must) > MAX_LISTS or len(claim.must_not) > MAX_ALTERNATIVES:
        yield _error("literals", f"at most {MAX_LISTS} lists in `must` and {MAX_ALTERNATIVES} in `must_not`", claim)
    for number, literals in enumerate(claim.must):
        if not literals or len(literals) > MAX_ALTERNATIVES:
            message = f"must[{number}] has {len(literals)} literals; 1 to {MAX_ALTERNATIVES} are allowed"
            yield _error("literals", message, claim)
    for literal in (*(literal for literals in claim.must for literal in literals), *claim.must_not):
        if problem := _line_problem(literal, MAX_LITERAL):
            yield _error("literals", f"the literal {literal[:40]!r} {problem}", claim)


def _line_problem(text: str, most: int) -> str | None:
    if problem := text_problem(text):
        return problem
    if len(text) > most:
        return f"has {len(text)} characters, more than {most}"
    bad = next((char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")), None)
    return None if bad is None else f"holds the control character U+{ord(bad):04X}"


def _content(claim: Claim, sources: Sequence[str]) -> Iterator[ClaimFinding]:
    if new := unfounded(claim.text, sources):
        message = f"says {_quoted(new)}, which stands in neither question, target nor evidence"
        yield _error("adds-facts", message, claim)
    for literals in missing_lists(claim, claim.text):
        yield _error("claim-fails", f"its own text holds none of {_quoted(literals)}", claim)
    if found := _PRONOUN.match(claim.text.strip()):
        yield _warning("self-contained", f"begins with {found[0]!r}; name what it is about", claim)
    if found := _POINTS_AT_PAGE.search(claim.text):
        yield _warning("self-contained", f"points at {found[0]!r}, which no answer shows", claim)
    if _SECOND_SENTENCE.search(claim.text):
        yield _warning("atomic", "seems to hold more than one statement; split it", claim)
    if names := unknown_names(claim.text, sources):
        yield _warning("names", f"names {_quoted(names)}, which neither question, target nor evidence does", claim)


def _duplicates(claims: Sequence[Claim]) -> Iterator[ClaimFinding]:
    """Yield each claim that says what an earlier one says: the same lookups, and four fifths of the words shared."""
    for index, claim in enumerate(claims):
        for other in claims[:index]:
            first, second = words(other.text), words(claim.text)
            same = set(asserted(other.text)) == set(asserted(claim.text))
            if first == second or (same and 5 * len(first & second) >= 4 * len(first | second)):
                yield _error("duplicate", f"says what claim {other.id} says", claim)


def _linted(question: Question, claims: Sequence[Claim]) -> Iterator[ClaimFinding]:
    """Yield what `questions lint` would say of the question with these claims."""
    changed = msgspec.structs.replace(question, claims=tuple(claims), unsplit=False)
    for finding in literals_hold(changed):
        number = re.match(r"claim (\d+): ", finding.message)
        yield ClaimFinding(
            rule=finding.rule,  # type: ignore[arg-type]  # only the rules of literals, which are named above
            severity=finding.severity,
            message=finding.message,
            claim=int(number[1]) if number else None,
        )


def _quoted(texts: Sequence[str]) -> str:
    return ", ".join(f'"{text}"' for text in texts)
