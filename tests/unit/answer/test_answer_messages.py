"""What the answering model gets: chunks as they were delivered, the question, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay import canon
from ragassay.answer import DEFAULT_TEMPLATE, TEMPLATES, build_messages, template_named
from ragassay.errors import InputError
from ragassay.records import Delivered, Message


def delivered(*texts: str) -> list[Delivered]:
    """Return chunks with these texts, ranked in order."""
    return [
        Delivered(rank=n, chunk=f"c{n}", sha256=canon.sha256(text.encode("utf-8", "replace")), text=text, score="1")
        for n, text in enumerate(texts, 1)
    ]


def test_each_chunk_is_its_own_system_message() -> None:
    """By default chunks stand one per system message in retrieval order, then the question."""
    assert build_messages("Why?", delivered("b", "a", "b")) == (
        Message(role="system", content="b"),
        Message(role="system", content="a"),
        Message(role="system", content="b"),
        Message(role="user", content="Why?"),
    )


@pytest.mark.parametrize("template", sorted(TEMPLATES))
def test_the_control_gets_the_question_alone(template: str) -> None:
    """With nothing delivered no template adds a system prompt or a word."""
    assert build_messages("Why?", [], template) == (Message(role="user", content="Why?"),)


def test_single_system_numbers_its_chunks() -> None:
    """`single-system/1` joins the chunks in one message under their numbers."""
    assert build_messages("Why?", delivered("b", "a"), "single-system/1") == (
        Message(role="system", content="[1]\nb\n\n[2]\na"),
        Message(role="user", content="Why?"),
    )


def test_user_context_holds_everything_in_one_message() -> None:
    """`user-context/1` needs no system message."""
    assert build_messages("Why?", delivered("b", "a"), "user-context/1") == (
        Message(role="user", content="Context:\n\n[1]\nb\n\n[2]\na\n\nQuestion: Why?"),
    )


@pytest.mark.parametrize("template", sorted(TEMPLATES))
def test_placeholders_in_texts_stay_text(template: str) -> None:
    """Braces in a chunk or question are never filled in."""
    whole = "\n".join(m.content for m in build_messages("{chunks} {0}", delivered("{question} {n} {", "}"), template))
    assert "{question} {n} {" in whole
    assert "{chunks} {0}" in whole


@settings(deadline=None)
@given(st.text(), st.lists(st.text(), max_size=4), st.sampled_from(sorted(TEMPLATES)))
def test_every_text_arrives_verbatim_and_in_order(question: str, texts: list[str], template: str) -> None:
    """Whatever the characters, chunks and question stand in the messages unchanged and in order."""
    whole = "\x00".join(m.content for m in build_messages(question, delivered(*texts), template))
    at = 0
    for text in [*texts, question]:
        found = whole.find(text, at)
        assert found >= 0
        at = found + len(text)


def test_templates_have_distinct_digests() -> None:
    """A template's digest covers how it places and separates chunks, so that two never share one."""
    assert len({template.digest() for template in TEMPLATES.values()}) == len(TEMPLATES)
    assert all(name == template.name for name, template in TEMPLATES.items())


def test_the_default_template_is_fixed() -> None:
    """The published set-up stays byte for byte what it was: a change needs a new name."""
    assert template_named(DEFAULT_TEMPLATE).digest() == (
        "309d1e625a04bd2febf7dc740a6d10b4e6d5231bbed8e54a9d048c08cc8e1b90"
    )


def test_an_unknown_template_is_named_with_the_known_ones() -> None:
    """The error lists what can be chosen."""
    with pytest.raises(InputError, match="single-system/1"):
        build_messages("Why?", [], "chunks-as-system/2")
