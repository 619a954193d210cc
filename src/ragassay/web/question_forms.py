"""A question as the fields of a form, and such fields as a question again; nothing hidden is lost. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from ragassay.question.sample import read_sample
from ragassay.records import JSON, Question
from ragassay.site.safe import visible

FIELDS = ("input", "target", "page", "topic", "evidence", "claims")


def form_json(question: Question) -> JSON:
    """Return the fields of a question with what steers or hides written out; no claims where it has none of its own."""
    claims = () if question.unsplit else question.claims
    return {
        "input": visible(question.input),
        "target": visible(question.target),
        "page": visible(question.page or ""),
        "topic": visible(question.topic or ""),
        "evidence": [visible(text) for text in question.evidence],
        "claims": [
            {
                "text": visible(claim.text),
                "central": claim.central,
                "must": [[visible(literal) for literal in literals] for literals in claim.must],
                "must_not": [visible(literal) for literal in claim.must_not],
            }
            for claim in claims
        ],
    }


def read_form(form: JSON, question: Question, edited: Question | None) -> tuple[Question | None, list[str]]:
    """Return the question as the fields have it, with its own id and provenance, or None with every problem.

    A field that still reads as that of the question, or of the edited one that stands, is that field, with everything
    in it that was written out; in any other, `[U+202E]` is what somebody typed.
    """
    problems = [f"{name}: unknown key" for name in form if name not in FIELDS]
    questions = [one for one in (edited, question) if one is not None]
    written = {
        name: _unwritten(form[name], {visible(text): text for one in questions for text in _texts(one, name)})
        for name in FIELDS
        if name in form
    }
    for name in ("page", "topic"):
        if written.get(name) == "":
            del written[name]
    read = read_sample({"id": question.id, **written}, "", question.id, problems)
    if read is None or problems:
        return None, problems
    return msgspec.structs.replace(read, provenance=question.provenance), []


def _texts(question: Question, field: str) -> Iterable[str]:
    if field == "evidence":
        yield from question.evidence
    elif field == "claims":
        for claim in question.claims:
            yield claim.text
            yield from claim.must_not
            yield from (literal for literals in claim.must for literal in literals)
    else:
        yield getattr(question, field) or ""


def _unwritten(value: Any, hidden: dict[str, str]) -> Any:
    if isinstance(value, str):
        return hidden.get(value, value)
    if isinstance(value, list):
        return [_unwritten(member, hidden) for member in value]
    if isinstance(value, dict):
        return {name: _unwritten(member, hidden) for name, member in value.items()}
    return value
