"""The near end of one worker: what is asked of it, and what becomes of that when it or its machine is gone."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ragassay.errors import RagassayError, legible
from ragassay.records import JSON
from ragassay.run.cluster.indexes import Piece
from ragassay.run.cluster.messages import Batch, Hello, Task, encode, error_of, read_batch, read_batches, read_fault
from ragassay.run.cluster.messages import read_hello as _read_hello

START_S = 300.0
"""How long a worker may take to start: a machine of the cluster may have to import a lot."""
UNAVAILABLE_S = 60.0
"""How long a worker that cannot be reached for the moment is tried again."""
SILENT_S = 300.0
"""How long a worker may say nothing: it answers every few seconds, unless foreign code holds all of its threads."""
_RAISED = re.compile(r"[A-Za-z_.]+(Error|Exception): ")


class Lost(Exception):
    """A worker is gone, with everything that it had not handed over."""


class Link(Protocol):
    """A worker as whoever hands out questions sees it; every method may raise `Lost`."""

    name: str

    async def warm(self, tasks: Sequence[Task]) -> None:
        """Search once in every row of these passes."""
        ...

    async def give(self, tasks: Sequence[Task]) -> None:
        """Have it begin these questions."""
        ...

    async def pull(self, acknowledged: int) -> Batch:
        """Return what it has to hand over after the batch of that number."""
        ...

    async def halt(self, acknowledged: int) -> list[Batch]:
        """Stop it; return all that it has to hand over."""
        ...

    async def end(self) -> None:
        """Let go of it, at once where it does not answer."""
        ...


class RayLink:
    """A worker that is a Ray actor."""

    def __init__(self, actor: Any, name: str, node_id: str, kill: Callable[[Any], None]) -> None:
        self.id = name
        """What the gate knows it by."""
        self.name = name
        self.node_id = node_id
        self.hello: Hello | None = None
        self._actor = actor
        self._kill = kill
        self._lots = 0

    async def start(self) -> Hello:
        """Return what the worker says of itself when it has started."""
        self.hello = _read_hello(await self._call("hello", wait_s=START_S))
        self.name = f"{self.name} ({self.hello.node}, process {self.hello.pid})"
        return self.hello

    async def lacking_weights(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """Return name and file of the weights that it lacks."""
        return [(name, file) for name, file in await self._call("lacking_weights", list(names))]

    async def keep_weights(self, name: str, file: str, data: Any) -> None:
        """Send it a file of weights."""
        self._raise(await self._call("keep_weights", name, file, data))

    async def embed(self, entry: JSON, place: str, texts: Sequence[str]) -> tuple[JSON, bytes]:
        """Return what its embedder says of itself, and the segment of these texts."""
        fault, about, data = await self._call("embed", entry, place, list(texts), wait_s=3600.0)
        self._raise(fault)
        return about, data

    async def take(self, kit: Any) -> None:
        """Send it what it builds from."""
        await self._call("take", kit, wait_s=3600.0)

    async def lacking_blocks(self, about: JSON) -> list[int]:
        """Return where the blocks of vectors begin that it lacks."""
        fault, found = await self._call("lacking_blocks", about, wait_s=3600.0)
        self._raise(fault)
        return list(found)

    async def keep_block(self, about: JSON, data: Any) -> None:
        """Send it a block of vectors."""
        self._raise(await self._call("keep_block", about, data))

    async def lacking_indexes(self, folders: Sequence[str]) -> list[str]:
        """Return which of these indexes its cache lacks."""
        return list(await self._call("lacking_indexes", list(folders)))

    async def keep_piece(self, piece: Piece, data: Any, *, first: bool) -> None:
        """Send it a piece of an index."""
        self._raise(await self._call("keep_piece", tuple(piece), data, first))

    async def build(self, sealed: bytes, gate: Any) -> None:
        """Have it build everything; raises what stands in the way."""
        self._raise(await self._call("build", sealed, gate, wait_s=None))

    async def warm(self, tasks: Sequence[Task]) -> None:
        """Search once in every row of these passes."""
        await self._call("warm", encode(list(tasks)), wait_s=None)

    async def give(self, tasks: Sequence[Task]) -> None:
        """Have it begin these questions."""
        self._lots += 1
        await self._call("give", self._lots, encode(list(tasks)))

    async def pull(self, acknowledged: int) -> Batch:
        """Return what it has to hand over after the batch of that number."""
        return read_batch(await self._call("pull", acknowledged))

    async def halt(self, acknowledged: int) -> list[Batch]:
        """Stop it; return all that it has to hand over."""
        return read_batches(await self._call("halt", acknowledged, wait_s=10.0))

    async def end(self) -> None:
        """Let go of endpoints and stacks, then of the process."""
        try:
            await self._call("close", wait_s=10.0)
        except (Lost, RagassayError):
            pass  # it is ended anyway
        finally:
            self.kill()

    def kill(self) -> None:
        """End the process: one that is only out of reach must not go on asking."""
        self._kill(self._actor)

    def _raise(self, fault: bytes) -> None:
        found = read_fault(fault)
        if found is not None:
            raise error_of(found, self.name)

    async def _call(self, method: str, *given: Any, wait_s: float | None = SILENT_S) -> Any:
        """Return what the worker's method returns; every call may be made twice without harm."""
        from ray.exceptions import ActorUnavailableError, RayError, RayTaskError

        until = asyncio.get_running_loop().time() + UNAVAILABLE_S
        while True:
            try:
                reference = getattr(self._actor, method).remote(*given)
                return await asyncio.wait_for(asyncio.wrap_future(reference.future()), wait_s)
            except ActorUnavailableError as error:
                if asyncio.get_running_loop().time() > until:
                    raise Lost(f"it cannot be reached: {_why(error)}") from error
                await asyncio.sleep(1)
            except TimeoutError as error:
                raise Lost(f"it did not answer within {wait_s:.0f} s") from error
            except RayTaskError as error:
                cause = getattr(error, "cause", error)
                raise RagassayError(f"{self.name}: {type(cause).__name__}: {legible(cause)}") from error
            except RayError as error:
                raise Lost(_why(error)) from error


def _why(error: BaseException) -> str:
    """Return what ended a worker in one line: what its start raised, or Ray's first words."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    raised = [line for line in lines if _RAISED.match(line)]
    return (raised[-1] if raised else lines[0] if lines else type(error).__name__)[:300]


def first_of(faults: BaseExceptionGroup) -> BaseException:
    """Return one fault of several: they all stop for the same reason."""
    fault: BaseException = faults
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    return fault
