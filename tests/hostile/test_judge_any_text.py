"""Whatever a judge says, reading it gives a verdict or says that it is invalid; nothing else comes out."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay import canon
from ragassay.judge import InvalidReply, read_verdict
from ragassay.judge.candidate import MAX_REPLY_CHARS
from ragassay.records import Claim, JudgeItem, Profile, RawVerdict, Verdict, to_json
from ragassay.score import item_hundredths
from ragassay.testing.judge_reply import profile1_reply, profile2_reply

PROFILES: tuple[Profile, ...] = ("factual-consistency/1", "factual-consistency/2")
CLAIMS = (Claim(id=1, text="c", central=True), Claim(id=2, text="d", central=False))
ITEM = JudgeItem(question="q", reference="r", evidence=(), claims=CLAIMS, answer="The answer is 5, or five.")
VALID = {
    "factual-consistency/1": profile1_reply([("c", "SUPPORTS"), ("d", "OMITS")], "n0"),
    "factual-consistency/2": profile2_reply(ITEM, ["SUPPORTS", "OMITS"], "n0"),
}
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["SUPPORTS", "n0", "The answer", "answer", 1, 2, "1", "\ud800", "\x00"]),
)
NAMES = st.sampled_from(
    ["claims", "verdicts", "id", "quote", "reason", "verdict", "claim", "nonce", "answer_kind", "extra_wrong",
     "injection_seen", "central_claim_contradicted", "reference_insufficient", "x"]
)  # fmt: skip
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=6))


def read(text: str | None, profile: Profile) -> Verdict | None:
    """Return the verdict, or None for an invalid reply; whatever else is raised fails the test."""
    try:
        verdict = read_verdict(RawVerdict(nonce="n0", text=text), ITEM, profile)
    except InvalidReply:
        return None
    canon.canonical(to_json(verdict))
    assert 0 <= item_hundredths(verdict) <= 100
    assert profile == "factual-consistency/1" or [claim.id for claim in verdict.claims] == [1, 2]
    return verdict


@given(st.text(), st.sampled_from(PROFILES))
def test_any_text(text: str, profile: Profile) -> None:
    """Free text is never a verdict."""
    assert read(text, profile) is None


@given(st.text(alphabet='{}[]",:\\ \n0123456789.eEnulltrefasclaimverdtsNI-\u200b\ud800'), st.sampled_from(PROFILES))
def test_text_that_looks_like_json(text: str, profile: Profile) -> None:
    """Fragments of JSON give nothing but an invalid reply."""
    assert read(text, profile) is None


@given(VALUES, st.sampled_from(PROFILES))
def test_any_json_value(value: Any, profile: Profile) -> None:
    """Any JSON value is refused: one that happened to be a whole reply would lack the nonce."""
    assert read(json.dumps(value), profile) is None


@given(st.sampled_from(PROFILES), st.data())
def test_a_valid_reply_with_any_one_member_replaced(profile: Profile, data: st.DataObject) -> None:
    """Any value in any place of a valid reply is read or refused."""
    reply = json.loads(VALID[profile])
    target = data.draw(st.sampled_from([reply, *reply["claims"]]))
    target[data.draw(st.sampled_from(sorted(target)))] = data.draw(VALUES)
    verdict = read(json.dumps(reply), profile)
    assert verdict is None or verdict == read(json.dumps(reply, indent=1), profile)


@pytest.mark.parametrize("profile", PROFILES)
def test_half_a_surrogate_pair_in_any_member_is_invalid(profile: Profile) -> None:
    """A character that no UTF-8 text holds makes the reply invalid, in the place of any member, text or not."""
    for place in (None, 0):
        whole = json.loads(VALID[profile])
        for name in whole if place is None else whole["claims"][place]:
            reply = json.loads(VALID[profile])
            target = reply if place is None else reply["claims"][place]
            target[name] = "\ud800"
            assert read(json.dumps(reply), profile) is None, name


@given(st.sampled_from(PROFILES), st.data())
def test_a_valid_reply_cut_or_spliced(profile: Profile, data: st.DataObject) -> None:
    """Cutting a piece out of a valid reply, or putting text into it, gives a verdict or an invalid reply."""
    text = VALID[profile]
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    spliced = text[:start] + data.draw(st.text(max_size=8)) + text[end:]
    verdict = read(spliced, profile)
    assert verdict is None or "n0" in spliced


@given(st.sampled_from(PROFILES), st.integers(min_value=1))
def test_a_torn_reply_is_never_a_verdict(profile: Profile, size: int) -> None:
    """No proper beginning of a valid reply is one."""
    text = VALID[profile]
    assert read(text[: size % len(text)], profile) is None


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "text",
    [
        '{"claims":' + "[" * 100_000,
        '{"a":' * 40_000,
        '{"a":' * 40_000 + "1" + "}" * 40_000,
        '{"claims":' + "[" * 2_000 + "]" * 2_000 + "}",
        "{" * 200_000,
        '{"a":"' * 40_000,
        '{"a" ' * 50_000,
        "[" * 200_000 + VALID["factual-consistency/2"],
        "}" * 200_000 + VALID["factual-consistency/2"],
        "x" * 10_000_000,
        VALID["factual-consistency/2"] + " " * MAX_REPLY_CHARS,
        '{"claims": [], "n": ' + "9" * 100_000 + "}",
        '{"claims": [{"id": ' + "9" * 4_000 + ', "quote": "", "reason": "", "verdict": "OMITS"}]}',
        '{"claims": "' + "a" * 200_000 + '"}',
    ],
    ids=[
        "list bomb", "object bomb", "closed object bomb", "lists in claims", "braces", "open strings", "no colon",
        "lists before", "closers before", "10 MB", "padded", "huge integer", "huge id", "huge string",
    ],
)  # fmt: skip
def test_bombs_are_refused_quickly(text: str, profile: Profile) -> None:
    """Deep, long and repetitive replies are invalid within a second, at any recursion limit."""
    before = time.process_time()
    assert read(text, profile) is None
    assert time.process_time() - before < 1.0
    assert sys.getrecursionlimit() > 0


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-1] + ",}",
        lambda text: text[:-1] + ', "nonce": "n0"}',
        lambda text: text.replace('"OMITS"', "NaN"),
        lambda text: text.replace('"OMITS"', "Infinity"),
        lambda text: text.replace('"OMITS"', "1e5"),
        lambda text: text.replace('"OMITS"', "null"),
        lambda text: text.replace('"OMITS"', '["OMITS"]'),
        lambda text: text.replace("false", "null", 1),
        lambda text: text.replace('"reason": "', '"reason": "\\ud800'),
        lambda text: f"[{text}]",
        lambda text: f"{text}}}",
        lambda text: "null",
        lambda text: "[]",
        lambda text: "",
        lambda text: None,
    ],
    ids=[
        "trailing comma", "duplicate key", "NaN", "Infinity", "fraction", "null verdict", "list verdict", "null flag",
        "lone surrogate", "in a list", "extra closer", "null", "empty list", "empty", "no text",
    ],
)  # fmt: skip
def test_near_misses_are_invalid(change: Any, profile: Profile) -> None:
    """A reply that is nearly JSON, or nearly of the form, is invalid; the unchanged one is valid."""
    assert read(VALID[profile], profile) is not None
    assert read(change(VALID[profile]), profile) is None
