"""What a check found, as one value: the JSON of `ragassay check`. No fractional numbers, as in `board.json`."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ragassay.records import Record
from ragassay.site.exact import Interval, Ratio
from ragassay.site.record import Cause
from ragassay.site.standrecord import Change

SCHEMA = "ragassay.check/1"
CheckName: TypeAlias = Literal["whole", "min-score", "max-drop"]
CheckOutcome: TypeAlias = Literal["ok", "failed", "inconclusive"]
"""`inconclusive` fails nothing: the questions cannot tell what was seen from chance."""
BaselineKind: TypeAlias = Literal["runs", "board.json"]


class Finding(Record, frozen=True):
    """One thing that was asked of a row, how it came out, and one sentence."""

    check: CheckName
    outcome: CheckOutcome
    text: str


class WorseQuestion(Record, frozen=True):
    """A question whose mean fell; `cause` is where the shown run lost it.

    `passes` and `passes_before` hold each pass in hundredths, None for one without a score; `passes_before` is None
    where the baseline does not tell them apart.
    """

    id: str
    page: str | None
    topic: str | None
    before: str
    now: str
    difference: str
    passes_before: tuple[int | None, ...] | None
    passes: tuple[int | None, ...]
    cause: Cause


class DropLine(Record, frozen=True):
    """The row now minus the row of the baseline, over question means, and the rule's outcome."""

    outcome: Literal["held", "dropped", "inconclusive"]
    allowed: str
    confidence: str
    questions: int
    units: int
    before: str
    now: str
    difference: str
    interval: Interval | None
    """The paired t interval at `confidence`."""
    p: str | None
    seed: str | None
    """The seed of the sign flips; None where every sign pattern was counted."""
    needed: int | None
    """About how many such questions would show this drop with 80 % power, where these could not."""
    note: str | None
    filled: int = 0
    """Answers without a score that were taken against the row: 0 now, 1 in the baseline."""


class RowCheck(Record, frozen=True):
    """One row: what was asked of it, and the questions that got worse, largest drop first."""

    name: str
    key: str | None
    passed: bool
    score: Ratio | None
    interval: Interval | None
    runs: tuple[str, ...]
    """The runs that were compared, or else those of the window."""
    questions: int
    findings: tuple[Finding, ...]
    drop: DropLine | None = None
    changed: tuple[Change, ...] = ()
    """What the row measures otherwise than the row of the baseline."""
    worse: tuple[WorseQuestion, ...] = ()
    better: int = 0
    equal: int = 0


class BaselineLine(Record, frozen=True):
    """What was compared with: runs are verified, a `board.json` is taken as it stands."""

    source: str
    kind: BaselineKind
    name: str | None
    runs: tuple[str, ...]
    signers: tuple[str, ...]


class CheckReport(Record, frozen=True):
    """The whole check; `problems` stand against the board as a whole and fail it, `warnings` only weaken it."""

    schema: str
    board: str
    benchmark: str
    passed: bool
    rows: tuple[RowCheck, ...]
    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    baseline: BaselineLine | None = None
