"""The extractive reader: verbatim sentences, at most two, the same on every machine, good on real pages."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.errors import InputError, ModelError
from ragassay.fold import LITERAL, find
from ragassay.plugins.models.reader import ID, NOT_FOUND, Reader, read
from ragassay.plugins.models.reader_score import terms
from ragassay.plugins.models.reader_text import sentences
from ragassay.records import JSON, Message

VALVES = "The red valve opens at 9 bar. It is checked once a year. The blue valve opens at 4 bar, e.g. in winter."


def texts(chunk: str) -> list[str]:
    """Return the sentences of a chunk as texts."""
    return [sentence.text for sentence in sentences(chunk)]


def test_nothing_delivered_is_not_found() -> None:
    """Without a chunk the answer is the two words, exactly."""
    assert read("At which pressure does the blue valve open?", []) == "not found"


@pytest.mark.parametrize("chunk", ["", "  \n ", "---", "Tomatoes like sun. Basil too."])
def test_nothing_that_matches_is_not_found(chunk: str) -> None:
    """A sentence that shares no term with the question is never returned."""
    assert read("At which pressure does the blue valve open?", [chunk]) == NOT_FOUND


def test_the_best_sentences_stand_in_delivered_order() -> None:
    """At most two sentences, verbatim, one per line, in the order in which they were delivered."""
    assert read("At which pressure does the blue valve open?", ["Pressure is measured in bar.", VALVES]) == (
        "Pressure is measured in bar.\nThe blue valve opens at 4 bar, e.g. in winter."
    )


def test_a_repeated_sentence_counts_once() -> None:
    """Overlapping chunks do not fill both places with one sentence."""
    answer = read("Which valve opens at 9 bar?", ["The red valve opens at 9 bar.", VALVES])
    assert answer.splitlines()[0] == "The red valve opens at 9 bar."
    assert answer.count("The red valve") == 1


def test_ties_go_to_the_earlier_sentence() -> None:
    """Equal sentences are taken in delivered order."""
    chunks = ["Valve A is blue.", "Valve B is blue.", "Valve C is blue."]
    assert read("What is blue?", chunks) == "Valve A is blue.\nValve B is blue."


@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        ("One is 1.5, i.e. more. Two is 2.", ["One is 1.5, i.e. more.", "Two is 2."]),
        ("# Title\n\nA line of prose.", ["A line of prose."]),
        ("# Title", ["# Title"]),
        ("| a | b |\n|---|---|\n| one | two words |", ["| a | b |", "| one | two words |"]),
        (
            "| kind | default value | meaning |\n| top_k | 5 by default | hits |",
            [
                "| kind | default value | meaning |",
                "| top_k | 5 by default | hits |",
            ],
        ),
        (
            "These have tier 3 support:\n\n- Pyston\n- Another one here",
            ["These have tier 3 support: - Pyston - Another one here"],
        ),
        (
            "Run it so:\n\n```console\n$ tool run --fast\n```\n\nThen stop it again.",
            [
                "Run it so: $ tool run --fast",
                "Then stop it again.",
            ],
        ),
        ("field size\n\n1 GB at most in all versions", ["field size 1 GB at most in all versions"]),
        (
            "A wrapped line of prose that is long enough to go on\nin the next line. End of it all.",
            [
                "A wrapped line of prose that is long enough to go on in the next line.",
                "End of it all.",
            ],
        ),
        ("term\n:   its definition follows here", ["term : its definition follows here"]),
        ("Code\tName\n2201F\tpower\n2201G\twidth_bucket", ["Code Name", "2201F power", "2201G width_bucket"]),
        ("[1]\nThe first chunk says so.", ["The first chunk says so."]),
    ],
)
def test_markup_is_cut_into_readable_pieces(chunk: str, expected: list[str]) -> None:
    """Rows, items and code are sentences; a lead with a colon and a bare term keep what follows them."""
    assert texts(chunk) == expected


@settings(deadline=None)
@given(st.text(), st.lists(st.text(), max_size=5))
def test_an_answer_is_made_of_delivered_words(question: str, chunks: list[str]) -> None:
    """Whatever the input: at most two lines, every word delivered, or the two words of nothing found."""
    answer = read(question, chunks)
    delivered = " ".join(chunks).split()
    lines = answer.split("\n")
    assert len(lines) <= 2
    assert answer == NOT_FOUND or all(word in delivered for line in lines for word in line.split())


@settings(deadline=None)
@given(st.text())
def test_reading_a_text_twice_is_the_same(text: str) -> None:
    """Cutting and stemming are functions of the text."""
    assert texts(text) == texts(text)
    assert terms(text) == terms(text)


def test_the_answer_does_not_depend_on_the_hash_seed() -> None:
    """Processes with other hash seeds give the same bytes."""
    code = (
        "from ragassay.plugins.models.reader import read;"
        "print(read('Which blue or red valve opens at most at 4 bar?', "
        "['A red valve. A blue one opens.', 'At 4 bar it opens. So.']))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "7")
    }
    assert len(said) == 1


def ask(*messages: Message, params: JSON | None = None) -> str | None:
    """Ask the reader as a model."""
    return asyncio.run(Reader().complete(messages, params or {})).text


def test_it_reads_system_messages_and_the_question() -> None:
    """Chunks come from system messages, the question from the user message; parameters change nothing."""
    chunk, question = Message(role="system", content=VALVES), Message(role="user", content="When is red checked?")
    assert ask(chunk, question) == ask(chunk, question, params={"temperature": 1, "max_tokens": 1})
    assert ask(question) == NOT_FOUND


def test_chunks_inside_the_question_are_refused() -> None:
    """A template that the reader cannot read is an error, not a board full of "not found"."""
    for messages in (
        [Message(role="user", content="Context:\n\n[1]\nx\n\nQuestion: y")],
        [Message(role="system", content="x")],
    ):
        with pytest.raises(ModelError) as caught:
            ask(*messages)
        assert (caught.value.kind, caught.value.retryable) == ("bad_request", False)


def test_its_parameters_are_fixed() -> None:
    """The description of version 1 is part of every row's identity, so it may not change under its name."""
    assert Reader().describe() == {
        "kind": "reader",
        "id": "reader/1",
        "parameters": {
            "context": {"after": "0.1", "before": "0.4", "heading": "0.3", "two_before": "0.3"},
            "cue_bonus": "1",
            "lead_chars": 400,
            "length_share": "0.1",
            "length_terms": 20,
            "long_chars": 600,
            "next_bonus": "0.8",
            "pair_weight": "0.3",
            "seen_weight": "0.3",
            "short_words": 3,
            "stem_chars": 6,
            "wrapped_chars": 50,
        },
    }


