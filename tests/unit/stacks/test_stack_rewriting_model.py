"""What multiquery and hyde do with what their model says, and with a model that says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.bm25 import BM25
from ragassay.plugins.stacks.hyde import HyDE
from ragassay.plugins.stacks.multiquery import MultiQuery, wordings
from ragassay.plugins.stacks.prompted import Prompt
from ragassay.records import Hit, Message, Reply
from ragassay.testing.blocking_model import BlockingScript
from ragassay.testing.stack_contract import corpus, ignore_progress

CHUNKS = corpus(["the retry limit is three", "cache folders are cleared", "a proxy is named by url", "nothing here"])


class Listening:
    """A stack that remembers what it was asked, over bm25."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []
        self.inner = BM25().build(CHUNKS, {}, ignore_progress)
        self.closed = 0

    def search(self, text: str, k: int) -> Sequence[Hit]:
        """Remember and search."""
        self.asked.append((text, k))
        return self.inner.search(text, k)

    def describe(self) -> Any:
        """Say bm25's."""
        return self.inner.describe()

    def close(self) -> None:
        """Count."""
        self.closed += 1


def built(stack: Any, reply: Any, **params: Any) -> tuple[Any, Listening, BlockingScript]:
    """Return the built wrapper, what it wraps and its model."""
    inner = Listening()
    model = BlockingScript(reply if callable(reply) else lambda _: reply)
    return stack(**params).build(CHUNKS, {"of": inner, "model": model}, ignore_progress), inner, model


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("one\n two \n\nthree\nfour", ["one", "two", "three"]),
        ("1. one\n2) two\n- three", ["one", "two", "three"]),
        ('"quoted"\n* starred', ["quoted", "starred"]),
        ("3.11 is a version", ["3.11 is a version"]),
        ("x" * 5000, ["x" * 1000]),
    ],
)
def test_wordings_are_lines(reply: str, found: list[str]) -> None:
    """Marks of a list go, text that only looks like one stays, and the length is capped."""
    assert wordings(reply, 3) == found


@pytest.mark.parametrize("reply", ["", "  \n \t\n"])
@pytest.mark.parametrize("stack", [MultiQuery, HyDE])
def test_a_silent_model_is_a_failure(stack: Any, reply: str) -> None:
    """The question alone never stands in for what the model did not write."""
    index, inner, _ = built(stack, reply)
    with pytest.raises(StackError, match="the model wrote no"):
        index.search("retry limit", 2)
    assert inner.asked == []


@pytest.mark.parametrize("stack", [MultiQuery, HyDE])
def test_a_reply_without_text_is_a_failure(stack: Any) -> None:
    """A null text is silence."""
    index, _, _ = built(stack, lambda _: Reply(text=None))
    with pytest.raises(StackError, match="the model wrote no"):
        index.search("retry limit", 2)


@pytest.mark.parametrize("stack", [MultiQuery, HyDE])
def test_a_model_that_is_down_is_a_failure(stack: Any) -> None:
    """What the model raises reaches the caller."""

    def down(_: Sequence[Message]) -> str:
        raise StackError("the stack's model is down")

    index, inner, _ = built(stack, down)
    with pytest.raises(StackError, match="is down"):
        index.search("retry limit", 2)
    assert inner.asked == []


def test_each_wording_is_searched_once() -> None:
    """The question first, then every different wording, each to the same depth."""
    index, inner, model = built(MultiQuery, "cache\nproxy\ncache", queries=3, depth=5)
    hits = index.search("retry limit", 4)
    assert inner.asked == [("retry limit", 5), ("cache", 5), ("proxy", 5)]
    assert {hit.chunk for hit in hits} == {chunk.id for chunk in CHUNKS[:3]}
    assert "Write 3 other wordings" in model.calls[0][0][1].content


def test_the_passage_is_searched_for_and_not_the_question() -> None:
    """With one passage the hits are the wrapped stack's, scores included."""
    index, inner, _ = built(HyDE, "a proxy is named by its url", depth=3)
    hits = index.search("How is a gateway set?", 1)
    assert inner.asked == [("a proxy is named by its url", 3)]
    assert hits == inner.inner.search("a proxy is named by its url", 3)[:1]


def test_several_passages_and_the_question_are_fused() -> None:
    """The model is asked once for each passage."""
    said = iter(["cache folders", "retry limit"])
    index, inner, model = built(HyDE, lambda _: next(said), passages=2, with_question=True)
    index.search("proxy", 3)
    assert [text for text, _ in inner.asked] == ["cache folders", "retry limit", "proxy"]
    assert len(model.calls) == 2


@pytest.mark.parametrize("stack", [MultiQuery, HyDE])
def test_the_description_holds_prompt_and_model(stack: Any) -> None:
    """A changed prompt is another row."""
    about = built(stack, "x")[0].describe()
    assert about["model"] == {"kind": "scripted", "id": "scripted/1"}
    assert about["prompt"]["id"].endswith("/1")
    assert len(about["prompt"]["sha256"]) == 64
    assert about["of"]["kind"] == "bm25"


@pytest.mark.parametrize("stack", [MultiQuery, HyDE])
def test_model_and_stack_are_needed(stack: Any) -> None:
    """Each missing part is named with what to write."""
    inner = BM25().build(CHUNKS, {}, ignore_progress)
    with pytest.raises(InputError, match="needs a language model"):
        stack().build(CHUNKS, {"of": inner}, ignore_progress)
    with pytest.raises(InputError, match="needs one stack to wrap"):
        stack().build(CHUNKS, {"model": BlockingScript(lambda _: "x")}, ignore_progress)


def test_a_prompt_puts_each_text_in_once() -> None:
    """Braces in a question are text, whatever they name."""
    prompt = Prompt(id="x/1", system="s", user="{a} and {b}.")
    assert prompt.filled(a="{b}", b="{a}{")[1].content == "{b} and {a}{."
