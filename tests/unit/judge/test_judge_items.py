"""What a judge may see, and the empty answer that needs no judge."""

from __future__ import annotations

import msgspec
import pytest

from ragassay.judge import build_item, is_empty, settle_empty
from ragassay.records import Claim, Question
from ragassay.score import item_hundredths

QUESTION = Question(
    id="q-1",
    input="Which port?",
    target="Port 5432.",
    claims=(Claim(id=1, text="The port is 5432.", central=True), Claim(id=2, text="It is TCP.", central=False)),
    page="secret-page.md",
    topic="secret-topic",
    evidence=("listens on 5432",),
)


def test_profile_2_sees_no_retrieved_text() -> None:
    """Profile 2 gets claims and evidence; retrieved texts are left out even when they are handed over."""
    item = build_item(QUESTION, "5432", ["a chunk"], "factual-consistency/2")
    assert item.contexts == ()
    assert item.evidence == ("listens on 5432",)
    assert item.claims == QUESTION.claims


def test_profile_1_sees_what_was_retrieved() -> None:
    """Profile 1 gets the retrieved texts in order and no evidence."""
    item = build_item(QUESTION, "5432", ["one", "two"], "factual-consistency/1")
    assert (item.contexts, item.evidence) == (("one", "two"), ())


def test_an_item_is_blind() -> None:
    """Nothing of the row, the page, the topic or the question's id is in an item."""
    names = {
        field.name for field in msgspec.structs.fields(type(build_item(QUESTION, "", [], "factual-consistency/2")))
    }
    assert names == {"question", "reference", "evidence", "claims", "answer", "contexts"}


@pytest.mark.parametrize("answer", ["", " \n\t", "\u200b\u2060", "\x00", "\ufeff "])
def test_an_empty_answer_omits_everything(answer: str) -> None:
    """An answer with nothing to read is settled by code as all OMITS and scores 0 in both profiles."""
    for profile in ("factual-consistency/1", "factual-consistency/2"):
        item = build_item(QUESTION, answer, [], profile)
        verdict = settle_empty(item)
        assert is_empty(item)
        assert [claim.verdict for claim in verdict.claims] == ["OMITS", "OMITS"]
        assert verdict.answer_kind == "empty"
        assert item_hundredths(verdict) == 0


def test_an_answer_is_never_settled_without_a_judge() -> None:
    """Settling refuses an answer that says something, and an item that has nothing to omit."""
    with pytest.raises(ValueError, match="only an empty answer"):
        settle_empty(build_item(QUESTION, "x", [], "factual-consistency/2"))
    bare = msgspec.structs.replace(build_item(QUESTION, "", [], "factual-consistency/2"), claims=())
    with pytest.raises(ValueError, match="without claims"):
        settle_empty(bare)
