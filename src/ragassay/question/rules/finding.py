"""What a rule found: which questions break it, where, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from ragassay.question.evidence import EvidenceFinding, Place
from ragassay.question.rules.table import BY_NAME
from ragassay.records import Record

Severity = Literal["error", "warning"]
Similar = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Texts become the matrix of their similarities, 1 for the same meaning."""


class LintFinding(Record, frozen=True):
    """A broken rule: the questions and places that break it, and what to do; an `error` makes the check say no.

    `waived` is the reason for which a person lets it stand; a waived finding fails nothing.
    """

    rule: str
    severity: Severity
    questions: tuple[str, ...]
    message: str
    places: tuple[Place, ...] = ()
    waived: str | None = None

    @property
    def fails(self) -> bool:
        """True when it makes a check say no."""
        return self.severity == "error" and self.waived is None


def broken(
    rule: str, questions: str | tuple[str, ...], message: str, *places: Place, mild: bool = False
) -> LintFinding:
    """Return a finding of a rule of the table, with the table's severity; a `mild` one is a warning."""
    return LintFinding(
        rule=rule,
        severity="warning" if mild else BY_NAME[rule].severity,
        questions=(questions,) if isinstance(questions, str) else questions,
        message=message,
        places=places,
    )


def place_of(finding: EvidenceFinding) -> Place | None:
    """Return where an evidence text stands first, or None where it stands nowhere."""
    if finding.page is None or finding.start is None or finding.end is None:
        return None
    return Place(page=finding.page, start=finding.start, end=finding.end, folds=finding.folds)


def quoted(texts: Sequence[str]) -> str:
    """Return texts in quotes, with commas between them."""
    return ", ".join(f'"{text}"' for text in texts)
