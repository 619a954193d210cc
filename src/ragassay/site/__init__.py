"""Verified runs become a board, as a table, as JSON and as static pages.

Names are looked up when they are used: reading and printing a board that was written before needs only the base
install, building one needs numpy, scipy and jinja2 (`pip install 'ragassay[run]'`).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragassay.site.board import build_board
    from ragassay.site.file import decode_board, encode_board
    from ragassay.site.loaded import Check, LoadedRun
    from ragassay.site.pages import site_files
    from ragassay.site.pairwords import pair_sentence
    from ragassay.site.record import Board, BoardPlan, BoardRow, Pair, PlannedRow, Table
    from ragassay.site.runs import load_runs
    from ragassay.site.text import render_text
    from ragassay.site.write import board_of, write_board_file, write_preview, write_public, write_site

__all__ = [
    "Board",
    "BoardPlan",
    "BoardRow",
    "Check",
    "LoadedRun",
    "Pair",
    "PlannedRow",
    "Table",
    "board_of",
    "build_board",
    "decode_board",
    "encode_board",
    "load_runs",
    "pair_sentence",
    "render_text",
    "site_files",
    "write_board_file",
    "write_preview",
    "write_public",
    "write_site",
]

_HOMES = {
    "board": ("build_board",),
    "file": ("decode_board", "encode_board"),
    "loaded": ("Check", "LoadedRun"),
    "pages": ("site_files",),
    "pairwords": ("pair_sentence",),
    "write": ("board_of", "write_preview", "write_public", "write_board_file", "write_site"),
    "record": ("Board", "BoardPlan", "BoardRow", "Pair", "PlannedRow", "Table"),
    "runs": ("load_runs",),
    "text": ("render_text",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)
