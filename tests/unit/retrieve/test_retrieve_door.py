"""The checked door: what a stack breaks is a `StackError`, what it finds is recorded, nothing is repaired unseen."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay import canon
from ragassay.errors import InputError, ModelError, PluginError, StackError
from ragassay.records import JSON, Chunk, Hit, Retrieval, to_json
from ragassay.retrieve import search


def _chunk(name: str, text: str) -> Chunk:
    return Chunk(id=name, page="p.md", start=0, end=len(text), text=text, sha256=canon.sha256(text.encode()))


CHUNKS = {name: _chunk(name, f"text of {name}") for name in "abcdef"} | {"blank": _chunk("blank", " \n")}


class Scripted:
    """A retriever that returns or does what it was told, and keeps what it was asked."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[tuple[Any, ...]] = []

    def search(self, text: str, k: int) -> Any:
        """Return the script's answer, or call it."""
        self.asked.append((text, k))
        return self.answer() if callable(self.answer) else self.answer

    def describe(self) -> JSON:
        """Return the kind."""
        return {"kind": "scripted"}

    def close(self) -> None:
        """Do nothing."""


def ask(answer: Any, **options: Any) -> Retrieval:
    """Search through the door with a top-k of 5 and no threshold, unless said otherwise."""
    given_options = {"owns_corpus": False, "top_k": 5, "threshold": None, **options}
    return search(Scripted(answer), "q?", chunks=CHUNKS, **given_options)


def hits(*pairs: tuple[str, float]) -> list[Hit]:
    """Return hits without texts."""
    return [Hit(chunk=chunk, score=score) for chunk, score in pairs]


def _raise(error: BaseException) -> Callable[[], None]:
    def raising() -> None:
        raise error

    return raising


def test_hits_are_delivered_in_order_with_our_text() -> None:
    """Ranks count from 1; text, digest and span come from the corpus; the score is a decimal string."""
    got = ask(hits(("b", 0.5), ("a", 0.1)))
    assert got.state == "ok"
    assert [(d.rank, d.chunk, d.text, d.score) for d in got.delivered] == [
        (1, "b", "text of b", "0.5"),
        (2, "a", "text of a", "0.1"),
    ]
    assert got.delivered[0].sha256 == CHUNKS["b"].sha256
    assert (got.delivered[0].page, got.delivered[0].start, got.delivered[0].end) == ("p.md", 0, 9)
    canon.canonical(to_json(got))


def test_only_text_and_k_go_in() -> None:
    """The door has no parameter through which a question's evidence, target or claims could pass."""
    stack = Scripted([])
    search(stack, "the question", chunks=CHUNKS, owns_corpus=False, top_k=3, threshold=None)
    assert stack.asked == [("the question", 3)]
    names = set(inspect.signature(search).parameters)
    assert names == {"retriever", "text", "chunks", "owns_corpus", "top_k", "threshold", "control"}


def test_the_control_is_off_and_asks_nothing() -> None:
    """Retrieval switched off is not an empty retrieval."""
    stack = Scripted(_raise(RuntimeError("must not be asked")))
    got = search(stack, "q", chunks=CHUNKS, owns_corpus=False, top_k=5, threshold=None, control=True)
    assert got == Retrieval(state="off", delivered=(), latency_ms=0)
    assert stack.asked == []


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "returned NoneType"),
        ("abc", "returned str"),
        (7, "returned int"),
        ((hit for hit in hits(("a", 1.0))), "returned generator"),
        ({"a": 1.0}, "returned dict"),
        ([("a", 1.0)], "hit 1 is tuple"),
        ([None], "hit 1 is NoneType"),
        ([*hits(("a", 1.0)), {"chunk": "b"}], "hit 2 is dict"),
        ([Hit(chunk=3, score=1.0)], "chunk id 3"),  # type: ignore[arg-type]
        ([Hit(chunk="", score=1.0)], "chunk id ''"),
        ([Hit(chunk="\ud800", score=1.0)], "no usable text"),
        (hits(("nosuch", 1.0)), "not in the corpus"),
        (hits(("a", math.nan)), "no finite number"),
        (hits(("a", math.inf)), "no finite number"),
        (hits(("a", -math.inf)), "no finite number"),
        ([Hit(chunk="a", score="1.0")], "no finite number"),  # type: ignore[arg-type]
        ([Hit(chunk="a", score=None)], "no finite number"),  # type: ignore[arg-type]
        ([Hit(chunk="a", score=True)], "no finite number"),
        (hits(("a", 0.1), ("b", 0.2)), "rises from 0.1 at rank 1 to 0.2 at rank 2"),
        (hits(*((name, 1.0) for name in "abcdef")), "6 hits where at most 5"),
        (hits(*(("a", 1.0) for _ in range(6))), "6 hits where at most 5"),
        ([Hit(chunk="a", score=1.0, text="another text")], "is its index stale"),
        ([Hit(chunk="a", score=1.0, text=b"text of a")], "is its index stale"),  # type: ignore[arg-type]
    ],
)
def test_a_broken_promise_is_a_stack_error(answer: object, says: str) -> None:
    """Each says what happened, and none is asked again in vain."""
    with pytest.raises(StackError, match=says) as caught:
        ask(answer)
    assert not caught.value.retryable


