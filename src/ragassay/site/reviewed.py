"""What is recorded of who reviewed the questions, and what the board says where nothing is. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragassay.records import Benchmark
from ragassay.site.exposure import exposure_unrecorded
from ragassay.site.fairness import fairness_unrecorded
from ragassay.site.numbers import listed, plural
from ragassay.site.questionrecord import ReviewedBy
from ragassay.site.record import BoardRow
from ragassay.site.standrecord import Review

MOST_NAMED = 4


def review_of(benchmark: Benchmark) -> Review:
    """Count the questions by what their provenance says."""
    questions = benchmark.questions
    given = [question.provenance for question in questions if question.provenance is not None]
    reviewers = Counter(one.reviewed_by for one in given if one.reviewed_by is not None)
    reviewed = reviewers.total()
    return Review(
        questions=len(questions),
        reviewed=reviewed,
        unreviewed=len(given) - reviewed,
        not_recorded=len(questions) - len(given),
        derived=sum(one.derived_from_system is True for one in given),
        derived_unknown=len(questions) - sum(one.derived_from_system is not None for one in given),
        by_author=sum(one.reviewed_by is not None and one.reviewed_by == one.author for one in given),
        reviewers=tuple(ReviewedBy(reviewer=name, questions=count) for name, count in reviewers.most_common()),
    )


def review_facts(found: Review) -> list[str]:
    """Say who reviewed how many questions; nothing where nobody did."""
    if not found.reviewed:
        return []
    names = [
        one.reviewer + (f" ({one.questions})" if len(found.reviewers) > 1 else "")
        for one in found.reviewers[:MOST_NAMED]
    ]
    rest = len(found.reviewers) - len(names)
    names += [f"{rest} more"] if rest else []
    return [f"reviewed: {found.reviewed} of {plural(found.questions, 'question')}, by {listed(names)}"]


def review_words(found: Review) -> list[str]:
    """Say how many questions nobody reviewed, and of how many it is not recorded; nothing where all were reviewed."""
    of = f"of {plural(found.questions, 'question')}"
    said = []
    if found.unreviewed:
        said.append(f"unreviewed: {found.unreviewed} {of}")
    if found.not_recorded:
        said.append(f"review not recorded: {found.not_recorded} {of}")
    if found.by_author:
        said.append(f"reviewed by its own author: {found.by_author} {of}")
    if found.derived:
        said.append(f"derived from a system under test: {found.derived} {of}")
    return said


def unrecorded(rows: Sequence[BoardRow], benchmark: Benchmark, *, measured: bool) -> tuple[str, ...]:
    """Return what a reader would want to know of questions and rows and nobody recorded, each in one sentence."""
    if not measured:
        return (*review_words(review_of(benchmark)), *fairness_unrecorded(rows))
    return (*review_words(review_of(benchmark)), *fairness_unrecorded(rows), *exposure_unrecorded(rows))
