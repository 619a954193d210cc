"""The items of runs as Parquet, row group by row group; needs the extra `export`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from ragassay.errors import PluginError
from ragassay.export.about import about, left_out_json
from ragassay.export.item import ExportedItem, RunFacts
from ragassay.export.source import RunSource
from ragassay.export.table import COLUMNS, Kind, cells

GROUP_ROWS = 2_000
GROUP_CHARACTERS = 8 << 20
"""A row group ends at whichever of the two is reached first, so that memory is bounded for long texts as well."""
METADATA = "ragassay"
"""The key of the file's metadata that says what it was made from, as JSON."""


def require_pyarrow() -> Any:
    """Return pyarrow; raises `PluginError` where it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise PluginError("writing Parquet needs pyarrow: pip install 'ragassay[export]'") from error
    return pyarrow


def write_parquet(source: RunSource, file: BinaryIO) -> int:
    """Write the items of every run, a row for each, and return how many."""
    pyarrow = require_pyarrow()
    schema = _schema(pyarrow)
    written = 0
    runs: list[str] = []
    with pyarrow.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for columns in _groups(source, runs):
            batch = pyarrow.RecordBatch.from_arrays(
                [pyarrow.array(values, type=field.type) for values, field in zip(columns, schema, strict=True)],
                schema=schema,
            )
            writer.write_batch(batch)
            written += batch.num_rows
        source.require_some()
        said = about("parquet", runs=runs, leftOut=left_out_json(source.left_out))
        writer.add_key_value_metadata({METADATA: json.dumps(said, ensure_ascii=False)})
    return written


def _groups(source: RunSource, runs: list[str]) -> Iterator[list[list[Any]]]:
    """Yield groups of rows, each as its columns; `runs` gets the ids of the runs."""
    columns: list[list[Any]] = [[] for _ in COLUMNS]
    characters = 0
    for run in source:
        runs.append(run.facts.run)
        for item in run.items():
            for column, cell in zip(columns, cells(run.facts, item), strict=True):
                column.append(cell)
            characters += _characters(run.facts, item)
            if len(columns[0]) >= GROUP_ROWS or characters >= GROUP_CHARACTERS:
                yield columns
                columns, characters = [[] for _ in COLUMNS], 0
    if columns[0]:
        yield columns


def _characters(facts: RunFacts, item: ExportedItem) -> int:
    return len(facts.row) + len(item.answer or "") + sum(len(chunk.text or "") + 64 for chunk in item.chunks)


def _schema(pyarrow: Any) -> Any:
    claim = pyarrow.struct(
        [
            ("id", pyarrow.int64()),
            ("text", pyarrow.string()),
            ("central", pyarrow.bool_()),
            ("verdict", pyarrow.string()),
            ("quote", pyarrow.string()),
        ]
    )
    types: dict[Kind, Any] = {
        "text": pyarrow.string(),
        "integer": pyarrow.int64(),
        "number": pyarrow.float64(),
        "flag": pyarrow.bool_(),
        "texts": pyarrow.list_(pyarrow.string()),
        "numbers": pyarrow.list_(pyarrow.float64()),
        "claims": pyarrow.list_(claim),
    }
    return pyarrow.schema([(column.name, types[column.kind]) for column in COLUMNS])
