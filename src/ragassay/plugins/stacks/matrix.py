"""Rows that come block by block become one matrix: in a nameless file that is mapped, or in memory.

A file without a name is gone when the matrix is, however the process ends; the pages that were read of it are the
operating system's to take back.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import InputError, StackError

STEP = 8192
"""Rows of a matrix that are worked on at a time."""


def gathered(blocks: Iterable[NDArray[Any]], folder: Path | None) -> NDArray[Any]:
    """Return the rows of all blocks, shape (n, dimension), read-only where they lie in a file of `folder`.

    There is at least one block, and all are of one type. Raises `StackError` where their widths differ, `InputError`
    where the folder cannot be written.
    """
    even = _even(iter(blocks))
    first = next(even)
    if folder is None:
        return np.concatenate([first, *even])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, prefix=".matrix-") as file:
            _write(file, first)
            for block in even:
                _write(file, block)
            file.flush()
            held = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise InputError(f"cannot keep vectors in {folder}: {error.strerror or error}; free space there") from error
    return np.frombuffer(held, dtype=first.dtype).reshape(-1, first.shape[1])


def steps(matrix: NDArray[Any], step: int = STEP) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the rows in blocks of at most `step`, each with the position of its first row."""
    for start in range(0, len(matrix), step):
        yield start, matrix[start : start + step]


def unit_rows(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return `matrix` with every row scaled to length 1; a zero row stays zero (its cosine with anything is 0)."""
    lengths = np.sqrt((matrix.astype(np.float64) ** 2).sum(axis=1, keepdims=True)) if len(matrix) else np.ones((0, 1))
    unit: NDArray[np.float32] = (matrix / np.where(lengths == 0, 1, lengths)).astype(np.float32)
    return unit


def int8_scale(matrix: NDArray[np.float32]) -> np.float32:
    """Return what 1 stands for in int8: the largest absolute number of the matrix / 127, 1 where all are zero."""
    largest = max((np.abs(rows).max() for _, rows in steps(matrix)), default=np.float32(0))
    return np.float32(largest / np.float32(127)) if largest > 0 else np.float32(1)


def as_int8(rows: NDArray[np.float32], scale: np.float32) -> NDArray[np.int8]:
    """Return the nearest whole multiples of `scale`, ties to even, at most 127 of them either way."""
    codes: NDArray[np.int8] = np.clip(np.rint(rows / scale), -127, 127).astype(np.int8)
    return codes


def _even(blocks: Iterator[NDArray[Any]]) -> Iterator[NDArray[Any]]:
    first = next(blocks)
    yield first
    for block in blocks:
        if block.shape[1] != first.shape[1]:
            raise StackError(f"the embedder changed its dimension from {first.shape[1]} to {block.shape[1]}")
        yield block


def _write(file: IO[bytes], block: NDArray[Any]) -> None:
    file.write(np.ascontiguousarray(block).data)
