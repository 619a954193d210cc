"""The model that a command asks for proposals: named on the command line, or the judge of a board."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ragassay.cli.key_values import key_values
from ragassay.errors import InputError
from ragassay.records import JSON, Secret

if TYPE_CHECKING:
    from ragassay.run.board_file import ModelTable
    from ragassay.run.limits import Endpoint


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The model to be asked, parameters of its calls, and what may be spent in micro-USD and tokens (None: no cap)."""

    table: ModelTable
    params: JSON
    max_microusd: int | None = None
    max_tokens: int | None = None

    def endpoint(self) -> Endpoint:
        """Return the model behind its limits, with a budget of its own; whoever asks for it closes it."""
        from ragassay.cli.models import weights_cache
        from ragassay.run.budget import Budget
        from ragassay.run.build import make_endpoint

        budget = Budget(self.max_microusd, max_tokens=self.max_tokens)
        return make_endpoint(self.table, _keys(self.table), budget, weights_cache())


def source_of(model: str | None, board_file: Path | None) -> Source:
    """Return the model that a table names, or else the one that judges on a board, with the board's budget."""
    from ragassay.run.board_file import load_board

    if board_file is None:
        return _inline(model or "")
    board = load_board(board_file)
    if board.judge.model is None:
        raise InputError(f"the judge of {board_file} asks no model; name one with --model")
    return Source(
        table=board.judge.model,
        params=board.judge.params,
        max_microusd=board.max_microusd,
        max_tokens=board.max_tokens,
    )


def _inline(text: str) -> Source:
    """Return the model that a table on the command line names; its own parameters win over those of the call."""
    from ragassay.run.board_file import model_table
    from ragassay.run.table import Table

    try:
        data = tomllib.loads(f"model = {text}")
    except (ValueError, RecursionError) as error:
        message = (
            f"--model is no table: {error}; write it as in a board: '{{ kind = \"openai\", id = …, base_url = … }}'"
        )
        raise InputError(message) from error
    problems: list[str] = []
    table = model_table(Table(data["model"], "--model", problems), Path.cwd())
    if len(data) > 1:
        problems.append("--model: holds more than one table")
    if problems:
        raise InputError("the model cannot be used", problems)
    own = {name: value for name, value in table.params.items() if name in ("temperature", "response_format")}
    return Source(table=table, params=own)


def _keys(table: ModelTable) -> dict[str, Secret]:
    if not table.key_env:
        return {}
    if not os.environ.get(table.key_env):
        raise InputError(f"the model's key is not set: export {table.key_env}=… (its value is never written anywhere)")
    return key_values([table.key_env])
