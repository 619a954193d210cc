"""What a run is estimated to cost, said before the first call; what its limits did, said after the last."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from ragassay.run.begun import begun
from ragassay.run.budget import NOTHING, usd
from ragassay.run.forecast import counts_anything, forecast, in_words, refuse_over_cap, to_be_asked
from ragassay.run.limiter import LimiterReport
from ragassay.run.passes import Row
from ragassay.run.prepared import Options, Prepared
from ragassay.run.spent import Tally
from ragassay.run.workspace import Workspace
from ragassay.site.numbers import plural

SHOWN_WAITS = ("requests per minute", "tokens per minute", "budget")


def agree(prepared: Prepared, rows: Sequence[Row], space: Workspace, options: Options, *, over_budget: bool) -> None:
    """Say what the run is estimated to take; raises `InputError` over a cap, and asks on a terminal over 1 USD.

    A board whose models are all on this machine costs nothing, and nothing is said.
    """
    board = prepared.board
    if not counts_anything(board):
        return
    configs = {row.name: row.config for row in rows}
    passes, done = ({}, Tally()) if options.new else begun(space, configs, board)
    found = forecast(prepared, passes, done)
    click.echo(f"estimate: {in_words(found)}", err=True)
    if over_budget:
        return
    refuse_over_cap(board, found)
    if to_be_asked(board, found) and sys.stdin.isatty() and sys.stderr.isatty():
        click.confirm("no [budget] is set; go on?", abort=True, err=True)


def limits_said(prepared: Prepared) -> list[str]:
    """Return a line for each endpoint that was called, and one for what was counted by an estimate."""
    judge = prepared.board.judge.model
    names = ("answering model", "judge's model")
    tables = (prepared.board.answer, judge)
    lines = [
        f"{name}: {_said(endpoint.limiter.report())}"
        for name, table, endpoint in zip(names, tables, prepared.endpoints, strict=False)
        if table is not None and table.kind == "openai" and endpoint.calls
    ]
    budget = prepared.budget
    if budget.capped and budget.estimated != NOTHING:
        money = f" and {usd(budget.estimated.microusd)}" if budget.max_microusd is not None else ""
        lines.append(
            f"{plural(budget.estimated_calls, 'call')} came back without a token count: about "
            f"{budget.estimated.tokens} tokens{money} of what counts against the budget are an estimate"
        )
    return lines


def _said(report: LimiterReport) -> str:
    parts = [f"at most {report.slots} of {report.allowed} calls at once"]
    if report.episodes:
        parts.append(plural(report.episodes, "back-off after a rate limit", "back-offs after rate limits"))
    if report.cooled_s >= 0.05:
        parts.append(f"{report.cooled_s:.1f} s cooled down")
    parts += [f"{plural(report.waits[name], 'wait')} for {name}" for name in SHOWN_WAITS if report.waits.get(name)]
    return ", ".join(parts)
