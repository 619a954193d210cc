"""The rules of the lint: name, severity, what is wrong, and what each needs to be looked at."""

from __future__ import annotations

from typing import Literal

from ragassay.records import Record

Needs = Literal["", "corpus", "embedder"]


class Rule(Record, frozen=True):
    """One rule; `mild` says when its finding is a warning although the rule is an error."""

    name: str
    severity: Literal["error", "warning"]
    meaning: str
    needs: Needs = ""
    mild: str = ""
    fixed: bool = False
    """True when `--fix` can mend it."""


def _error(name: str, meaning: str, *, needs: Needs = "", mild: str = "", fixed: bool = False) -> Rule:
    return Rule(name=name, severity="error", meaning=meaning, needs=needs, mild=mild, fixed=fixed)


def _warning(name: str, meaning: str, *, needs: Needs = "", fixed: bool = False) -> Rule:
    return Rule(name=name, severity="warning", meaning=meaning, needs=needs, fixed=fixed)


RULES: tuple[Rule, ...] = (
    # stands alone
    _error(
        "deictic", "question or target points at a text that the reader does not see: this page, as shown above, here"
    ),
    _error("pronoun", "the question has a pronoun (it, they, he, we) and nothing before it that it could stand for"),
    _error("unnamed", "the question is about a speaker, an author or a scene without a name"),
    _error(
        "time-deictic",
        "what is asked depends on the day of asking: last week, yesterday, currently",
        mild="for currently, now, today, recently",
    ),
    _error(
        "subject",
        "the question names no product, identifier, option, quoted name or term of few pages",
        mild="without a corpus",
    ),
    # one fact, asked as a question
    _error("several-asked", "the question asks for more things than the reference has claims"),
    _error("no-question", "it does not end with a question mark", fixed=True),
    _warning("yes-no", "yes or no, or one of two, answers it, so guessing is right half the time"),
    _error("multiple-choice", "the answer is to be picked from a list inside the question"),
    _warning("negated", "asked with a capital NOT or EXCEPT, a negated verb in front, or two negations"),
    _warning("question-long", "the question has more than 50 words"),
    _error("placeholder", "question or target holds a note such as TODO or TBD"),
    _warning(
        "untidy", "question or target holds outer or doubled spaces, or letters that are not composed (NFC)", fixed=True
    ),
    # the target
    _error("target-long", "the target has more than 60 words", mild="from 41 words on"),
    _warning("target-restates", "the target repeats the question in place of answering it shortly"),
    _error("target-unfounded", "the target says code, a name or a number that neither evidence nor question holds"),
    _error(
        "answer-type",
        "the target does not answer what is asked: no number to how many, no identifier to which variable",
        mild="for other question words than how many",
    ),
    _error("answer-count", "the question asks for two, three, four … things, and the target lists another number"),
    _error(
        "answer-in-question", "every word of the target stands in the question", mild="for a part of a claim's literals"
    ),
    # the claims
    _error("target-fails", "the target holds no literal of a list of one of its own claims"),
    _error(
        "question-answers",
        "the question's own text holds a claim's literals, so an echo would be credited",
        mild="for a claim that is not central",
    ),
    _error("must-not-hits", "a `must_not` literal stands in the target or in the evidence"),
    _error(
        "key-literal",
        "an evidence text lacks what the target hinges on: the literals of the central claims, or, where no claim has "
        "literals, the code, options, names with underscores and numbers of the target",
    ),
    _warning("claim-beyond-target", "a claim says code, a name or a number that the target does not say"),
    _warning("target-uncovered", "the target says code, a name or a number that no claim says"),
    _error("claim-repeated", "two claims of one question say the same"),
    _warning("unsplit", "the question has no claims: its target counts as the one claim, and nobody reviewed it"),
    # the evidence
    _warning("evidence-none", "the question has no evidence, though a corpus is given or other questions have some"),
    _error("evidence-short", "an evidence text has fewer than three words and fewer than 20 characters"),
    _warning("evidence-long", "an evidence text has more than 1,000 characters"),
    _error("evidence-missing", "an evidence text stands nowhere in the corpus", needs="corpus"),
    _error("evidence-elsewhere", "it does not stand on the page that the question declares", needs="corpus"),
    _error("evidence-twice", "it stands on two or more pages", needs="corpus"),
    _error("evidence-repeats", "it stands twice or more on its page", needs="corpus"),
    _error("page-unknown", "the corpus has no page of the declared name", needs="corpus"),
    _warning(
        "answered-elsewhere",
        "another page holds the central literals beside most words of the question",
        needs="corpus",
    ),
    # the set
    _error("passage-shared", "the evidence of two questions overlaps", needs="corpus"),
    _warning("passage-near", "the evidence of two questions stands less than 200 characters apart", needs="corpus"),
    _warning("page-shared", "two questions rest on one page; the method gives each its own", needs="corpus"),
    _warning("question-repeated", "two questions differ only in case, spacing or typography"),
    _warning("near-duplicate", "two questions share most of their words, or ask alike for the same target"),
    _warning("same-meaning", "two questions are similar to an embedding model", needs="embedder"),
    # where it comes from
    _warning("author-missing", "nobody is named who wrote the question"),
    _warning("derived-unknown", "nothing says whether the question was made from what a system under test returned"),
    _warning("derived-from-system", "it was made from what a system under test returned, which favours that system"),
    _warning("self-reviewed", "author and reviewer are one"),
    _warning("created-no-date", "`created` is no date such as 2026-11-30"),
    # the waivers
    _error("waiver-wrong", "a waiver has no reason, or names a rule or a question that there is not"),
    _warning("waiver-unused", "a waiver waives nothing; take it out"),
)
BY_NAME = {rule.name: rule for rule in RULES}
