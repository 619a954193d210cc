"""Embedding chunks in blocks and questions one by one, every row checked before it is indexed or searched with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.matrix import gathered, unit_rows
from ragassay.records import JSON, Chunk
from ragassay.seams import Embedder, Progress

BLOCK = 256
"""Chunks per call of the embedder; progress is reported, and an embedding cache written, once per block."""


def embedder_of(kind: str, parts: Mapping[str, Any]) -> Embedder:
    """Return the part `embedder`; raises `InputError` when there is none."""
    embedder = parts.get("embedder")
    if not isinstance(embedder, Embedder):
        raise InputError(f'{kind!r} needs an embedder, for example embedder = {{ kind = "minilm-l6-v2-int8" }}')
    return embedder


def embed_chunks(
    embedder: Embedder | None, chunks: Sequence[Chunk], progress: Progress, *, unit: bool = False
) -> NDArray[np.float32]:
    """Return the chunks' vectors, shape (n, dimension), in chunk order; (0, 0) for no chunks.

    With `unit` each is scaled to length 1. Where the embedder names a folder, `scratch`, the matrix is a mapped file
    in it, read-only, and memory does not grow with the chunks. Without an embedder a zero stands for each chunk, where
    an index of words is filled as one of vectors is.
    """
    if not chunks:
        return np.zeros((0, 0), dtype=np.float32)
    if embedder is None:
        return np.zeros((len(chunks), 1), dtype=np.float32)
    blocks = _blocks(embedder, chunks, progress)
    return gathered((unit_rows(block) for block in blocks) if unit else blocks, scratch_of(embedder))


def scratch_of(embedder: Embedder) -> Path | None:
    """Return the folder for what is not held in memory, None where the embedder knows of none."""
    folder = getattr(embedder, "scratch", None)
    return folder if isinstance(folder, Path) else None


def embed_query(embedder: Embedder, text: str, dimension: int) -> NDArray[np.float32]:
    """Return the question's vector, shape (dimension,)."""
    row: NDArray[np.float32] = _checked(embedder.embed([text], "query"), 1)[0]
    if row.shape[0] != dimension:
        raise StackError(f"the embedder gave {row.shape[0]} numbers for a question and {dimension} for a chunk")
    return row


def truncated(embedder: Embedder | None, chunks: Sequence[Chunk]) -> int | None:
    """Return how many chunks are longer than the embedder reads, None when it cannot say."""
    count = getattr(embedder, "count_truncated", None)
    return None if count is None else int(count([chunk.text for chunk in chunks]))


def release(embedder: Embedder) -> None:
    """Close an embedder that can be closed."""
    close = getattr(embedder, "close", None)
    if close is not None:
        close()


def described(kind: str, embedder: Embedder | None, cut: int | None, **more: Any) -> JSON:
    """Return the description of a stack over an embedder, if any; `truncated_chunks` is null where it is unknown."""
    if embedder is None:
        return {"kind": kind, **more}
    return {"kind": kind, **more, "truncated_chunks": cut, "embedder": embedder.describe()}


def _blocks(embedder: Embedder, chunks: Sequence[Chunk], progress: Progress) -> Iterator[NDArray[np.float32]]:
    for start in range(0, len(chunks), BLOCK):
        texts = [chunk.text for chunk in chunks[start : start + BLOCK]]
        yield _checked(embedder.embed(texts, "document"), len(texts))
        progress(start + len(texts), len(chunks))


def _checked(matrix: NDArray[np.float32], rows: int) -> NDArray[np.float32]:
    matrix = np.ascontiguousarray(matrix, dtype=np.float32)
    if matrix.ndim != 2 or matrix.shape[0] != rows or matrix.shape[1] == 0:
        raise StackError(f"the embedder returned shape {matrix.shape} for {rows} texts")
    if not np.isfinite(matrix).all():
        raise StackError("the embedder returned a vector that holds NaN or infinity")
    return matrix
