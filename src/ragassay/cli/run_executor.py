"""Who asks the questions of `ragassay run`: this process, or workers on a Ray cluster."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from ragassay.errors import InputError
from ragassay.run.board_file import BoardFile
from ragassay.run.build import Report
from ragassay.run.passes import Row
from ragassay.run.prepared import Options, Prepared
from ragassay.run.workspace import Workspace
from ragassay.site.numbers import plural
from ragassay.site.safe import one_line

if TYPE_CHECKING:
    from ragassay.run.cluster.executor import Clustered

EXECUTORS = ("local", "ray")


class Where(NamedTuple):
    """The executor that was asked for, and where its cluster is."""

    executor: str = "local"
    address: str | None = None
    workers: int | None = None

    def check(self) -> None:
        """Raise `InputError` for options that say nothing without the executor `ray`; import Ray where that is to ask.

        It has to come before any stack: see `imported_ray`.
        """
        given = [
            name for name, value in (("--address", self.address), ("--workers", self.workers)) if value is not None
        ]
        if self.executor == "local" and given:
            raise InputError(f"{' and '.join(given)}: only with --executor ray")
        if self.executor == "ray":
            from ragassay.run.cluster.joined import imported_ray

            imported_ray()


@contextlib.contextmanager
def on_cluster(where: Where, board: BoardFile, options: Options) -> Iterator[Clustered | None]:
    """Give the cluster's executor, its workers started; None for this process. Lets go of them when the block ends."""
    where.check()
    if where.executor == "local":
        yield None
        return
    from ragassay.run.cluster.executor import Clustered
    from ragassay.run.cluster.joined import joined

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a run tells nobody that there was one
    with joined(where.address, workers=where.workers) as cluster:
        executor = Clustered(cluster, board, options)
        try:
            asyncio.run(executor.open())
            count = len(executor.workers)
            click.echo(f"asking on {plural(count, 'worker')}: {one_line('; '.join(executor.workers))}", err=True)
            yield executor
        finally:
            asyncio.run(executor.close())


def embed_there(executor: Clustered | None, prepared: Prepared, space: Workspace, report: Report) -> None:
    """Have the workers embed the corpus."""
    if executor is not None:
        asyncio.run(executor.embed(prepared, space, report))


def build_there(
    executor: Clustered | None, prepared: Prepared, rows: Sequence[Row], space: Workspace, report: Report
) -> None:
    """Have the workers build the rows."""
    if executor is not None:
        asyncio.run(executor.build(prepared, rows, space, report))
