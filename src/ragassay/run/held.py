"""Passes that were begun and are not signed, as a board must show them; reads journals and takes no lock."""

from __future__ import annotations

from collections import Counter

from ragassay.errors import InputError
from ragassay.run.journal import read_entries
from ragassay.run.plan import PassPlan, open_passes
from ragassay.run.state import replay
from ragassay.run.workspace import Workspace


def held_passes(workspace: Workspace) -> dict[str, str]:
    """Return, by row name, which passes are open and what failed in them."""
    notes: dict[str, list[str]] = {}
    for plan in open_passes(workspace):
        notes.setdefault(plan.row, []).append(_note(workspace, plan))
    return {row: "; ".join(lines) for row, lines in notes.items()}


def _note(workspace: Workspace, plan: PassPlan) -> str:
    path = workspace.pass_folder(plan.row, plan.run_id) / "journal.jsonl"
    try:
        states = replay(read_entries(path) if path.exists() else ())
    except InputError as error:
        return f"pass {plan.k} of {plan.of} is not signed, and its journal cannot be read: {error.message}"
    failed = Counter(state.failed[0] for state in states.values() if state.failed)
    total = plan.config.measure.benchmark["items"]
    done = sum(1 for state in states.values() if state.replies and not state.failed)
    text = f"pass {plan.k} of {plan.of} is not signed: {done} of {total} questions judged"
    return text + "".join(f", {count} {status}" for status, count in sorted(failed.items()))
