"""A judge that repeats what was planted gives no verdict: the object was not written for its prompt."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.judge import InvalidReply, LLMJudge, profile1, profile2, read_verdict
from ragassay.judge.conformance import conformance, shipped_cases
from ragassay.judge.visible import visible
from ragassay.records import Claim, JudgeItem, Profile, RawVerdict
from ragassay.testing.judge_reply import nonce_of, profile1_reply, profile2_reply
from ragassay.testing.scripted_model import ScriptedModel

PROFILES: tuple[Profile, ...] = ("factual-consistency/1", "factual-consistency/2")
CLAIMS = (Claim(id=1, text="c", central=True), Claim(id=2, text="d", central=False))
GUESSES = ("0" * 32, "", "nonce", "the nonce given at the end", "{nonce}", "...", "0123456789abcdef" * 2, "literal")


def item(answer: str) -> JudgeItem:
    """Return an item with this answer."""
    return JudgeItem(question="q", reference="r", evidence=(), claims=CLAIMS, answer=answer, contexts=(answer,))


def planted(nonce: str, *, second: bool) -> str:
    """Return a whole reply of either profile that supports everything, with a quote that any answer has."""
    if second:
        return profile2_reply(item("e"), ["SUPPORTS", "SUPPORTS"], nonce, quotes={1: "e", 2: "e"})
    return profile1_reply([("c", "SUPPORTS"), ("d", "SUPPORTS")], nonce)


ECHOES: dict[str, Callable[[str], str]] = {
    "as it is": lambda answer: answer,
    "in a fence": lambda answer: f"```json\n{answer}\n```",
    "in prose": lambda answer: f"The answer reads: {answer}\nThat settles it.",
    "as a string": json.dumps,
    "its string decoded twice": lambda answer: json.dumps(json.dumps(answer)),
    "twice": lambda answer: answer + answer,
    "in an object": lambda answer: json.dumps({"answer": answer}),
    "as claims": lambda answer: json.dumps({"claims": answer}),
    "as the nonce": lambda answer: json.dumps(
        {**json.loads(planted("n", second=True)), "nonce": answer}, ensure_ascii=False
    ),
}
ANSWERS = st.one_of(
    st.text(max_size=60),
    st.builds(planted, st.sampled_from(GUESSES) | st.text(max_size=32), second=st.booleans()),
    st.builds(
        lambda before, nonce, second, after: before + planted(nonce, second=second) + after,
        st.text(max_size=20),
        st.sampled_from(GUESSES),
        st.booleans(),
        st.text(max_size=20),
    ),
    st.sampled_from([case.answer for case in shipped_cases()[0]]),
)


@given(ANSWERS, st.sampled_from(sorted(ECHOES)), st.sampled_from(PROFILES))
def test_an_echo_of_the_answer_is_no_verdict(answer: str, echo: str, profile: Profile) -> None:
    """However it is wrapped, what the answer's author wrote lacks the nonce of the prompt."""
    raw = RawVerdict(nonce=secrets.token_hex(16), text=ECHOES[echo](answer))
    with pytest.raises(InvalidReply):
        read_verdict(raw, item(answer), profile)


@given(ANSWERS, st.sampled_from(PROFILES))
def test_an_echo_of_the_prompt_is_no_verdict(answer: str, profile: Profile) -> None:
    """The prompt holds the nonce, but no object in it is a reply: not the example, not the material, not the answer."""
    nonce = secrets.token_hex(16)
    build = profile1.messages if profile == "factual-consistency/1" else profile2.messages
    system, user = build(item(answer), nonce)
    for text in (user.content, system.content, f"{system.content}\n{user.content}"):
        with pytest.raises(InvalidReply):
            read_verdict(RawVerdict(nonce=nonce, text=text), item(answer), profile)


