"""One collection of Chroma under its name: made with the digest beside it, filled, counted, asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from chromadb.api.models.Collection import Collection as ClientCollection
from chromadb.errors import NotFoundError
from numpy.typing import NDArray

from ragassay.errors import StackError
from ragassay.plugins.stacks.chroma.connection import Connection
from ragassay.plugins.stacks.chroma.settings import Settings
from ragassay.plugins.stacks.stored_index import Held

DIGEST = "ragassay_digest"
"""Under this key of the collection's metadata stands what it holds."""


class Collection:
    """A store for `bring_up`, and the one thing that both ways of searching ask."""

    def __init__(self, connection: Connection, name: str, settings: Settings) -> None:
        self.connection = connection
        self.name = name
        self._settings = settings
        self._found: ClientCollection | None = None

    def held(self) -> Held | None:
        """Return how many vectors and whose; None where there is no such collection."""
        with self.connection.failing(f"open the collection {self.name!r}"):
            try:
                model = self.connection.api.get_collection(name=self.name, **self.connection.where)
            except NotFoundError:
                return None
            found = self._taken(model)
            digest = (found.metadata or {}).get(DIGEST)
            held = Held(count=found.count(), digest=digest if isinstance(digest, str) else None)
        if held.digest is not None:
            self._check_graph(model)
        return held

    def create(self, dimension: int, digest: str) -> None:
        """Make the collection; Chroma takes the dimension from the first vector."""
        with self.connection.failing(f"make the collection {self.name!r} in {self.connection.place}"):
            model = self.connection.api.create_collection(
                name=self.name,
                configuration={"hnsw": self._settings.graph()},
                metadata={DIGEST: digest},
                **self.connection.where,
            )
        self._check_graph(model)
        self._taken(model)

    def put(self, first: int, rows: NDArray[np.float32]) -> None:
        """Write the rows under their positions as ids; one that is there stays: written over, it tears the graph."""
        with self.connection.failing(f"write to the collection {self.name!r}"):
            self._open().add(ids=[str(at) for at in range(first, first + len(rows))], embeddings=rows)

    def read(self, first: int, count: int) -> tuple[list[int], NDArray[np.float32]]:
        """Return the rows under their ids."""
        with self.connection.failing(f"read the collection {self.name!r}"):
            ids = [str(at) for at in range(first, first + count)]
            found = self._open().get(ids=ids, include=["embeddings"])
        held = sorted(zip(map(int, found["ids"]), found["embeddings"], strict=True), key=lambda one: one[0])
        return [at for at, _ in held], np.array([row for _, row in held], np.float32)

    def finish(self) -> None:
        """Do nothing: Chroma adds to its graph as it is written to."""

    def count(self) -> int:
        """Return how many vectors Chroma holds."""
        with self.connection.failing("count its vectors"):
            return int(self._open().count())

    def nearest(self, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Return at most `limit` pairs of id and distance, nearest first."""
        with self.connection.failing("search"):
            query = np.asarray(vector, dtype=np.float32)
            found = self._open().query(query_embeddings=[query], n_results=limit, include=["distances"])
            ids, distances = found["ids"][0], found["distances"][0]
            if len(ids) != len(distances):
                raise StackError(f"chroma returned {len(ids)} ids with {len(distances)} distances")
            return [(int(one), float(distance)) for one, distance in zip(ids, distances, strict=True)]

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def _taken(self, model: Any) -> ClientCollection:
        # Without an embedding function: with the client's default one it would load a model of its own.
        self._found = ClientCollection(client=self.connection.api, model=model, embedding_function=None)
        return self._found

    def _open(self) -> ClientCollection:
        assert self._found is not None, "asked before it was made or found"
        return self._found

    def _check_graph(self, model: Any) -> None:
        """Refuse a collection whose server did not build what was asked of it, as Chroma Cloud does not."""
        graph = (model.configuration_json or {}).get("hnsw") or {}
        wanted = self._settings.graph()
        other = sorted(name for name, value in wanted.items() if graph.get(name) != value)
        if other:
            raise StackError(
                f"chroma: the collection {self.name!r} has not the {', '.join(other)} that was asked for: this server "
                "does not build a graph of that kind, or somebody changed it; remove the collection by hand"
            )
