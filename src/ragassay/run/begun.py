"""Reads what the journals of begun passes hold, without opening them for writing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ragassay.records import Config
from ragassay.run.board_file import BoardFile
from ragassay.run.journal import read_entries
from ragassay.run.plan import fingerprint, open_passes
from ragassay.run.spent import Tally, tally
from ragassay.run.state import in_turn
from ragassay.run.workspace import Workspace


def begun(workspace: Workspace, configs: Mapping[str, Config], board: BoardFile) -> tuple[dict[str, int], Tally]:
    """Return how many begun passes each row would continue, and what was journaled of them."""
    passes: dict[str, int] = {}
    journals: list[Path] = []
    wanted = {row: fingerprint(config) for row, config in configs.items()}
    for plan in open_passes(workspace):
        if wanted.get(plan.row) != plan.fingerprint:
            continue
        passes[plan.row] = passes.get(plan.row, 0) + 1
        journal = workspace.pass_folder(plan.row, plan.run_id) / "journal.jsonl"
        if journal.exists():
            journals.append(journal)
    states = (state for journal in journals for state in in_turn(read_entries(journal)))
    return passes, tally(states, board.answer, board.judge.model)
