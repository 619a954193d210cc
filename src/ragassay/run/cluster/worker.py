"""A worker: builds the rows of a board, asks the questions that it is given, and hands every journal entry back.

It journals nothing and decides nothing: what it has not handed over when it ends was not done. Its methods are called
over the cluster; what they raise travels as a `Fault`.
"""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ragassay import __version__
from ragassay.errors import InputError
from ragassay.plugins.weights import default_cache
from ragassay.records import JSON, Question
from ragassay.run.build import StackBuilder
from ragassay.run.cluster import blocks, indexes, shipped
from ragassay.run.cluster.gate_line import GateLine
from ragassay.run.cluster.kit import Bench, Cache, Kit, bench_of, silent
from ragassay.run.cluster.messages import Fault, Hello, Task, encode, fault_of, read_tasks
from ragassay.run.cluster.outbox import Keeper, Outbox
from ragassay.run.cluster.sealed_keys import Unsealer
from ragassay.run.course import Course, Order
from ragassay.run.embeddings import STORES, add_segment
from ragassay.run.passes import PassRun
from ragassay.run.state import ItemState

PULL_S = 5.0
"""How long a worker with nothing to hand over lets the other side wait."""


class Asker:
    """A worker process. `cache` is where it keeps what it is sent: `~/.cache/ragassay/cluster` where none is given."""

    def __init__(self, name: str, node: str, cache: str | None = None) -> None:
        self._name = name
        self._node = node
        self._cache = Cache(Path(cache) if cache else default_cache().parent / "cluster")
        self._unsealer = Unsealer()
        self._kit: Kit | None = None
        self._embedders = StackBuilder(
            [], evidence={}, cache=self._cache.root, weights_cache=self._cache.weights, report=silent
        )
        self._bench: Bench | None = None
        self._outbox = Outbox()
        self._runs: dict[str, PassRun] = {}
        self._questions: dict[str, Question] = {}
        self._order: Order | None = None
        self._asking: set[asyncio.Task[None]] = set()
        self._lots: set[int] = set()

    async def hello(self) -> bytes:
        """Return who this is."""
        hello = Hello(
            version=__version__,
            machine=machine(),
            node=self._node,
            pid=os.getpid(),
            cache=str(self._cache.root),
            seal_key=self._unsealer.public,
        )
        return encode(hello)

    async def lacking_weights(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """Return name and file of the weights that are not here."""
        return await asyncio.to_thread(shipped.lacking, self._cache.weights, names)

    async def keep_weights(self, name: str, file: str, data: bytes) -> bytes:
        """Keep a file of weights; return a fault or None."""
        return encode(await _fault(asyncio.to_thread(shipped.keep, self._cache.weights, name, file, data)))

    async def embed(self, entry: JSON, place: str, texts: Sequence[str]) -> tuple[bytes, JSON, bytes]:
        """Return a fault or None, what the embedder says of itself, and the segment of these texts."""
        found: list[tuple[JSON, bytes]] = []

        def work() -> None:
            embedder = self._embedders.embedder(entry, place)
            found.append(blocks.segment_of(embedder, texts))

        fault = await _fault(asyncio.to_thread(work))
        about, data = found[0] if found else ({}, b"")
        return encode(fault), about, data

    async def take(self, kit: Kit) -> None:
        """Take what everything is built from."""
        self._kit = kit

    async def lacking_blocks(self, about: JSON) -> tuple[bytes, Sequence[int]]:
        """Return a fault or None, and where the blocks of vectors begin that are not here."""
        found: list[int] = []

        def work() -> None:
            found.extend(blocks.lacking_blocks(self._cache.root, about, self._planned.chunks))

        return encode(await _fault(asyncio.to_thread(work))), found

    async def keep_block(self, about: JSON, data: bytes) -> bytes:
        """Keep a block of vectors; return a fault or None."""
        kept = asyncio.to_thread(add_segment, self._cache.root / STORES, about, data)
        return encode(await _fault(kept))

    async def lacking_indexes(self, folders: Sequence[str]) -> list[str]:
        """Return which of these indexes are not here."""
        return await asyncio.to_thread(indexes.lacking_indexes, self._cache.root, folders)

    async def keep_piece(self, piece: Sequence[Any], data: bytes, first: bool) -> bytes:
        """Keep a piece of an index; return a fault or None."""
        kept = asyncio.to_thread(indexes.keep_piece, self._cache.root, indexes.Piece(*piece), data, first=first)
        return encode(await _fault(kept))

    async def build(self, sealed: bytes, gate: Any) -> bytes:
        """Build everything that is needed to ask; return a fault or None. `gate` is the limiter's actor."""
        line = GateLine(
            lambda number, data: _awaited(gate.tell.remote(self._name, number, data)),
            lambda: _awaited(gate.wait.remote(self._name)),
        )

        async def work() -> None:
            kit, keys = self._planned, self._unsealer.opened(sealed)
            self._bench = await asyncio.to_thread(bench_of, kit, keys, line, self._cache)
            self._order = Order(kit.benchmark)
            self._questions = {question.id: question for question in kit.benchmark.questions}

        return encode(await _fault(work()))

    async def warm(self, tasks: bytes) -> None:
        """Search once in every row of these passes, one after the other, so that no measured search is the first."""
        for task in read_tasks(tasks):
            failed = await self._run(task).warm_up()
            if failed is not None:
                self._outbox.note(f"{task.row} on {self._name}: {failed}")

    async def give(self, lot: int, tasks: bytes) -> None:
        """Begin to ask these questions; a lot that came before is passed over."""
        if lot in self._lots:
            return
        self._lots.add(lot)
        for task in read_tasks(tasks):
            asking = asyncio.get_running_loop().create_task(self._ask(task))
            self._asking.add(asking)
            asking.add_done_callback(self._asking.discard)

    async def pull(self, acknowledged: int) -> bytes:
        """Return what is to be journaled since the batch of that number, as soon as there is something."""
        batch = await self._outbox.batch(acknowledged, PULL_S)
        return encode(self._outbox.count(batch, dict(self._built.endpoints)))

    async def halt(self, acknowledged: int) -> bytes:
        """Stop asking at once; return all that is to be journaled and has not arrived."""
        for asking in list(self._asking):
            asking.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)
        return encode(self._outbox.rest(acknowledged))

    async def close(self) -> None:
        """Let go of endpoints and stacks."""
        if (bench := self._bench) is not None:
            self._bench = None
            for endpoint in bench.endpoints.values():
                await endpoint.close()
            for row in bench.rows.values():
                await asyncio.to_thread(row.retriever.close)

    @property
    def _planned(self) -> Kit:
        if self._kit is None:
            raise InputError("the worker was not sent what it builds from")
        return self._kit

    @property
    def _built(self) -> Bench:
        if self._bench is None:
            raise InputError("the worker was not built")
        return self._bench

    def _run(self, task: Task) -> PassRun:
        if task.run_id not in self._runs:
            bench = self._built
            assert self._order is not None
            row = bench.rows[task.row]
            course = Course(self._order, row.config.measure.scorer)
            self._runs[task.run_id] = PassRun(
                row, task.k, task.run_id, bench.fixed, Keeper(self._outbox, task.run_id), course
            )
        return self._runs[task.run_id]

    async def _ask(self, task: Task) -> None:
        run = self._run(task)
        question = self._questions[task.q]
        run.course.states[task.q] = task.state or ItemState()
        try:
            outcome = await run.ask(question)
        except Exception as error:  # noqa: BLE001 - the run as a whole cannot go on, whatever it is
            self._outbox.fail(error)
        else:
            self._outbox.end(task.run_id, outcome)
            for note in getattr(self._built.fixed.judge, "notes", ()):
                self._outbox.note_once(note)
        finally:
            run.course.states.pop(task.q, None)


async def _awaited(reference: Any) -> bytes:
    found: bytes = await reference
    return found


async def _fault(work: Any) -> Fault | None:
    """Await it; return what it raised, where it did."""
    try:
        await work
    except Exception as error:  # noqa: BLE001 - travels, with its kind
        return fault_of(error)
    return None


def machine() -> str:
    """Return what tells this machine from others: containers of one host are different machines here."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    return f"{platform.node()}/{boot.read_text(encoding='ascii').strip() if boot.exists() else ''}"
