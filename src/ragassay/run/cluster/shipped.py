"""Weights of models that a worker needs: which, which of them it lacks, and how it keeps what it is sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ragassay import plugins
from ragassay.errors import PluginError
from ragassay.plugins import weights
from ragassay.records import JSON
from ragassay.run.board_file import BoardFile, ModelTable, RowTable
from ragassay.run.build import Part, split_entry
from ragassay.run.workspace import write_bytes
from ragassay.seams import PARTS


def parts_within(entry: JSON, place: str) -> Iterator[Part]:
    """Yield a stack and every part of it at any depth, those that its classes bring included."""
    yield Part("stacks", place, entry)
    for key, value in split_entry(entry, place)[0].items():
        for index, part in enumerate(value if isinstance(value, list) else [value]):
            at = f"{place}.{key}[{index}]" if isinstance(value, list) else f"{place}.{key}"
            if PARTS[key] == "stacks":
                yield from parts_within(part, at)
            else:
                yield Part(PARTS[key], at, part)


def weights_of(board: BoardFile, rows: Sequence[RowTable]) -> list[str]:
    """Return the names of the packaged weights that these rows, the answering model and the judge run on."""
    found = {name for row in rows for name in _of_stack(row.stack)}
    tables = [board.answer, *([board.judge.model] if board.judge.model else [])]
    return sorted(found | {name for table in tables for name in _of_model(table)})


def _of_model(table: ModelTable) -> Iterator[str]:
    if table.kind == "llamacpp" and table.id is not None:
        yield table.id


def _of_stack(entry: JSON) -> Iterator[str]:
    for part in parts_within(entry, ""):
        if part.seam == "embedders" and "path" not in part.entry:
            name = getattr(plugins.load("embedders", part.entry["kind"]), "weights", None)
            if name:
                yield str(name)
        elif part.seam == "models" and part.entry["kind"] == "llamacpp" and part.entry.get("id"):
            yield str(part.entry["id"])


def lacking(cache: Path, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return name and file of the weights that are not in a cache, or are not what is pinned."""
    return [
        (name, entry.file)
        for name in names
        for entry in weights.files_of(name)
        if weights.state(entry, cache / name) != "ready"
    ]


def keep(cache: Path, name: str, file: str, data: bytes) -> None:
    """Write a file of weights into a cache; raises `PluginError` where it is not the pinned one."""
    (entry,) = (entry for entry in weights.files_of(name) if entry.file == file)
    write_bytes(cache / name / entry.file, data)
    if weights.state(entry, cache / name) != "ready":
        raise PluginError(f"the weights {name!r} were damaged on their way to a worker; run again")