def test_other_versions_and_parameters_are_refused() -> None:
    """There is one reader and it takes no parameters."""
    assert Reader(ID).describe()["id"] == ID
    for options in ({"id": "reader/2"}, {"params": {"max_tokens": 5}}):
        with pytest.raises(InputError):
            Reader(**options)


def test_five_long_chunks_take_milliseconds() -> None:
    """Five chunks of 256 words are read in under 25 ms even on a busy machine (about 1 ms on an idle one)."""
    chunk = " ".join(f"The valve number {n} opens at {n % 17} bar in part {n % 5}." for n in range(25))
    read("warm", [chunk])
    best = min(_seconds(["At which pressure does valve number 9 open?"], [chunk] * 5) for _ in range(5))
    assert best < 0.025


def _seconds(questions: list[str], chunks: list[str]) -> float:
    started = time.perf_counter()
    for question in questions:
        read(question, [f"{n} {chunk}" for n, chunk in enumerate(chunks)])
    return time.perf_counter() - started


def test_gold_passages_of_real_documentation_are_answered(shared_data: Path) -> None:
    """On 30 real pages, with the window around the evidence delivered, nearly every claim's literals are returned."""
    samples = msgspec.json.decode((shared_data / "uv-docs" / "questions.json").read_bytes())["samples"]
    right = total = 0
    for sample in samples:
        page = (shared_data / "uv-docs" / "corpus" / sample["page"]).read_text()
        answer = read(sample["input"], [_window(page, sample["evidence"])])
        for claim in sample["claims"]:
            total += 1
            right += all(any(find(literal, answer, LITERAL) for literal in group) for group in claim["must"])
    assert total == 35
    assert right / total >= 0.9


def _window(page: str, evidence: str) -> str:
    """Return the lines around the evidence: about 1,000 characters before and after it, cut at line ends."""
    match = find(evidence, page, ("whitespace",))
    assert match is not None
    start = page.rfind("\n", 0, max(0, match.start - 1000)) + 1
    end = page.find("\n", min(len(page) - 1, match.end + 1000))
    return page[start : end if end > 0 else len(page)]
