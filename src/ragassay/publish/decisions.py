"""The file of decisions: one line per decision, appended and never changed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from ragassay.manifest.append_only import AppendOnlyFile
from ragassay.publish.deciding import (
    PlaceKey,
    Span,
    decided,
    decided_by_place,
    of_run,
    possible,
    standing,
    undecided,
    with_decisions,
)
from ragassay.publish.review_folder import FOLDER
from ragassay.records.publication import Action, Decision, Finding

__all__ = [
    "NAME",
    "DecisionFile",
    "PlaceKey",
    "Span",
    "decided",
    "decided_by_place",
    "of_run",
    "possible",
    "standing",
    "undecided",
    "with_decisions",
]

NAME = "decisions.jsonl"


class DecisionFile:
    """`review/decisions.jsonl` of a workspace (its `.ragassay` folder); the last decision of a finding holds."""

    def __init__(self, workspace: Path) -> None:
        self._file = AppendOnlyFile(workspace / FOLDER / NAME, Decision, wrong="are no decisions")
        self.path = self._file.path

    def decisions(self) -> list[Decision]:
        """Return every line, oldest first; raises `InputError` that names each line that is no decision."""
        return self._file.lines()

    def add(self, finding: Finding, action: Action, *, reason: str, by: str, at: int | None = None) -> Decision:
        """Store a decision and return it once it is on the disk; `at` in Unix seconds, now where it is None.

        Raises `InputError` where the finding's places do not allow the action, or the reason or the name is no text.
        """
        decision = decided(finding, action, reason=reason, by=by, at=int(time.time()) if at is None else at)
        self.add_all([decision])
        return decision

    def add_all(self, decisions: Sequence[Decision]) -> None:
        """Store decisions together: all of them are on the disk, or none."""
        self._file.append(lambda _lines: decisions)
