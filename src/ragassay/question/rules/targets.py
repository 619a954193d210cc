"""Is the target short, founded on the evidence, and an answer to what is asked without standing in the question."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragassay.literals import first_hit
from ragassay.question.asserted import unfounded
from ragassay.question.rules.asked import is_polar
from ragassay.question.rules.finding import LintFinding, broken, quoted
from ragassay.question.rules.material import Material
from ragassay.question.rules.words import content, share
from ragassay.records import Question

MAX_WORDS = 60
"""Words of a target; more are an error."""
LONG_WORDS = 40
"""Words of a target; more are a warning."""
RESTATED = 0.8
"""Share of the question's words that a target repeats at most."""
RESTATED_WORDS = 6
"""Words that a question has at least, where repeating them is remarkable."""

_POLAR_ANSWER = re.compile(r"^(?:yes|no|both|neither|only|either|always|never|true|false)\b", re.IGNORECASE)


def target_is_sound(material: Material) -> Iterator[LintFinding]:
    """Yield targets that are long, repeat the question, say what nothing holds, or stand in the question."""
    for question in material.benchmark.questions:
        words = len(question.target.split())
        if words > LONG_WORDS:
            message = f"the target has {words} words; the shortest right answer has fewer than {LONG_WORDS}"
            yield broken("target-long", question.id, message, mild=words <= MAX_WORDS)
        asked, answered = content(question.input), content(question.target)
        if len(set(asked)) >= RESTATED_WORDS and share(asked, answered) >= RESTATED:
            message = "the target repeats the question; write the shortest right answer"
            yield broken("target-restates", question.id, message)
        sources = (question.input, *question.evidence)
        if question.evidence and (new := unfounded(question.target, sources)):
            message = f"the target says {quoted(new)}, which stands in neither evidence nor question"
            yield broken("target-unfounded", question.id, message)
        yield from _leaks(question, asked, answered)


def _leaks(question: Question, asked: tuple[str, ...], answered: tuple[str, ...]) -> Iterator[LintFinding]:
    offers = " or " in question.input and " or " not in question.target
    if is_polar(question) or offers or _POLAR_ANSWER.match(question.target):
        return
    if answered and set(answered) <= set(asked):
        yield broken(
            "answer-in-question", question.id, "every word of the target stands in the question; ask without it"
        )
        return
    for claim in question.claims:
        held = [" | ".join(lists) for lists in claim.must if first_hit(lists, question.input) is not None]
        if claim.central and held and len(held) < len(claim.must):
            message = f"claim {claim.id}: the question holds {quoted(held)}, a part of the answer"
            yield broken("answer-in-question", question.id, message, mild=True)
