"""Retrieval and the model's answer."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ragassay.records.values import Record


class Hit(Record, frozen=True):
    """What a retriever returns: a chunk id and a score, best first; `text` only from a stack that owns its corpus."""

    chunk: str
    score: float
    text: str | None = None


class Delivered(Record, frozen=True):
    """One chunk as it reached the answering model; `rank` counts from 1, `score` is a decimal string."""

    rank: int
    chunk: str
    sha256: str
    text: str
    score: str
    page: str | None = None
    start: int | None = None
    end: int | None = None


RetrievalState: TypeAlias = Literal["ok", "empty", "off", "failed"]
"""`off` is the control (retrieval switched off), `empty` a search that worked and found nothing."""


class Usage(Record, frozen=True):
    """Tokens as the server counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None


class Spent(Record, frozen=True):
    """What the calls inside a search took: of a stack that embeds, reranks or reasons with a model behind an endpoint.

    A sum of which one part is unknown is None; `attempts` counts calls that brought nothing too.
    """

    attempts: int = 0
    usage: Usage = Usage()
    cost_microusd: int | None = None


class Retrieval(Record, frozen=True):
    """What a stack delivered for one question, checked: known ids, credited once, at or above the threshold."""

    state: RetrievalState
    delivered: tuple[Delivered, ...]
    latency_ms: int
    duplicates: int = 0
    below_threshold: int = 0
    spent: Spent = Spent()


class Message(Record, frozen=True):
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


class TokenLogprob(Record, frozen=True):
    """A token that could have stood somewhere, and the natural logarithm of its probability there."""

    token: str
    logprob: float


class Reply(Record, frozen=True):
    """A model's reply before anyone judged whether it is an answer.

    `first_tokens` are those that could have come first, where the call asked for `logprobs` and the server gave them.
    """

    text: str | None
    finish_reason: str | None = None
    usage: Usage = Usage()
    latency_ms: int = 0
    request_id: str | None = None
    model: str | None = None
    first_tokens: tuple[TokenLogprob, ...] | None = None


class Answer(Record, frozen=True):
    """The model's text for one question, with what the calls for it took (sums over all attempts)."""

    text: str
    finish_reason: str | None
    usage: Usage
    latency_ms: int
    attempts: int
    request_id: str | None = None
    model: str | None = None
    cost_microusd: int | None = None