@pytest.mark.parametrize("text", [None, b"bytes", 3])
def test_a_stack_that_owns_its_corpus_must_return_text(text: object) -> None:
    """A row without its text field is a failure, never an empty passage."""
    with pytest.raises(StackError, match="has no text"):
        ask([Hit(chunk="x", score=1.0, text=text)], owns_corpus=True)  # type: ignore[arg-type]


def test_an_owned_text_is_delivered_with_its_digest() -> None:
    """Ids that we never saw are fine where the stack owns its corpus; spans are unknown, even for an id of ours."""
    got = ask([Hit(chunk="a", score=2.0, text="theirs"), Hit(chunk="doc/9", score=1.0, text="b")], owns_corpus=True)
    assert [(d.text, d.sha256, d.page, d.start) for d in got.delivered] == [
        ("theirs", canon.sha256(b"theirs"), None, None),
        ("b", canon.sha256(b"b"), None, None),
    ]


def test_an_owned_text_that_is_no_utf8_is_refused() -> None:
    """A lone surrogate cannot be hashed or signed."""
    with pytest.raises(StackError, match="UTF-8"):
        ask([Hit(chunk="x", score=1.0, text="\udfff")], owns_corpus=True)


def test_two_texts_under_one_id_are_refused() -> None:
    """An id that names two texts credits nothing."""
    with pytest.raises(StackError, match="two different texts"):
        ask([Hit(chunk="x", score=1.0, text="one"), Hit(chunk="x", score=1.0, text="two")], owns_corpus=True)


@pytest.mark.parametrize(
    ("error", "retryable"),
    [
        (RuntimeError("index is gone"), False),
        (KeyError("text"), False),
        (TimeoutError("5 s"), True),
        (ConnectionRefusedError("port 6333"), True),
        (StackError("down", retryable=True), True),
        (StackError("broken"), False),
        (PluginError("no weights", retryable=False), False),
        (ModelError("rate limited", kind="rate_limited", retryable=True), True),
    ],
)
def test_a_stack_that_raises_is_a_failure_not_an_empty_retrieval(error: Exception, retryable: bool) -> None:
    """Down is not weak: every exception becomes a `StackError` that keeps its words and its cause."""
    with pytest.raises(StackError) as caught:
        ask(_raise(error))
    assert caught.value.retryable is retryable
    assert (error.args[0] if error.args else "") in str(caught.value)


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(3)])
def test_stopping_is_never_taken_for_a_failure(stop: BaseException) -> None:
    """Ctrl-C passes through the door."""
    with pytest.raises(type(stop)):
        ask(_raise(stop))


@pytest.mark.parametrize(
    "answer",
    [[], (), [Hit(chunk="blank", score=1.0)], [Hit(chunk="blank", score=1.0, text=" \n")]],
)
def test_finding_nothing_is_legal(answer: Sequence[Hit]) -> None:
    """No hit, or blank texts alone, is `empty`: asked and scored."""
    assert (ask(answer).state, ask(answer).delivered) == ("empty", ())


def test_an_owned_blank_text_is_empty() -> None:
    """`[""]` from a service is an empty retrieval too."""
    assert ask([Hit(chunk="x", score=1.0, text="")], owns_corpus=True).state == "empty"


