"""A language model says of each passage whether it answers the question; how sure it is, is the score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from ragassay.errors import StackError
from ragassay.plugins.stacks.prompted import Prompt
from ragassay.plugins.stacks.rerank.settings import LlmSettings
from ragassay.records import JSON, Reply, TokenLogprob
from ragassay.seams import BlockingModel

PROMPT = Prompt(
    id="rerank/1",
    system=(
        "You judge whether a passage of technical documentation answers a question. Reply with one word, Yes or No, "
        "and nothing else."
    ),
    user="Passage:\n{passage}\n\nQuestion: {question}\n\nDoes the passage answer the question? Reply Yes or No.",
)
_AROUND = " \t\r\n\"'`*_.,:;!()[]{}Ġ▁"
"""What may stand around the word in a token or in a reply; the last two are how tokenizers write a leading space."""
_SHOWN = 5


class LlmScorer:
    """Asks once for each passage, at most `concurrency` at a time; a question that fails fails the search."""

    def __init__(self, settings: LlmSettings, model: BlockingModel, texts: Sequence[str]) -> None:
        self._settings = settings
        self._model = model
        self._params = _params(settings, model.describe())
        self._truncated = sum(len(text) > settings.max_characters for text in texts)

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return P(yes) / (P(yes) + P(no)) for each passage, or 1 and 0 where only the word counts.

        Raises `StackError` where a reply is neither yes nor no, and what the model raises.
        """
        pool = ThreadPoolExecutor(min(self._settings.concurrency, len(passages)), "rerank")
        try:
            # Each call sees the caller's context: what it takes is counted with the search.
            asked = [pool.submit(copy_context().run, self._score, question, passage) for passage in passages]
            return [one.result() for one in asked]
        finally:
            pool.shutdown(cancel_futures=True)

    def describe(self) -> JSON:
        """Return how a reply becomes a score, how much of a passage is read, prompt and model."""
        about: JSON = {
            "method": "llm",
            "llm_score": self._settings.llm_score,
            "max_characters": self._settings.max_characters,
            "truncated_chunks": self._truncated,
            "prompt": PROMPT.describe(),
            "model": self._model.describe(),
        }
        return about | ({"top_logprobs": self._settings.top_logprobs} if self._params else {})

    def close(self) -> None:
        """Hold nothing: the model is the runner's to close."""

    def _score(self, question: str, passage: str) -> float:
        cut = passage[: self._settings.max_characters]
        reply = self._model.complete(PROMPT.filled(question=question, passage=cut), self._params)
        return word_score(reply) if self._settings.llm_score == "word" else logprob_score(reply)


def _params(settings: LlmSettings, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is added to the model's parameters: one token is all that is read of a reply."""
    if settings.llm_score == "word":
        return {}
    configured = about.get("params")
    newer = isinstance(configured, Mapping) and "max_completion_tokens" in configured
    tokens = "max_completion_tokens" if newer else "max_tokens"
    return {tokens: 1, "logprobs": True, "top_logprobs": settings.top_logprobs}


def logprob_score(reply: Reply) -> float:
    """Return P(yes) / (P(yes) + P(no)) over the tokens that could have come first, in any spelling of the two words.

    A word that is not among them counts as never. Raises `StackError` where neither is, and where the server gave none.
    """
    if reply.first_tokens is None:
        raise StackError(
            "the model's server gave no log probabilities (logprobs, top_logprobs); use another server, or "
            "llm_score = 'word', which counts the word alone"
        )
    yes, no = _share(reply.first_tokens, "yes"), _share(reply.first_tokens, "no")
    if yes + no == 0:
        likely = ", ".join(repr(one.token[:20]) for one in reply.first_tokens[:_SHOWN])
        raise StackError(f"the model would begin with neither yes nor no, but with {likely}")
    return yes / (yes + no)


def word_score(reply: Reply) -> float:
    """Return 1 for yes and 0 for no; raises `StackError` for any other reply."""
    word = _word(reply.text or "")
    if word not in ("yes", "no"):
        raise StackError(f"the model replied neither yes nor no, but {(reply.text or '')[:200]!r}")
    return float(word == "yes")


def _share(tokens: Sequence[TokenLogprob], word: str) -> float:
    return math.fsum(math.exp(one.logprob) for one in tokens if _word(one.token) == word)


def _word(text: str) -> str:
    return text.strip(_AROUND).casefold()
