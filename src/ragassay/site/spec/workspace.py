"""Reads a workspace, verifies its runs, and returns the specification of its board."""

from __future__ import annotations

import time
from pathlib import Path

from ragassay.site.board import build_board
from ragassay.site.judgefiles import load_known
from ragassay.site.publications import load_public
from ragassay.site.record import Board, BoardPlan
from ragassay.site.runs import load_runs
from ragassay.site.spec.document import Document
from ragassay.site.spec.page import spec_document
from ragassay.site.write import write_public


def specification(
    workspace: Path, plan: BoardPlan | None = None, *, public: bool = False, now: int | None = None
) -> tuple[Board, Document]:
    """Return the board of a workspace (the `.ragassay` folder) and its specification, writing nothing.

    With `public` they are of what was published and of nothing else; `now` is in Unix seconds. Raises `InputError`
    where runs, policy or publications cannot be read.
    """
    when = int(time.time()) if now is None else now
    if public:
        board = write_public(workspace, None, plan, now=when)
        return board, spec_document(board, load_public(workspace, when).runs)
    runs = load_runs(workspace, now=when)
    board = build_board(runs, plan=plan, now=when, known=load_known(workspace))
    return board, spec_document(board, runs)
