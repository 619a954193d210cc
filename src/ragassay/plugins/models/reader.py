"""The extractive reader: at most two delivered sentences that best match the question; no model, no randomness."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ragassay import canon
from ragassay.errors import InputError, ModelError
from ragassay.plugins.models import reader_score, reader_text
from ragassay.plugins.models.reader_score import Placed, best_two
from ragassay.plugins.models.reader_text import sentences
from ragassay.records import JSON, Message, Reply

ID = "reader/1"
NOT_FOUND = "not found"
"""The whole answer when nothing was delivered, or nothing that shares a word with the question."""


def read(question: str, chunks: Sequence[str]) -> str:
    """Return the sentences of `chunks` that answer best, verbatim but for collapsed whitespace, one per line.

    A sentence that was delivered twice counts once, at its first place.
    """
    seen: set[str] = set()
    placed: list[Placed] = []
    for number, chunk in enumerate(chunks):
        for sentence in sentences(chunk):
            if sentence.text not in seen:
                seen.add(sentence.text)
                placed.append(Placed(number, sentence))
    return "\n".join(placed[index].sentence.text for index in best_two(question, placed)) or NOT_FOUND


class Reader:
    """`reader/1` as a model: chunks from the system messages, the question from the last user message."""

    deterministic: ClassVar[bool] = True

    def __init__(self, id: str = ID, *, params: Mapping[str, Any] | None = None) -> None:
        if id != ID:
            raise InputError(f"there is no reader {id!r}; this version of ragassay has {ID!r}")
        if params:
            raise InputError(f"the reader takes no parameters, but got {', '.join(sorted(params))}")

    async def complete(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        """Return the best sentences; `params` change nothing. Tokens are None: none are counted.

        Raises `ModelError` of kind `bad_request` for messages that it cannot read: no question, or chunks inside
        the user message.
        """
        started = time.perf_counter()
        asked = [message.content for message in messages if message.role == "user"]
        chunks = [message.content for message in messages if message.role == "system"]
        if not asked or (not chunks and asked[-1].startswith("Context:\n\n[1]\n")):
            raise ModelError(
                "the reader needs the chunks in system messages and the question in a user message; set "
                "template = 'chunks-as-system/1' or 'single-system/1'",
                kind="bad_request",
                retryable=False,
            )
        text = read(asked[-1], chunks)
        return Reply(
            text=text, finish_reason="stop", latency_ms=round((time.perf_counter() - started) * 1000), model=ID
        )

    def describe(self) -> JSON:
        """Return kind, id and the parameters that version 1 fixes, as decimal strings."""
        parameters = {
            "context": reader_score.CONTEXT,
            "cue_bonus": reader_score.CUE_BONUS,
            "lead_chars": reader_text.LEAD_CHARS,
            "length_share": reader_score.LENGTH_SHARE,
            "length_terms": reader_score.LENGTH_TERMS,
            "long_chars": reader_text.LONG_CHARS,
            "next_bonus": reader_score.NEXT_BONUS,
            "pair_weight": reader_score.PAIR_WEIGHT,
            "seen_weight": reader_score.SEEN_WEIGHT,
            "short_words": reader_text.SHORT_WORDS,
            "stem_chars": reader_score.STEM_CHARS,
            "wrapped_chars": reader_text.WRAPPED_CHARS,
        }
        return {"kind": "reader", "id": ID, "parameters": canon.without_fractions(parameters)}

    async def close(self) -> None:
        """Hold nothing."""
