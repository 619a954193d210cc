"""The file of decisions: one line per decision, appended and never changed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ragassay.errors import InputError
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
from ragassay.publish.ledger import FOLDER, Ledger
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

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Decision).decode


class DecisionFile:
    """`review/decisions.jsonl` of a workspace (its `.ragassay` folder); the last decision of a finding holds."""

    def __init__(self, workspace: Path) -> None:
        self._ledger = Ledger(workspace / FOLDER / NAME)
        self.path = self._ledger.path

    def decisions(self) -> list[Decision]:
        """Return every line, oldest first; raises `InputError` that names each line that is no decision."""
        return _decoded(self._ledger.lines(), self.path)

    def add(self, finding: Finding, action: Action, *, reason: str, by: str, at: int | None = None) -> Decision:
        """Store a decision and return it once it is on the disk; `at` in Unix seconds, now where it is None.

        Raises `InputError` where the finding's places do not allow the action, or the reason or the name is no text.
        """
        decision = decided(finding, action, reason=reason, by=by, at=int(time.time()) if at is None else at)
        self.add_all([decision])
        return decision

    def add_all(self, decisions: Sequence[Decision]) -> None:
        """Store decisions together: all of them are on the disk, or none."""

        def after(lines: list[bytes]) -> list[bytes]:
            _decoded(lines, self.path)  # nothing is added to a file that cannot be read again
            return [_encode(decision) for decision in decisions]

        self._ledger.append(after)


def _decoded(lines: Sequence[bytes], path: Path) -> list[Decision]:
    found: list[Decision] = []
    problems: list[str] = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(_decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            problems.append(f"line {number}: {error}")
    if problems:
        shown = [*problems[:20], *([f"and {len(problems) - 20} more lines"] if len(problems) > 20 else [])]
        raise InputError(f"{path} has lines that are no decisions; put them back, or move the file away", shown)
    return found
