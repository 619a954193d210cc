"""A worksheet per passage, for a person: what to write from, the rules in short, and room for a question."""

from __future__ import annotations

import json
import re
from typing import Any, Literal, NamedTuple

import msgspec

from ragassay import canon
from ragassay.question import tree
from ragassay.question.sample import read_sample
from ragassay.question.written import fields
from ragassay.records import Question

HELP = (
    "Write one question about one fact of the passage. It ends with ?, names its subject in full (no 'this page', no "
    "'it'), asks for one thing, and holds no part of its answer. target: the shortest right answer. evidence: copied "
    "from the passage word for word, the shortest that holds the whole answer. claims: what an answer has to say, "
    "mostly one; `must` is a list of lists: each inner list needs one hit in an answer; leave `claims` as it is to "
    "split later. Where the passage states no checkable fact, write true for unsuitable; the next passage then gets a "
    "sheet. Leave everything else as it is."
)
_EMPTY: dict[str, Any] = {"text": "", "central": True, "must": [], "must_not": []}

SheetState = Literal["empty", "half", "filled", "unsuitable"]


class WrittenSheet(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of a worksheet."""

    how: str
    page: str
    title: str
    place: dict[str, int]
    passage: str
    question: str
    target: str
    evidence: str
    claims: list[Any]
    unsuitable: bool


class Shown(NamedTuple):
    """What a worksheet shows: the page, its title, where the passage stands in its text, and the passage."""

    page: str
    title: str
    start: int
    end: int
    passage: str


class SheetRead(NamedTuple):
    """What was written on a worksheet: how far it is, the question where it is filled, and what is still empty."""

    state: SheetState
    question: Question | None = None
    lacking: tuple[str, ...] = ()


def sheet_name(slot: int, number: int, page: str) -> str:
    """Return the file name of the `number`-th worksheet of a place: both count from 1."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", page)[:60].strip("-.")
    return f"{slot:04d}-{number}-{plain or 'page'}.json"


def empty_sheet(shown: Shown) -> bytes:
    """Return a worksheet before anybody wrote on it."""
    sheet = {"how": HELP, **_shown(shown), **_unwritten()}
    canon.canonical(sheet)
    return (json.dumps(sheet, ensure_ascii=False, indent=1) + "\n").encode("utf-8")


def read_sheet(data: bytes, shown: Shown, problems: list[str]) -> SheetRead | None:
    """Return what was written on the worksheet, or None after adding every problem in it."""
    before = len(problems)
    try:
        value = tree.parse(tree.decode(data), "", problems)
    except ValueError as error:
        problems.append(str(error))
        return None
    taken = None if len(problems) > before else fields(value, WrittenSheet, "", problems)
    if taken is None or len(problems) > before:
        return None
    for key, is_ in _shown(shown).items():
        if taken[key] != is_:
            problems.append(f"{key}: is not that of the plan; the question is written from it, so put it back")
    if len(problems) > before:
        return None
    lacking = tuple(key for key in ("question", "target", "evidence") if not taken[key].strip())
    written = {key: taken[key] for key in _unwritten()}
    if taken["unsuitable"]:
        return SheetRead("unsuitable")
    if written == _unwritten():
        return SheetRead("empty")
    if lacking:
        return SheetRead("half", lacking=lacking)
    question = _question(taken, problems)
    return None if question is None else SheetRead("filled", question)


def _question(taken: dict[str, Any], problems: list[str]) -> Question | None:
    sample = {
        "input": taken["question"].strip(),
        "target": taken["target"].strip(),
        "evidence": taken["evidence"].strip(),
    }
    claims = [] if taken["claims"] == [_EMPTY] else taken["claims"]
    own: list[str] = []
    question = read_sample({**sample, "claims": claims}, "", "draft", own)
    problems += [re.sub(r"^input\b", "question", problem) for problem in own]
    return question


def _shown(shown: Shown) -> dict[str, Any]:
    return {
        "page": shown.page,
        "title": shown.title,
        "place": {"start": shown.start, "end": shown.end},
        "passage": shown.passage,
    }


def _unwritten() -> dict[str, Any]:
    return {"question": "", "target": "", "evidence": "", "claims": [_EMPTY], "unsuitable": False}
