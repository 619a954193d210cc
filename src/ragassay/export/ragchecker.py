"""Items as RAGChecker reads them: one JSON object with `results`, written one result at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

from ragassay.export.item import ExportedItem


def ragchecker_result(item: ExportedItem) -> dict[str, Any]:
    """Return one result, without the claims and metrics that RAGChecker adds."""
    return {
        "query_id": item.question.id,
        "query": item.question.input,
        "gt_answer": item.question.target,
        "response": item.answer,
        "retrieved_context": [{"doc_id": chunk.id, "text": chunk.text} for chunk in item.chunks],
    }


def write_results(file: BinaryIO, items: Iterator[ExportedItem]) -> None:
    """Write `{"results": […]}`, a result a line."""
    file.write(b'{"results": [')
    for number, item in enumerate(items):
        file.write((b",\n" if number else b"\n") + msgspec.json.encode(ragchecker_result(item)))
    file.write(b"\n]}\n")
