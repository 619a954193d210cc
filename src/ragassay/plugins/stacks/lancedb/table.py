"""One table of LanceDB under its name: made with the digest in its schema, filled, indexed, counted, asked."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa
from lancedb.query import MatchQuery
from numpy.typing import NDArray

from ragassay.errors import StackError
from ragassay.plugins.stacks.lancedb.settings import Settings
from ragassay.plugins.stacks.stored_index import Held

POSITION, TEXT, VECTOR = "position", "text", "vector"
DIGEST = b"ragassay_digest"
"""Under this key of the table's schema stands what it holds."""
LONGEST = timedelta(seconds=50)
"""Of one search; it ends with an error."""

Ranked = list[tuple[int, float]]


class Table:
    """A store for `bring_up`, and the one thing that all ways of searching ask."""

    def __init__(
        self,
        database: Any,
        name: str,
        texts: Sequence[str],
        settings: Settings,
        *,
        zero: bool,
        folder: tempfile.TemporaryDirectory[str] | None,
    ) -> None:
        """`zero` says that all vectors are; `folder` is removed with `close`."""
        self._database = database
        self._name = name
        self._texts = texts
        self._settings = settings
        # LanceDB cannot train an index on vectors without a direction; none of them is ever found by a cosine.
        self._index = settings.vectors and settings.index != "flat" and not zero
        self._folder = folder
        self._table: Any = None
        self._written = False

    def held(self) -> Held | None:
        """Return how many rows and whose; None where there is no such table."""
        if self._table is None:
            if self._name not in table_names(self._database):
                return None
            self._table = self._database.open_table(self._name)
        digest = (self._table.schema.metadata or {}).get(DIGEST)
        return Held(count=self.count(), digest=None if digest is None else digest.decode("utf-8", "replace"))

    def create(self, dimension: int, digest: str) -> None:
        """Make the table, empty."""
        fields = [pa.field(POSITION, pa.int64(), nullable=False)]
        if self._settings.texts:
            fields.append(pa.field(TEXT, pa.string()))
        if self._settings.vectors:
            fields.append(pa.field(VECTOR, pa.list_(pa.float32(), dimension)))
        schema = pa.schema(fields, metadata={DIGEST: digest.encode()})
        self._table = self._database.create_table(self._name, schema=schema)

    def put(self, first: int, rows: NDArray[np.float32]) -> None:
        """Write the rows and their texts under their positions; one that is there already is written over."""
        columns: dict[str, Any] = {POSITION: pa.array(range(first, first + len(rows)), pa.int64())}
        if self._settings.texts:
            columns[TEXT] = pa.array(self._texts[first : first + len(rows)], pa.string())
        if self._settings.vectors:
            columns[VECTOR] = pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), rows.shape[1])
        block = pa.table(columns, schema=self._table.schema)
        self._table.merge_insert(POSITION).when_matched_update_all().when_not_matched_insert_all().execute(block)
        self._written = True

    def read(self, first: int, count: int) -> tuple[list[int], NDArray[np.float32]]:
        """Return the rows that stand there, zeros where no vectors are kept; a text that is another one is an error."""
        query = self._table.search().where(f"{POSITION} >= {first} AND {POSITION} < {first + count}")
        found = query.limit(2 * count).to_arrow(timeout=LONGEST).sort_by(POSITION)
        places = found[POSITION].to_pylist()
        if self._settings.texts and found[TEXT].to_pylist() != [self._texts[at] for at in places]:
            raise StackError(f"lancedb: a text in {self._name!r} was altered; remove the table by hand")
        if not self._settings.vectors:
            return places, np.zeros((len(places), 1), np.float32)
        return places, np.array(found[VECTOR].to_pylist(), np.float32)

    def finish(self) -> None:
        """Join what was written in blocks, and build the indexes that are not there or do not hold every row."""
        if self._written:
            self._table.optimize()
        if self._settings.texts and not self._indexed(TEXT):
            self._table.create_index(TEXT, config=self._settings.text_config(), replace=True)
        if self._index and not self._indexed(VECTOR):
            self._table.create_index(VECTOR, config=self._settings.vector_config(), replace=True)

    def count(self) -> int:
        """Return how many rows LanceDB holds."""
        return int(self._table.count_rows())

    def near(self, vector: Sequence[float], limit: int) -> Ranked:
        """Return at most `limit` positions and distances, nearest first, without those that have no cosine."""
        settings = self._settings
        query = self._table.search(np.asarray(vector, np.float32), vector_column_name=VECTOR, query_type="vector")
        query = query.distance_type(settings.metric).limit(limit).select([POSITION, "_distance"])
        if settings.index == "flat":
            query = query.bypass_vector_index()
        else:
            query = query.nprobes(settings.nprobes)
            query = query.refine_factor(settings.refine_factor) if settings.refine_factor else query
            query = query.ef(settings.ef) if "hnsw" in settings.index else query
        return [(at, far) for at, far in _pairs(query, "_distance") if not np.isnan(far)]

    def matching(self, text: str, limit: int) -> Ranked:
        """Return at most `limit` positions and BM25 scores of rows that share a word with `text`, best first."""
        query = self._table.search(MatchQuery(text, TEXT), query_type="fts")
        return _pairs(query.limit(limit).select([POSITION, "_score"]), "_score")

    def close(self) -> None:
        """Let go of the table, and remove what is temporary."""
        self._table = self._database = None
        if self._folder is not None:
            self._folder.cleanup()

    def _indexed(self, column: str) -> bool:
        return any(one.columns == [column] and one.num_unindexed_rows == 0 for one in self._table.list_indices())


def table_names(database: Any) -> list[str]:
    """Return the names of all tables in a folder."""
    names: list[str] = []
    page = database.list_tables()
    names += page.tables
    while page.page_token:
        page = database.list_tables(page_token=page.page_token)
        names += page.tables
    return names


def _pairs(query: Any, column: str) -> Ranked:
    found = query.to_arrow(timeout=LONGEST)
    return list(zip(found[POSITION].to_pylist(), found[column].to_pylist(), strict=True))
