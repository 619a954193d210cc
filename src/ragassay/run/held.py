"""Passes that were begun and are not signed, as a board must show them; reads journals and takes no lock."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ragassay.errors import InputError
from ragassay.records import Status
from ragassay.run.journal import read_entries
from ragassay.run.plan import PassPlan, open_passes
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
        judged, failed = _folded(path)
    except InputError as error:
        return f"pass {plan.k} of {plan.of} is not signed, and its journal cannot be read: {error.message}"
    total = plan.config.measure.benchmark["items"]
    text = f"pass {plan.k} of {plan.of} is not signed: {len(judged)} of {total} questions judged"
    return text + "".join(f", {count} {status}" for status, count in sorted(Counter(failed.values()).items()))


def _folded(path: Path) -> tuple[set[str], dict[str, Status]]:
    """Return the questions that a journal holds a judge's reply of, and those that failed, by their class."""
    judged: set[str] = set()
    failed: dict[str, Status] = {}
    for entry in read_entries(path) if path.exists() else ():
        if entry.event in ("spent", "ended"):
            continue
        failed.pop(entry.q, None)
        if entry.event == "failed" and entry.status is not None:
            judged.discard(entry.q)
            failed[entry.q] = entry.status
        elif entry.raw is not None and entry.raw.text is not None:
            judged.add(entry.q)
    return judged, failed
