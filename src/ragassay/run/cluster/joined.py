"""A Ray cluster that is joined, or started on this machine for one run and stopped behind it."""

from __future__ import annotations

import itertools
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ragassay import __version__
from ragassay.errors import InputError, PluginError, legible
from ragassay.run.cluster.gate import Gate
from ragassay.run.cluster.links import Lost, RayLink
from ragassay.run.cluster.worker import Asker

CLIENT = "ray://"
STORE_BYTES = 256 * 1024 * 1024
"""The object store of a cluster that is started here: what is sent is a block of vectors or a file of weights."""
REACH_S = 10.0
"""How long a cluster may take to accept a connection."""
CPUS_A_WORKER = 2
MOST_A_NODE = 4
"""Workers of a machine where nobody says how many: each holds the board's indexes in memory."""


class Cluster:
    """Machines on which workers are started."""

    def __init__(self, ray: Any, workers: int | None, cache: str | None) -> None:
        self._ray = ray
        self._wanted = workers
        self._cache = cache
        self._numbers = itertools.count(1)
        self._asker = ray.remote(Asker)
        self._gate = ray.remote(Gate)

    def nodes(self) -> list[dict[str, Any]]:
        """Return the machines that are there and can run a worker."""
        found = [node for node in self._ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
        return sorted(found, key=lambda node: (str(node["NodeManagerAddress"]), str(node["NodeID"])))

    def places(self) -> list[str]:
        """Return a machine's id for each worker that is to be started, machine by machine in turn."""
        nodes = self.nodes()
        if not nodes:
            raise PluginError("no machine of the cluster has a CPU for a worker")
        room = {node["NodeID"]: int(node["Resources"]["CPU"]) for node in nodes}
        if self._wanted is None:
            shares = {id: max(1, min(MOST_A_NODE, cpus // CPUS_A_WORKER)) for id, cpus in room.items()}
        else:
            shares = dict.fromkeys(room, self._wanted)
        turns = [id for turn in range(max(shares.values())) for id, share in shares.items() if turn < share]
        return turns if self._wanted is None else turns[: self._wanted]

    def place_for_another(self, lost: RayLink) -> str | None:
        """Return a machine for a worker in place of a lost one: its own where that is still there."""
        nodes = [node["NodeID"] for node in self.nodes()]
        return lost.node_id if lost.node_id in nodes else nodes[0] if nodes else None

    def worker(self, node_id: str) -> RayLink:
        """Return a worker that is being started on a machine."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        name = f"{next(self._numbers)}"
        address = next((str(n["NodeManagerAddress"]) for n in self._ray.nodes() if n["NodeID"] == node_id), "?")
        actor = self._asker.options(
            num_cpus=1,
            max_restarts=0,
            max_task_retries=0,
            max_concurrency=1000,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node_id, soft=False),
        ).remote(name, address, self._cache)
        return RayLink(actor, name, node_id, self.end)

    def gate(self) -> Any:
        """Return the limiter's actor, on the machine that this process is on: it ends with it."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(self._ray.get_runtime_context().get_node_id(), soft=False)
        return self._gate.options(
            num_cpus=0, max_restarts=0, max_task_retries=0, max_concurrency=10_000, scheduling_strategy=here
        ).remote()

    def put(self, value: Any) -> Any:
        """Put something into the object store, for any worker."""
        return self._ray.put(value)

    def end(self, actor: Any) -> None:
        """End an actor."""
        self._ray.kill(actor, no_restart=True)


async def started(link: RayLink) -> RayLink:
    """Wait until a worker has started; raises `PluginError` where its machine lacks this version of the program."""
    try:
        hello = await link.start()
    except Lost as error:
        said = str(error)
        if "No module named" in said or "ModuleNotFoundError" in said:
            raise PluginError(_absent(link.name, said)) from error
        raise
    if hello.version != __version__:
        raise PluginError(
            f"{link.name} has ragassay {hello.version} and this is {__version__}; install the same on every machine"
        )
    return link


def _absent(name: str, said: str) -> str:
    return (
        f"worker {name} cannot be started ({said}); install the same ragassay on every machine of the cluster: "
        f"pip install 'ragassay[run,ray]=={__version__}'"
    )


def imported_ray() -> Any:
    """Return Ray, which has to be imported before any stack is: usearch's library ends a process that joins later.

    Raises `PluginError` where it is not installed, or comes too late.
    """
    if "ray" not in sys.modules and "usearch" in sys.modules:
        raise PluginError("Ray has to be imported before usearch in one process: import ray first")
    try:
        import ray
    except ImportError as error:
        raise PluginError("a run on a cluster needs Ray: pip install 'ragassay[ray]'") from error
    return ray


@contextmanager
def joined(address: str | None, *, workers: int | None = None, cache: str | None = None) -> Iterator[Cluster]:
    """Join the cluster at `address` (`auto`: one that runs here), or start one on this machine until the block ends.

    `workers` is how many to start in all, `cache` where each keeps what it is sent. Raises `InputError` for an address
    that cannot be used, `PluginError` where Ray is not installed or the cluster cannot be joined.
    """
    _refuse(address, workers)
    ray = imported_ray()
    if ray.is_initialized():  # whoever did that also ends it
        yield Cluster(ray, workers, cache)
        return
    if address not in (None, "auto"):
        _refuse_unreachable(str(address))
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address is None:
            ray.init(
                address="local",
                num_cpus=max(os.cpu_count() or 1, workers or 0),
                include_dashboard=False,
                object_store_memory=STORE_BYTES,
                **quiet,
            )
        else:
            ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        where = "no Ray cluster could be started here" if address is None else f"there is no Ray cluster at {address!r}"
        raise PluginError(f"{where}: {legible(error)}; start one with `ray start --head`, or see --address") from error
    try:
        yield Cluster(ray, workers, cache)
    finally:
        ray.shutdown()


def _refuse_unreachable(address: str) -> None:
    """Raise `PluginError` where nothing listens at HOST:PORT: Ray itself would go on trying."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), REACH_S).close()
    except (OSError, ValueError, OverflowError) as error:
        raise PluginError(
            f"there is no Ray cluster at {address!r}: {legible(error)}; start one with `ray start --head`, which "
            "prints its address"
        ) from error


def _refuse(address: str | None, workers: int | None) -> None:
    if address is not None and address.startswith(CLIENT):
        raise InputError(
            f"--address {address}: the Ray client is not supported, as the journal would be written over it; run this "
            "command on a machine of the cluster, with --address auto"
        )
    if address is not None and (not address.strip() or "://" in address):
        raise InputError(f"--address {address!r} is none; give auto, or HOST:PORT of a running cluster")
    if workers is not None and workers < 1:
        raise InputError(f"--workers must be at least 1, not {workers}")
