"""BM25 over all chunks in memory (bm25s): the lexical stack."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import bm25s
import numpy as np
from bm25s.stopwords import STOPWORDS_EN
from numpy.typing import NDArray

from ragassay.errors import StackError
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.ranking import best, shortest
from ragassay.records import JSON, Chunk, Hit
from ragassay.seams import Progress

METHODS = ("lucene", "robertson", "atire", "bm25l", "bm25+")
TOKEN = re.compile(r"\w+")
"""A token is a maximal run of word characters, lower-cased; nothing is stemmed."""


class BM25:
    """BM25 with `k1`, `b`, `delta`, `method` and `stopwords`; its defaults are those of bm25s."""

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {}
    deterministic: ClassVar[bool] = True

    def __init__(self, **params: Any) -> None:
        read = Parameters("bm25", params)
        self._k1 = read.decimal("k1", "1.5", low="0", high="100")
        self._b = read.decimal("b", "0.75", low="0", high="1")
        self._delta = read.decimal("delta", "0.5", low="0", high="100")
        self._method = read.choice("method", "lucene", METHODS)
        self._stopwords = read.words("stopwords", "english", ("english", "none"))
        read.finish()

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> BM25Index:
        """Return the index of all chunks; raises `StackError` when bm25s cannot build it."""
        described: JSON = {
            "kind": "bm25",
            "k1": self._k1,
            "b": self._b,
            **({"delta": self._delta} if self._method in ("bm25l", "bm25+") else {}),
            "method": self._method,
            "stopwords": self._stopwords if isinstance(self._stopwords, str) else list(self._stopwords),
            "tokenizer": r"\w+, lower-cased, not stemmed",
            "bm25s": bm25s.__version__,
        }
        index = BM25Index([chunk.id for chunk in chunks], self._stop(), described)
        index.add([chunk.text for chunk in chunks], float(self._k1), float(self._b), float(self._delta), self._method)
        progress(len(chunks), len(chunks))
        return index

    def _stop(self) -> frozenset[str]:
        if isinstance(self._stopwords, str):
            return frozenset(STOPWORDS_EN) if self._stopwords == "english" else frozenset()
        return frozenset(word.lower() for word in self._stopwords)


class BM25Index:
    """A built index. A chunk that shares no token with the question is no hit."""

    def __init__(self, ids: Sequence[str], stopwords: frozenset[str], described: JSON) -> None:
        self._ids = list(ids)
        self._stopwords = stopwords
        self._described = described
        self._vocabulary: dict[str, int] = {}
        self._index: bm25s.BM25 | None = None

    def add(self, texts: Sequence[str], k1: float, b: float, delta: float, method: str) -> None:
        """Index `texts`, one per id; without a single token there is no index and nothing is ever found."""
        rows = [[self._vocabulary.setdefault(t, len(self._vocabulary)) for t in self._tokens(text)] for text in texts]
        if not self._vocabulary:
            return
        try:
            index = bm25s.BM25(k1=k1, b=b, delta=delta, method=method, backend="numpy", csc_backend="numpy")
            index.index((rows, dict(self._vocabulary)), create_empty_token=False, show_progress=False)
        except Exception as error:  # the library raises types of its own
            raise StackError(f"bm25s could not index {len(texts)} chunks: {error}") from error
        self._index = index

    def search(self, text: str, k: int) -> list[Hit]:
        """Return at most k chunks that share a token with `text`, best first, equal scores in chunk order."""
        tokens = [self._vocabulary[token] for token in self._tokens(text) if token in self._vocabulary]
        if self._index is None or not tokens:
            return []
        found = self._holding(set(tokens))
        scores = np.asarray(self._index.get_scores_from_ids(tokens), dtype=np.float32)[found]
        found, scores = found[scores > 0], scores[scores > 0]
        return [Hit(chunk=self._ids[int(found[at])], score=shortest(scores[at])) for at in best(scores, k)]

    def describe(self) -> JSON:
        """Return every parameter, the tokenizer and the library's version."""
        return dict(self._described)

    def close(self) -> None:
        """Do nothing: the index is plain memory."""

    def _tokens(self, text: str) -> list[str]:
        return [token for token in TOKEN.findall(text.lower()) if token not in self._stopwords]

    def _holding(self, tokens: set[int]) -> NDArray[np.int64]:
        """Return the positions of the chunks that hold any of the tokens, in chunk order."""
        assert self._index is not None
        starts, documents = self._index.scores["indptr"], self._index.scores["indices"]
        return np.unique(np.concatenate([documents[starts[t] : starts[t + 1]] for t in sorted(tokens)])).astype(
            np.int64
        )
