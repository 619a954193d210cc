"""What every stack promises, as a pytest class: subclass it, name your stack, and run pytest.

```python
from ragassay.testing.stack_contract import StackContract

class TestMyStack(StackContract):
    stack = MyStack
    params = {"url": "http://127.0.0.1:6333"}
```
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, ClassVar

from ragassay import canon
from ragassay.records import Chunk, Hit
from ragassay.retrieve import search
from ragassay.seams import Retriever, Stack
from ragassay.testing.fake_embedder import WordEmbedder

TEXTS = (
    "The quick brown fox jumps over the lazy dog near the river bank.",
    "Set the option retries to 5; the default of retries is 3.",
    "Die Straße führt über die Brücke nach Köln.",
    "日本語の文書を検索する。",
    "הטקסט הזה נכתב מימין לשמאל",
    "Same words, same score: alpha beta gamma.",
    "Same words, same score: alpha beta gamma.",
    "   \n\t ",
    "ﬁle naïve café cafe\u0301 \u200b zero\u200dwidth 🦊🦊",
    "fox fox fox river river dog",
    "timeout = 30 seconds; retries are counted per request",
    "A long page about nothing in particular. " * 200,
)
QUESTIONS = (
    "What is the default of retries?",
    "Where does the quick fox jump?",
    "Wohin führt die Straße?",
    "文書",
    "alpha beta gamma",
    "🦊 naïve café",
    "\u202eright to left\u202c \x00 \x1b[31m",
    "zzzz qqqq xxxx",
    "",
    "   ",
)
LONG_QUESTION = ("retries fox river " * 1200)[:20_000]


def corpus(texts: Sequence[str] = TEXTS) -> list[Chunk]:
    """Return one chunk per text, each a page of its own."""
    return [
        Chunk(id=f"page-{at}.md#0", page=f"page-{at}.md", start=0, end=len(text), text=text, sha256=_sha256(text))
        for at, text in enumerate(texts)
    ]


def _sha256(text: str) -> str:
    return canon.sha256(text.encode())


def ignore_progress(done: int, total: int) -> None:
    """Take no notice of progress."""


class StackContract:
    """Subclass and set `stack` (and `params`); override `parts` when your stack needs others than an embedder."""

    stack: ClassVar[type[Stack]]
    params: ClassVar[Mapping[str, Any]] = {}
    cuts_at_k: ClassVar[bool] = True
    """False for a stack that returns all it has whatever k is."""
    questions: ClassVar[Sequence[str]] = QUESTIONS
    """Questions that the stack can be asked; `LONG_QUESTION` is asked besides."""

    def make_stack(self) -> Stack:
        """Return a new stack."""
        return self.stack(**self.params)

    def parts(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:
        """Return the parts that the stack is built with."""
        return {"embedder": WordEmbedder()}

    @contextmanager
    def built(self, chunks: Sequence[Chunk]) -> Iterator[Retriever]:
        """Give a retriever over `chunks` and close it afterwards."""
        retriever = self.make_stack().build(chunks, self.parts(chunks), ignore_progress)
        try:
            yield retriever
        finally:
            retriever.close()

    def ask(self, retriever: Retriever, question: str, k: int, chunks: Sequence[Chunk]) -> list[Hit]:
        """Return the hits after the checked door has let them through."""
        known = {chunk.id: chunk for chunk in chunks}
        owns, top_k = self.stack.owns_corpus, k if self.cuts_at_k else None
        search(retriever, question, chunks=known, owns_corpus=owns, top_k=top_k, threshold=None)
        return list(retriever.search(question, k))

    def asked(self) -> list[str]:
        """Return every question, the long one last."""
        return [*self.questions, *([LONG_QUESTION] if self.questions is QUESTIONS else [])]

    def test_k_is_respected(self) -> None:
        """At most k hits come back, for k from 1 to more than there are chunks."""
        chunks = corpus()
        with self.built(chunks) as retriever:
            for question in self.asked():
                for k in (1, 2, 5, len(chunks) + 10):
                    hits = self.ask(retriever, question, k, chunks)
                    assert len(hits) <= (k if self.cuts_at_k else len(chunks))

    def test_every_hit_is_known_and_returned_once(self) -> None:
        """Ids are ids of chunks that were given (or come with a text), and none stands twice."""
        chunks = corpus()
        known = {chunk.id for chunk in chunks}
        with self.built(chunks) as retriever:
            for question in self.asked():
                ids = [hit.chunk for hit in self.ask(retriever, question, len(chunks), chunks)]
                assert len(ids) == len(set(ids))
                assert self.stack.owns_corpus or known.issuperset(ids)

    def test_scores_are_finite_and_best_first(self) -> None:
        """Every score is a finite number and none is higher than the one before it."""
        chunks = corpus()
        with self.built(chunks) as retriever:
            for question in self.asked():
                scores = [hit.score for hit in self.ask(retriever, question, len(chunks), chunks)]
                assert all(math.isfinite(score) for score in scores)
                assert scores == sorted(scores, reverse=True)

    def test_building_twice_gives_the_same_hits(self) -> None:
        """Two indexes over the same chunks agree on ids, order and scores."""
        chunks = corpus()
        with self.built(chunks) as one, self.built(chunks) as other:
            for question in self.asked():
                assert self.ask(one, question, 5, chunks) == self.ask(other, question, 5, chunks)

    def test_asking_twice_gives_the_same_hits(self) -> None:
        """A search changes nothing for the next one."""
        chunks = corpus()
        with self.built(chunks) as retriever:
            first = [self.ask(retriever, question, 5, chunks) for question in self.asked()]
            again = [self.ask(retriever, question, 5, chunks) for question in reversed(self.asked())]
        assert first == again[::-1]

    def test_a_smaller_k_is_a_prefix(self) -> None:
        """The best three are the first three of the best seven, ties included."""
        chunks = corpus()
        with self.built(chunks) as retriever:
            for question in self.asked():
                more = self.ask(retriever, question, 7, chunks)
                fewer = self.ask(retriever, question, 3, chunks)
                assert fewer == (more[:3] if self.cuts_at_k else more)

    def test_an_empty_corpus_is_searched_and_gives_nothing(self) -> None:
        """Without a chunk there is no hit, and no error."""
        if self.stack.owns_corpus or not self.cuts_at_k:
            return
        with self.built([]) as retriever:
            assert [list(retriever.search(question, 5)) for question in self.asked()] == [[]] * len(self.asked())

    def test_a_corpus_of_blank_chunks_breaks_no_promise(self) -> None:
        """Chunks of white space alone are indexed and may be found or not, through the checked door."""
        chunks = corpus(["", " ", "\n\n"])
        if not self.cuts_at_k:
            return
        with self.built(chunks) as retriever:
            for question in self.asked():
                assert len(self.ask(retriever, question, 2, chunks)) <= 2

    def test_concurrent_searches_agree(self) -> None:
        """Eight threads get what one gets."""
        chunks = corpus()
        questions = self.asked() * 4
        with self.built(chunks) as retriever:
            alone = [list(retriever.search(question, 5)) for question in questions]
            with ThreadPoolExecutor(8) as pool:
                together = list(pool.map(lambda question: list(retriever.search(question, 5)), questions))
        assert alone == together

    def test_description_is_canonical_and_stable(self) -> None:
        """`describe()` can be signed: no fractional number, the same for two builds, a search changes nothing."""
        chunks = corpus()
        with self.built(chunks) as one, self.built(chunks) as other:
            before = canon.canonical(one.describe())
            one.search(self.asked()[0], 3)
            assert before == canon.canonical(one.describe()) == canon.canonical(other.describe())
            assert one.describe()

    def test_closing_twice_is_harmless(self) -> None:
        """The second close does nothing."""
        with self.built(corpus()) as retriever:
            retriever.close()
            retriever.close()

    def test_progress_may_stop_the_build(self) -> None:
        """What `progress` raises reaches the caller: a build that reports can be interrupted."""
        chunks, calls = corpus(), []

        def stop(*at: int) -> None:
            calls.append(at)
            raise KeyboardInterrupt

        stopped = False
        try:
            self.make_stack().build(chunks, self.parts(chunks), stop).close()
        except KeyboardInterrupt:
            stopped = True
        assert stopped == bool(calls)
        assert all(len(at) == 2 and 0 <= at[0] <= at[1] for at in calls)
