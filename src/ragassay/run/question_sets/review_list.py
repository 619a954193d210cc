"""What is decided of each question of a file: in its review file, in its item manifest, or in that of its original."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from ragassay.manifest.item_statement import ItemRef
from ragassay.question import QuestionFile, ReviewLine, load_reviews
from ragassay.question.reviews import ReviewState, reviews_beside, standing, state_of
from ragassay.question.versions import DRAFT
from ragassay.records import Benchmark, Question
from ragassay.run.question_sets.frozen import load_set
from ragassay.run.question_sets.frozen_beside import copy_of

ListedState = ReviewState | Literal["reviewed", "carried"]
"""A question's state; `reviewed` says the manifest of a frozen set, `carried` that of the version before a copy."""
OPEN: frozenset[ListedState] = frozenset({"unreviewed", "stale"})
"""States in which a question is still to be reviewed."""


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """One question: its state, and the decision or the item of a manifest that says so.

    `before` is the reviewer of the version before, who saw other words.
    """

    question: str
    state: ListedState
    line: ReviewLine | None = None
    item: ItemRef | None = None
    before: str | None = None


class ReviewList(msgspec.Struct, frozen=True, kw_only=True):
    """All questions in the file's order; `unknown` are questions of which decisions stand and which it does not hold.

    `of` is the frozen file whose manifest counts, the file itself or the one that it is a copy of; `unheeded` counts
    the decisions beside a frozen file, which come too late for it; `orphan` is True for a copy without its original.
    """

    read: QuestionFile
    rows: tuple[Listed, ...]
    unknown: tuple[str, ...] = ()
    of: Path | None = None
    unheeded: int = 0
    orphan: bool = False


def review_list(file: Path) -> ReviewList:
    """Return what is decided of each question of `file`. Raises `InputError` for a file that cannot be read."""
    read, frozen = load_set(file)
    stands = standing(load_reviews(reviews_beside(file)))
    questions = read.benchmark.questions
    known = {question.id for question in questions}
    unknown = tuple(name for name in stands if name not in known)
    if frozen is not None:
        rows = tuple(_as_signed(item) for item in frozen.predicate.items)
        return ReviewList(read=read, rows=rows, of=file, unheeded=len(stands))
    original = copy_of(file, read.benchmark)
    items = {} if original is None else _reviewed(original)
    return ReviewList(
        read=read,
        rows=tuple(listed(question, stands.get(question.id), items) for question in questions),
        unknown=unknown,
        of=original,
        orphan=original is None and read.benchmark.version.endswith(DRAFT),
    )


def reviewed_before(file: Path, benchmark: Benchmark) -> dict[str, ItemRef]:
    """Return, by question, the reviewed items of the frozen set that `file` is an editable copy of; empty for others.

    Raises `InputError` where that set cannot be read.
    """
    original = copy_of(file, benchmark)
    return {} if original is None else _reviewed(original)


def listed(question: Question, line: ReviewLine | None, items: Mapping[str, ItemRef]) -> Listed:
    """Return what counts for a question: a decision about its words, else the review of the same words before."""
    state, item = state_of(question, line), items.get(question.id)
    if state in OPEN and item is not None and item.material == question.material():
        return Listed(question=question.id, state="carried", item=item)
    before = item.reviewer if item is not None and state == "unreviewed" else None
    return Listed(question=question.id, state=state, line=line, before=before)


def _reviewed(original: Path) -> dict[str, ItemRef]:
    frozen = load_set(original)[1]
    items = () if frozen is None else frozen.predicate.items
    return {item.id: item for item in items if item.reviewer is not None}


def _as_signed(item: ItemRef) -> Listed:
    return Listed(question=item.id, state="unreviewed" if item.reviewer is None else "reviewed", item=item)
