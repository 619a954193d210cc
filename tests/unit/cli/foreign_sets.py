"""Small sets in the forms of BEIR, TREC and ragas, written for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cli_case import code, invoke

DOCUMENTS = (
    {
        "_id": "d1",
        "title": "Ports",
        "text": "The server of Acme listens on port 8080 unless told otherwise.",
        "metadata": {},
    },
    {"_id": "d2", "title": "", "text": "Log files of Acme are kept for seven days and then removed.", "metadata": {}},
    {"_id": "d3", "title": "Long", "text": "The cache of Acme holds words. " * 60, "metadata": {}},
    {"_id": "d4", "title": "Other", "text": "Nothing here is about either of them.", "metadata": {}},
)
QUERIES = (
    {"_id": "q1", "text": "Which port does the Acme server listen on?", "metadata": {"answer": "Port 8080."}},
    {"_id": "q2", "text": "How long are log files of Acme kept?", "metadata": {"answer": "Seven days."}},
    {"_id": "q3", "text": "What does the cache of Acme hold?", "metadata": {}},
)
QRELS = (("q1", "d1", 2), ("q1", "d4", 0), ("q2", "d2", 1), ("q3", "d3", 1))


def jsonl(path: Path, rows: Sequence[Mapping[str, Any] | bytes]) -> Path:
    """Write objects, or bytes as they are, one per line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows))
    return path


def qrels(path: Path, rows: Sequence[tuple[object, ...]]) -> Path:
    """Write judgements under BEIR's header."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def beir(
    root: Path,
    *,
    documents: Sequence[Mapping[str, Any] | bytes] = DOCUMENTS,
    queries: Sequence[Mapping[str, Any] | bytes] = QUERIES,
    judged: Sequence[tuple[object, ...]] = QRELS,
) -> Path:
    """Write a BEIR folder."""
    jsonl(root / "corpus.jsonl", documents)
    jsonl(root / "queries.jsonl", queries)
    qrels(root / "qrels" / "test.tsv", judged)
    return root


def imported(*arguments: object) -> tuple[int, dict[str, Any]]:
    """Run `questions import` and return its exit code and its report."""
    result = invoke("questions", "import", *arguments, "--json")
    return code(result), json.loads(result.stdout) if result.stdout else {"error": str(result.exception)}


def record(path: Path) -> list[dict[str, Any]]:
    """Return the lines of an import record."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]
