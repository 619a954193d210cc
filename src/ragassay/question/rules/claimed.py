"""What target, claims and literals say of one another."""

from __future__ import annotations

from collections.abc import Iterator

from ragassay.literals import first_hit, hits
from ragassay.question import claims
from ragassay.question.asserted import asserted, unfounded, words
from ragassay.question.rules.finding import LintFinding, broken, quoted
from ragassay.question.rules.material import Material
from ragassay.records import Claim, Question

ALIKE = (4, 5)
"""From this share of their words on, two claims that name the same things say the same."""


def literals_hold(question: Question) -> Iterator[LintFinding]:
    """Yield what the literals of the claims of one question say against its target, its text and its evidence."""
    for claim in question.claims:
        where = f"claim {claim.id}"
        for lists in claims.missing_lists(claim, question.target):
            yield broken("target-fails", question.id, f"{where}: the target holds none of {quoted(lists)}")
        if claims.supports(claim, question.input):
            message = f"{where}: the question's own text holds its literals, so an echo would be credited"
            yield broken("question-answers", question.id, message, mild=not claim.central)
        for name, text in (("target", question.target), *evidence_of(question)):
            if found := claims.forbidden(claim, text):
                message = f"{where}: must_not {quoted(found)} stands in the {name}"
                yield broken("must-not-hits", question.id, message)
    for name, text in evidence_of(question):
        if missing := claims.key_literals_missing(question, text):
            message = f"the {name} does not hold what the target hinges on: {quoted(missing)}"
            yield broken("key-literal", question.id, message)


def claims_fit(material: Material) -> Iterator[LintFinding]:
    """Yield literals that do not hold, claims beyond the target, and parts of the target that no claim says."""
    for question in material.benchmark.questions:
        yield from literals_hold(question)
        if question.unsplit:
            continue
        sources = (question.target, question.input)
        for claim in question.claims:
            if new := unfounded(claim.text, sources):
                message = f"claim {claim.id} says {quoted(new)}, which the target does not say"
                yield broken("claim-beyond-target", question.id, message)
        if left := _uncovered(question):
            yield broken("target-uncovered", question.id, f"no claim says {quoted(left)}; claim it, or leave it out")
        yield from _repeated(question)


def evidence_of(question: Question) -> Iterator[tuple[str, str]]:
    """Yield each evidence text of a question with the name by which messages call it."""
    for index, text in enumerate(question.evidence):
        yield ("evidence" if len(question.evidence) == 1 else f"evidence[{index}]"), text


def _uncovered(question: Question) -> list[str]:
    literals = [literal for claim in question.claims for lists in claim.must for literal in lists]
    sources = (question.input, *(claim.text for claim in question.claims), *literals)
    return [token for token in unfounded(question.target, sources) if not first_hit(literals, token)]


def _repeated(question: Question) -> Iterator[LintFinding]:
    for index, claim in enumerate(question.claims):
        for other in question.claims[:index]:
            if _same(other, claim):
                yield broken(
                    "claim-repeated", question.id, f"claim {claim.id} says what claim {other.id} says; keep one"
                )


def _same(one: Claim, other: Claim) -> bool:
    first, second = words(one.text), words(other.text)
    if first == second:
        return True
    alike = ALIKE[1] * len(first & second) >= ALIKE[0] * len(first | second)
    return alike and set(asserted(one.text)) == set(asserted(other.text)) and not _differs(one, other)


def _differs(one: Claim, other: Claim) -> bool:
    """True when the literals of the claims cannot both be met by one of the claims' own texts."""
    return any(not any(hits(literal, one.text) for literal in lists) for lists in other.must)
