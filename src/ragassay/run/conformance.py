"""The judges of a board over the conformance cases, one after the other; a record of each is kept in the workspace."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.judge.conformance import (
    ConformanceRecord,
    conformance,
    record_bytes,
    record_path,
    shipped_cases,
)
from ragassay.records import JSON
from ragassay.run.board_file import OWN_IN_CONFORMANCE, BoardFile, JudgeTable
from ragassay.run.budget import Budget
from ragassay.run.build import Keys, Report, make_judge
from ragassay.run.workspace import Workspace, write_bytes


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """One judge's record, where it is kept, and what its calls took (micro-USD)."""

    name: str
    record: ConformanceRecord
    path: Path
    cost_microusd: int


def judges_of(board: BoardFile, name: str | None) -> Mapping[str, JudgeTable]:
    """Return the board's judges by name, its own first; or the one named. Raises `InputError` for an unknown name."""
    tables = {OWN_IN_CONFORMANCE: board.judge, **{one.name: one.judge for one in board.panel}}
    if name is None:
        return tables
    if name not in tables:
        known = ", ".join(map(repr, tables))
        raise InputError(
            f"{board.path.name} has no judge {name[:80]!r}; known are {known} ({OWN_IN_CONFORMANCE!r} is [judge])"
        )
    return {name: tables[name]}


async def check_judges(
    board: BoardFile,
    tables: Mapping[str, JudgeTable],
    workspace: Workspace,
    *,
    keys: Keys,
    weights_cache: Path,
    report: Report,
) -> Sequence[Checked]:
    """Run each judge over the cases that ship, under the board's profile and budget, and keep its record.

    A record replaces an earlier one of the same judge. Raises `InputError` where a judge cannot be asked at all;
    the records of those before it stay.
    """
    workspace.prepare()
    budget = Budget(board.max_microusd, max_tokens=board.max_tokens)
    checked = []
    for name, table in tables.items():
        before = budget.spent_microusd
        record = await _record(board, table, keys, budget, weights_cache, name, report)
        path = record_path(workspace.root, record.digest)
        write_bytes(path, record_bytes(record))
        spent = budget.spent_microusd - before
        checked.append(Checked(name=name, record=record, path=path, cost_microusd=spent))
    return checked


async def _record(
    board: BoardFile, table: JudgeTable, keys: Keys, budget: Budget, weights_cache: Path, name: str, report: Report
) -> ConformanceRecord:
    cases, digest = shipped_cases()
    judge, endpoint = make_judge(table, board.scorer, keys, budget, weights_cache)
    try:
        found = await conformance(judge, board.scorer, cases, progress=report(f"conformance of {name}"))
    finally:
        if endpoint is not None:
            await endpoint.close()
    described: JSON = {"kind": table.kind, "id": judge.id, "describe": judge.describe()}
    return ConformanceRecord(
        judge=described,
        digest=canon.digest(described),
        profile=board.scorer,
        prompt=described["describe"].get("prompt"),
        schema=described["describe"].get("schema"),
        cases=digest,
        created=int(time.time()),
        notes=tuple(getattr(judge, "notes", ())),
        report=found,
    )
