"""What the tests of the scan share: the detectors, made once, and texts at a place."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ragassay.publish.detect import Detector, detectors
from ragassay.publish.scan import ScanResult, scan
from ragassay.publish.texts import PublicText
from ragassay.records.publication import FindingKind


@cache
def made() -> tuple[Detector, ...]:
    """Return the detectors that need no model."""
    return detectors()


def answer(text: str, item: str = "q-001", run: str = "r1") -> PublicText:
    """Return an answer to a question."""
    return PublicText(run=run, file="outputs.jsonl", item=item, field="answer", text=text)


def scanned(*texts: str | PublicText) -> ScanResult:
    """Scan texts; a plain one is the answer to a question of its own."""
    public = [one if isinstance(one, PublicText) else answer(one, f"q-{at:03d}") for at, one in enumerate(texts)]
    return scan(public, made())


def found(*texts: str | PublicText) -> list[tuple[FindingKind, str]]:
    """Return kind and text of every finding."""
    return [(one.kind, one.text) for one in scanned(*texts).findings]


def of(kind: FindingKind, *words: str) -> list[tuple[FindingKind, str]]:
    """Return what `found` is expected to be: findings of one kind."""
    return [(kind, word) for word in words]


def left_out(text: str) -> Sequence[str]:
    """Return the names of the rules that left something out."""
    return list(scanned(text).left_out)
