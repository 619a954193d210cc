"""What `window`, `parent` and `mmr` have in common: failures that come through, and laws for any inner ranking."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wrapped_factory import Fixed, page

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.mmr import MMR
from ragassay.plugins.stacks.parent import Parent
from ragassay.plugins.stacks.window import Window
from ragassay.records import Hit
from ragassay.retrieve import search
from ragassay.run.build import check_stack
from ragassay.seams import Retriever
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import ignore_progress

CHUNKS = [
    *page("a", "# A\n\nfox river ", "fox dog ", "river\n\n", "## B\n\ndog ", "fox fox ", "end\n"),
    *page("b", "fox ", "river ", "river ", "dog "),
    *page("c", "alone\n"),
]
KNOWN = {chunk.id: chunk for chunk in CHUNKS}
WRAPPERS = (Window, Parent, MMR)

rankings = st.lists(st.sampled_from(sorted(KNOWN)), unique=True, max_size=11).flatmap(
    lambda ids: st.lists(st.floats(-1e3, 1e3), min_size=len(ids), max_size=len(ids)).map(
        lambda scores: tuple(zip(ids, sorted(scores, reverse=True), strict=True))
    )
)
stacks = st.one_of(
    st.builds(Window, before=st.integers(0, 3), after=st.integers(0, 3), order=st.sampled_from(["page", "hit"])),
    st.builds(
        Parent,
        level=st.sampled_from(["section", "page"]),
        depth=st.integers(1, 12),
        max_chunks=st.integers(1, 7),
    ),
    st.builds(lambda weight, depth: MMR(**{"lambda": weight, "depth": depth}), st.floats(0, 1), st.integers(1, 12)),
)


def wrap(stack: Any, inner: object) -> Retriever:
    """Return the wrapper built over `inner`."""
    built: Retriever = stack.build(CHUNKS, {"of": inner, "embedder": WordEmbedder()}, ignore_progress)
    return built


def through_the_door(retriever: Retriever, k: int = 5) -> list[str]:
    """Return the ids that the checked door lets through."""
    got = search(retriever, "q", chunks=KNOWN, owns_corpus=False, top_k=k, threshold=None)
    return [one.chunk for one in got.delivered]


@given(stacks, rankings, st.integers(1, 12))
def test_wrappers_keep_every_promise_over_any_ranking(stack: Any, hits: Any, k: int) -> None:
    """At most k, each id known and once, scores finite and not rising, a smaller k the beginning of a larger."""
    found = list(wrap(stack, Fixed(*hits)).search("q", k))
    ids, scores = [hit.chunk for hit in found], [hit.score for hit in found]
    assert len(ids) == len(set(ids)) <= k
    assert KNOWN.keys() >= set(ids)
    assert scores == sorted(scores, reverse=True)
    assert bool(found) == bool(hits)
    assert through_the_door(wrap(stack, Fixed(*hits)), k) == ids
    assert found == list(wrap(stack, Fixed(*hits)).search("q", 12))[:k]


@given(rankings, st.integers(1, 12), st.sampled_from(["page", "hit"]))
def test_a_window_of_nothing_is_the_inner_stack(hits: Any, k: int, order: str) -> None:
    """Ids and scores."""
    found = wrap(Window(before=0, after=0, order=order), Fixed(*hits)).search("q", k)
    assert [(hit.chunk, hit.score) for hit in found] == list(hits[:k])


@given(rankings, st.integers(1, 12), st.integers(0, 3), st.integers(0, 3))
def test_windows_give_k_chunks_where_the_inner_stack_has_k(hits: Any, k: int, before: int, after: int) -> None:
    """Overlapping windows leave no place empty."""
    found = wrap(Window(before=before, after=after), Fixed(*hits)).search("q", k)
    assert len(found) >= min(k, len(hits))


@given(rankings, st.integers(1, 12), st.integers(1, 12))
def test_mmr_with_lambda_one_is_the_inner_order(hits: Any, depth: int, k: int) -> None:
    """Within its depth, ties included."""
    found = wrap(MMR(**{"lambda": "1", "depth": depth}), Fixed(*hits)).search("q", k)
    assert [hit.chunk for hit in found] == [chunk for chunk, _ in hits[:depth]][:k]


@given(rankings, st.floats(0, 1))
def test_mmr_neither_adds_nor_loses_a_hit(hits: Any, weight: float) -> None:
    """It orders what it was given."""
    found = wrap(MMR(**{"lambda": weight}), Fixed(*hits)).search("q", 12)
    assert {hit.chunk for hit in found} == {chunk for chunk, _ in hits}


@given(rankings)
def test_a_parent_of_one_chunk_is_the_inner_stack(hits: Any) -> None:
    """One hit per section when `max_chunks` is 1: the best of each, in the inner order."""
    found = wrap(Parent(max_chunks=1), Fixed(*hits)).search("q", 12)
    best: dict[object, str] = {}
    for chunk, _ in hits:
        page_name, number = chunk.split("#")
        best.setdefault((page_name, page_name == "a" and int(number) >= 3), chunk)
    assert [hit.chunk for hit in found] == list(best.values())


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("retryable", [True, False])
def test_a_failure_of_the_inner_stack_comes_through(wrapper: Any, retryable: bool) -> None:
    """As it was raised: with its words and with what it says of asking again, never as an empty list."""
    error = StackError("the index is down", retryable=retryable)
    with pytest.raises(StackError, match="the index is down") as caught:
        wrap(wrapper(), Fixed(error=error)).search("q", 5)
    assert caught.value.retryable is retryable


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize(("error", "retryable"), [(TimeoutError("slow"), True), (KeyError("broken"), False)])
def test_any_exception_of_the_inner_stack_is_a_stack_error_behind_the_door(
    wrapper: Any, error: Exception, retryable: bool
) -> None:
    """A time-out may be asked again."""
    with pytest.raises(StackError, match=type(error).__name__) as caught:
        through_the_door(wrap(wrapper(), Fixed(error=error)))
    assert caught.value.retryable is retryable


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize(
    ("hits", "says"),
    [
        ([("elsewhere#0", 1.0)], "'elsewhere#0', which is not in the corpus"),
        ([("a#0", 1.0), ("a#1", 2.0)], "rises at rank 2"),
        ([("a#0", float("nan"))], "no finite number"),
        ([("a#0", float("inf"))], "no finite number"),
    ],
)
def test_a_broken_promise_of_the_inner_stack_is_not_hidden(wrapper: Any, hits: Any, says: str) -> None:
    """Nothing is repaired on the way through."""
    with pytest.raises(StackError, match=says):
        wrap(wrapper(), Fixed(*hits)).search("q", 5)


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_flood_a_stranger_and_another_text_are_refused(wrapper: Any) -> None:
    """More hits than asked for, something that is no hit, and a text that the corpus does not hold."""
    flood = Fixed(*[(f"a#{at % 6}", 1.0) for at in range(30)], cut=False)
    with pytest.raises(StackError, match="30 hits where"):
        wrap(wrapper(), flood).search("q", 5)
    stranger, stale = Fixed(), Fixed()
    stranger.hits = ["a#0"]  # type: ignore[list-item]
    stale.hits = [Hit(chunk="a#0", score=1.0, text="what it was")]
    with pytest.raises(StackError, match="not a Hit"):
        wrap(wrapper(), stranger).search("q", 5)
    with pytest.raises(StackError, match="another text"):
        wrap(wrapper(), stale).search("q", 5)


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_repeated_hit_counts_once(wrapper: Any) -> None:
    """At its first rank."""
    twice, once = Fixed(("a#0", 2.0), ("a#0", 2.0), ("b#1", 1.0)), Fixed(("a#0", 2.0), ("b#1", 1.0))
    assert list(wrap(wrapper(), twice).search("q", 9)) == list(wrap(wrapper(), once).search("q", 9))


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("of", [None, [], [Fixed()], "bm25", {"kind": "bm25"}])
def test_a_wrapper_needs_one_stack(wrapper: Any, of: object) -> None:
    """A list of stacks is another thing."""
    with pytest.raises(InputError, match="needs one stack to wrap"):
        wrap(wrapper(), of)


@pytest.mark.parametrize("kind", ["window", "parent", "mmr"])
def test_a_board_names_wrappers_at_any_depth(kind: str) -> None:
    """A wrapper can stand in a wrapper, and a wrong parameter inside is found before anything is built."""
    check_stack({"kind": kind, "of": {"kind": "window", "of": {"kind": "bm25"}}}, "row")
    with pytest.raises(InputError, match=r"row\.of\.of"):
        check_stack({"kind": kind, "of": {"kind": "window", "of": {"kind": "bm25", "wrong": 1}}}, "row")
