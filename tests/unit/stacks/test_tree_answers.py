"""How the selector's answer is read: every form that counts, and every one that is refused with its reason."""

from __future__ import annotations

import json
import time

import pytest

from ragassay.plugins.stacks.tree.answer import ANSWER_CHARACTERS, Form, Unusable, numbers, picked
from ragassay.plugins.stacks.tree.nodes import Node

LIST, THINKING, SCHEMA = Form(), Form(thinking=True), Form(schema=True)


def node(name: str, *chunks: str) -> Node:
    """Return a node of that path."""
    return Node(path=name, summary="", chunks=chunks, own=bool(chunks))


NODES = [node("a", "a#0"), node("b", "b#0"), node("c", "c#0"), node("empty")]


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("[3, 1]", [3, 1]),
        (" [2]\n", [2]),
        ("[]", []),
        ("none", []),
        ("None.", []),
        ("2", [2]),
        ("2.", [2]),
        ("3\n1\n", [3, 1]),
        ("3, 1", [3, 1]),
        ("```json\n[3, 1]\n```", [3, 1]),
        ("```\n2\n```", [2]),
        ("<think>\nIs it [1]? No, rather 2.\n</think>\n\n[2]", [2]),
    ],
)
def test_a_list_of_numbers_is_an_answer(reply: str, found: list[int]) -> None:
    """An array, or numbers by themselves; a fence and a block of thoughts are passed over."""
    assert numbers(reply, LIST) == found


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "it is empty"),
        ("<think>all of it</think>", "it is empty"),
        ("``` ```", "it is empty"),
        ("The answer is [2].", "not a JSON array"),
        ("[2] because it fits", "not a JSON array"),
        ("[1] [2]", "not a JSON array"),
        ('["2"]', "not a JSON array"),
        ("[2.5]", "not a JSON array"),
        ("[true]", "not a JSON array"),
        ("[[2]]", "not a JSON array"),
        ("[2,", "not a JSON array"),
        ("1. Intro", "not a JSON array"),
        ("٣", "not a JSON array"),
        ('{"nodes": [2]}', "not a JSON array"),
        ("[" * 20_000, "not a JSON array"),
        ("\ud800", "not a JSON array"),
        ("<think>[2]", "not a JSON array"),
        ("none of them, but 2 is near", "not a JSON array"),
        ("1 " * ANSWER_CHARACTERS, "longer than 20,000 characters"),
    ],
)
def test_anything_else_is_refused(reply: str, why: str) -> None:
    """A number inside a sentence is never taken for a choice."""
    with pytest.raises(Unusable, match=why):
        numbers(reply, LIST)


@pytest.mark.parametrize("form", [THINKING, SCHEMA])
def test_an_object_is_the_answer_where_one_was_asked_for(form: Form) -> None:
    """`nodes` counts; a bare list, another field and a missing one do not."""
    assert numbers('{"thinking": "2 is about it", "nodes": [2, 1]}', form) == [2, 1]
    assert numbers('{"nodes": []}', form) == []
    for reply in ("[2]", "2", "none", '{"thinking": "2"}', '{"nodes": [2], "sure": true}', '{"nodes": "2"}'):
        with pytest.raises(Unusable, match='one JSON object with "nodes"'):
            numbers(reply, form)


@pytest.mark.parametrize(
    "reply", ["```" + " " * 19_000 + "x", "1" + ", " * 9_000 + "x", "<think>" * 2_000, "1 " * 9_000 + "x"]
)
def test_a_reply_that_repeats_itself_is_refused_at_once(reply: str) -> None:
    """Small models fill their output with one sign; reading it takes no longer for that."""
    started = time.perf_counter()
    with pytest.raises(Unusable, match="not a JSON array"):
        numbers(reply, LIST)
    assert time.perf_counter() - started < 2


def test_the_first_of_a_longer_choice_are_taken() -> None:
    """An answer is an order, best first; what stands after the last place is read and left off."""
    assert [one.path for one in picked("[3, 1, 2]", NODES, 2, LIST)] == ["c", "a"]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("[5]", "no number 5, only 1 to 4"),
        ("[0]", "no number 0"),
        ("[-1]", "no number -1"),
        ("[1, 99999999999999999999999]", "no number 99999999999999999999999|not a JSON array"),
        ("[1, 2, 1]", "the number 1 stands in it twice"),
        ("[1, 4]", "number 4, 'empty', has no text, neither itself nor below it"),
        ("[1, 2, 9]", "no number 9"),
    ],
)
def test_a_choice_that_cannot_be_delivered_is_refused(reply: str, why: str) -> None:
    """An unknown number, a repeated one and a node without text are told, even after the last place."""
    with pytest.raises(Unusable, match=why):
        picked(reply, NODES, 2, LIST)


def test_a_schema_allows_the_numbers_of_the_list_alone() -> None:
    """It is sent as `response_format`; without it a call adds nothing to the model's parameters."""
    assert LIST.params(9, 2) == THINKING.params(9, 2) == {}
    sent = json.loads(json.dumps(SCHEMA.params(3, 2)))["response_format"]
    assert (sent["type"], sent["json_schema"]["strict"]) == ("json_schema", True)
    schema = sent["json_schema"]["schema"]
    assert schema["properties"]["nodes"] == {
        "type": "array",
        "items": {"type": "integer", "enum": [1, 2, 3]},
        "maxItems": 2,
    }
    both = Form(thinking=True, schema=True).params(3, 2)["response_format"]["json_schema"]["schema"]
    assert both["required"] == list(both["properties"]) == ["thinking", "nodes"]


def test_each_form_has_a_prompt_of_its_own() -> None:
    """The example in the prompt is read as an answer by the same form."""
    prompts = {form.prompt.id for form in (LIST, THINKING, SCHEMA)}
    assert prompts == {"tree/1", "tree-thinking/1", "tree-object/1"}
    for form, example in ((LIST, "[12, 3]"), (SCHEMA, '{"nodes": [12, 3]}')):
        assert example in form.prompt.system
        assert numbers(example, form) == [12, 3]
