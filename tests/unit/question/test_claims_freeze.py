"""Decisions on proposals, the frozen file, its version and its hashes."""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay import canon
from ragassay.errors import InputError
from ragassay.question import parse_benchmark
from ragassay.question.freeze import (
    claims_hash,
    claims_hashes,
    decided,
    frozen_benchmark,
    next_version,
    rejected,
    suggested_must,
)
from ragassay.question.proposals import Draft, Proposal, current, decode_review, encode_review, proposed
from ragassay.records import Benchmark, Claim, Provenance, Question


def question(number: int = 1, **other: Any) -> Question:
    """Return a question about a port, unsplit."""
    target = f"Port {8000 + number}."
    whole = Claim(id=1, text=target, central=True)
    sound = {"id": f"q-{number}", "input": f"On which port does server {number} listen?", "target": target}
    made = {**sound, "claims": (whole,), "evidence": (f"It listens on port {8000 + number}.",), "unsplit": True}
    return Question(**{**made, **other})


def draft(number: int = 1) -> Draft:
    """Return the sound claim for that question."""
    port = str(8000 + number)
    claim = Claim(id=1, text=f"Server {number} listens on port {port}.", central=True, must=((port,),))
    return Draft(claims=(claim,), reference_sufficient=True)


def proposal(number: int = 1) -> Proposal:
    """Return a model's proposal for that question."""
    made = proposed(question(number), draft(number), source="model", reply="0" * 64, round=1)
    return msgspec.structs.replace(made, model="some-model", prompt="1" * 64)


def taken(number: int = 1) -> Proposal:
    """Return the proposal, accepted."""
    return decided(proposal(number), question(number), draft(number), reviewer="B. Reader", at=5)


SET = Benchmark(name="set", questions=(question(1), question(2)), version="1.0.0")


def test_a_decision_says_who_when_and_whether_it_was_edited() -> None:
    """The proposed draft is accepted, another one edited; both carry reviewer and time."""
    other = msgspec.structs.replace(draft(), claims=(msgspec.structs.replace(draft().claims[0], must=()),))
    edited = decided(proposal(), question(), other, reviewer="B. Reader", at=7)
    assert (taken().status, taken().reviewer, taken().decided_at) == ("accepted", "B. Reader", 5)
    assert (edited.status, edited.draft, edited.decided_at) == ("edited", other, 7)
    again = decided(edited, question(), other, reviewer="C. Reader", at=9)
    assert (again.status, again.reviewer) == ("edited", "C. Reader")
    assert rejected(proposal(), reviewer="B. Reader", at=6).status == "rejected"


def test_nobody_can_accept_what_code_refuses() -> None:
    """An insufficient reference and a claim that adds a fact cannot be taken; all errors are listed."""
    insufficient = Draft(claims=draft().claims, reference_sufficient=False)
    with pytest.raises(InputError, match="insufficient"):
        decided(proposal(), question(), insufficient, reviewer="B. Reader", at=5)
    wrong = Claim(id=1, text="Server 1 listens on port 9.", central=True, must=(("9",),))
    with pytest.raises(InputError) as caught:
        decided(proposal(), question(), Draft(claims=(wrong,), reference_sufficient=True), reviewer="B", at=5)
    assert {one.split(":")[0] for one in caught.value.problems} == {"adds-facts", "target-fails", "key-literal"}


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "\u202e"])
def test_a_reviewer_has_a_name(name: str) -> None:
    """A blank or unprintable name is refused."""
    with pytest.raises(InputError, match="--reviewer"):
        rejected(proposal(), reviewer=name, at=1)


def test_only_what_a_person_took_is_frozen() -> None:
    """Accepted claims come in with provenance; proposed and rejected ones leave their question as it was."""
    frozen = frozen_benchmark(SET, {"q-1": taken(1), "q-2": proposal(2)}, "1.0.1")
    first, second = frozen.questions
    assert (first.claims, first.unsplit) == (draft(1).claims, False)
    assert first.provenance == Provenance(tool="claims: some-model", reviewed_by="B. Reader")
    assert second == question(2)
    assert frozen.version == "1.0.1"
    assert frozen.item_set_digest() == SET.item_set_digest()
    assert frozen.digest() != SET.digest()
    none = frozen_benchmark(SET, {"q-1": rejected(proposal(1), reviewer="B", at=1)}, "2")
    assert none.questions == SET.questions


def test_a_frozen_file_reads_back_as_it_is() -> None:
    """The canonical bytes of the new version parse to the same benchmark."""
    frozen = frozen_benchmark(SET, {"q-1": taken(1)}, "1.0.1")
    assert parse_benchmark(frozen.full_form(), name="x", suffix=".json") == frozen


