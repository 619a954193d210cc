"""A measured recall is kept beside the graph, so that it is not measured at each start."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.plugins.stacks.usearch.recall import QUERIES, K, Recall


class _Told(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    queries: int
    wanted: int
    found: int
    check: str
    """A digest over the key and the three numbers: of a file that was altered nothing is believed."""


def kept_recall(folder: Path, key: str, measure: Callable[[], Recall]) -> Recall:
    """Return the recall that was measured for `key`, which says all that it depends on; else measure and keep it."""
    key = canon.digest({"key": key, "k": K, "queries": QUERIES})
    path = folder / f"recall-{key[:32]}.json"
    return _read(path, key) or _written(path, key, measure())


def _read(path: Path, key: str) -> Recall | None:
    """Return what the file tells, None where there is none that can be believed."""
    try:
        told = msgspec.json.decode(path.read_bytes(), type=_Told)
    except (OSError, ValueError):
        return None
    recall = Recall(queries=told.queries, wanted=told.wanted, found=told.found)
    return recall if told.check == _check(key, recall) else None


def _written(path: Path, key: str, recall: Recall) -> Recall:
    told = _Told(queries=recall.queries, wanted=recall.wanted, found=recall.found, check=_check(key, recall))
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".recall-", delete=False) as file:
        file.write(msgspec.json.encode(told))
    Path(file.name).replace(path)
    return recall


def _check(key: str, recall: Recall) -> str:
    return canon.digest({"key": key, "numbers": [recall.queries, recall.wanted, recall.found]})
