"""Maximal marginal relevance, on vectors whose values are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from wrapped_factory import Fixed, page

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.mmr import MMR, Diverse, chosen, scaled
from ragassay.testing.fake_embedder import TableEmbedder
from ragassay.testing.stack_contract import ignore_progress

ROWS = {"east": (2.0, 0.0), "east too": (1.0, 0.0), "north": (0.0, 3.0), "west": (-1.0, 0.0), "nothing": (0.0, 0.0)}
CHUNKS = page("a", *ROWS)


def over(*hits: tuple[str, float], **params: Any) -> Diverse:
    """Return the wrapper over a stack with these hits."""
    parts = {"of": Fixed(*hits), "embedder": TableEmbedder(ROWS)}
    return MMR(**params).build(CHUNKS, parts, ignore_progress)


def found(stack: Diverse, k: int = 50) -> list[tuple[str, float]]:
    """Return ids and scores."""
    return [(hit.chunk, hit.score) for hit in stack.search("q", k)]


def test_mmr_sets_back_what_says_the_same_again() -> None:
    """By hand: east ½ · 1; north ½ · 0.5 − ½ · 0; east too ½ · 0.75 − ½ · 1; west ½ · 0 − ½ · 0."""
    hits = (("a#0", 8.0), ("a#1", 7.0), ("a#2", 6.0), ("a#3", 4.0))
    assert found(over(*hits)) == [("a#0", 0.5), ("a#2", 0.25), ("a#3", 0.0), ("a#1", -0.125)]


def test_mmr_with_lambda_one_keeps_the_inner_order() -> None:
    """Only relevance counts, scaled to 0–1."""
    hits = (("a#0", 8.0), ("a#1", 7.0), ("a#2", 7.0), ("a#3", 4.0))
    assert found(over(*hits, **{"lambda": 1})) == [("a#0", 1.0), ("a#1", 0.75), ("a#2", 0.75), ("a#3", 0.0)]


def test_mmr_with_lambda_zero_asks_for_novelty_alone() -> None:
    """The best hit still comes first, because all are equal before anything is chosen."""
    hits = (("a#0", 8.0), ("a#1", 7.0), ("a#2", 6.0))
    assert [chunk for chunk, _ in found(over(*hits, **{"lambda": "0"}))] == ["a#0", "a#2", "a#1"]


def test_mmr_keeps_equal_values_in_the_inner_order() -> None:
    """Opposite directions and a zero vector are not similar to anything: no negative cosine raises a value."""
    hits = (("a#2", 1.0), ("a#4", 1.0), ("a#3", 1.0), ("a#0", 1.0))
    assert found(over(*hits)) == [("a#2", 0.5), ("a#4", 0.5), ("a#3", 0.5), ("a#0", 0.5)]


def test_mmr_asks_for_its_depth_whatever_k_is_and_never_embeds_the_question() -> None:
    """The table of vectors holds no question; a hit below the depth cannot come up."""
    inner = Fixed(("a#0", 3.0), ("a#1", 2.0), ("a#2", 1.0))
    stack = MMR(depth=2).build(CHUNKS, {"of": inner, "embedder": TableEmbedder(ROWS)}, ignore_progress)
    assert [chunk for chunk, _ in found(stack)] == ["a#0", "a#1"]
    assert len(found(stack, 1)) == 1
    assert inner.asked == [("q", 2), ("q", 2)]
    assert stack.search("q", 0) == []


def test_mmr_describes_and_closes_its_parts() -> None:
    """λ is a decimal string."""
    inner = Fixed()
    stack = MMR(**{"lambda": 0.7}).build(CHUNKS, {"of": inner, "embedder": TableEmbedder(ROWS)}, ignore_progress)
    described = stack.describe()
    assert (described["lambda"], described["depth"]) == ("0.7", 20)
    assert (described["of"], described["embedder"]) == ({"kind": "fixed"}, {"kind": "table"})
    stack.close()
    assert inner.closed == 1


def test_mmr_needs_an_embedder() -> None:
    """Similarity of chunks comes from one."""
    with pytest.raises(InputError, match="needs an embedder"):
        MMR().build(CHUNKS, {"of": Fixed()}, ignore_progress)


def test_mmr_refuses_vectors_that_are_no_numbers() -> None:
    """NaN from an embedder is its failure, not a similarity."""
    rows = {**ROWS, "north": (float("nan"), 1.0)}
    with pytest.raises(StackError, match="NaN"):
        MMR().build(CHUNKS, {"of": Fixed(), "embedder": TableEmbedder(rows)}, ignore_progress)


def test_mmr_names_every_wrong_parameter() -> None:
    """All problems in one error."""
    with pytest.raises(InputError) as caught:
        MMR(**{"lambda": "1.01", "depth": 0, "fetch": 3})
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize("scores", [(1e308, 0.0, -1e308), (5e-324, 0.0, -0.0), (3.0, 3.0, 3.0), (7.0,)])
def test_mmr_scales_scores_at_the_edges_of_floating_point(scores: Sequence[float]) -> None:
    """From 1 down to 0, finite, in order, and 1 for equal ones."""
    values = scaled(scores)
    assert np.isfinite(values).all()
    assert values[0] == 1
    assert list(values) == sorted(values, reverse=True)
    assert values[-1] == (0 if scores[0] > scores[-1] else 1)
    rows = np.zeros((len(scores), 2), dtype=np.float32)
    assert [at for at, _ in chosen(values, rows, 1.0, 9)] == list(range(len(scores)))
