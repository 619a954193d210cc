"""The order in which `rerank` delivers, and what it does over a stack that fails or has a corpus of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from wrapped_factory import Fixed, page

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.http import Http, HttpRetriever
from ragassay.plugins.stacks.hybrid import Hybrid
from ragassay.plugins.stacks.hyde import HyDE
from ragassay.plugins.stacks.inner import OwnTexts, owns_texts
from ragassay.plugins.stacks.mmr import MMR
from ragassay.plugins.stacks.multiquery import MultiQuery
from ragassay.plugins.stacks.parent import Parent
from ragassay.plugins.stacks.rerank import Reranked
from ragassay.plugins.stacks.window import Window
from ragassay.records import JSON, Hit
from ragassay.retrieve import search
from ragassay.run.build import check_stack
from ragassay.testing.blocking_model import BlockingScript
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import ignore_progress

CHUNKS = page("p", "aaaa", "b", "cccc", "dd", "eee")
KNOWN = {chunk.id: chunk for chunk in CHUNKS}
IDS = [chunk.id for chunk in CHUNKS]


class Lengths:
    """Scores a passage by its length, or as it is told to."""

    def __init__(self, scores: Sequence[float] | None = None) -> None:
        self.told = scores
        self.asked: list[list[str]] = []
        self.closed = 0

    def scores(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """Return them."""
        self.asked.append(list(passages))
        return [len(text) for text in passages] if self.told is None else self.told

    def describe(self) -> JSON:
        """Return the method."""
        return {"method": "lengths"}

    def close(self) -> None:
        """Count."""
        self.closed += 1


def reranked(scorer: Lengths, inner: Any = None, depth: int = 20) -> Reranked:
    """Return the retriever over all chunks in page order."""
    inner = inner or Fixed(*((chunk, float(9 - at)) for at, chunk in enumerate(IDS)))
    return Reranked(inner, scorer, KNOWN, depth)


def test_candidates_come_by_their_new_scores_and_ties_as_they_came() -> None:
    """The wrapped stack's own scores do not enter."""
    hits = reranked(Lengths()).search("q", 9)
    assert [hit.chunk for hit in hits] == [IDS[at] for at in (0, 2, 4, 3, 1)]
    assert [hit.score for hit in hits] == [4, 4, 3, 2, 1]


@pytest.mark.parametrize("k", [1, 2, 4, 9])
def test_all_candidates_are_scored_whatever_k_is(k: int) -> None:
    """So that a smaller k gives the beginning of the same list."""
    scorer = Lengths()
    assert reranked(scorer).search("q", k) == reranked(Lengths()).search("q", 9)[:k]
    assert scorer.asked == [[chunk.text for chunk in CHUNKS]]


def test_only_the_candidates_are_delivered() -> None:
    """What stands below `depth` is not asked for, not scored and not delivered."""
    inner, scorer = Fixed(*((chunk, 1.0) for chunk in IDS)), Lengths()
    assert [hit.chunk for hit in reranked(scorer, inner, depth=2).search("q", 9)] == IDS[:2]
    assert inner.asked == [("q", 2)]


def test_nothing_found_is_nothing_asked() -> None:
    """A search that found nothing costs nothing; k = 0 neither."""
    scorer = Lengths()
    assert reranked(scorer, Fixed()).search("q", 5) == []
    assert reranked(scorer).search("q", 0) == []
    assert scorer.asked == []


@pytest.mark.parametrize("told", [[], [1.0] * 4, [1.0] * 6, [1.0, 2.0, float("nan"), 1.0, 1.0], [float("inf")] * 5])
def test_a_candidate_without_a_score_is_an_error(told: list[float]) -> None:
    """It is never passed over."""
    with pytest.raises(StackError, match="5 candidates need 5 finite scores"):
        reranked(Lengths(told)).search("q", 5)


@pytest.mark.parametrize("retryable", [True, False])
def test_a_failure_of_the_wrapped_stack_comes_through(retryable: bool) -> None:
    """As it was raised; nothing is scored."""
    scorer = Lengths()
    with pytest.raises(StackError, match="is down") as caught:
        reranked(scorer, Fixed(error=StackError("the index is down", retryable=retryable))).search("q", 5)
    assert caught.value.retryable is retryable
    assert scorer.asked == []


def test_the_wrapped_stack_is_held_to_its_promises() -> None:
    """More hits than were asked for, and a chunk that nobody knows."""
    many = Fixed(*((chunk, 1.0) for chunk in IDS), cut=False)
    with pytest.raises(StackError, match="returned 5 hits where 3 were asked for"):
        reranked(Lengths(), many, depth=3).search("q", 5)
    with pytest.raises(StackError, match="which is not in the corpus"):
        reranked(Lengths(), Fixed(("elsewhere", 1.0))).search("q", 5)


def test_closing_closes_both() -> None:
    """The scorer and the wrapped stack."""
    inner, scorer = Fixed(), Lengths()
    reranked(scorer, inner).close()
    assert (scorer.closed, inner.closed) == (1, 1)


