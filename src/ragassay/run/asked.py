"""Which questions a board asks: all of its set, or a part of it; and whether that is a frozen set."""

from __future__ import annotations

from pathlib import Path

from ragassay.records import Benchmark
from ragassay.run import preflight
from ragassay.run.board_file import BoardFile
from ragassay.run.question_sets.frozen import FrozenSet, load_set
from ragassay.run.question_sets.frozen_kept import check_name_free


def asked_questions(board: BoardFile, subset: int | None, workspace: Path) -> tuple[Benchmark, FrozenSet | None]:
    """Return the questions, and their item manifest where they are a frozen set; a part of one is none.

    Raises `InputError` where the file cannot be used, is frozen and was altered, has no such part, or bears the name
    and version of another set that is frozen and was asked in the `workspace` folder.
    """
    read, frozen = load_set(board.benchmark)
    check_name_free(workspace, read.benchmark)
    if subset is None:
        return read.benchmark, frozen
    return preflight.subset(read.benchmark, subset), None
