"""Where `claims freeze` gets proposals from: kept replies, worksheets, or a model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ragassay.cli.asked_model import Source, source_of
from ragassay.cli.claims_lines import asked_lines
from ragassay.errors import InputError
from ragassay.question.proposals import Proposal, proposed
from ragassay.records import Benchmark, Question
from ragassay.run.question_sets.asking import Asked, asking
from ragassay.run.question_sets.claims_draft import ask_claims, from_replies
from ragassay.run.question_sets.claims_files import ClaimPlaces, ReviewFile, read_sheets, write_sheets
from ragassay.run.question_sets.claims_prompt import response_format
from ragassay.run.question_sets.claims_replies import ReplyFile

if TYPE_CHECKING:
    from ragassay.cli.claims import Given


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
    asked = _ask(source_of(given.model, given.board), waiting, kept, given)
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
    from ragassay.cli.progress import Building

    async def ask() -> Asked:
        endpoint = source.endpoint()
        try:
            how = asking(endpoint, source.params, kept, response_format())
            return await ask_claims(how, waiting, again=given.again, report=Building()("claims"))
        finally:
            await endpoint.close()

    return asyncio.run(ask())