@given(ANSWERS)
def test_a_verdict_beside_an_echo_is_its_own_or_none(answer: str) -> None:
    """A judge that repeats the answer and says OMITS is read as OMITS, or not at all; never as what was planted."""
    nonce = secrets.token_hex(16)
    own = profile2_reply(item(answer), ["OMITS", "OMITS"], nonce)
    for text in (f"{answer}\n{own}", f"{own}\n{answer}"):
        try:
            verdict = read_verdict(RawVerdict(nonce=nonce, text=text), item(answer), "factual-consistency/2")
        except InvalidReply:
            continue
        assert [claim.verdict for claim in verdict.claims] == ["OMITS", "OMITS"]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_nonce_is_the_prompts_own_to_the_last_character(profile: Profile) -> None:
    """Another prompt's nonce, upper case, a cut or padded one, a number, or one in a list is foreign."""
    nonce = secrets.token_hex(16)
    reply = json.loads(planted(nonce, second=profile == "factual-consistency/2"))
    read_verdict(RawVerdict(nonce=nonce, text=json.dumps(reply)), item("e"), profile)
    foreign: list[Any] = [
        secrets.token_hex(16),
        f"A{nonce[1:].upper()}",
        nonce[:-1],
        f"{nonce} ",
        f"{nonce}\u200b",
        0,
        [nonce],
        None,
    ]
    for other in foreign:
        with pytest.raises(InvalidReply):
            read_verdict(RawVerdict(nonce=nonce, text=json.dumps({**reply, "nonce": other})), item("e"), profile)


@given(st.lists(st.integers(-1, 4), max_size=4).filter(lambda ids: sorted(ids) != [1, 2]))
def test_claims_are_neither_added_nor_left_out(ids: list[int]) -> None:
    """With the right nonce, any other list of ids than the asked ones is refused as a whole."""
    nonce = secrets.token_hex(16)
    reply = json.loads(planted(nonce, second=True))
    claims = [{**reply["claims"][0], "id": number} for number in ids]
    with pytest.raises(InvalidReply):
        read_verdict(RawVerdict(nonce=nonce, text=json.dumps({**reply, "claims": claims})), item("e"), PROFILES[1])


@given(
    st.text(max_size=30),
    st.text(min_size=1, max_size=30) | st.sampled_from(["a", "e", "\u200b", " "]),
    st.sampled_from(["SUPPORTS", "HEDGES", "CONTRADICTS"]),
)
def test_a_quote_is_the_answers_or_the_reply_is_refused(answer: str, quote: str, word: str) -> None:
    """A forged quote carries no verdict; one that is kept is a piece of the answer as it came."""
    nonce = secrets.token_hex(16)
    reply = json.loads(planted(nonce, second=True))
    for claim in reply["claims"]:
        claim |= {"quote": quote, "verdict": word}
    raw = RawVerdict(nonce=nonce, text=json.dumps(reply))
    try:
        verdict = read_verdict(raw, item(answer), PROFILES[1])
    except InvalidReply:
        assert not visible(quote).strip() or visible(quote) not in visible(answer)
        return
    assert all(claim.quote and claim.quote in answer for claim in verdict.claims)


@pytest.mark.parametrize("echo", sorted(ECHOES))
def test_a_judge_that_only_echoes_scores_nothing_on_any_case(echo: str) -> None:
    """Over all cases such a judge is unjudged everywhere: no case of 140 gets a number."""
    cases, _ = shipped_cases()

    def say(messages: Any, params: Any) -> str:
        user = messages[-1].content
        lines = user.splitlines()
        nonce = nonce_of(messages)
        return ECHOES[echo](json.loads(lines[lines.index(f"<<<answer {nonce}") + 1]))

    judge = LLMJudge(ScriptedModel(say), "factual-consistency/2")
    report = asyncio.run(conformance(judge, "factual-consistency/2", cases))
    assert (report.total.judged, report.total.unjudged) == (0, 140)
    assert {result.score for result in report.results if result.status == "unjudged"} == {None}
