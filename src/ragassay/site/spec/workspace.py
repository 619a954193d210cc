"""Reads a workspace, verifies its runs, and returns the specification of its board."""

from __future__ import annotations

from pathlib import Path

from ragassay.site.record import Board, BoardPlan
from ragassay.site.spec.document import Document
from ragassay.site.spec.page import spec_document
from ragassay.site.write import local_board_of, public_board_of


def specification(
    workspace: Path, plan: BoardPlan | None = None, *, public: bool = False, now: int | None = None
) -> tuple[Board, Document]:
    """Return the board of a workspace (the `.ragassay` folder) and its specification, writing nothing.

    With `public` they are of what was published and of nothing else; `now` is in Unix seconds. Raises `InputError`
    where runs, policy or publications cannot be read.
    """
    board, runs = (public_board_of if public else local_board_of)(workspace, plan, now=now)
    return board, spec_document(board, runs)
