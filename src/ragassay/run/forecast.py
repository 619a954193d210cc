"""What a run will ask and cost, before anything is asked. Calls are exact; tokens and money are estimates. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragassay.errors import InputError
from ragassay.records import Record
from ragassay.run.board_file import LOCAL_MODELS, BoardFile, ModelTable, RowTable
from ragassay.run.budget import usd
from ragassay.run.build import Part, parts_of
from ragassay.run.expectation import (
    CHARACTERS_PER_TOKEN,
    JUDGE_INPUT_TOKENS,
    OUTPUT_TOKENS_PER_CALL,
    QUESTION_TOKENS,
)
from ragassay.run.prepared import Prepared
from ragassay.run.spent import Calls, Tally

ASK_FROM_MICROUSD = 1_000_000
"""Without a cap, an estimate over 1 USD is asked about."""


class Forecast(Record, frozen=True):
    """Calls to the answering model and the judge's model, tokens in and out, micro-USD (None: no price known).

    `measured_calls` tells how many replies of the begun passes the estimate rests on, and `spent_*` what they took;
    `capped_tokens` are the estimated tokens that a cap counts: those of models that are not on this machine.
    """

    rows: int
    questions: int
    passes: int
    answer_calls: int
    judge_calls: int
    input_tokens: int
    output_tokens: int
    cost_microusd: int | None
    capped_tokens: int = 0
    measured_calls: int = 0
    spent_microusd: int = 0
    spent_tokens: int = 0
    uncounted_rows: tuple[str, ...] = ()
    """Rows whose searches ask a service of their own: how often, and for how much, only the search knows."""


def counts_anything(board: BoardFile) -> bool:
    """Tell whether a board calls a model that may cost something."""
    tables = (board.answer, board.judge.model)
    return any(table is not None and table.kind not in LOCAL_MODELS for table in tables) or bool(_asking(board.rows))


def _asking(rows: Sequence[RowTable]) -> tuple[str, ...]:
    """Return the rows whose searches ask a model, an embedder or a reranker behind an endpoint."""
    return tuple(row.name for row in rows if any(_asks(part) for part in parts_of(row.stack)))


def _asks(part: Part) -> bool:
    """Tell whether a part asks a service that bills what is asked: an endpoint, or whatever names a price."""
    if part.entry.get("price") is not None or part.entry.get("method") == "endpoint":
        return True
    return part.seam != "stacks" and part.entry.get("kind") == "openai"


def forecast(prepared: Prepared, passes: Mapping[str, int] | None = None, done: Tally | None = None) -> Forecast:
    """Estimate what is left of a run.

    `passes` are the passes of each row, where some are begun, and `done` is what was journaled of these; without both,
    the whole run is estimated, as if nothing had been asked.
    """
    board, questions, done = prepared.board, len(prepared.benchmark.questions), done or Tally()
    traversals = sum((passes or {}).get(row.name, board.passes) for row in prepared.rows)
    calls = questions * traversals
    chunks = prepared.corpus.chunks
    per_chunk = sum(len(chunk.text) for chunk in chunks) / max(len(chunks), 1) / CHARACTERS_PER_TOKEN
    delivered = sum(0 if row.stack["kind"] == "none" else row.top_k for row in prepared.rows)
    sent = QUESTION_TOKENS + delivered * per_chunk / max(len(prepared.rows), 1)
    judge = board.judge.model
    answering = _part(board.answer, calls, done.answering, sent)
    judging = _part(judge, calls, done.judging, JUDGE_INPUT_TOKENS) if judge else (0, 0, 0, 0)
    tables = [(board.answer, answering), *([(judge, judging)] if judge else [])]
    return Forecast(
        rows=len(prepared.rows),
        questions=questions,
        passes=board.passes,
        answer_calls=answering[0],
        judge_calls=judging[0],
        input_tokens=answering[1] + judging[1],
        output_tokens=answering[2] + judging[2],
        cost_microusd=None if answering[3] is None or judging[3] is None else answering[3] + judging[3],
        capped_tokens=sum(part[1] + part[2] for table, part in tables if table.kind not in LOCAL_MODELS),
        measured_calls=done.answering.measured + done.judging.measured,
        spent_microusd=done.spent.microusd,
        spent_tokens=done.spent.tokens,
        uncounted_rows=_asking(prepared.rows),
    )


def _part(table: ModelTable, calls: int, done: Calls, sent: float) -> tuple[int, int, int, int | None]:
    """Return calls left to one model, tokens in and out, and micro-USD."""
    left = max(0, calls - done.done)
    if done.measured:
        tokens_in = left * done.input_tokens // done.measured
        tokens_out = left * done.output_tokens // done.measured
    else:
        tokens_in, tokens_out = int(left * sent), left * OUTPUT_TOKENS_PER_CALL
    if table.kind in LOCAL_MODELS:
        return left, tokens_in, tokens_out, 0
    return left, tokens_in, tokens_out, table.price.cost_microusd(tokens_in, tokens_out) if table.price else None


def refuse_over_cap(board: BoardFile, found: Forecast) -> None:
    """Raise `InputError` with the estimate where what was spent and what is left are more than a cap of the board."""
    problems = []
    if board.max_microusd is not None and found.cost_microusd is not None:
        total = found.spent_microusd + found.cost_microusd
        if total > board.max_microusd:
            spent = f" ({usd(found.spent_microusd)} of it spent)" if found.spent_microusd else ""
            problems.append(f"about {usd(total)}{spent}, and [budget] max_usd is {usd(board.max_microusd)}")
    if board.max_tokens is not None:
        tokens = found.spent_tokens + found.capped_tokens
        if tokens > board.max_tokens:
            spent = f" ({found.spent_tokens} of them spent)" if found.spent_tokens else ""
            problems.append(f"about {tokens} tokens{spent}, and [budget] max_tokens is {board.max_tokens}")
    if problems:
        raise InputError(
            "the run is estimated to take more than its budget; raise the cap, ask fewer questions (--subset), or pass "
            "--over-budget to run until the cap is reached",
            problems,
        )


def to_be_asked(board: BoardFile, found: Forecast) -> bool:
    """Tell whether a run costs so much that a person is asked first: over 1 USD by known prices, without a cap."""
    return board.max_microusd is None and (found.cost_microusd or 0) > ASK_FROM_MICROUSD


def in_words(found: Forecast) -> str:
    """Return calls, tokens and money of an estimate in one line."""
    cost = "unknown (no price)" if found.cost_microusd is None else f"about {found.cost_microusd / 1e6:.4f} USD"
    calls = found.answer_calls + found.judge_calls
    basis = f", by the mean of {found.measured_calls} replies" if found.measured_calls else ""
    tokens = f"about {found.input_tokens} tokens in and {found.output_tokens} out{basis}"
    rows = ", ".join(found.uncounted_rows)
    more = f"; without what the searches of {rows} ask for themselves" if rows else ""
    return f"{calls} calls, {tokens}; money: {cost}{more}"
