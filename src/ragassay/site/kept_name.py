"""The name that a board was written under, for a workspace whose board file is elsewhere or gone."""

from __future__ import annotations

from pathlib import Path

from ragassay.errors import InputError
from ragassay.site.file import MAX_BYTES, decode_board
from ragassay.site.record import NO_RUNS, Board

BOARD_JSON = "board.json"


def kept_name(workspace: Path) -> str | None:
    """Return the name in the `board.json` beside a workspace, None where there is none or it was no name of a board.

    A board that was built without a board file is called after its question set; that is not kept.
    """
    try:
        path = workspace.resolve().parent / BOARD_JSON
        if path.stat().st_size > MAX_BYTES:
            return None
        found = decode_board(path.read_bytes())
    except (OSError, InputError):
        return None
    return None if found.name in _made_up(found) else found.name


def _made_up(board: Board) -> set[str]:
    return {NO_RUNS, *(table.benchmark.id for table in board.tables)}
