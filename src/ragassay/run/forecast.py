"""What a run will ask and cost, before anything is asked. Calls are exact; tokens and money are estimates."""

from __future__ import annotations

from decimal import Decimal

from ragassay.records import Record
from ragassay.run.board_file import ModelTable
from ragassay.run.board_run import Prepared

CHARACTERS_PER_TOKEN = 4
OUTPUT_TOKENS_PER_CALL = 250
"""Assumed length of an answer and of a verdict; both figures are printed with the estimate."""


class Forecast(Record, frozen=True):
    """Calls to the answering model and the judge's model, tokens in and out, micro-USD (None: no price known)."""

    rows: int
    questions: int
    passes: int
    answer_calls: int
    judge_calls: int
    input_tokens: int
    output_tokens: int
    cost_microusd: int | None


def forecast(prepared: Prepared) -> Forecast:
    """Estimate a whole run of the prepared board, as if nothing had been asked yet."""
    board, questions = prepared.board, len(prepared.benchmark.questions)
    asked = questions * board.passes
    chunks = prepared.corpus.chunks
    per_chunk = sum(len(chunk.text) for chunk in chunks) / max(len(chunks), 1) / CHARACTERS_PER_TOKEN
    delivered = sum(0 if row.stack["kind"] == "none" else row.top_k for row in prepared.rows)
    answer_in = int(delivered * per_chunk * asked) + 30 * asked * len(prepared.rows)
    calls = asked * len(prepared.rows)
    judge_calls = calls if board.judge.model else 0
    judge_in = judge_calls * 900
    costs = [_cost(board.answer, answer_in, calls)]
    if board.judge.model:
        costs.append(_cost(board.judge.model, judge_in, judge_calls))
    known = [cost for cost in costs if cost is not None]
    return Forecast(
        rows=len(prepared.rows),
        questions=questions,
        passes=board.passes,
        answer_calls=calls,
        judge_calls=judge_calls,
        input_tokens=answer_in + judge_in,
        output_tokens=OUTPUT_TOKENS_PER_CALL * (calls + judge_calls),
        cost_microusd=sum(known) if len(known) == len(costs) else None,
    )


def _cost(table: ModelTable, input_tokens: int, calls: int) -> int | None:
    if table.kind != "openai":
        return 0
    if table.price is None:
        return None
    output = Decimal(table.price.output_usd_per_mtok) * OUTPUT_TOKENS_PER_CALL * calls
    return int(Decimal(table.price.input_usd_per_mtok) * input_tokens + output)
