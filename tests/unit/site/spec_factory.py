"""Specifications of scripted boards as plain text, so that a test can read a sentence of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import site_factory as make

from ragassay.site import build_board, load_runs
from ragassay.site.loaded import LoadedRun
from ragassay.site.record import Board, BoardPlan
from ragassay.site.spec import Document, spec_document
from ragassay.site.spec.document import Block, Command, Quote, Table

NOW = make.START + 10_000


def built(workspace: Path, plan: BoardPlan | None = None) -> tuple[Board, Sequence[LoadedRun]]:
    """Return the board of a workspace with its runs."""
    runs = load_runs(workspace, now=NOW)
    return build_board(runs, plan=plan, now=NOW), runs


def plain(document: Document) -> str:
    """Return every word of a specification, a line for each paragraph and each row of a table."""
    lines = [document.title, *(line for block in document.lead for line in _lines(block))]
    for section in document.sections:
        lines += [section.title, *(line for block in section.blocks for line in _lines(block))]
    return "\n".join(lines)


def _lines(block: Block) -> list[str]:
    if isinstance(block, Quote):
        return [f"{block.label}: {block.text}"]
    if isinstance(block, Command):
        return list(block.lines)
    if isinstance(block, Table):
        rows = [" | ".join("".join(span.text for span in cell) for cell in row) for row in block.rows]
        return [block.caption, " | ".join(block.head), *rows]
    return ["".join(span.text for span in block.spans)]


def said(workspace: Path, plan: BoardPlan | None = None) -> str:
    """Return the specification of a workspace as plain text."""
    return plain(spec_document(*built(workspace, plan)))


def line(text: str, beginning: str) -> str:
    """Return the one line of a specification that begins so."""
    (found,) = [one for one in text.splitlines() if one.startswith(beginning)]
    return found