def test_provenance_keeps_what_it_said_and_says_it_once() -> None:
    """Author, day and first tool stay; a second freezing replaces what the first wrote of itself."""
    before = Provenance(author="A. Writer", tool="pencil", created="2026-01-01", derived_from_system=False)
    benchmark = Benchmark(name="set", questions=(question(1, provenance=before),))
    once = frozen_benchmark(benchmark, {"q-1": taken(1)}, "1")
    twice = frozen_benchmark(once, {"q-1": msgspec.structs.replace(taken(1), model="other")}, "2")
    hand = msgspec.structs.replace(taken(1), source="hand", model=None, prompt=None)
    third = frozen_benchmark(twice, {"q-1": hand}, "3")
    tools = [one.questions[0].provenance for one in (once, twice, third)]
    assert [one and one.tool for one in tools] == ["pencil; claims: some-model", "pencil; claims: other", "pencil"]
    assert all(one and (one.author, one.created) == ("A. Writer", "2026-01-01") for one in tools)


def test_a_version_must_change_and_be_printable() -> None:
    """The same version, a blank and one with a line break are refused."""
    for version in ("1.0.0", "", "a\nb"):
        with pytest.raises(InputError, match="version"):
            frozen_benchmark(SET, {"q-1": taken(1)}, version)


@pytest.mark.parametrize(
    ("before", "after"), [("0", "1"), ("1.0.3", "1.0.4"), ("v9", "v10"), ("2026-08", "2026-9"), ("1.0-rc", None)]
)
def test_the_next_version_raises_the_last_number(before: str, after: str | None) -> None:
    """A version that ends in no number has no next one: the person names it."""
    if after is None:
        with pytest.raises(InputError, match="--version"):
            next_version(before)
    else:
        assert next_version(before) == after


def test_literals_are_suggested_from_the_target_alone() -> None:
    """What target, claim and evidence hold and the question does not; nothing where there is nothing."""
    assert suggested_must(question(), "Server 1 listens on port 8001.") == (("8001",),)
    assert suggested_must(question(), "Server 1 listens.") == ()
    assert suggested_must(question(evidence=("On port eight thousand and one.",)), "Port 8001.") == ()
    assert suggested_must(question(input="Is it port 8001?"), "Port 8001.") == ()


@given(st.randoms(use_true_random=False))
def test_the_hash_depends_on_no_order(shuffle: random.Random) -> None:
    """Keys and questions in any order give the same hashes; a changed letter gives others."""
    questions = list(frozen_benchmark(SET, {"q-1": taken(1), "q-2": taken(2)}, "2").questions)
    each, whole = claims_hashes(questions)
    written = [
        (key, json.loads(canon.canonical(msgspec.to_builtins(one))), one.id) for key, one in enumerate(questions)
    ]
    shuffle.shuffle(written)
    samples = []
    for _, value, _ in written:
        pairs = list(value.items())
        shuffle.shuffle(pairs)
        samples.append(dict(pairs))
    read = parse_benchmark(json.dumps({"samples": samples}).encode(), name="x", suffix=".json")
    assert claims_hashes(read.questions) == (each, whole)
    claim = msgspec.structs.replace(questions[0].claims[0], text="Server 1 listens on port 8001!")
    changed = msgspec.structs.replace(questions[0], claims=(claim,))
    assert claims_hash(changed) != each[questions[0].id]


def test_the_hash_is_that_of_the_documented_bytes() -> None:
    """It is the SHA-256 of the canonical claims and id, which anybody can compute; unsplit questions have none."""
    first = frozen_benchmark(SET, {"q-1": taken(1)}, "2").questions
    claims = [{"id": 1, "text": "Server 1 listens on port 8001.", "central": True, "must": [["8001"]], "must_not": []}]
    expected = canon.digest({"question": "q-1", "claims": claims})
    assert claims_hashes(first) == ({"q-1": expected}, canon.digest({"q-1": expected}))


def test_a_review_file_is_canonical_and_reads_back() -> None:
    """What is written is read again; one canonical line per question."""
    proposals = [taken(1), proposal(2)]
    data = encode_review(proposals)
    assert decode_review(data) == proposals
    assert all(canon.load_canonical(line, max_bytes=10_000) for line in data.splitlines())


def test_a_spoiled_review_file_is_refused_with_every_line() -> None:
    """A changed byte, a second line for a question, a decision without a name: each is named, nothing is taken."""
    good = encode_review([proposal(1)])
    undecided = msgspec.structs.replace(proposal(2), status="accepted")
    nameless = msgspec.structs.replace(proposal(3), model=None)
    data = good + good + b'{"a": 1}\n' + encode_review([undecided, nameless]) + good[:20]
    with pytest.raises(InputError) as caught:
        decode_review(data)
    said = "\n".join(caught.value.problems)
    assert [f"line {number}:" in said for number in (1, 2, 3, 4, 5, 6)] == [False, True, True, True, True, True]


def test_a_proposal_for_another_text_of_the_question_is_stale() -> None:
    """A changed input, target or evidence, and a question that is gone, take their proposals out of use."""
    found, stale = current([taken(1), taken(2)], [question(1), question(2, target="Port 8002!")])
    assert (list(found), stale) == (["q-1"], ["q-2"])
    assert current([taken(1)], []) == ({}, ["q-1"])
