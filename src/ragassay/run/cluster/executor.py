"""The executor that asks on a cluster: it embeds the corpus there, has workers built, and hands them the questions.

In order: `open`, before anything is read; `embed`, before rows are built here; `build`, before anything is announced;
`ask_all`, which is the executor's own; `close`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Sequence

from ragassay.run.board_file import BoardFile, Limits, RowTable
from ragassay.run.budget import Amount, Budget
from ragassay.run.build import Report, StackBuilder
from ragassay.run.cluster.dispatch import Dispatch
from ragassay.run.cluster.fitness import refuse_local_addresses, refuse_unfit
from ragassay.run.cluster.gate_messages import Figures, encode, read_figures
from ragassay.run.cluster.indexes import indexes_of
from ragassay.run.cluster.joined import Cluster
from ragassay.run.cluster.kit import Kit
from ragassay.run.cluster.links import Link
from ragassay.run.cluster.messages import Batch
from ragassay.run.cluster.shipments import IndexPieces, Shipment, VectorBlocks
from ragassay.run.cluster.shipped import parts_within, weights_of
from ragassay.run.cluster.staff import Embedding, Staff
from ragassay.run.cluster.worker import machine
from ragassay.run.embeddings import STORES
from ragassay.run.executor import at_once, few_failed
from ragassay.run.limiter import Limiter, LimiterReport
from ragassay.run.limits import Endpoint
from ragassay.run.passes import PassRun, Row
from ragassay.run.prepared import Options, Prepared
from ragassay.run.status import RunStatus
from ragassay.run.workspace import Workspace

FIGURES_S = 0.5
"""How often the budget and the limits are read for the display."""


class Clustered:
    """Asks on the workers of a cluster; an `Executor`."""

    def __init__(self, cluster: Cluster, board: BoardFile, options: Options) -> None:
        """Raises `InputError` for a board of which a part cannot be built on another machine."""
        rows = [row for row in board.rows if not options.rows or row.name in options.rows]
        refuse_unfit(board, rows)
        self._board = board
        self._tables: Sequence[RowTable] = rows
        self._staff = Staff(cluster, options.weights_cache, weights_of(board, rows))
        self._weights_cache = options.weights_cache
        self._calls: dict[str, Batch] = {}

    @property
    def workers(self) -> list[str]:
        """The workers that are there, by number, address and process."""
        return [link.name for link in sorted(self._staff.links, key=lambda link: int(link.id))]

    async def open(self) -> None:
        """Start the workers; raises `InputError` where they would reach other services than this process."""
        await self._staff.open()
        if any(link.hello is not None and link.hello.machine != machine() for link in self._staff.links):
            refuse_local_addresses(self._board, self._tables)

    async def embed(self, prepared: Prepared, workspace: Workspace, report: Report) -> None:
        """Embed on the workers what the store lacks of the corpus; embedders over an endpoint are asked from here."""
        root = workspace.cache / STORES
        texts = [chunk.text for chunk in prepared.corpus.chunks]
        for embedder, entry, place in self._embedders(prepared, workspace, report):
            if entry["kind"] != "openai":
                await self._staff.embed((embedder, entry, place), root, texts, report)

    async def build(self, prepared: Prepared, rows: Sequence[Row], workspace: Workspace, report: Report) -> None:
        """Have the workers build what was built here; raises what stands in the way of any of them."""
        tables = {table.name: table for table in prepared.rows}
        chunks = list(prepared.corpus.chunks)
        kit = Kit(
            board=prepared.board,
            benchmark=prepared.benchmark,
            chunks=chunks,
            evidence=prepared.ready.evidence,
            rows=[(tables[row.name], row.config, row.owns_corpus) for row in rows],
        )
        indexes = indexes_of(workspace.cache, [row.retriever for row in rows])
        shipments: list[Shipment] = [
            VectorBlocks(workspace.cache, embedder.describe(), chunks)
            for embedder, _, _ in self._embedders(prepared, workspace, report)
        ]
        await self._staff.build(kit, prepared.keys, [*shipments, IndexPieces(workspace.cache, indexes)])

    async def ask_all(self, passes: Sequence[PassRun], prepared: Prepared, status: RunStatus) -> None:
        """Ask what is left of every pass, once more where a service failed on few questions."""
        seed = prepared.board.seed
        shown = _show(prepared)
        await self._staff.gate.begin.remote(encode(_figures(prepared)))
        dispatch = Dispatch(
            self._staff.links,
            status,
            at_once=at_once(prepared),
            replace=self._staff.replace,
            count=lambda link, batch: self._note_calls(link, batch, prepared),
        )
        mirror = asyncio.create_task(self._mirror(prepared, shown))
        try:
            await dispatch.traverse(passes, seed=seed)
            if few := [] if status.stop else few_failed(passes, status):
                await dispatch.traverse(few, seed=seed)
        finally:
            mirror.cancel()
            await self._read_figures(prepared, shown)
            status.notes += self._staff.notes
            self._staff.notes.clear()

    async def close(self) -> None:
        """Let go of the workers."""
        await self._staff.end()

    def _embedders(self, prepared: Prepared, workspace: Workspace, report: Report) -> list[Embedding]:
        """Return each embedder of the rows once, with its table and place."""
        builder = StackBuilder(
            [],
            evidence={},
            cache=workspace.cache,
            weights_cache=self._weights_cache,
            report=report,
            keys=prepared.keys,
            budget=prepared.budget,
            folder=prepared.board.path.parent,
        )
        found: dict[int, Embedding] = {}
        for table in prepared.rows:
            for part in parts_within(table.stack, f"row {table.name!r}"):
                if part.seam == "embedders":
                    embedder = builder.embedder(part.entry, part.place)
                    found.setdefault(id(embedder), (embedder, part.entry, part.place))
        return list(found.values())

    def _note_calls(self, link: Link, batch: Batch, prepared: Prepared) -> None:
        """Sum up what the workers called, in the endpoints of this process."""
        if not batch.calls:
            return
        self._calls[link.name] = batch
        for name, endpoint in zip(("answer", "judge"), prepared.endpoints, strict=False):
            endpoint.calls = sum(one.calls.get(name, 0) for one in self._calls.values())
            retries: Counter[str] = Counter()
            for one in self._calls.values():
                retries.update(one.retries.get(name, {}))
            endpoint.retries = dict(retries)

    async def _mirror(self, prepared: Prepared, shown: dict[str, _Shown]) -> None:
        while True:
            await self._read_figures(prepared, shown)
            await asyncio.sleep(FIGURES_S)

    async def _read_figures(self, prepared: Prepared, shown: dict[str, _Shown]) -> None:
        """Bring the budget and the limits of this process to what the gate counts, while it is there to be asked."""
        from ray.exceptions import RayError

        with contextlib.suppress(RayError):  # without it no worker may start a call, and the run ends with that
            figures = read_figures(await self._staff.gate.figures.remote())
            budget = prepared.budget
            budget.spent_tokens, budget.spent_microusd = figures.spent
            budget.estimated, budget.estimated_calls = figures.estimated, figures.estimated_calls
            for name, report in figures.limiters.items():
                if name in shown:
                    shown[name].latest = report


class _Shown(Limiter):
    """A limiter that only reports what another did."""

    def __init__(self, limits: Limits, endpoint: Endpoint) -> None:
        super().__init__(limits, Budget())
        self.latest: LimiterReport = endpoint.limiter.report()

    def report(self) -> LimiterReport:
        """Return what was done so far."""
        return self.latest


def _show(prepared: Prepared) -> dict[str, _Shown]:
    """Let the endpoints of this process report what the cluster's limiter does, by its name there."""
    tables = (prepared.board.answer, prepared.board.judge.model)
    found = {}
    for name, table, endpoint in zip(("model answer", "model judge"), tables, prepared.endpoints, strict=False):
        if table is not None:
            found[name] = endpoint.limiter = _Shown(table.limits, endpoint)
    return found


def _figures(prepared: Prepared) -> Figures:
    budget = prepared.budget
    return Figures(
        spent=Amount(budget.spent_tokens, budget.spent_microusd),
        estimated=budget.estimated,
        estimated_calls=budget.estimated_calls,
        max_microusd=budget.max_microusd,
        max_tokens=budget.max_tokens,
    )
