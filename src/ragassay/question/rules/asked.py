"""How a question asks: one thing per claim, with a question mark, openly, in few words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragassay.question.printable import plural
from ragassay.question.rules.finding import LintFinding, broken
from ragassay.question.rules.material import Material
from ragassay.question.rules.words import AUXILIARIES, prose
from ragassay.records import Question

MAX_WORDS = 50
"""Words of a question, without a warning."""

_END = re.compile(r"[?？؟;]['\"”’)\]*_]*$")
_SENTENCE = re.compile(r"(?<=[.?!？])['\"”)]?\s+(?=[^\sa-z])")
_AUX = "|".join(sorted(AUXILIARIES - {"am", "be", "been", "being", "done"}))
_PREPOSITION = r"(?:in|on|at|by|for|from|to|with|of|under|after|through|into|until|since)"
_HEAD = rf"(?:{_PREPOSITION} )?(?:what|which|who|whom|whose|why|how)\b"
_TIMED = rf"(?:when|where) (?:{_AUX})\b"
_JOINED = re.compile(
    rf"(?:\band|\bplus|;)(?: also| then| if so| in that case| again)?,? (?:{_HEAD}|{_TIMED}|"
    rf"(?:(?<=and )|(?<=and also ))(?:{_AUX}) (?:that|it|its|this|they|there|the|an?|[A-Z`])\b)",
    re.IGNORECASE,
)
_ASKING = re.compile(rf"\b(?:{_HEAD}|{_TIMED})|(?:^|, )(?:{_AUX}) ", re.IGNORECASE)
_OPENS = re.compile(
    rf"^(?:(?:{_PREPOSITION}|when|where|if|while|after|before|once|given|according|besides)\b[^?]*?, (?:then )?)?"
    rf"(?:{_HEAD}|{_TIMED}|(?:{_AUX}) )",
    re.IGNORECASE,
)
"""How a clause begins that asks: a relative clause inside a statement is none."""
_LISTED = re.compile(
    rf"(?:^|, )(?:{_PREPOSITION} )?(?:what|how|why) (?:{_AUX}|many|much|long|far|often)\b", re.IGNORECASE
)
"""Questions in a row, set off by commas alone."""
_ASKS_NOT = re.compile(r"^(?:is|are|do|does|did|was|were|ca|could|wo|would|should|has|have|must)n't\b", re.IGNORECASE)
_CAPITAL_NOT = re.compile(r"(?<![A-Z] )\b(?:NOT|EXCEPT)\b(?! [A-Z]{2,})")
_NEGATION = re.compile(r"\bnot\b|\w+n't\b|\bnever\b|\bcannot\b|\bneither\b", re.IGNORECASE)
_CHOICE = re.compile(
    r"\b(?:which|what|any|all|none|one) of (?:the following|these|those)\b|\btrue or false\b|"
    r"\b(?:all|none) of the above\b|\b(?:choose|select|pick|tick) (?:one|the (?:right|correct|best)|all)\b|"
    r"(?<!\w)\(?[aA1][).:] .{1,200}(?<!\w)\(?[bB2][).:] ",
    re.IGNORECASE | re.DOTALL,
)
_POLAR = re.compile(rf"(?:^|, (?:then )?)(?:{_AUX}|isn't|aren't|doesn't|don't|didn't|can't|won't) ", re.IGNORECASE)
_ASKS = re.compile(
    rf"(?:^|\b{_PREPOSITION} |\band |, )(?:what|which|who|whom|whose|why|how|when|where)\b", re.IGNORECASE
)
_SUBORDINATE = re.compile(
    r"^(?:when|where|if|while|after|before|once|although|since|unless|because|as)\b(?!,)[^?]*?, ", re.IGNORECASE
)


def asks_well(material: Material) -> Iterator[LintFinding]:
    """Yield questions that ask for too much, for a choice, for yes or no, or not as a question."""
    for question in material.benchmark.questions:
        text = prose(question.input).strip()
        asked = things_asked(text)
        if asked > max(1, len(question.claims)) and not question.unsplit:
            claims = plural(len(question.claims), "claim")
            message = f"asks for {asked} things and its reference has {claims}; ask for one, or claim each"
            yield broken("several-asked", question.id, message)
        if not ends_as_question(question.input):
            yield broken("no-question", question.id, "does not end with a question mark; ask it as a question")
        if found := _CHOICE.search(text):
            message = f'"{found[0][:40]}" lets the answer be picked from a list; ask openly'
            yield broken("multiple-choice", question.id, message)
        elif is_polar(question):
            message = "yes or no, or one of two, answers it: guessing is right half the time; ask for the fact itself"
            yield broken("yes-no", question.id, message)
        if found := _CAPITAL_NOT.search(text) or _ASKS_NOT.search(text):
            yield broken("negated", question.id, f'"{found[0]}" asks for what is not; ask for what is')
        elif len(_NEGATION.findall(text)) > 1:
            yield broken("negated", question.id, "holds two negations; ask without them")
        if (words := len(question.input.split())) > MAX_WORDS:
            message = f"has {words} words, more than {MAX_WORDS}; say only what the answer depends on"
            yield broken("question-long", question.id, message)


def ends_as_question(text: str) -> bool:
    """True when `text` ends with a question mark; quotes and brackets may close behind it."""
    return _END.search(text.strip()) is not None


def begins_as_question(text: str) -> bool:
    """True when the last sentence of `text` begins with a question word, so that a question mark is all it lacks."""
    last = _SENTENCE.split(text.strip())[-1]
    return re.match(rf"(?:{_HEAD}|{_TIMED})", last, re.IGNORECASE) is not None


def things_asked(text: str) -> int:
    """Return how many things a question asks for: sentences with a question mark, questions in a row or joined."""
    sentences = [sentence for sentence in _SENTENCE.split(text) if ends_as_question(sentence)]
    return sum(_joined(sentence) for sentence in sentences)


def is_polar(question: Question) -> bool:
    """True when yes or no, or one of two things, answers the question."""
    last = _SENTENCE.split(prose(question.input).strip())[-1]
    return _POLAR.search(last) is not None and _ASKS.search(_SUBORDINATE.sub("", last)) is None


def _joined(sentence: str) -> int:
    """Return the questions of a sentence; what leads up to the first `and which` or `; which` may be no question."""
    joined = list(_JOINED.finditer(sentence))
    if not joined:
        return 1
    before = sentence[: joined[0].start()]
    asks = _OPENS if joined[0][0].startswith(";") else _ASKING
    listed = len(_LISTED.findall(before))
    return len(joined) + max(listed, int(asks.search(before) is not None))
