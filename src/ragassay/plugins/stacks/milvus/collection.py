"""One collection of Milvus under its name: made with the digest in its properties, filled, indexed, loaded, asked."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import StackError
from ragassay.plugins.stacks.milvus.client import Connection, is_not_loaded, pymilvus
from ragassay.plugins.stacks.milvus.settings import EMBEDDED_INDEXES, Settings, unsupported
from ragassay.plugins.stacks.stored_index import Held

POSITION, VECTOR = "position", "vector"
DIGEST = "ragassay_digest"
"""Under this key of the collection's properties stands what it holds."""
_POLL_S = 0.2


class Collection:
    """A store for `bring_up`, and the one thing that both ways of searching ask."""

    def __init__(self, connection: Connection, name: str, settings: Settings, *, digest: str, size: int) -> None:
        if connection.is_lite and settings.index not in EMBEDDED_INDEXES:
            raise StackError(f"milvus: {unsupported(settings.index)}; {connection.version} answers at the address")
        self.connection = connection
        self.name = name
        self._settings = settings
        self._digest = digest
        self._size = size
        self._continued = True
        self._written = False
        address = connection.address
        self._client = connection.client
        self._soon = {"timeout": address.timeout_s}
        self._late = {"timeout": address.index_timeout_s}

    def held(self) -> Held | None:
        """Return how many vectors and whose; None where there is no such collection. What is ours is loaded."""
        with self.connection.failing(f"open the collection {self.name!r}"):
            if not self._client.has_collection(self.name, **self._soon):
                return None
            digest = self._client.describe_collection(self.name, **self._soon).get("properties", {}).get(DIGEST)
            if digest != self._digest:  # not ours to load
                return Held(count=0, digest=digest)
            self._check_index()
            self._load()
            return Held(count=self.count(), digest=digest)

    def create(self, dimension: int, digest: str) -> None:
        """Make the collection, empty, with its index; it is loaded when it is whole."""
        self._continued = False
        with self.connection.failing(f"make the collection {self.name!r}"):
            schema = self._client.create_schema(auto_id=False, enable_dynamic_field=False)
            schema.add_field(POSITION, pymilvus.DataType.INT64, is_primary=True)
            schema.add_field(VECTOR, pymilvus.DataType.FLOAT_VECTOR, dim=dimension)
            self._client.create_collection(
                self.name, schema=schema, consistency_level="Strong", properties={DIGEST: digest}, **self._soon
            )
            self._index()

    def put(self, first: int, rows: NDArray[np.float32]) -> None:
        """Write the rows under their positions as keys, those that are not there yet: no key is written twice."""
        with self.connection.failing(f"write to the collection {self.name!r}"):
            known = self._rows(first, first + len(rows), [POSITION]) if self._continued else []
            there = {int(row[POSITION]) for row in known}
            wanted = [(first + at, row) for at, row in enumerate(rows) if first + at not in there]
            if not wanted:
                return
            self._written = True
            told = self._client.insert(self.name, [{POSITION: at, VECTOR: row} for at, row in wanted], **self._soon)
            if told["insert_count"] != len(wanted):
                raise StackError(f"milvus wrote {told['insert_count']} of {len(wanted)} vectors to {self.name!r}")

    def read(self, first: int, count: int) -> tuple[list[int], NDArray[np.float32]]:
        """Return the rows under their positions."""
        with self.connection.failing(f"read the collection {self.name!r}"):
            found = {int(row[POSITION]): row[VECTOR] for row in self._rows(first, first + count, [POSITION, VECTOR])}
        held = sorted(found)
        return held, np.array([found[at] for at in held], np.float32)

    def finish(self) -> None:
        """Have what was written sealed, indexed and loaded, and wait for it: else a part is searched in another way."""
        with self.connection.failing(f"index the collection {self.name!r}"):
            if not self._written and not self.connection.is_lite and self._indexed():
                return
            # Released first: what is loaded while it is written is indexed twice at once by Milvus Lite.
            self._client.release_collection(self.name, **self._soon)
            self._client.flush(self.name, **self._late)
            end = time.monotonic() + self.connection.address.index_timeout_s
            while not self._indexed():
                if time.monotonic() > end:
                    raise StackError(
                        f"milvus did not index {self.name!r} within {self.connection.address.index_timeout_s} s; "
                        "raise index_timeout_s",
                        retryable=True,
                    )
                time.sleep(_POLL_S)
            self._load()

    def count(self) -> int:
        """Return how many vectors Milvus holds."""
        with self.connection.failing("count its vectors"):
            found = self._client.query(
                self.name, filter="", output_fields=["count(*)"], consistency_level="Strong", **self._soon
            )
            return int(found[0]["count(*)"])

    def nearest(self, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Return at most `limit` pairs of position and score, best first."""
        with self.connection.failing("search"):
            try:
                found = self._search(vector, limit)
            except pymilvus.MilvusException as error:
                if not is_not_loaded(error):
                    raise
                self._load()
                found = self._search(vector, limit)
            if len(found) != 1 or len(found[0].ids) != len(found[0].distances):
                raise StackError(f"milvus answered one question with {len(found)} lists, or ids without distances")
            metric = self._settings.metric
            return [(int(at), score_of(metric, far)) for at, far in zip(found[0].ids, found[0].distances, strict=True)]

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def _search(self, vector: Sequence[float], limit: int) -> Any:
        return self._client.search(
            self.name,
            data=[np.asarray(vector, dtype=np.float32)],
            anns_field=VECTOR,
            limit=limit,
            search_params={"metric_type": self._settings.metric.upper(), "params": self._settings.ask()},
            consistency_level=self.connection.address.consistency.capitalize(),
            **self._soon,
        )

    def _rows(self, low: int, high: int, fields: Sequence[str]) -> Any:
        where = f"{POSITION} >= {low} and {POSITION} < {high}"
        return self._client.query(
            self.name, filter=where, output_fields=list(fields), consistency_level="Strong", **self._soon
        )

    def _index(self) -> None:
        params = self._client.prepare_index_params()
        # As a table of their own: the client would send them one by one, where Milvus Lite does not look for them.
        nested = {"params": self._settings.build()}
        params.add_index(VECTOR, params=nested, **self._wanted_kind())
        self._client.create_index(self.name, params, sync=False, **self._soon)
        self._check_index()

    def _load(self) -> None:
        self._client.load_collection(self.name, **self._late)

    def _about_index(self) -> dict[str, Any] | None:
        names = self._client.list_indexes(self.name, **self._soon)
        return self._client.describe_index(self.name, names[0], **self._soon) if names else None

    def _wanted_kind(self) -> dict[str, str]:
        return {"index_type": self._settings.index.upper(), "metric_type": self._settings.metric.upper()}

    def _check_index(self) -> None:
        """Make the index that an interrupted build did not come to, and refuse another than was asked for."""
        about = self._about_index()
        if about is None:
            self._index()
            return
        nested = about.get("params")
        built = {**about, **(json.loads(nested) if isinstance(nested, str) else nested or {})}
        wanted = {**self._wanted_kind(), **self._settings.build()}
        other = sorted(name for name, value in wanted.items() if str(built.get(name)) != str(value))
        if other:
            raise StackError(
                f"milvus: the index of {self.name!r} has not the {', '.join(other)} that was asked for: this Milvus "
                "builds another, or somebody changed it; remove the collection by hand"
            )

    def _indexed(self) -> bool:
        about = self._about_index() or {}
        if about.get("state") == "Failed":
            raise StackError(
                f"milvus could not build the index of {self.name!r}: {about.get('index_state_fail_reason')}"
            )
        whole = about.get("total_rows", 0) >= self._size and about.get("pending_index_rows", 0) == 0
        return whole and about.get("state") == "Finished"


def score_of(metric: str, distance: float) -> float:
    """Return the cosine, the inner product, or the Euclidean distance negated, of what Milvus returns."""
    return float(distance) if metric != "l2" else -float(np.sqrt(max(distance, 0.0)))