class Own(Fixed):
    """Returns passages of a corpus of its own."""

    owns_corpus = True

    def __init__(self, *texts: str | None, ids: Sequence[str] = ()) -> None:
        super().__init__()
        names = ids or [f"own-{at}" for at in range(len(texts))]
        self.hits = [Hit(chunk=name, score=1.0, text=text) for name, text in zip(names, texts, strict=True)]


def test_texts_of_a_corpus_of_its_own_are_scored_and_delivered() -> None:
    """The built stack says that it has one, and the door lets its texts through."""
    scorer = Lengths()
    built = reranked(scorer, Own("x", "yyy", "zz"))
    assert built.owns_corpus
    got = search(built, "q", chunks=KNOWN, owns_corpus=True, top_k=2, threshold=None)
    assert [one.text for one in got.delivered] == ["yyy", "zz"]
    assert scorer.asked == [["x", "yyy", "zz"]]
    assert not reranked(scorer).owns_corpus


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        (Own("x", None), "gave a hit without its text"),
        (Own("x", "y", ids=["a", "a"]), "gave 'a' two texts"),
    ],
)
def test_a_hit_of_an_own_corpus_needs_one_text(inner: Own, words: str) -> None:
    """Nothing is looked up in the board's corpus in its place."""
    with pytest.raises(StackError, match=words):
        reranked(Lengths(), inner).search("q", 5)


def says(*lines: str) -> BlockingScript:
    """Return a model that writes these lines."""
    return BlockingScript(lambda _: "\n".join(lines))


@pytest.mark.parametrize("stack", [MultiQuery(queries=2), HyDE(), HyDE(passages=2, with_question=True)])
def test_rewritten_questions_are_searched_for_in_an_own_corpus(stack: Any) -> None:
    """Hits are fused by the service's ids and delivered with its texts."""
    inner = Own("x", "yyy")
    built = stack.build([], {"of": inner, "model": says("one", "two")}, ignore_progress)
    assert built.owns_corpus
    got = search(built, "q", chunks={}, owns_corpus=True, top_k=5, threshold=None)
    assert [one.text for one in got.delivered] == ["x", "yyy"]


@pytest.mark.parametrize("stack", [Window(), Parent(), MMR()])
def test_wrappers_that_need_the_boards_passages_refuse_an_own_corpus(stack: Any) -> None:
    """When the row is built, before any question."""
    with pytest.raises(InputError, match=r"cannot wrap 'fixed', which searches a corpus of its own"):
        stack.build(CHUNKS, {"of": Own("x"), "embedder": WordEmbedder()}, ignore_progress)


def test_a_fusion_refuses_an_own_corpus() -> None:
    """Ranks of passages that are not the same ones cannot be added."""
    with pytest.raises(InputError, match="'hybrid' works on the passages of this board's corpus"):
        Hybrid().build(CHUNKS, {"of": [Fixed(), Own("x")]}, ignore_progress)


SERVICE: JSON = {"kind": "http", "url": "http://127.0.0.1:1/search"}


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ({"kind": "window", "of": SERVICE}, "of"),
        ({"kind": "parent", "of": SERVICE}, "of"),
        ({"kind": "mmr", "of": SERVICE}, "of"),
        ({"kind": "hybrid", "of": [{"kind": "bm25"}, SERVICE]}, r"of\[1\]"),
        ({"kind": "hybrid", "of": [{"kind": "bm25"}, {"kind": "window", "of": SERVICE}]}, r"of\[1\]\.of"),
    ],
)
def test_a_board_with_such_a_wrapper_is_refused_before_the_run(entry: JSON, place: str) -> None:
    """The place and both kinds are named."""
    with pytest.raises(InputError, match=rf"row 'x'\.{place}: '\w+' works on .* cannot wrap 'http'"):
        check_stack(entry, "row 'x'")


def test_a_board_may_rerank_what_a_service_finds() -> None:
    """`rerank`, and the wrappers that only ask otherwise."""
    check_stack({"kind": "rerank", "method": "llm", "of": SERVICE, "model": {"kind": "reader"}}, "row 'x'")
    check_stack({"kind": "multiquery", "of": SERVICE, "model": {"kind": "reader"}}, "row 'x'")


def test_a_stack_whose_class_alone_says_so_is_taken_at_its_word() -> None:
    """The runner gives it to a wrapper as one that owns its corpus; everything else is its own."""
    plain = Fixed((IDS[0], 1.0))
    owning = OwnTexts(plain)
    assert (owns_texts(plain), owns_texts(owning)) == (False, True)
    assert owning.search("q", 1) == plain.hits
    assert owning.describe() == plain.describe()
    assert owning.asked == [("q", 1)]
    owning.close()
    assert plain.closed == 1
    assert Http.owns_corpus
    assert not hasattr(HttpRetriever, "owns_corpus")
