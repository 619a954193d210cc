"""Fusion by ranks, on rankings whose sum is known."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.hybrid import Fusion, Hybrid
from ragassay.records import JSON, Hit
from ragassay.testing.stack_contract import ignore_progress


class Ranked:
    """A retriever with a fixed ranking."""

    def __init__(self, *chunks: str, text: str | None = None) -> None:
        self.chunks = chunks
        self.text = text
        self.asked: list[int] = []
        self.closed = 0

    def search(self, text: str, k: int) -> list[Hit]:
        """Return the first k."""
        self.asked.append(k)
        return [Hit(chunk=chunk, score=1 / rank, text=self.text) for rank, chunk in enumerate(self.chunks[:k], 1)]

    def describe(self) -> JSON:
        """Return the ranking."""
        return {"kind": "ranked", "chunks": list(self.chunks)}

    def close(self) -> None:
        """Count."""
        self.closed += 1


def fuse(*of: Any, **params: Any) -> Fusion:
    """Return the fusion of retrievers."""
    return Hybrid(**params).build([], {"of": list(of)}, ignore_progress)


def test_hybrid_scores_are_sums_of_reciprocal_ranks() -> None:
    """A chunk that both name beats one that either names first."""
    hits = fuse(Ranked("a", "b", "c"), Ranked("d", "b"), Ranked("b")).search("q", 10)
    assert [hit.chunk for hit in hits] == ["b", "a", "d", "c"]
    wanted = [Fraction(2, 62) + Fraction(1, 61), Fraction(1, 61), Fraction(1, 61), Fraction(1, 63)]
    assert [hit.score for hit in hits] == pytest.approx([float(score) for score in wanted], rel=1e-15)


def test_hybrid_asks_every_stack_to_its_depth_whatever_k_is() -> None:
    """So a smaller k is a prefix; the default depth is 20."""
    one, two = Ranked(*"abcdefgh"), Ranked(*"hgfedcba")
    fuse(one, two).search("q", 3)
    fuse(one, two, depth=2).search("q", 50)
    assert one.asked == two.asked == [20, 2]
    assert {hit.chunk for hit in fuse(one, two, depth=2).search("q", 50)} == set("abgh")


def test_hybrid_credits_a_repeated_chunk_once() -> None:
    """A part that returns one chunk twice gains nothing by it, and the next rank closes up."""
    hits = fuse(Ranked("a", "a", "b"), Ranked("c")).search("q", 5)
    assert [hit.chunk for hit in hits] == ["a", "c", "b"]
    assert hits[2].score == pytest.approx(1 / 62)


def test_hybrid_fails_when_a_part_fails() -> None:
    """The other part never stands in for it."""

    class Down(Ranked):
        def search(self, text: str, k: int) -> list[Hit]:
            """Raise."""
            raise StackError("down", retryable=True)

    with pytest.raises(StackError, match="down"):
        fuse(Ranked("a"), Down()).search("q", 5)


def test_hybrid_refuses_a_part_that_returns_too_much() -> None:
    """Depth is a promise too."""

    class Greedy(Ranked):
        def search(self, text: str, k: int) -> list[Hit]:
            """Return everything."""
            return [Hit(chunk=chunk, score=1.0) for chunk in self.chunks]

    with pytest.raises(StackError, match="3 hits where 2"):
        fuse(Ranked("a"), Greedy("a", "b", "c"), depth=2).search("q", 5)


def test_hybrid_describes_and_closes_its_parts() -> None:
    """Everything that can change its result is in its description."""
    one, two = Ranked("a"), Ranked("b")
    fusion = fuse(one, two, rrf_k=10)
    described = fusion.describe()
    assert (described["rrf_k"], described["depth"]) == (10, 20)
    assert described["of"] == [one.describe(), two.describe()]
    fusion.close()
    assert (one.closed, two.closed) == (1, 1)


@pytest.mark.parametrize("of", [None, [], [Ranked("a")], [Ranked("a"), "bm25"], {"a": 1}])
def test_hybrid_needs_two_stacks(of: Any) -> None:
    """One stack is no fusion."""
    with pytest.raises(InputError, match="two or more stacks"):
        Hybrid().build([], {"of": of}, ignore_progress)


@given(st.lists(st.permutations("abcdef"), min_size=2, max_size=4), st.integers(0, 100))
def test_hybrid_does_not_depend_on_the_order_of_its_parts_but_for_ties(rankings: list[list[str]], rrf_k: int) -> None:
    """Scores per chunk are the same whichever part is named first."""
    forward = fuse(*(Ranked(*ranking) for ranking in rankings), rrf_k=rrf_k).search("q", 6)
    backward = fuse(*(Ranked(*ranking) for ranking in rankings[::-1]), rrf_k=rrf_k).search("q", 6)
    assert {hit.chunk: hit.score for hit in forward} == {hit.chunk: hit.score for hit in backward}
