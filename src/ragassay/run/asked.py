"""Which questions a board asks: all of its set, or a part of it; and whether that is a frozen set."""

from __future__ import annotations

from ragassay.records import Benchmark
from ragassay.run import preflight
from ragassay.run.board_file import BoardFile
from ragassay.run.frozen import FrozenSet, load_set


def asked_questions(board: BoardFile, subset: int | None) -> tuple[Benchmark, FrozenSet | None]:
    """Return the questions, and their item manifest where they are a frozen set; a part of one is none.

    Raises `InputError` where the file cannot be used, is frozen and was altered, or has no such part.
    """
    read, frozen = load_set(board.benchmark)
    if subset is None:
        return read.benchmark, frozen
    return preflight.subset(read.benchmark, subset), None
