"""Items under the column names of ragas, as JSONL that its `EvaluationDataset` loads, or as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any, BinaryIO, Literal, TypeAlias

import msgspec

from ragassay.export.answered import Writer
from ragassay.export.item import ExportedItem

Form: TypeAlias = Literal["jsonl", "csv"]
COLUMNS = (
    "id",
    "user_input",
    "retrieved_contexts",
    "retrieved_context_ids",
    "reference_contexts",
    "response",
    "reference",
)
"""`id` is ours; ragas passes over columns that it does not know."""


def ragas_row(item: ExportedItem) -> dict[str, Any]:
    """Return one item; a question without evidence has no `reference_contexts`.

    Of alternative evidence the first is given, as to the oracle: ragas takes all reference contexts as needed together.
    """
    row: dict[str, Any] = {
        "id": item.question.id,
        "user_input": item.question.input,
        "retrieved_contexts": [chunk.text for chunk in item.chunks],
        "retrieved_context_ids": [chunk.id for chunk in item.chunks],
        "reference_contexts": list(item.question.evidence[:1]) or None,
        "response": item.answer,
        "reference": item.question.target,
    }
    return {name: value for name, value in row.items() if value is not None}


def write_jsonl(file: BinaryIO, items: Iterator[ExportedItem]) -> None:
    """Write one object per line."""
    for item in items:
        file.write(msgspec.json.encode(ragas_row(item)) + b"\n")


def write_csv(file: BinaryIO, items: Iterator[ExportedItem]) -> None:
    """Write a header and one row per item; a list stands as JSON in its cell, which is a list of Python too."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for item in items:
        row = ragas_row(item)
        writer.writerow([_cell(row.get(name)) for name in COLUMNS])
    text.detach()


def _cell(value: object) -> str:
    if isinstance(value, list):
        return msgspec.json.encode(value).decode()
    return "" if value is None else str(value)


WRITERS: dict[Form, Writer] = {"jsonl": write_jsonl, "csv": write_csv}
