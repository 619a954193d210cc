"""Searching an index of tantivy: a question is its words, any of which a chunk may hold; nothing is an operator."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tantivy

from ragassay.errors import StackError
from ragassay.plugins.stacks.ranking import shortest
from ragassay.plugins.stacks.tantivy.scoring import Weights, explained
from ragassay.plugins.stacks.tantivy.settings import Settings
from ragassay.plugins.stacks.tantivy.writing import POSITION, TEXT, plain, release_of_tantivy
from ragassay.plugins.stacks.vector_index import Stored, raised_as_stack_error
from ragassay.records import JSON, Chunk, Hit

_MORE = 8
"""Hits that are asked for beyond the wanted ones, so that most searches see the end of the chunks that are equal."""


class TantivyIndex:
    """A built index over the chunks that it was built from. A chunk that shares no word with the question is no hit."""

    def __init__(
        self,
        chunks: Sequence[Chunk],
        settings: Settings,
        index: Any,
        *,
        stored: Stored | None = None,
        release: Callable[[], None] = lambda: None,
    ) -> None:
        """`index` is None where there are no chunks; `release` is called once, with `close`."""
        self._chunks = chunks
        self._settings = settings
        self._analyzer = settings.analyzer()
        self._index = index
        self._schema = None if index is None else index.schema
        self._searcher = None if index is None else index.searcher()
        self._average = 1.0 if index is None else self._mean_length(self._searcher)
        self._release = release
        self._lock = threading.Lock()
        self.stored = stored
        """Where the index stays after `close`; None where it is gone then."""

    def search(self, text: str, k: int) -> list[Hit]:
        """Return at most k chunks that share a word with `text`, best first, equal scores in chunk order.

        Raises `StackError` for whatever tantivy raises, after `close`, and where the index is not that of the chunks.
        """
        if not self._chunks or k < 1:
            return []
        searcher = self._searcher
        if searcher is None:
            raise StackError("tantivy was asked after it was closed")
        with raised_as_stack_error("tantivy", "search"):
            counts, holding = self._known(searcher, text)
            if not counts:
                return []
            weights = Weights(counts, holding, len(self._chunks), self._average)
            ranked = self._ranked(searcher, self._query(counts), weights, min(k, len(self._chunks)))
        return [Hit(chunk=self._chunks[at].id, score=score) for at, score in ranked]

    def count(self) -> int:
        """Return how many chunks tantivy holds; raises `StackError` after `close`."""
        if not self._chunks:
            return 0
        if self._searcher is None:
            raise StackError("tantivy was asked after it was closed")
        return int(self._searcher.num_docs)

    def describe(self) -> JSON:
        """Return every parameter, tantivy's constants, and its version."""
        return {"kind": "tantivy", **self._settings.described(), "tantivy": release_of_tantivy()}

    def close(self) -> None:
        """Let go of the index, and remove it where it is temporary; may be called twice."""
        with self._lock:
            was_open, self._index, self._searcher = self._index is not None, None, None
        if was_open:
            self._release()

    def _mean_length(self, searcher: Any) -> float:
        """Return the mean number of words of a chunk as tantivy keeps it, 1 where no chunk has any."""
        with raised_as_stack_error("tantivy", "read its statistics"):
            words = (word for chunk in self._chunks for word in self._analyzer.analyze(plain(chunk.text)))
            word = next((word for word in words if searcher.doc_freq(TEXT, word)), None)
            if word is None:
                return 1.0
            query = tantivy.Query.term_query(self._schema, TEXT, word, index_option="freq")
            ((_, address),) = searcher.search(query, 1, count=False).hits
            average = explained(query.explain(searcher, address).to_json(), "avgdl")
        if average is None:
            raise StackError("tantivy does not say how long a chunk is on average: this version of it is not known")
        return average

    def _known(self, searcher: Any, text: str) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """Return the question's words that a chunk holds, sorted: how often each is asked, how many chunks hold it."""
        asked = Counter(self._analyzer.analyze(plain(text)))
        holding = {word: int(searcher.doc_freq(TEXT, word)) for word in sorted(asked)}
        holding = {word: count for word, count in holding.items() if count}
        return {word: asked[word] for word in holding}, holding

    def _query(self, counts: Mapping[str, int]) -> Any:
        """Return the disjunction of the words, one that is asked n times weighing n times as much."""
        query = tantivy.Query
        words = {word: query.term_query(self._schema, TEXT, word, index_option="freq") for word in counts}
        return query.boolean_query(
            [
                (tantivy.Occur.Should, one if counts[word] == 1 else query.boost_query(one, float(counts[word])))
                for word, one in words.items()
            ]
        )

    def _ranked(self, searcher: Any, query: Any, weights: Weights, k: int) -> list[tuple[int, float]]:
        """Return position and score, best first; asks for more until no chunk that may be as good is left out."""
        limit, scored = k, dict[int, float]()
        while True:
            limit = min(limit * 2 if scored else limit + _MORE, len(self._chunks))
            hits = searcher.search(query, limit, count=False).hits
            places = searcher.fast_field_values(POSITION, [address for _, address in hits])
            if len(set(places)) != len(places):
                raise StackError("tantivy returned one chunk twice in one answer; was its index altered?")
            for at, (theirs, _) in zip(places, hits, strict=True):
                if at not in scored:
                    scored[at] = self._score(at, theirs, weights)
            found = sorted(scored.items(), key=lambda one: (-one[1], one[0]))[:k]
            if len(hits) < limit or limit == len(self._chunks):
                return found
            if hits[-1][0] * (1 + weights.slack()) < found[-1][1]:
                return found

    def _score(self, at: int | None, theirs: float, weights: Weights) -> float:
        """Return a chunk's score; raises `StackError` where it is not what tantivy found, slack aside."""
        if at is None or not 0 <= at < len(self._chunks):
            raise StackError(f"tantivy returned position {at}, and the corpus has {len(self._chunks)} chunks")
        score = weights.score(self._analyzer.analyze(plain(self._chunks[at].text)))
        if not abs(score - theirs) <= weights.slack() * score:
            raise StackError(
                f"tantivy scores {self._chunks[at].id!r} {theirs!r}, where its text gives {score!r}: the index does "
                "not hold these chunks; was it altered?"
            )
        return shortest(np.float32(score))
