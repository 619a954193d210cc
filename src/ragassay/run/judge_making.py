"""The judges of a board, made: those of its panel and its own, behind their limits and one budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ragassay.errors import InputError
from ragassay.plugins.weights import default_cache
from ragassay.run.board_file import OWN_JUDGE, BoardFile, JudgeTable
from ragassay.run.budget import Budget
from ragassay.run.build import Keys, make_judge
from ragassay.run.gathered import Gathered
from ragassay.run.judge_panel import PanelJudge
from ragassay.run.limits import Endpoint


class Judges(msgspec.Struct, frozen=True, kw_only=True):
    """The judges that were made, by the board's names, the board's own where it is wanted, and their endpoints."""

    panel: Sequence[PanelJudge]
    own: PanelJudge | None
    endpoints: Sequence[Endpoint]
    budget: Budget


def make_judges(
    board: BoardFile,
    keys: Keys,
    *,
    names: Sequence[str] = (),
    own: bool = True,
    panel: bool = True,
    weights_cache: Path | None = None,
) -> Judges:
    """Make the judges of the panel (those of `names`, or all) and, where wanted, the board's own.

    Raises `InputError` for a name that the panel does not have, and for a budget without a price.
    """
    _check_names(board, names)
    budget = Budget(board.max_microusd, max_tokens=board.max_tokens)
    cache, problems = weights_cache or default_cache(), Gathered()
    tables = [(one.name, one.judge) for one in board.panel if panel and (not names or one.name in names)]
    if own:
        tables.append((OWN_JUDGE, board.judge))
    problems.of(lambda: _check_prices(board, tables))
    made: list[tuple[PanelJudge, Endpoint | None] | None] = [
        problems.of(lambda name=name, table=table: _make(name, table, board, keys, budget, cache))  # type: ignore[misc]
        for name, table in tables
    ]
    problems.raise_all(f"the judges of {board.path.name} cannot be asked")
    found = [one for one in made if one is not None]
    judges = [judge for judge, _ in found]
    return Judges(
        panel=judges[:-1] if own else judges,
        own=judges[-1] if own else None,
        endpoints=[endpoint for _, endpoint in found if endpoint is not None],
        budget=budget,
    )


def _check_names(board: BoardFile, names: Sequence[str]) -> None:
    known = [one.name for one in board.panel]
    if unknown := [name for name in names if name not in known]:
        there = ", ".join(map(repr, known)) or "none at all"
        raise InputError(
            f"{board.path.name} has no judge {', '.join(map(repr, unknown))} in its panel; it has {there}: add a "
            "[[panel]] table with this name"
        )


def _check_prices(board: BoardFile, tables: Sequence[tuple[str, JudgeTable]]) -> None:
    if board.max_microusd is None:
        return
    bare = [n for n, t in tables if t.model is not None and t.model.kind == "openai" and t.model.price is None]
    if bare:
        raise InputError(
            f"[budget] needs a price for the model of {', '.join(map(repr, bare))}: "
            "price = { input_usd_per_mtok = '…', output_usd_per_mtok = '…' }"
        )


def _make(
    name: str, table: JudgeTable, board: BoardFile, keys: Keys, budget: Budget, cache: Path
) -> tuple[PanelJudge, Endpoint | None]:
    judge, endpoint = make_judge(table, board.scorer, keys, budget, cache)
    described = {"kind": table.kind, "id": judge.id, "describe": judge.describe()}
    return PanelJudge(name=name, table=table, judge=judge, described=described), endpoint