def test_a_lazy_list_that_fails_when_it_is_read_is_a_failure_of_the_stack() -> None:
    """The connection of a cursor can break after the search returned."""

    class Cursor(Sequence[Hit]):
        def __len__(self) -> int:
            return 2

        def __getitem__(self, at: Any) -> Any:
            raise ConnectionResetError("cursor lost")

    with pytest.raises(StackError, match="cursor lost") as caught:
        ask(Cursor())
    assert caught.value.retryable


def test_a_duplicate_is_credited_once_at_its_first_rank_and_counted() -> None:
    """Ranks close up behind it."""
    got = ask(hits(("a", 3.0), ("b", 2.0), ("a", 2.0), ("b", 1.0), ("c", 1.0)))
    assert [(d.rank, d.chunk, d.score) for d in got.delivered] == [(1, "a", "3"), (2, "b", "2"), (3, "c", "1")]
    assert got.duplicates == 2


def test_ties_keep_the_returned_order() -> None:
    """Equal scores are not reordered."""
    assert [d.chunk for d in ask(hits(("c", 1.0), ("a", 1.0), ("b", 1.0))).delivered] == ["c", "a", "b"]


@pytest.mark.parametrize(
    ("threshold", "kept", "dropped"),
    [("0.2", "ab", 1), ("0.20", "ab", 1), ("0.21", "a", 2), ("-1", "abc", 0), ("9", "", 3)],
)
def test_hits_below_the_threshold_are_dropped_and_counted(threshold: str, kept: str, dropped: int) -> None:
    """At the threshold stays, compared as decimals; all below it is an empty retrieval that worked."""
    got = ask(hits(("a", 0.3), ("b", 0.2), ("c", 0.1)), threshold=threshold)
    assert "".join(d.chunk for d in got.delivered) == kept
    assert got.below_threshold == dropped
    assert got.state == ("ok" if kept else "empty")


@pytest.mark.parametrize("bad", [{"top_k": 0}, {"top_k": -1}, {"threshold": "high"}, {"threshold": "nan"}])
def test_wrong_limits_are_the_users_to_mend(bad: dict[str, Any]) -> None:
    """They are refused before the stack is asked."""
    with pytest.raises(InputError):
        ask(_raise(AssertionError("must not be asked")), **bad)


def test_no_top_k_does_not_cut() -> None:
    """The oracle delivers all its evidence; k is then the number of chunks."""
    stack = Scripted(hits(*((name, 1.0) for name in "abcdef")))
    got = search(stack, "q", chunks=CHUNKS, owns_corpus=False, top_k=None, threshold=None)
    assert len(got.delivered) == 6
    assert stack.asked == [("q", len(CHUNKS))]


def test_numpy_scores_are_numbers() -> None:
    """A float32 is recorded with the value it has."""
    got = ask([Hit(chunk="a", score=np.float32(0.5)), Hit(chunk="b", score=np.float64(0.25))])  # type: ignore[arg-type]
    assert [d.score for d in got.delivered] == ["0.5", "0.25"]


def test_latency_is_the_time_of_the_search() -> None:
    """A search of 30 ms is recorded as at least 29."""

    def slow() -> list[Hit]:
        time.sleep(0.03)
        return []

    assert 29 <= ask(slow).latency_ms < 5000


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(-1e6, 1e6, allow_nan=False)), max_size=12),
    st.none() | st.integers(-5, 5).map(str),
)
def test_every_hit_is_delivered_or_counted(pairs: list[tuple[str, float]], threshold: str | None) -> None:
    """delivered + duplicates + below the threshold = returned; ranks are 1..n, ids unique, scores read back."""
    returned = hits(*sorted(pairs, key=lambda pair: -pair[1]))
    got = ask(returned, top_k=12, threshold=threshold)
    assert len(got.delivered) + got.duplicates + got.below_threshold == len(returned)
    assert [d.rank for d in got.delivered] == list(range(1, len(got.delivered) + 1))
    first = {hit.chunk: hit.score for hit in reversed(returned)}
    assert len({d.chunk for d in got.delivered}) == len(got.delivered)
    assert all(float(d.score) == first[d.chunk] for d in got.delivered)
