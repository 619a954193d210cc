"""The workers of a run: started, sent what they lack, built, replaced where one is lost, and let go."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

from ragassay import canon
from ragassay.errors import InputError, PluginError, RagassayError
from ragassay.records import JSON
from ragassay.run.build import Keys, Report
from ragassay.run.cluster.joined import Cluster, started
from ragassay.run.cluster.kit import Kit
from ragassay.run.cluster.links import Link, Lost, RayLink, first_of
from ragassay.run.cluster.sealed_keys import sealed_for
from ragassay.run.cluster.shipments import Shipment, WeightFiles
from ragassay.run.embeddings import BLOCK, CachedEmbedder, add_segment, missing_texts

REPLACE_S = 600.0
"""How long a worker in place of a lost one may take until it is built; the others go on meanwhile."""
FEW_TEXTS = 2 * BLOCK
"""So few texts are embedded here sooner than elsewhere."""


Embedding = tuple[CachedEmbedder, JSON, str]
"""An embedder, its table and its place on the board."""


class Staff:
    """Workers by what they were sent; `links` are those that are there. `notes` say what became of the others."""

    def __init__(self, cluster: Cluster, weights_cache: Path, names: Sequence[str]) -> None:
        """`names` are the packaged weights that every worker needs, in this process's `weights_cache`."""
        self.links: list[RayLink] = []
        self.notes: list[str] = []
        self._cluster = cluster
        self._weights = WeightFiles(names, weights_cache)
        self._gate = cluster.gate()
        self._kit: Any = None
        self._keys: Keys = {}
        self._shipments: Sequence[Shipment] = ()

    @property
    def gate(self) -> Any:
        """The limiter's actor."""
        return self._gate

    async def open(self) -> None:
        """Start the workers and send them the weights that they lack; those that end on the way are told in a note."""
        links = [self._cluster.worker(node_id) for node_id in self._cluster.places()]
        try:
            await self._of_all(links, self._opened)
            await self._send(self._weights, links)
        except BaseException:
            for link in links:
                link.kill()
            raise

    async def embed(self, task: Embedding, root: Path, texts: Sequence[str], report: Report) -> None:
        """Have the workers embed what the store under `root` lacks of these texts, each block kept at once."""
        embedder, entry, place = task
        about = embedder.describe()
        lacking = await asyncio.to_thread(missing_texts, root, canon.digest(about), texts)
        if len(lacking) < FEW_TEXTS:
            return
        progress = report(f"{place}: embedding on {len(self.links)} workers")
        left = deque(lacking[first : first + BLOCK] for first in range(0, len(lacking), BLOCK))
        done = 0

        async def embed(link: RayLink) -> None:
            nonlocal done
            while left:
                block = left.popleft()
                try:
                    found, data = await link.embed(entry, place, block)
                except Lost:
                    left.appendleft(block)
                    raise
                if found != about:
                    raise InputError(f"worker {link.name}: {place} is another embedder there: {canon.digest(found)}")
                await asyncio.to_thread(add_segment, root, about, data)
                done += len(block)
                progress(done, len(lacking))

        while left:
            await self._of_all(list(self.links), embed)

    async def build(self, kit: Kit, keys: Keys, shipments: Sequence[Shipment]) -> None:
        """Send the workers what they build from, and have them build it; raises what stands in the way of any."""
        self._kit, self._keys, self._shipments = self._cluster.put(kit), keys, shipments
        await self._of_all(list(self.links), lambda link: link.take(self._kit))
        for shipment in shipments:
            await self._send(shipment, list(self.links))
        await self._of_all(list(self.links), self._built)

    async def replace(self, lost: Link, why: str) -> Link | None:
        """Return a worker in place of one that is lost, built; None where there is no room for one."""
        gone = next(link for link in self.links if link is lost)
        self._leave(gone)
        await self._gate.forget.remote(gone.id)
        node_id = self._cluster.place_for_another(gone)
        if node_id is None:
            return None
        link = self._cluster.worker(node_id)
        try:
            async with asyncio.timeout(REPLACE_S):
                await self._opened(link)
                await self._send(self._weights, [link])
                await link.take(self._kit)
                for shipment in self._shipments:
                    await self._send(shipment, [link])
                await self._built(link)
        except (Lost, RagassayError, TimeoutError) as error:
            self.notes.append(f"no worker took the place of {gone.name}: {str(error) or 'it took too long'}")
            self._leave(link)
            return None
        except BaseException:
            self._leave(link)
            raise
        return link

    async def end(self) -> None:
        """Let go of all workers and of the gate."""
        await asyncio.gather(*(link.end() for link in self.links), return_exceptions=True)
        self.links.clear()
        self._cluster.end(self._gate)

    async def _opened(self, link: RayLink) -> None:
        await started(link)
        self.links.append(link)

    async def _built(self, link: RayLink) -> None:
        assert link.hello is not None
        await link.build(sealed_for(link.hello.seal_key, self._keys), self._gate)

    async def _send(self, shipment: Shipment, links: Sequence[RayLink]) -> None:
        """Send each item to one worker of every machine that lacks it; to another there, where that one is lost."""
        while leaders := self._leaders(links):
            wanted: dict[Hashable, list[RayLink]] = {}

            async def look(link: RayLink, wanted: dict[Hashable, list[RayLink]] = wanted) -> None:
                for item in await shipment.lacking(link):
                    wanted.setdefault(item, []).append(link)

            await self._of_all(leaders, look)
            for item, lacking in wanted.items():
                data = await asyncio.to_thread(shipment.data, item)
                if data is not None:
                    sent = self._cluster.put(data)
                    await self._of_all(lacking, _keeping(shipment, item, sent))
            if self._leaders(links) == leaders:
                return

    def _leaders(self, links: Sequence[RayLink]) -> list[RayLink]:
        """Return one worker for each machine and cache, of those that are there."""
        found: dict[tuple[str, str], RayLink] = {}
        for link in links:
            if link in self.links and link.hello is not None:
                found.setdefault((link.hello.machine, link.hello.cache), link)
        return list(found.values())

    async def _of_all(self, links: Sequence[RayLink], work: Callable[[RayLink], Awaitable[None]]) -> None:
        """Do something with all; who is lost on the way is left out, with a note. Raises where nobody is left."""

        async def attempt(link: RayLink) -> None:
            try:
                await work(link)
            except Lost as why:
                self.notes.append(f"worker {link.name} was lost before it asked anything ({why})")
                self._leave(link)

        try:
            async with asyncio.TaskGroup() as group:
                for link in links:
                    group.create_task(attempt(link))
        except BaseExceptionGroup as faults:
            raise first_of(faults) from None
        if not self.links:
            raise PluginError("no worker is left: " + "; ".join(self.notes))

    def _leave(self, link: RayLink) -> None:
        link.kill()
        if link in self.links:
            self.links.remove(link)


def _keeping(shipment: Shipment, item: Hashable, sent: Any) -> Callable[[RayLink], Awaitable[None]]:
    return lambda link: shipment.keep(link, item, sent)
