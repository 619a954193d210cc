"""What the next call to an endpoint will take, from its own length and from what earlier replies took. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ragassay.plugins.price import Price
from ragassay.records import Message, Usage
from ragassay.run.board_file import DEFAULT_MAX_TOKENS
from ragassay.run.budget import Amount, Need

CHARACTERS_PER_TOKEN = 4
OUTPUT_TOKENS_PER_CALL = 250
"""Assumed length of an answer and of a verdict while none was measured; both figures are printed with an estimate."""

QUESTION_TOKENS = 30
JUDGE_INPUT_TOKENS = 900
"""Assumed length of a question, and of what a judge's model is shown."""

TOKENS_PER_MESSAGE = 16
"""What a chat template may put around one message."""

WEIGHT = 0.05
"""How much the newest reply counts in a running mean, once twenty were seen; before, all count alike."""

_LIMIT_NAMES = ("max_completion_tokens", "max_tokens")


class Expectation:
    """Running means of one endpoint: tokens a character in, and tokens out a reply; O(1) a call."""

    def __init__(self, price: Price | None, params: Mapping[str, Any]) -> None:
        self._price = price
        self._most_out = _limit(params) or DEFAULT_MAX_TOKENS
        self._in_usd = float(price.input_usd_per_mtok) if price else 0.0
        self._out_usd = float(price.output_usd_per_mtok) if price else 0.0
        self._per_character = 1 / CHARACTERS_PER_TOKEN
        self._out = float(OUTPUT_TOKENS_PER_CALL)
        self._seen_in = self._seen_out = 0

    def need(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Need:
        """Return what a call is expected to take and the most it can: a token is at least one byte of what is sent."""
        texts = [message.content for message in messages]
        sent = repr(dict(params)) if params else ""
        characters = sum(map(len, texts)) + len(sent)
        size = sum(len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text in texts)
        most_in = size + 4 * len(sent) + TOKENS_PER_MESSAGE * len(texts)
        most_out = _limit(params) or self._most_out
        tokens_in = math.ceil(characters * self._per_character)
        tokens_out = math.ceil(min(self._out, most_out))
        return Need(self._amount(tokens_in, tokens_out), self._amount(most_in, most_out), characters)

    def taken(self, need: Need, usage: Usage, text: str | None) -> tuple[Amount, bool]:
        """Return what a reply took, and whether that is an estimate as its server did not count; learns from it."""
        told_in, told_out = usage.input_tokens, usage.output_tokens
        tokens_in = math.ceil(need.characters * self._per_character) if told_in is None else told_in
        tokens_out = math.ceil(len(text or "") / CHARACTERS_PER_TOKEN) if told_out is None else told_out
        if told_in is not None and need.characters:
            self._seen_in += 1
            self._per_character += (told_in / need.characters - self._per_character) * _weight(self._seen_in)
        self._seen_out += 1
        self._out += (tokens_out - self._out) * _weight(self._seen_out)
        estimated = told_in is None or told_out is None
        cost = self._price.cost_microusd(tokens_in, tokens_out) if self._price else 0
        return Amount(tokens_in + tokens_out, cost or 0), estimated

    def _amount(self, tokens_in: int, tokens_out: int) -> Amount:
        return Amount(tokens_in + tokens_out, math.ceil(tokens_in * self._in_usd + tokens_out * self._out_usd))


def _weight(seen: int) -> float:
    return max(1 / seen, WEIGHT)


def _limit(params: Mapping[str, Any]) -> int | None:
    """Return the most tokens that these parameters let a reply have."""
    for name in _LIMIT_NAMES:
        value = params.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None
