"""What the questions of begun passes have taken, and how much of them is done, from their journaled states. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ragassay.records import Answer, RawVerdict, Retrieval, Usage
from ragassay.run.board_file import LOCAL_MODELS, ModelTable
from ragassay.run.budget import NOTHING, Amount
from ragassay.run.expectation import CHARACTERS_PER_TOKEN, JUDGE_INPUT_TOKENS, QUESTION_TOKENS
from ragassay.run.state import ItemState

REPLIED = frozenset({"timeout", "malformed_reply", "empty", "content_filter", "length"})
"""Failures after which a server has written a reply, or may have."""


class Calls(msgspec.Struct):
    """Calls to one model that are done, and the tokens of those whose server counted them."""

    done: int = 0
    measured: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def add(self, usage: Usage) -> None:
        """Add the tokens of one reply, where they are known."""
        if usage.input_tokens is not None and usage.output_tokens is not None:
            self.measured += 1
            self.input_tokens += usage.input_tokens
            self.output_tokens += usage.output_tokens


class Tally(msgspec.Struct):
    """Both models' calls, what counts against a budget, and how much of that is an estimate."""

    answering: Calls = msgspec.field(default_factory=Calls)
    judging: Calls = msgspec.field(default_factory=Calls)
    spent: Amount = NOTHING
    estimated: Amount = NOTHING
    estimated_calls: int = 0

    def count(
        self, table: ModelTable | None, usage: Usage, cost_microusd: int | None, assumed: tuple[int, int] | None
    ) -> None:
        """Count one record's tokens and money; where they are unknown, by the `assumed` tokens in and out, if any."""
        if table is None or table.kind in LOCAL_MODELS:
            return
        told = usage.input_tokens is not None and usage.output_tokens is not None
        if not told and assumed is None:
            return
        tokens_in, tokens_out = assumed or (0, 0)
        tokens_in = usage.input_tokens if usage.input_tokens is not None else tokens_in
        tokens_out = usage.output_tokens if usage.output_tokens is not None else tokens_out
        if cost_microusd is None and table.price is not None:
            cost_microusd = table.price.cost_microusd(tokens_in, tokens_out)
        amount = Amount(tokens_in + tokens_out, cost_microusd or 0)
        self.spent = _sum(self.spent, amount)
        if not told:
            self.estimated = _sum(self.estimated, amount)
            self.estimated_calls += 1

    def add_searches(self, counted: Amount) -> None:
        """Count what the calls inside searches were counted as when they were made."""
        self.spent = _sum(self.spent, counted)

    def add_state(self, state: ItemState, answer: ModelTable, judge: ModelTable | None) -> None:
        """Count what is journaled of one question."""
        self.add_searches(state.counted)
        final = state.failed is not None and not state.may_ask_again
        if state.answer is not None:
            self.answering.done += 1
            self.answering.add(state.answer.usage)
            self.count(answer, state.answer.usage, state.answer.cost_microusd, _assumed(state.retrieval, state.answer))
        if state.spent is not None:
            kind = state.failed[1].kind if state.failed else None
            assumed = _assumed(state.retrieval, state.spent) if kind in REPLIED else None
            self.count(answer, state.spent.usage, state.spent.cost_microusd, assumed)
        if final or (state.replies and state.failed is None):
            self.judging.done += 1
        for raw in (*state.earlier, *state.replies):
            self.judging.add(raw.usage)
            self.count(judge, raw.usage, raw.cost_microusd, _assumed_verdict(raw))


def tally(states: Iterable[ItemState], answer: ModelTable, judge: ModelTable | None) -> Tally:
    """Count the states of any number of passes."""
    found = Tally()
    for state in states:
        found.add_state(state, answer, judge)
    return found


def _assumed(retrieval: Retrieval | None, answer: Answer) -> tuple[int, int]:
    sent = sum(len(chunk.text) for chunk in retrieval.delivered) if retrieval else 0
    return sent // CHARACTERS_PER_TOKEN + QUESTION_TOKENS, -(-len(answer.text) // CHARACTERS_PER_TOKEN)


def _assumed_verdict(raw: RawVerdict) -> tuple[int, int] | None:
    return None if raw.text is None else (JUDGE_INPUT_TOKENS, -(-len(raw.text) // CHARACTERS_PER_TOKEN))


def _sum(one: Amount, other: Amount) -> Amount:
    return Amount(one.tokens + other.tokens, one.microusd + other.microusd)
