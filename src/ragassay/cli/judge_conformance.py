"""`ragassay judge --conformance`: a board's judges over the cases with the right verdicts."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from ragassay.cli.key_values import key_values
from ragassay.cli.models import weights_cache
from ragassay.errors import InputError
from ragassay.judge.conformance import ConformanceRecord, ConformanceReport, Tally, mean_absolute, mean_signed
from ragassay.judge.conformance import worst_first as ordered
from ragassay.records import to_json
from ragassay.run.board_file import load_board
from ragassay.run.build import Keys, needed_keys
from ragassay.run.conformance import Checked, check_judges, judges_of
from ragassay.run.workspace import Workspace
from ragassay.site.safe import one_line

WORDS = ("SUPPORTS", "HEDGES", "CONTRADICTS", "OMITS")
MOST_LINES = 10
"""Unjudged cases that are listed one by one; the record holds them all."""


def conformance_command(board_path: Path, *, judge: str | None, workspace: Path | None, as_json: bool) -> int:
    """Run the board's judges (or the one named) over the cases, keep and print what came of it; return 0."""
    from ragassay.cli.progress import Building

    board = load_board(board_path)
    tables = judges_of(board, judge)
    space = Workspace(workspace or board.path.parent / ".ragassay")
    keys = _keys(board.path.name, needed_keys([table.model for table in tables.values()]))
    checked = asyncio.run(
        check_judges(board, tables, space, keys=keys, weights_cache=weights_cache(), report=Building())
    )
    if as_json:
        click.echo(json.dumps([_as_json(one) for one in checked], indent=1))
        return 0
    for number, one in enumerate(checked):
        click.echo("\n" * bool(number) + "\n".join(lines(one.name, one.record)))
        click.echo(f"kept:   {_near(one.path)}")
    return 0


def _keys(board: str, wanted: Sequence[str]) -> Keys:
    unset = [name for name in wanted if not os.environ.get(name)]
    if unset:
        raise InputError(
            f"{board} names keys that are not set",
            [f"export {name}=… (its value is never written anywhere)" for name in unset],
        )
    return key_values(wanted)


def _as_json(one: Checked) -> object:
    return {"name": one.name, "path": str(one.path), "costMicrousd": one.cost_microusd, "record": to_json(one.record)}


def _near(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def lines(name: str, record: ConformanceRecord) -> Iterator[str]:
    """Yield what is printed of one judge: the sum, every kind (worst first), the words, the flags, what is missing."""
    report, total = record.report, record.report.total
    claims = f", {total.exact_claims} of {total.claims} claims" if total.claims else ""
    yield f"{one_line(name)}: {one_line(str(record.judge['id']))} under {record.profile}"
    yield f"judge conformance: {record.headline()}{claims}; {_off(total)}"
    yield (
        f"{total.cases} cases: {total.judged} judged, {total.unjudged} unjudged, {total.settled} settled by code, "
        f"{total.not_asked} not asked"
    )
    yield from (one_line(note) for note in record.notes)
    yield ""
    yield from _kinds(report)
    if report.confusion:
        yield ""
        yield from _confusion(report)
    if report.flags:
        yield ""
        yield from _flags(report)
    yield from _missing(report)


def _off(tally: Tally) -> str:
    if not tally.judged:
        return "nothing was judged"
    return f"mean difference {mean_absolute(tally)} ({_signed(tally)} with its sign)"


def _signed(tally: Tally) -> str:
    found = mean_signed(tally)
    return "–" if found is None else found if found.startswith("-") else f"+{found}"


def _kinds(report: ConformanceReport) -> Iterator[str]:
    yield f"{'kind':<24}{'items':>8}{'claims':>9}{'mean |Δ|':>10}{'mean Δ':>9}{'unjudged':>10}"
    for tally in ordered(report.kinds):
        items = f"{tally.exact_items}/{tally.judged}" if tally.judged else "–"
        claims = f"{tally.exact_claims}/{tally.claims}" if tally.claims else "–"
        yield (
            f"{one_line(tally.kind):<24}{items:>8}{claims:>9}{mean_absolute(tally) or '–':>10}{_signed(tally):>9}"
            f"{tally.unjudged or '–':>10}"
        )


def _confusion(report: ConformanceReport) -> Iterator[str]:
    counted: dict[tuple[str, str], int] = {(one.expected, one.given): one.claims for one in report.confusion}
    yield f"{'right word, as given:':<24}" + "".join(f"{word:>13}" for word in WORDS)
    for expected in WORDS:
        cells = [counted.get((expected, given), 0) for given in WORDS]
        yield f"{expected:<24}" + "".join(f"{count or '–':>13}" for count in cells)


def _flags(report: ConformanceReport) -> Iterator[str]:
    for flag in report.flags:
        yield f"{flag.name:<24}raised on {flag.found} of {flag.cases}, and on {flag.false} of {flag.others} others"


def _missing(report: ConformanceReport) -> Iterator[str]:
    unjudged = [result for result in report.results if result.status == "unjudged" and result.failure]
    if unjudged:
        yield ""
    for result in unjudged[:MOST_LINES]:
        assert result.failure is not None
        yield f"unjudged: {one_line(result.id)} ({one_line(result.kind)}): {one_line(result.failure.message)[:160]}"
    if len(unjudged) > MOST_LINES:
        yield f"unjudged: {len(unjudged) - MOST_LINES} more, in the record"
