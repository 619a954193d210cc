"""Where `claims freeze` gets proposals from: kept replies, worksheets, or a model."""

from __future__ import annotations

import asyncio
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ragassay.cli.claims_lines import asked_lines
from ragassay.cli.key_values import key_values
from ragassay.errors import InputError
from ragassay.question.proposals import Proposal, proposed
from ragassay.records import JSON, Benchmark, Question, Secret
from ragassay.run.claims_draft import Asked, ask_claims, asking, from_replies
from ragassay.run.claims_files import ClaimPlaces, ReviewFile, read_sheets, write_sheets
from ragassay.run.claims_replies import ReplyFile

if TYPE_CHECKING:
    from ragassay.cli.claims import Given
    from ragassay.run.board_file import ModelTable


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The model to be asked, parameters of its calls, and what may be spent in micro-USD and tokens (None: no cap)."""

    table: ModelTable
    params: JSON
    max_microusd: int | None = None
    max_tokens: int | None = None


def propose(
    benchmark: Benchmark, file: ReviewFile, kept: ReplyFile, places: ClaimPlaces, given: Given, report: dict[str, Any]
) -> int:
    """Take in what kept replies hold, then what worksheets hold or a model says; return the exit code."""
    chosen = _chosen(benchmark, given.only)
    _take_replies(benchmark, file, kept)
    if given.by_hand:
        _by_hand(chosen, file, places.worksheets, report, quiet=given.as_json)
    if given.model is None and given.board is None:
        return 0
    waiting = [one for one in chosen.values() if _to_be_asked(file.proposals.get(one.id), given)]
    asked = _ask(_source(given), waiting, kept, given)
    _take_replies(benchmark, file, kept)
    report["asked"] = {"questions": len(waiting), **msgspec.to_builtins(asked)}
    if not given.as_json:
        click.echo("\n".join(asked_lines(asked)))
    return 3 if asked.failed else 1 if asked.left_out else 0


def _chosen(benchmark: Benchmark, only: tuple[str, ...]) -> dict[int, Question]:
    """Return the questions to propose for by their position: those named, else those without claims of their own."""
    placed = dict(enumerate(benchmark.questions, 1))
    if unknown := [identity for identity in only if identity not in {one.id for one in benchmark.questions}]:
        raise InputError("the question file has no such questions", unknown)
    return {at: one for at, one in placed.items() if (one.id in only if only else one.unsplit)}


def _take_replies(benchmark: Benchmark, file: ReviewFile, kept: ReplyFile) -> None:
    """Put into the review file what kept replies hold and it does not: a killed run loses nothing it was told."""
    found = [one for question in benchmark.questions if (one := from_replies(kept.of(question), question))]
    file.put(one for one in found if _is_newer(one, file.proposals.get(one.question)))


def _is_newer(found: Proposal, before: Proposal | None) -> bool:
    return before is None or (not before.frozen and found.round > before.round)


def _to_be_asked(before: Proposal | None, given: Given) -> bool:
    return before is None or (given.again and before.status == "rejected")


def _by_hand(
    chosen: Mapping[int, Question], file: ReviewFile, folder: Path, report: dict[str, Any], *, quiet: bool
) -> None:
    written = write_sheets(folder, chosen)
    filled = read_sheets(folder, chosen)
    found = []
    for question in chosen.values():
        before = file.proposals.get(question.id)
        sheet = filled.get(question.id)
        if sheet is None or (before is not None and before.reply == sheet.digest):
            continue
        round = before.round if before else 1
        found.append(proposed(question, sheet.draft, source="hand", reply=sheet.digest, round=round))
    file.put(found)
    report["worksheets"] = {
        "folder": str(folder),
        "written": len(written),
        "taken": [one.question for one in found],
        "empty": len(chosen) - len(filled),
    }
    if not quiet:
        empty = len(chosen) - len(filled)
        click.echo(f"{folder}: {len(written)} written, {len(found)} taken, {empty} not filled in")


def _ask(source: Source, waiting: list[Question], kept: ReplyFile, given: Given) -> Asked:
    from ragassay.cli.models import weights_cache
    from ragassay.cli.progress import Building
    from ragassay.run.budget import Budget
    from ragassay.run.build import make_endpoint

    budget = Budget(source.max_microusd, max_tokens=source.max_tokens)

    async def ask() -> Asked:
        endpoint = make_endpoint(source.table, _keys(source.table), budget, weights_cache())
        try:
            how = asking(endpoint, source.params, kept)
            return await ask_claims(how, waiting, again=given.again, report=Building()("claims"))
        finally:
            await endpoint.close()

    return asyncio.run(ask())


def _source(given: Given) -> Source:
    from ragassay.run.board_file import load_board

    if given.board is None:
        return _inline(given.model or "")
    board = load_board(given.board)
    if board.judge.model is None:
        raise InputError(f"the judge of {given.board} asks no model; name one with --model")
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
