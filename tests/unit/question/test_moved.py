"""What moved between two versions is named question by question, and raises the number that it has to."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from frozen_lab import WRITTEN, question, small_set
from ragassay.question.moved import Moved, moved
from ragassay.records import Benchmark

PAGES = {f"q-{n}": f"{n}" * 64 for n in range(10)}


def compare(now: Benchmark, pages: dict[str, str] | None = None, *, corpus: bool = False) -> Moved:
    """Return what moved since the small set."""
    return moved(small_set(), now, pages=(PAGES, pages or PAGES), corpus=corpus)


def with_second(**changes: Any) -> Benchmark:
    """Return the small set with its second question changed."""
    return small_set(question(0), question(1, **changes), question(2), question(3))


def test_nothing_moved() -> None:
    """The same set raises no number, whatever version it gives itself."""
    found = compare(small_set(version="9.9.9-draft"))
    assert found.part is None
    assert found.counts() == {"unchanged": 4, "added": 0, "retired": 0}


@pytest.mark.parametrize(
    ("changes", "names", "part"),
    [
        ({"input": "What weighs the beam?"}, ("reworded",), "major"),
        ({"target": "1001 g."}, ("target",), "major"),
        ({"evidence": ("The beam",)}, ("evidence",), "minor"),
        ({"page": "page-9.md"}, ("page",), "minor"),
        ({"claims": ()}, ("claims",), "minor"),
        ({"unsplit": True}, ("claims",), "minor"),
        ({"topic": "weights"}, ("topic",), "patch"),
        ({"provenance": msgspec.structs.replace(WRITTEN, tool="a model")}, ("provenance",), "patch"),
        ({"topic": "weights", "evidence": ("The beam",)}, ("evidence", "topic"), "minor"),
    ],
)
def test_each_change_is_named_and_raises_its_number(changes: dict[str, Any], names: tuple[str, ...], part: str) -> None:
    """Another itemSet is major, what an answer is held against minor, all else a patch."""
    found = compare(with_second(**changes))
    assert [move.changes for move in found.kept] == [(), names, (), ()]
    assert found.part == part


def test_added_retired_and_moved_questions() -> None:
    """Questions that came or went, or stand in another order, are another item set."""
    found = compare(small_set(question(1), question(0), question(3), question(5)))
    assert (found.added, found.retired, found.order, found.part) == (("q-5",), ("q-2",), True, "major")


def test_documentation_that_changed_is_a_patch() -> None:
    """A page whose bytes changed under a question, or any other page, asks for a version of its own."""
    found = compare(small_set(), {**PAGES, "q-1": "f" * 64}, corpus=True)
    assert [move.changes for move in found.kept] == [(), ("page-text",), (), ()]
    assert found.part == compare(small_set(), corpus=True).part == "patch"
    assert compare(msgspec.structs.replace(small_set(), corpus={"licence": "MIT"})).part == "patch"
