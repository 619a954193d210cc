"""A cluster in one process: the real workers, gate and executor, over actors that can be killed at any moment.

What stands in for Ray: references that fail when their actor is dead, values that were put, machines that go.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
from collections.abc import Awaitable, Callable, Generator, Mapping
from pathlib import Path
from typing import Any

from run_lab import LOG_SIGNER, SIGNER, Lab, silent

from ragassay.records import Secret
from ragassay.run.board_file import load_board
from ragassay.run.board_run import Ended, plan_passes, run_passes
from ragassay.run.cluster.executor import Clustered
from ragassay.run.cluster.gate import Gate
from ragassay.run.cluster.links import RayLink
from ragassay.run.cluster.worker import Asker
from ragassay.run.prepared import Options, build_rows, prepare
from ragassay.run.registration import Registrar
from ragassay.run.status import RunStatus


class Put:
    """A value in the store."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Reference:
    """What a call will return, or what its actor's death leaves of it."""

    def __init__(self, found: concurrent.futures.Future[Any]) -> None:
        self._found = found

    def future(self) -> concurrent.futures.Future[Any]:
        """Return it as Ray's references do."""
        return self._found

    def __await__(self) -> Generator[Any, None, Any]:
        return asyncio.wrap_future(self._found).__await__()


class Method:
    """One method of an actor."""

    def __init__(self, actor: Actor, name: str) -> None:
        self._actor = actor
        self._name = name

    def remote(self, *given: Any) -> Reference:
        """Call it."""
        return self._actor.call(self._name, given)


class Actor:
    """An object whose methods are called as an actor's; `kill` ends it as SIGKILL does, between any two steps."""

    def __init__(self, inside: Any) -> None:
        self.inside = inside
        self.dead = False
        self.calls: list[str] = []
        self.before: Callable[[str], Awaitable[None]] | None = None
        """Awaited before each call: a test's place to raise, wait or kill."""
        self._pending: dict[asyncio.Task[Any], concurrent.futures.Future[Any]] = {}

    def __getattr__(self, name: str) -> Method:
        return Method(self, name)

    def call(self, name: str, given: tuple[Any, ...]) -> Reference:
        """Begin a call."""
        found: concurrent.futures.Future[Any] = concurrent.futures.Future()
        if self.dead:
            found.set_exception(_died())
            return Reference(found)
        self.calls.append(name)

        async def work() -> None:
            try:
                if self.before is not None:
                    await self.before(name)
                values = [one.value if isinstance(one, Put) else one for one in given]
                result = await getattr(self.inside, name)(*values)
            except asyncio.CancelledError:
                return  # killed: the future has its error
            except Exception as error:  # noqa: BLE001 - travels
                if not found.done():
                    found.set_exception(error)
            else:
                if not found.done():
                    found.set_result(result)

        task = asyncio.get_running_loop().create_task(work())
        self._pending[task] = found
        task.add_done_callback(lambda task: self._pending.pop(task, None))
        return Reference(found)

    def kill(self) -> None:
        """End it: nothing of what it has not handed over is left."""
        if self.dead:
            return
        self.dead = True
        for task, found in list(self._pending.items()):
            if not found.done():
                found.set_exception(_died())
            task.cancel()
        for asking in list(getattr(self.inside, "_asking", ())):
            asking.cancel()


def _died() -> Exception:
    from ray.exceptions import ActorDiedError

    error: Exception = ActorDiedError()
    return error


class FakeCluster:
    """Machines with a worker each; `stands_in` answers for `joined.Cluster`."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder = folder
        self.machines = [f"machine-{n}" for n in range(workers)]
        self.actors: dict[str, Actor] = {}
        self.prepare: Callable[[str, Actor], None] = lambda _name, _actor: None
        """Called with each worker's actor before it is used."""
        self._numbers = itertools.count(1)

    def places(self) -> list[str]:
        """Return a machine for each worker."""
        return list(self.machines)

    def place_for_another(self, lost: RayLink) -> str | None:
        """Return a machine for a worker in place of a lost one."""
        if lost.node_id in self.machines:
            return lost.node_id
        return self.machines[0] if self.machines else None

    def worker(self, node_id: str) -> RayLink:
        """Return a worker on a machine."""
        name = str(next(self._numbers))
        actor = Actor(Asker(name, node_id, str(self.folder / node_id)))
        self.actors[name] = actor
        self.prepare(name, actor)
        return RayLink(actor, name, node_id, self.end)

    def gate(self) -> Actor:
        """Return the limiter's actor."""
        self.actors["gate"] = Actor(Gate())
        return self.actors["gate"]

    def put(self, value: Any) -> Put:
        """Put something into the store."""
        return Put(value)

    def end(self, actor: Actor) -> None:
        """End an actor."""
        actor.kill()

    @property
    def asking(self) -> dict[str, Actor]:
        """The workers that live."""
        return {name: actor for name, actor in self.actors.items() if name != "gate" and not actor.dead}


class ClusterLab(Lab):
    """A lab whose boards are asked on a cluster of `workers`; `cluster` is that of the last run."""

    def __init__(self, folder: Path, questions: int = 10, workers: int = 3) -> None:
        super().__init__(folder, questions)
        self.workers = workers
        self.local = False
        self.cluster = FakeCluster(folder / "machines", workers)
        self.begun: Callable[[], Awaitable[None]] | None = None
        """Run beside the asking."""
        self.set_up: Callable[[FakeCluster], None] = lambda _cluster: None

    async def run_async(
        self, options: Options | None = None, keys: Mapping[str, Secret] | None = None
    ) -> dict[tuple[str, int], Ended]:
        """Run the board on the cluster, in the order of the command line."""
        if self.local:
            return await super().run_async(options, keys)
        options = options or Options()
        self.status = RunStatus()
        board = load_board(self.folder / "board.toml")
        prepared = prepare(board, self.space, keys or {}, options, silent)
        self.cluster = FakeCluster(self.folder / "machines", self.workers)
        self.set_up(self.cluster)
        executor = Clustered(self.cluster, board, options)  # type: ignore[arg-type]  # stands in for it
        beside: asyncio.Task[None] | None = None
        try:
            await executor.open()
            await executor.embed(prepared, self.space, silent)
            rows = build_rows(prepared, self.space, options, silent, self.status)
            await executor.build(prepared, rows, self.space, silent)
            registrar = Registrar(self.space, SIGNER, LOG_SIGNER)
            plans = plan_passes(rows, prepared.benchmark, self.space, registrar, options)
            beside = asyncio.ensure_future(self.begun()) if self.begun else None
            ended = await run_passes(
                prepared,
                rows,
                plans,
                self.space,
                registrar=registrar,
                options=options,
                status=self.status,
                executor=executor,
            )
        finally:
            if beside is not None:
                beside.cancel()
            await executor.close()
            for actor in self.cluster.actors.values():
                if isinstance(actor.inside, Asker):
                    await actor.inside.close()  # a process that is killed closes its connections
            self.prepared = prepared
        for one in rows:
            one.retriever.close()
        return {(end.row, end.k): end for end in ended}
