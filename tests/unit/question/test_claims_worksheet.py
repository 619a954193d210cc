"""Worksheets and edited drafts: what was written is taken exactly, and every problem is listed at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragassay.question.proposals import Draft
from ragassay.question.worksheet import editable, empty_sheet, read_edited, read_sheet, sheet_name
from ragassay.records import Claim, Question

QUESTION = Question(
    id="port/1",
    input="On which port?",
    target="Port 8080.",
    claims=(Claim(id=1, text="Port 8080.", central=True),),
    evidence=("It listens on port 8080.",),
    unsplit=True,
)
CLAIM = {"text": "The server listens on port 8080.", "central": True, "must": [["8080"]]}


def sheet(**changed: Any) -> bytes:
    """Return the worksheet with some keys changed."""
    return json.dumps({**json.loads(empty_sheet(QUESTION)), **changed}).encode()


def test_an_untouched_worksheet_is_no_draft_and_no_problem() -> None:
    """Nobody wrote on it yet."""
    assert read_sheet(empty_sheet(QUESTION), QUESTION) == (None, [])


def test_a_filled_worksheet_is_a_draft() -> None:
    """Claims get their ids by position, whatever white space the editor left."""
    draft, problems = read_sheet(sheet(claims=[CLAIM], reference_sufficient=True), QUESTION)
    assert problems == []
    assert draft is not None
    assert draft.claims == (Claim(id=1, text=CLAIM["text"], central=True, must=(("8080",),)),)  # type: ignore[arg-type]


def test_an_insufficient_reference_needs_no_claims() -> None:
    """Whoever finds the reference wanting says so and writes nothing else."""
    written: list[Any] = json.loads(empty_sheet(QUESTION))["claims"]
    for claims in (list[Any](), written):
        draft, problems = read_sheet(sheet(claims=claims, reference_sufficient=False), QUESTION)
        assert (draft, problems) == (Draft(claims=(), reference_sufficient=False), [])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"target": "Port 80."}, "target: is not that"),
        ({"evidence": []}, "evidence: is not that"),
        ({"id": "other"}, "id: is not that"),
        ({"claims": [CLAIM]}, "reference_sufficient: is null"),
        ({"claims": [], "reference_sufficient": True}, "claims: there is none"),
        ({"claims": [{**CLAIM, "musst": []}], "reference_sufficient": True}, "did you mean 'must'"),
        ({"claims": [{**CLAIM, "central": False}], "reference_sufficient": True}, "none is central"),
        ({"claims": [{**CLAIM, "text": " "}], "reference_sufficient": True}, "claims[0].text: is blank"),
        ({"claims": [{**CLAIM, "must": [[]]}], "reference_sufficient": True}, "claims[0].must[0]"),
        ({"reference_sufficient": "yes"}, "reference_sufficient"),
        ({"extra": 1}, "extra: unknown key"),
    ],
)
def test_a_worksheet_that_cannot_be_taken_says_where(changed: dict[str, Any], said: str) -> None:
    """Each problem names its place, and nothing is taken."""
    draft, problems = read_sheet(sheet(**changed), QUESTION)
    assert draft is None
    assert any(said in problem for problem in problems)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe", b'{"id": 1.5}', b"[" * 5000])
def test_bytes_that_are_no_worksheet_are_a_problem(data: bytes) -> None:
    """Broken files are named and never raise anything else."""
    draft, problems = read_sheet(data, QUESTION)
    assert draft is None
    assert problems


def test_all_problems_of_a_worksheet_are_listed_at_once() -> None:
    """Two bad claims are two problems."""
    bad = [{**CLAIM, "text": ""}, {**CLAIM, "must": [[""]]}]
    _, problems = read_sheet(sheet(claims=bad, reference_sufficient=True), QUESTION)
    assert len(problems) == 2


def test_an_edited_draft_reads_back() -> None:
    """What the editor is given and leaves unchanged is the same draft; broken text is a problem."""
    claim = Claim(id=1, text="Port 8080.", central=True, must=(("8080", "eighty-eighty"),), must_not=("80",))
    draft = Draft(claims=(claim,), reference_sufficient=True)
    assert read_edited(editable(draft).decode(), QUESTION) == (draft, [])
    assert read_edited("{", QUESTION)[0] is None
    assert read_edited('{"claims": []}', QUESTION)[0] is None


def test_a_worksheet_is_named_so_that_no_folder_is_left() -> None:
    """Position and what of the id can stand in a name; no id leads out of the folder."""
    assert sheet_name(QUESTION, 3) == "0003-port-1.json"
    for identity in ("../../etc", "..", "a b\u202e", "\u00e9"):
        name = sheet_name(Question(id=identity, input="i", target="t", claims=()), 1)
        assert "/" not in name
        assert name.startswith("0001-")
