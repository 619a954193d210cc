"""A worksheet per question, filled in by hand: target and evidence to write from, and room for claims."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from ragassay import canon
from ragassay.question import tree
from ragassay.question.proposals import Draft
from ragassay.question.sample import read_sample
from ragassay.question.written import fields
from ragassay.records import Question, to_json

HELP = (
    "Write 1 to 8 claims, each one statement that names its subject; exactly one is central unless the question asks "
    "for several things. `must` is a list of lists: each inner list needs one hit in an answer. Say whether target and "
    "evidence suffice (true or false). Leave everything else as it is."
)
_EMPTY: dict[str, Any] = {"text": "", "central": True, "must": [], "must_not": []}


class WrittenSheet(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of a worksheet."""

    how: str
    id: str
    input: str
    target: str
    evidence: tuple[str, ...]
    claims: list[Any]
    reference_sufficient: bool | None


class WrittenDraft(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of what an editor is given."""

    claims: list[Any]
    reference_sufficient: bool


def sheet_name(question: Question, position: int) -> str:
    """Return the file name of a question's worksheet: its position from 1, and what of its id can stand in a name."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", question.id)[:60].strip("-.")
    return f"{position:04d}-{plain or 'question'}.json"


def empty_sheet(question: Question) -> bytes:
    """Return the worksheet of a question before anybody wrote on it."""
    sheet = {
        "how": HELP,
        "id": question.id,
        "input": question.input,
        "target": question.target,
        "evidence": list(question.evidence),
        "claims": [_EMPTY],
        "reference_sufficient": None,
    }
    return _pretty(sheet)


def editable(draft: Draft) -> bytes:
    """Return a draft as text for an editor."""
    claims = [{key: value for key, value in to_json(claim).items() if key != "id"} for claim in draft.claims]
    return _pretty({"claims": claims, "reference_sufficient": draft.reference_sufficient})


def read_sheet(data: bytes, question: Question) -> tuple[Draft | None, list[str]]:
    """Return what was written on the worksheet of `question`, and every problem in it.

    Nothing and no problem means that nobody wrote on it yet.
    """
    problems: list[str] = []
    value = _parsed(data, problems)
    taken = None if problems else fields(value, WrittenSheet, "", problems)
    if taken is None or problems:
        return None, problems
    for key in ("id", "input", "target"):
        if taken[key] != getattr(question, key):
            problems.append(
                f"{key}: is not that of the question file, for which claims are written; change it there first"
            )
    if taken["evidence"] != question.evidence:
        problems.append("evidence: is not that of the question file; change it there first")
    untouched = taken["claims"] == [_EMPTY] and taken["reference_sufficient"] is None
    if untouched or problems:
        return None, problems
    if taken["reference_sufficient"] is None:
        return None, ["reference_sufficient: is null; write true, or false where target or evidence do not suffice"]
    return _draft(taken["claims"], taken["reference_sufficient"], question, problems), problems


def read_edited(text: str, question: Question) -> tuple[Draft | None, list[str]]:
    """Return the draft that an editor left, or None and every problem in it."""
    problems: list[str] = []
    value = _parsed(text.encode("utf-8", "replace"), problems)
    taken = None if problems else fields(value, WrittenDraft, "", problems)
    if taken is None or problems:
        return None, problems
    return _draft(taken["claims"], taken["reference_sufficient"], question, problems), problems


def _parsed(data: bytes, problems: list[str]) -> object:
    try:
        return tree.parse(tree.decode(data), "", problems)
    except ValueError as error:
        problems.append(str(error))
        return None


def _draft(claims: list[Any], sufficient: bool, question: Question, problems: list[str]) -> Draft | None:
    if not sufficient and claims in ([], [_EMPTY]):
        return Draft(claims=(), reference_sufficient=False)
    if not claims:
        problems.append("claims: there is none; write 1 to 8")
        return None
    written = {"id": question.id, "input": question.input, "target": question.target, "claims": claims}
    read = read_sample(written, "", question.id, problems)
    return None if read is None else Draft(claims=read.claims, reference_sufficient=sufficient)


def _pretty(value: object) -> bytes:
    canon.canonical(value)
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode("utf-8")
