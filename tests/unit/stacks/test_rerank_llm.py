"""A language model as a reranker: what it is asked, how its reply becomes a score, and replies that become none."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ragassay.errors import InputError, PluginError, RunStopped, StackError
from ragassay.plugins import weights
from ragassay.plugins.meter import current, metering
from ragassay.plugins.stacks.rerank.llm import PROMPT, LlmScorer, logprob_score, word_score
from ragassay.plugins.stacks.rerank.settings import LlmSettings, read_settings
from ragassay.records import Message, Reply, TokenLogprob, Usage
from ragassay.run.build import StackBuilder
from ragassay.testing.blocking_model import BlockingScript
from ragassay.testing.provider_servers import Asked, ProviderServer, Said
from ragassay.testing.service_board import silent
from ragassay.testing.stack_contract import corpus

PASSAGES = ("the retry limit is three", "cache folders are cleared", "a proxy is named by url")


def replied(*found: tuple[str, float]) -> Reply:
    """Return a reply whose first token could have been one of these."""
    return Reply(text="x", first_tokens=tuple(TokenLogprob(token=token, logprob=value) for token, value in found))


def scorer(model: Any, texts: Sequence[str] = (), **params: Any) -> LlmScorer:
    """Return the scorer over a model."""
    settings, _ = read_settings({"method": "llm", **params})
    assert isinstance(settings, LlmSettings)
    return LlmScorer(settings, model, texts)


def asking(model: BlockingScript) -> list[str]:
    """Return what the model was asked, in whatever order, sorted."""
    return sorted(messages[-1].content for messages, _ in model.calls)


@pytest.mark.parametrize(
    ("found", "score"),
    [
        ([("Yes", math.log(0.6)), ("No", math.log(0.2))], 0.75),
        ([("No", -0.1), ("Yes", -0.1)], 0.5),
        ([("Yes", math.log(0.3)), (" yes", math.log(0.2)), ("YES", math.log(0.1)), ("no", math.log(0.2))], 0.75),
        ([("ĠYes", math.log(0.5)), ("▁No", math.log(0.5))], 0.5),
        ([("**Yes", math.log(0.5)), ('"No"', math.log(0.5))], 0.5),
        ([("The", -0.1), ("Yes", -4.0), ("No", -4.0)], 0.5),
        ([("Yes", -0.01), ("Yep", -5.0)], 1.0),
        ([("No", -0.01)], 0.0),
        ([("Yes", -9999.0), ("No", -0.5)], 0.0),
        ([("Yesterday", -0.1), ("Notice", -0.2), ("Yes", math.log(0.1)), ("No", math.log(0.1))], 0.5),
    ],
)
def test_a_score_is_the_share_of_yes(found: list[tuple[str, float]], score: float) -> None:
    """In any spelling of the two words, and of no other."""
    assert logprob_score(replied(*found)) == pytest.approx(score)


@pytest.mark.parametrize("found", [[("The", -0.1), ("I", -2.0)], [("Yes", -9999.0)]])
def test_a_model_that_would_say_neither_is_an_error(found: list[tuple[str, float]]) -> None:
    """With what it would say."""
    with pytest.raises(StackError, match=f"neither yes nor no, but with '{found[0][0]}'"):
        logprob_score(replied(*found))


def test_a_server_without_log_probabilities_is_an_error() -> None:
    """Which names the other way, and does not take it."""
    with pytest.raises(StackError, match="llm_score = 'word'"):
        logprob_score(Reply(text="Yes"))
    with pytest.raises(StackError, match="gave no log probabilities"):
        scorer(BlockingScript(lambda _: "Yes")).scores("q", PASSAGES)


@pytest.mark.parametrize(
    ("text", "score"), [("Yes", 1), ("no", 0), (" YES.\n", 1), ("**No**", 0), ('"yes"', 1), ("No!", 0)]
)
def test_a_word_is_one_or_nothing(text: str, score: float) -> None:
    """Whatever its capitals and marks."""
    assert word_score(Reply(text=text)) == score


@pytest.mark.parametrize("text", ["", None, "Yes, it does.", "Maybe", "yes no", "1", "true"])
def test_any_other_word_is_an_error(text: str | None) -> None:
    """Nothing is guessed from a sentence."""
    with pytest.raises(StackError, match="neither yes nor no"):
        word_score(Reply(text=text))


def test_each_passage_is_asked_about_once() -> None:
    """With the question, and nothing else of the item; scores stand in the order of the passages."""
    model = BlockingScript(lambda messages: "Yes" if "retry" in messages[-1].content.partition("Question")[0] else "No")
    assert scorer(model, llm_score="word").scores("What is the retry limit?", PASSAGES) == [1, 0, 0]
    assert asking(model) == sorted(
        PROMPT.filled(passage=passage, question="What is the retry limit?")[1].content for passage in PASSAGES
    )
    assert all(messages[0].content == PROMPT.system for messages, _ in model.calls)


def test_one_token_is_asked_for_with_its_alternatives() -> None:
    """Under the name that the model's own parameters use; the word's way adds nothing."""

    class Newer(BlockingScript):
        def describe(self) -> dict[str, Any]:
            return {"kind": "openai", "params": {"max_completion_tokens": 9}}

    def yes(_: Sequence[Message]) -> Reply:
        return replied(("Yes", -0.1))

    for model, name in ((BlockingScript(yes), "max_tokens"), (Newer(yes), "max_completion_tokens")):
        scorer(model, top_logprobs=5).scores("q", PASSAGES[:1])
        assert model.calls[0][1] == {name: 1, "logprobs": True, "top_logprobs": 5}
    word = BlockingScript(lambda _: "No")
    scorer(word, llm_score="word").scores("q", PASSAGES[:1])
    assert word.calls[0][1] == {}


def test_a_long_passage_is_cut_and_counted() -> None:
    """The characters that the model gets are recorded, and how many chunks have more."""
    model = BlockingScript(lambda _: "Yes")
    rerank = scorer(model, ("a" * 10, "b" * 11, "c" * 50), llm_score="word", max_characters=10)
    rerank.scores("q", ["0123456789ABC"])
    assert "0123456789\n" in asking(model)[0]
    assert "A" not in asking(model)[0].partition("Question")[0].removeprefix("Passage")
    assert rerank.describe()["truncated_chunks"] == 2
    assert rerank.describe()["max_characters"] == 10


def test_the_description_holds_prompt_model_and_the_way_to_a_score() -> None:
    """What changes no score is left out."""
    model = BlockingScript(lambda _: "Yes")
    told = scorer(model, concurrency=9).describe()
    assert told["prompt"] == PROMPT.describe()
    assert (told["llm_score"], told["top_logprobs"], told["model"]["id"]) == ("logprobs", 20, "scripted/1")
    assert "concurrency" not in told
    assert "top_logprobs" not in scorer(model, llm_score="word").describe()


@pytest.mark.parametrize("error", [StackError("the model is down", retryable=True), RunStopped("the budget is spent")])
def test_one_failed_call_fails_the_search(error: Exception) -> None:
    """As it was raised, and the calls that have not begun are not made."""

    def script(messages: Sequence[Message]) -> str:
        if "passage-0" in messages[-1].content:
            raise error
        time.sleep(0.02)
        return "Yes"

    model = BlockingScript(script)
    with pytest.raises(type(error), match=str(error)) as caught:
        scorer(model, llm_score="word", concurrency=2).scores("q", [f"passage-{at}" for at in range(400)])
    assert caught.value is error
    assert len(model.calls) < 200


def test_calls_are_made_together_and_no_more_than_allowed() -> None:
    """Three at a time where three are allowed: each waits until there are three."""
    lock, under_way, most = threading.Lock(), [0], [0]
    three = threading.Barrier(3)

    def script(_: Sequence[Message]) -> str:
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        three.wait(20)
        with lock:
            under_way[0] -= 1
        return "No"

    scorer(BlockingScript(script), llm_score="word", concurrency=3).scores("q", ["x"] * 12)
    assert most[0] == 3


def test_calls_are_counted_with_their_search() -> None:
    """Each in a thread of its own, all in the meter of the one that asked."""

    def script(_: Sequence[Message]) -> str:
        meter = current()
        assert meter is not None
        with lock:
            meter.attempts += 1
            meter.add(Usage(input_tokens=10, output_tokens=1), 5, 3)
        return "Yes"

    lock = threading.Lock()
    rerank = scorer(BlockingScript(script), llm_score="word", concurrency=4)
    for count in (3, 7):
        with metering() as meter:
            rerank.scores("q", ["x"] * count)
        assert (meter.attempts, meter.usage.input_tokens, meter.cost_microusd) == (count, 10 * count, 3 * count)


def completion(asked: Asked) -> Said:
    """Answer as an OpenAI-compatible server does, surer the more the passage speaks of retries."""
    passage = asked.body["messages"][-1]["content"].partition("Question")[0]
    yes = 0.9 if "retries" in passage else 0.1
    top = [{"token": "Yes", "logprob": math.log(yes)}, {"token": "No", "logprob": math.log(1 - yes)}]
    first = {"token": "Yes", "logprob": math.log(yes), "top_logprobs": top}
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "Yes"},
        "finish_reason": "length",
        "logprobs": {"content": [first]},
    }
    usage = {"prompt_tokens": 50, "completion_tokens": 1, "total_tokens": 51}
    return Said(body={"id": "c-1", "model": "m", "choices": [choice], "usage": usage})


def builder(folder: Path, texts: Sequence[str], cache: Path | None = None) -> StackBuilder:
    """Return what a run builds stacks with."""
    return StackBuilder(
        corpus(texts), evidence={}, cache=folder, weights_cache=cache or folder, report=silent, folder=folder
    )


TEXTS = ("retries are counted per request", "the default of retries is three", "cache folders and retries", "a proxy")


def test_an_endpoint_with_a_price_is_asked_through_the_runner(tmp_path: Path) -> None:
    """As a board names it: what four calls took stands with the search."""
    with ProviderServer(completion) as server:
        model = {"kind": "openai", "id": "m", "base_url": server.base_url}
        model["price"] = {"input_usd_per_mtok": "1", "output_usd_per_mtok": "10"}  # type: ignore[assignment]
        entry = {"kind": "rerank", "method": "llm", "of": {"kind": "bm25"}, "model": model}
        built = builder(tmp_path, TEXTS).build(entry, "row 'x'")
        with metering() as meter:
            hits = built.search("What is the proxy of cache retries?", 9)
        assert [round(hit.score, 6) for hit in hits] == [0.9, 0.9, 0.9, 0.1]
        assert (meter.attempts, meter.replies) == (4, 4)
        assert (meter.usage, meter.cost_microusd) == (Usage(input_tokens=200, output_tokens=4), 240)
        assert server.asked[0].body["logprobs"] is True
        assert server.asked[0].body["max_tokens"] == 1
        built.close()


def test_a_model_that_gives_no_log_probabilities_fails_each_search(tmp_path: Path) -> None:
    """The extractive reader never says yes or no."""
    entry = {"kind": "rerank", "method": "llm", "of": {"kind": "bm25"}, "model": {"kind": "reader"}}
    built = builder(tmp_path, TEXTS).build(entry, "row 'x'")
    with pytest.raises(StackError):
        built.search("retries", 2)


def test_a_row_without_a_model_is_refused(tmp_path: Path) -> None:
    """With what to write."""
    with pytest.raises(InputError, match=r"row 'x': 'rerank' needs a language model"):
        builder(tmp_path, TEXTS).build({"kind": "rerank", "method": "llm", "of": {"kind": "bm25"}}, "row 'x'")


def test_a_local_model_says_how_sure_it_is(tmp_path: Path) -> None:
    """SmolLM2, 135 million parameters: twice the same scores, between 0 and 1, and not all equal."""
    pytest.importorskip("xllamacpp", reason="needs the extra llamacpp and libgomp", exc_type=ImportError)
    cache = weights.default_cache()
    try:
        weights.require("smollm2-135m", cache)
    except PluginError as error:
        pytest.skip(str(error))
    model = {"kind": "llamacpp", "id": "smollm2-135m", "params": {"n_ctx": 1024}, "limits": {"concurrency": 1}}
    entry = {"kind": "rerank", "method": "llm", "of": {"kind": "bm25"}, "model": model}
    built = builder(tmp_path, TEXTS, cache).build(entry, "row 'x'")
    once, again = (built.search("What is the default of retries?", 3) for _ in range(2))
    assert once == again
    assert len(once) == 3
    assert len({hit.score for hit in once}) == 3
    assert all(0 < hit.score < 1 for hit in once)
    assert built.describe()["model"]["id"] == "smollm2-135m"
    built.close()
