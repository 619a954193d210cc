"""What a worker gets of a board, and the rows, models and judge that it makes of it: those that were planned, or none.

Keys are no part of it. A row whose stack describes itself otherwise than where the run was planned is refused: another
version of an engine may find something else, and the row's identity would not say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from ragassay.errors import InputError
from ragassay.records import JSON, Benchmark, Chunk, Config
from ragassay.run.board_file import BoardFile, RowTable
from ragassay.run.build import Keys, StackBuilder, described, make_endpoint, make_judge, naming
from ragassay.run.cluster.gate_line import GateLine, LineBudget, OnLine
from ragassay.run.limits import Endpoint
from ragassay.run.passes import Fixed, Row
from ragassay.run.plan import differences
from ragassay.run.search_threads import SearchThreads
from ragassay.seams import Progress


class Kit(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is the same for all workers."""

    board: BoardFile
    benchmark: Benchmark
    chunks: Sequence[Chunk]
    evidence: Mapping[str, Sequence[str]]
    rows: Sequence[tuple[RowTable, Config, bool]]
    """Each row's table, its recorded configuration, and whether its hits carry their own text."""


class Cache(NamedTuple):
    """Where a worker keeps what it was sent: vectors of chunks, and weights of models."""

    root: Path

    @property
    def weights(self) -> Path:
        """The folder of weights."""
        return self.root / "weights"


class Bench(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker asks with."""

    fixed: Fixed
    rows: Mapping[str, Row]
    endpoints: Mapping[str, Endpoint]


def bench_of(kit: Kit, keys: Keys, line: GateLine, cache: Cache) -> Bench:
    """Return the models, the judge and the built rows; raises `InputError` where one is not what was planned."""
    board = kit.board
    budget, limited = LineBudget(line, board.max_microusd, board.max_tokens), OnLine(line)
    answering = make_endpoint(board.answer, keys, budget, cache.weights)
    limited.model("answer", answering, board.answer)
    endpoints = {"answer": answering}
    judge, judging = make_judge(board.judge, board.scorer, keys, budget, cache.weights)
    if judging is not None and board.judge.model is not None:
        limited.model("judge", judging, board.judge.model)
        endpoints["judge"] = judging
    builder = StackBuilder(
        kit.chunks,
        evidence=kit.evidence,
        cache=cache.root,
        weights_cache=cache.weights,
        report=silent,
        keys=keys,
        budget=budget,
        folder=board.path.parent,
        limited=limited,
    )
    rows = [_row(*planned, builder) for planned in kit.rows]
    problems = [problem for row in rows for problem in _differences(row)]
    for name, found, planned in _models(kit, answering.describe(), judge.describe()):
        problems += differences(name, planned, found)
    if problems:
        raise InputError("it would not measure what was planned", dict.fromkeys(problems))
    return Bench(
        fixed=Fixed(
            benchmark=kit.benchmark,
            chunks={chunk.id: chunk for chunk in kit.chunks},
            answering=answering,
            judge=judge,
            template=board.template,
            threads={row.name: SearchThreads(row.name) for row in rows},
            budget=budget,
        ),
        rows={row.name: row for row in rows},
        endpoints=endpoints,
    )


def _row(table: RowTable, config: Config, owns: bool, builder: StackBuilder) -> Row:
    place = f"row {table.name!r}"
    with naming(place):
        retriever = builder.build(table.stack, place)
    return Row(
        name=table.name,
        retriever=retriever,
        owns_corpus=owns,
        kind=table.stack["kind"],
        config=config,
        timeout_s=table.timeout_s,
    )


def _differences(row: Row) -> list[str]:
    place = f"row {row.name!r}"
    return list(differences(f"{place}: stack", row.config.measure.stack["describe"], described(row.retriever, place)))


def _models(kit: Kit, answering: JSON, judge: JSON) -> list[tuple[str, JSON, JSON]]:
    """Return the name of the answering model and of the judge, what each says here and what was planned."""
    found = []
    for _, config, _owns in kit.rows[:1]:
        found.append(("answering model", answering, config.measure.answer["describe"]))
        found.append(("judge", judge, config.measure.judge["describe"]))
    return found


def silent(_what: str) -> Progress:
    """Report progress nowhere."""
    return lambda _done, _total: None
