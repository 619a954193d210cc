"""How a run is going, as counters that a display may read at any time."""

from __future__ import annotations

import time
from collections import Counter

import msgspec

from ragassay.records import Outcome, Status


class RowStatus(msgspec.Struct):
    """One row over all its passes under way; `resumed` counts what was already there."""

    asked: int = 0
    done: int = 0
    resumed: int = 0
    missing: Counter[str] = msgspec.field(default_factory=Counter)


class RunStatus:
    """Counters of a run; setting `stop` ends it after the calls under way."""

    def __init__(self) -> None:
        self.rows: dict[str, RowStatus] = {}
        self.stop = False
        self.phase = "preparing"
        self.notes: list[str] = []
        self._started = time.monotonic()

    def begin(self) -> None:
        """Start the clock of rate and ETA."""
        self.phase = "asking"
        self._started = time.monotonic()

    def ended(self, row: str, outcome: Outcome) -> None:
        """Count one question that ended."""
        counters = self.rows[row]
        counters.done += 1
        if outcome.score is None:
            counters.missing[outcome.status] += 1

    def reopened(self, row: str, missing: Status) -> None:
        """Take back one question that ended without a score and is asked again."""
        counters = self.rows[row]
        counters.done -= 1
        counters.missing[missing] -= 1

    @property
    def left(self) -> int:
        """Questions that have not ended."""
        return sum(row.asked - row.done for row in self.rows.values())

    @property
    def elapsed_s(self) -> float:
        """Seconds since asking began."""
        return time.monotonic() - self._started

    @property
    def rate_per_s(self) -> float:
        """Questions ended a second in this process."""
        return sum(row.done for row in self.rows.values()) / max(self.elapsed_s, 1e-9)

    @property
    def eta_s(self) -> float | None:
        """Seconds to go at the present rate, or None before the first question ended."""
        return self.left / self.rate_per_s if self.rate_per_s > 0 else None
