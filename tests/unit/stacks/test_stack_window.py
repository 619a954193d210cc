"""Hits with their neighbours, on pages whose chunks are known."""

from __future__ import annotations

from typing import Any

import pytest
from wrapped_factory import Fixed, page

from ragassay.errors import InputError
from ragassay.plugins.stacks.window import Window, Windows
from ragassay.testing.stack_contract import ignore_progress

CHUNKS = page("a", *"0123456") + page("b", *"01") + page("c", "0")


def over(*hits: tuple[str, float], **params: Any) -> Windows:
    """Return the wrapper over a stack with these hits."""
    return Window(**params).build(CHUNKS, {"of": Fixed(*hits)}, ignore_progress)


def found(windows: Windows, k: int = 50) -> list[tuple[str, float]]:
    """Return ids and scores."""
    return [(hit.chunk, hit.score) for hit in windows.search("q", k)]


def test_window_delivers_neighbours_in_page_order_with_the_score_of_their_hit() -> None:
    """Windows come as their hits rank and end at the edges of the page."""
    wanted = [("b#0", 9.0), ("b#1", 9.0), ("a#2", 5.0), ("a#3", 5.0), ("a#4", 5.0), ("c#0", -1.0)]
    assert found(over(("b#1", 9.0), ("a#3", 5.0), ("c#0", -1.0))) == wanted


def test_window_delivers_a_chunk_of_two_windows_once() -> None:
    """It stands where the better hit brought it, with that hit's score, a hit that was a neighbour before included."""
    hits = (("a#3", 3.0), ("a#4", 2.0), ("a#1", 1.0))
    wanted = [("a#2", 3.0), ("a#3", 3.0), ("a#4", 3.0), ("a#5", 2.0), ("a#0", 1.0), ("a#1", 1.0)]
    assert found(over(*hits)) == wanted


def test_window_cuts_the_end_of_the_last_window() -> None:
    """`top_k` counts delivered chunks: in page order the cut can take a hit and leave what stands before it."""
    windows = over(("a#1", 2.0), ("a#5", 1.0))
    assert [chunk for chunk, _ in found(windows, 4)] == ["a#0", "a#1", "a#2", "a#4"]
    assert [chunk for chunk, _ in found(windows, 1)] == ["a#0"]


def test_window_led_by_the_hit_loses_neighbours_before_a_hit() -> None:
    """With `order = "hit"` the hit is the first chunk of its window."""
    windows = over(("a#1", 2.0), ("a#5", 1.0), order="hit")
    assert [chunk for chunk, _ in found(windows, 4)] == ["a#1", "a#0", "a#2", "a#5"]


def test_window_sides_are_set_apart() -> None:
    """`before` and `after` are two numbers."""
    assert [chunk for chunk, _ in found(over(("a#3", 1.0), before=0, after=2))] == ["a#3", "a#4", "a#5"]


def test_window_follows_the_page_and_not_the_order_of_the_corpus() -> None:
    """Chunks that come in any order have the neighbours that they have on their page."""
    windows = Window().build(CHUNKS[::-1], {"of": Fixed(("a#3", 1.0))}, ignore_progress)
    assert [chunk for chunk, _ in found(windows)] == ["a#2", "a#3", "a#4"]


def test_window_asks_for_k_hits_and_describes_and_closes_its_part() -> None:
    """The part is asked with the question as it is; its description stands whole."""
    inner = Fixed(("a#3", 1.0))
    windows = Window(before=2).build(CHUNKS, {"of": inner}, ignore_progress)
    assert windows.search("What?", 7)
    assert inner.asked == [("What?", 7)]
    assert windows.search("What?", 0) == []
    described = {"kind": "window", "before": 2, "after": 1, "order": "page", "of": {"kind": "fixed"}}
    assert windows.describe() == described
    windows.close()
    assert inner.closed == 1


def test_window_names_every_wrong_parameter() -> None:
    """All problems in one error."""
    with pytest.raises(InputError) as caught:
        Window(before=-1, after="two", order="score", n=1)
    assert len(caught.value.problems) == 4
