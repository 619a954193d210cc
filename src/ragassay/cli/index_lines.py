"""How `ragassay index` shows what became of each row, and what is stale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from ragassay.records import JSON
from ragassay.site.safe import one_line

if TYPE_CHECKING:
    from ragassay.run.index import BoardIndexed, RowIndexed, Vectors
    from ragassay.run.index_stale import Stale


def row(one: RowIndexed) -> Iterator[str]:
    """Yield one row's block."""
    took = f" in {one.build_ms / 1000:.1f} s" if one.build_ms is not None else ""
    yield one_line(f"row {one.row!r}: {one.kind}: {one.state}{took}")
    yield from (f"  {name:<8}  {one_line(words)}" for name, words in _facts(one))


def _facts(one: RowIndexed) -> Iterator[tuple[str, str]]:
    if one.problem is not None:
        yield "problem", one.problem + (" (building again may help)" if one.retryable else "")
    for vectors in one.vectors:
        yield "vectors", _vectors(vectors)
    for kept in one.stored:
        yield "stored", f"as {kept.name}, {'whole already' if kept.reused else 'filled now'}; it stays"
    yield from (("note", note) for note in one.notes)


def _vectors(found: Vectors) -> str:
    there = found.needed - found.missing - found.embedded
    parts = [f"{there:,} of {found.needed:,} were there" if found.needed else "no chunk needs one"]
    if found.embedded:
        parts.append(f"{found.embedded:,} embedded now")
    if found.missing:
        parts.append(f"{found.missing:,} missing")
    return f"{embedder_name(found.embedder)}: {', '.join(parts)}"


def embedder_name(about: JSON | None) -> str:
    """Return what an embedder is called: its kind, and its model's name where it gives one."""
    if about is None:
        return "an embedder that the store does not name"
    model = about.get("model") or about.get("id")
    return f"{about.get('kind')}" + (f" ({model})" if isinstance(model, str) else "")


def stale(found: Stale, freed: int | None) -> Iterator[str]:
    """Yield what is stale, what was removed of it, and what to type for the rest."""
    for store in found.stores:
        size = f"{store.bytes / 1e6:,.1f} MB in {store.files} files"
        done = "removed" if freed is not None else "no row uses it; `ragassay index --prune` removes it"
        yield one_line(f"stale: {store.path}: {embedder_name(store.embedder)}, {size}: {done}")
    for index in found.indexes:
        remedy = f"to remove it, type: {index.removal}" if index.removal else "remove it with the server's own tools"
        yield one_line(
            f"stale: {index.kind} of row {index.row!r}: {index.name}: no row of this board names it, "
            f"another board may; {remedy}"
        )
    for reason in found.unknown:
        yield one_line(f"note: what is stale in the workspace cannot be told, and nothing is removed: {reason}")
    yield from (one_line(f"note: {note}") for note in found.notes)


def summary(found: BoardIndexed) -> str:
    """Return the last line: how many rows are ready."""
    counts = {state: sum(one.state == state for one in found.rows) for state in ("incomplete", "failed", "wrong input")}
    ready = sum(one.state == "ready" for one in found.rows)
    beside = "".join(f"; {count} {state}" for state, count in counts.items() if count)
    return f"{ready} of {len(found.rows)} ready{beside}; {found.pages:,} pages, {found.chunks:,} chunks"


def stale_json(found: Stale) -> JSON:
    """Return what is stale as JSON; paths are texts."""
    stores = [{**msgspec.structs.asdict(store), "path": str(store.path)} for store in found.stores]
    return {**msgspec.to_builtins(msgspec.structs.replace(found, stores=())), "stores": stores}
