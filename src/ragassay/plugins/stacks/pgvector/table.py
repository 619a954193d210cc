"""The table of one index: made with its digest in one step, filled by binary COPY, a block at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg import sql

from ragassay.errors import StackError
from ragassay.plugins.stacks.stored_index import PREFIX, Held

Guard = Callable[[str], AbstractContextManager[None]]
"""Given what is being done, turns what the client raises into an error that says so."""

OWNER = "ragassay:"
"""What the comment on a table of ours begins with; its digest follows."""

_TABLE = """
select c.relkind in ('r', 'p'), coalesce(obj_description(c.oid, 'pg_class'), '')
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = %s and c.relname = %s
"""
_BUILT = """
select m.amname, o.opcname, i.indisvalid, coalesce(c.reloptions, '{}')
from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_am m on m.oid = c.relam
join pg_index i on i.indexrelid = c.oid join pg_opclass o on o.oid = i.indclass[0]
where n.nspname = %s and c.relname = %s
"""
_OTHERS = """
select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = %s and c.relname <> %s and c.relkind in ('r', 'p') and starts_with(c.relname, %s)
  and starts_with(obj_description(c.oid, 'pg_class'), %s)
order by c.relname
"""


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """Where the vectors are and what is built over them."""

    schema: str
    table: str
    method: str | None = None
    """`hnsw` or `ivfflat`; None where every vector is compared."""
    operators: str = ""
    """The operator class of the metric, for an index."""
    options: tuple[tuple[str, int], ...] = ()
    """What stands behind WITH when the index is built."""
    text_config: str | None = None
    """The text search configuration of the column `lexemes`; None where there is none."""

    @property
    def name(self) -> sql.Composed:
        """The table, quoted."""
        return sql.SQL("{}.{}").format(sql.Identifier(self.schema), sql.Identifier(self.table))

    @property
    def index(self) -> str | None:
        """The name of the index, None where there is none."""
        return f"{self.table}_{self.method}" if self.method else None


class Table:
    """The store behind a row: `texts` are the chunks' texts where they are searched besides."""

    def __init__(self, session: Any, layout: Layout, texts: Sequence[str] | None, guard: Guard) -> None:
        self._session = session
        self._guard = guard
        self._title = f"{layout.schema}.{layout.table}"
        self._layout = layout
        self._texts = texts
        self.built = False
        """True after `finish` where the index was missing."""

    def lock(self) -> None:
        """Keep others from building the same table as long as this session lives."""
        ask = "select pg_try_advisory_lock(hashtextextended(%s, 0))"
        if not self._session.execute(ask, [OWNER + self._title]).fetchone()[0]:
            said = f"pgvector: another process is building {self._title}; try again when it is done"
            raise StackError(said, retryable=True)

    def held(self) -> Held | None:
        """Return what stands under the name; only a table with our comment is counted."""
        with self._guard(f"look into {self._title}"):
            row = self._session.execute(_TABLE, [self._layout.schema, self._layout.table]).fetchone()
            if row is None:
                return None
            is_table, comment = row
            if not is_table or not comment.startswith(OWNER):
                return Held(count=0, digest=None)
            return Held(count=count_of(self._session, self._layout), digest=comment.removeprefix(OWNER))

    def create(self, dimension: int, digest: str) -> None:
        """Make the table and its comment, both or neither."""
        columns = [
            sql.SQL("position integer PRIMARY KEY"),
            sql.SQL("embedding vector({}) NOT NULL").format(sql.Literal(dimension)),
        ]
        if self._layout.text_config is not None:
            made = "lexemes tsvector GENERATED ALWAYS AS (to_tsvector({}::regconfig, body)) STORED"
            columns += [sql.SQL("body text NOT NULL"), sql.SQL(made).format(sql.Literal(self._layout.text_config))]
        with self._guard(f"make {self._title}"), self._session.transaction():
            self._run("CREATE TABLE {} ({})", self._layout.name, sql.SQL(", ").join(columns))
            self._run("COMMENT ON TABLE {} IS {}", self._layout.name, sql.Literal(OWNER + digest))

    def put(self, first: int, rows: NDArray[np.float32]) -> None:
        """Write one block, all of it or nothing; one that is whole already is left as it is."""
        last = first + len(rows) - 1
        where = sql.SQL("position BETWEEN {} AND {}").format(sql.Literal(first), sql.Literal(last))
        with self._guard(f"write to {self._title}"):
            found = self._run("SELECT count(*) FROM {} WHERE {}", self._layout.name, where).fetchone()[0]
            if found == len(rows):
                return
            with self._session.transaction():
                self._run("DELETE FROM {} WHERE {}", self._layout.name, where)
                self._copy(first, rows)

    def read(self, first: int, count: int) -> tuple[list[int], NDArray[np.float32]]:
        """Return the rows that stand there; a text that is another one is an error."""
        body = sql.SQL("" if self._texts is None else ", body")
        ask = "SELECT position, embedding{} FROM {} WHERE position BETWEEN {} AND {} ORDER BY position"
        last = sql.Literal(first + count - 1)
        with self._guard(f"read {self._title}"):
            cursor = self._session.cursor(binary=True)
            rows = cursor.execute(sql.SQL(ask).format(body, self._layout.name, sql.Literal(first), last)).fetchall()
        if self._texts is not None and any(storable(self._texts[row[0]]) != row[2] for row in rows):
            raise StackError(f"pgvector: a text in {self._title} was altered; remove the table by hand")
        return [row[0] for row in rows], np.array([row[1].to_numpy() for row in rows], np.float32)

    def finish(self) -> None:
        """Build the index where it is missing, and let the planner count; one that is built otherwise is an error."""
        layout = self._layout
        if layout.method is None:
            return
        with self._guard(f"look into {self._title}"):
            there = self._session.execute(_BUILT, [layout.schema, layout.index]).fetchone()
        if there is not None:
            wanted = (
                layout.method,
                layout.operators,
                True,
                sorted(f"{name}={value}" for name, value in layout.options),
            )
            if (*there[:3], sorted(there[3])) != wanted:
                raise StackError(
                    f"pgvector: the index {layout.index!r} was built otherwise than this row asks; type: DROP INDEX "
                    f"{layout.schema}.{layout.index}; and it is built anew"
                )
            return
        options = [sql.SQL("{} = {}").format(sql.SQL(name), sql.Literal(value)) for name, value in layout.options]
        with self._guard(f"build the index of {self._title}"):
            self._run(
                "CREATE INDEX {} ON {} USING {} (embedding {}) WITH ({})",
                sql.Identifier(layout.index),
                layout.name,
                sql.SQL(layout.method),
                sql.SQL(layout.operators),
                sql.SQL(", ").join(options),
            )
            self._run("ANALYZE {}", layout.name)
        self.built = True

    def others(self) -> tuple[str, ...]:
        """Return the other tables of ours in the schema."""
        given = [self._layout.schema, self._layout.table, PREFIX, OWNER]
        return tuple(f"{self._layout.schema}.{row[0]}" for row in self._session.execute(_OTHERS, given))

    def _copy(self, first: int, rows: NDArray[np.float32]) -> None:
        texts = self._texts
        columns, types = ("position, embedding", ["int4", "vector"])
        if texts is not None:
            columns, types = f"{columns}, body", [*types, "text"]
        ask = sql.SQL("COPY {} ({}) FROM STDIN WITH (FORMAT BINARY)").format(self._layout.name, sql.SQL(columns))
        with self._session.cursor() as cursor, cursor.copy(ask) as copy:
            copy.set_types(types)
            for at, row in enumerate(rows, first):
                copy.write_row((at, Vector(row), *([] if texts is None else [storable(texts[at])])))

    def _run(self, statement: str, *parts: Any) -> Any:
        return self._session.execute(sql.SQL(statement).format(*parts))


def count_of(session: Any, layout: Layout) -> int:
    """Return how many vectors the table holds."""
    return int(session.execute(sql.SQL("SELECT count(*) FROM {}").format(layout.name)).fetchone()[0])


def storable(text: str) -> str:
    """Return the text as PostgreSQL takes it: a blank for NUL, a question mark for half a surrogate pair."""
    return text.replace("\x00", " ").encode("utf-8", "replace").decode()
