"""What is recorded of who reviewed the questions, and what the board says where nothing is. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.records import Benchmark
from ragassay.site.numbers import listed, plural
from ragassay.site.record import BoardRow
from ragassay.site.standrecord import Review

FAIRNESS = "fairness of the questions to the rows: not recorded"


def review_of(benchmark: Benchmark) -> Review:
    """Count the questions by what their provenance says."""
    questions = benchmark.questions
    given = [question.provenance for question in questions if question.provenance is not None]
    reviewed = sum(one.reviewed_by is not None for one in given)
    return Review(
        questions=len(questions),
        reviewed=reviewed,
        unreviewed=len(given) - reviewed,
        not_recorded=len(questions) - len(given),
        derived=sum(one.derived_from_system is True for one in given),
        derived_unknown=len(questions) - sum(one.derived_from_system is not None for one in given),
    )


def review_words(found: Review) -> list[str]:
    """Say how many questions nobody reviewed, and of how many it is not recorded; nothing where all were reviewed."""
    of = f"of {plural(found.questions, 'question')}"
    said = []
    if found.unreviewed:
        said.append(f"unreviewed: {found.unreviewed} {of}")
    if found.not_recorded:
        said.append(f"review not recorded: {found.not_recorded} {of}")
    if found.derived:
        said.append(f"derived from a system under test: {found.derived} {of}")
    return said


def unrecorded(rows: Sequence[BoardRow], benchmark: Benchmark, *, measured: bool) -> tuple[str, ...]:
    """Return what a reader would want to know of questions and rows and nobody recorded, each in one sentence."""
    exposure = exposure_words(rows) if measured else []
    return (*review_words(review_of(benchmark)), FAIRNESS, *exposure)


def exposure_words(rows: Sequence[BoardRow]) -> list[str]:
    """Say of which rows it is not recorded whether they were shaped on these questions."""
    rows = [row for row in rows if row.role == "row" and row.passes and row.standing != "superseded"]
    silent = [row.name for row in rows if row.exposure is None]
    if not silent:
        return []
    whose = "any row" if len(silent) == len(rows) > 1 else listed(silent)
    return [f"exposure to the questions: not recorded of {whose}"]
