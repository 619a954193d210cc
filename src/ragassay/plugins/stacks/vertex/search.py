"""Asking Vertex AI Vector Search: one search or several combined, every answer checked and read as scores."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import StackError
from ragassay.plugins.stacks.vertex.answer import Answer, answer_of, counted, meaning_of, scored, similar
from ragassay.plugins.stacks.vertex.client import Service, api
from ragassay.plugins.stacks.vertex.settings import METRICS, Asking
from ragassay.plugins.stacks.vertex.store import FIELD, SETTLE_S
from ragassay.records import Chunk

MOST_WORDS = 64
"""Different words of one question that a text search with `any` is asked for."""
_PROBES = 10


class VertexEngine:
    """Asks one collection; `how` says how its distances become scores, found out by `settle`."""

    def __init__(self, service: Service, path: str, asking: Asking, size: int) -> None:
        self._service = service
        self._path = path
        self._asking = asking
        self._size = size
        self.most = asking.window
        self.how = "distance"

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Return positions and scores, best first; a question that no search can be asked finds nothing."""
        return scored(_whole(*self._found(text, vector, limit, self._asking.filter)), self.how)

    def count(self) -> int:
        """Return how many data objects answer an unfiltered count."""
        request = {"parent": self._path, "aggregate": api.AggregationMethod.COUNT}
        return counted(self._service.call("count", self._service.searches.aggregate_data_objects, request))

    def close(self) -> None:
        """Close the connections."""
        self._service.close()

    def settle(self, chunks: Sequence[Chunk], matrix: NDArray[np.float32]) -> None:
        """Ask for a chunk that is there, until it can be found, and read off what a distance means."""
        at = next((at for at, row in enumerate(matrix) if row.any()), None) if matrix.shape[1] else None
        if at is None:
            at = next((at for at, chunk in enumerate(chunks) if words_of(chunk.text)), 0)
        vector = matrix[at].tolist()
        text = " ".join(words_of(chunks[at].text)[:8]) or chunks[at].text
        answer = self._settled(text, vector, min(_PROBES, self._size, self.most))
        known = self._asking.searches == ("vector",) and matrix[at].any()
        self.how = meaning_of(answer, similar(matrix, at, self._asking.metric) if known else None)
        scored(answer, self.how)

    def _settled(self, text: str, vector: Sequence[float], limit: int) -> Answer:
        """Ask until all is found: what is accepted and counted may not be searched yet."""
        deadline = time.monotonic() + min(SETTLE_S, self._service.place.wait_s)
        while True:
            answer, missing = self._found(text, vector, limit, None)
            nothing = not answer.positions and bool(words_of(text) or any(vector))
            if not (missing or nothing) or time.monotonic() > deadline:
                return _whole(answer, missing)
            time.sleep(0.5)

    def _found(self, text: str, vector: Sequence[float], limit: int, kept: Any) -> tuple[Answer, int]:
        """Return the answer, and how many hits it lacks that an exact search, alone or fused, cannot lack."""
        searches = self._searches(text, vector, limit, kept)
        if not any(search is not None for search in searches):
            return Answer(), 0
        if self._asking.ranker is None:
            results = self._single(searches[0], limit)
        else:
            results = self._combined(text, searches, limit)
        near = any(
            name != "text" and search is not None for name, search in zip(self._asking.searches, searches, strict=True)
        )
        exact = near and self._asking.index is None and self._asking.ranker != "vertex" and kept is None
        return answer_of(results, self._path), max(0, min(limit, self._size) - len(results)) if exact else 0

    def _searches(self, text: str, vector: Sequence[float], limit: int, kept: Any) -> list[Any]:
        """Return one search per name, None for one that this question cannot be asked."""
        top_k = limit if self._asking.ranker is None else self._asking.window
        given = {"top_k": top_k, **({} if kept is None else {"filter": kept})}
        made = {"vector": self._vector, "semantic": self._semantic, "text": self._text}
        return [made[name](text, vector, given) for name in self._asking.searches]

    def _vector(self, text: str, vector: Sequence[float], given: dict[str, Any]) -> Any:
        if not any(vector):
            return None
        metric = METRICS[self._asking.metric]
        return api.VectorSearch(
            vector=api.DenseVector(values=vector),
            search_field="vector",
            search_hint=self._hint(),
            distance_metric=metric,
            **given,
        )

    def _semantic(self, text: str, vector: Sequence[float], given: dict[str, Any]) -> Any:
        if not text.strip():
            return None
        return api.SemanticSearch(
            search_text=text,
            search_field="semantic",
            task_type=self._asking.query_task,
            search_hint=self._hint(),
            **given,
        )

    def _text(self, text: str, vector: Sequence[float], given: dict[str, Any]) -> Any:
        words = words_of(text)
        if not words:
            return None
        match = self._asking.text_match
        if match == "all":
            return api.TextSearch(search_text=text, data_field_names=[FIELD], **given)
        if match == "enhanced":
            return api.TextSearch(structured_query=_leaf(text, enhanced=True), **given)
        leaves = [_leaf(word) for word in words[:MOST_WORDS]]
        either = api.CombinedQuery(op=api.CombinedQuery.Operator.OR, sub_queries=leaves)
        query = leaves[0] if len(leaves) == 1 else api.StructuredQuery(combine=either)
        return api.TextSearch(structured_query=query, **given)

    def _hint(self) -> Any:
        if self._asking.index is None:
            return api.SearchHint(knn_hint=api.SearchHint.KnnHint())
        name = f"{self._path}/indexes/{self._asking.index}"
        if self._asking.target_recall == "0":
            return api.SearchHint(index_hint=api.SearchHint.IndexHint(name=name))
        recall = api.SearchHint.IndexHint.DenseScannParams(target_recall=float(self._asking.target_recall))
        return api.SearchHint(index_hint=api.SearchHint.IndexHint(name=name, dense_scann_params=recall))

    def _single(self, search: Any, limit: int) -> list[Any]:
        kind = f"{self._asking.searches[0]}_search"
        request = api.SearchDataObjectsRequest(parent=self._path, **{kind: search})
        results: list[Any] = []
        for page in self._service.pages("search", self._service.searches.search_data_objects, request):
            self._check(page)
            results += page.results
            if len(results) >= limit:
                break
        return results[:limit]

    def _combined(self, text: str, searches: Sequence[Any], limit: int) -> list[Any]:
        asked = [
            (name, weight, search)
            for name, weight, search in zip(self._asking.searches, self._asking.weights, searches, strict=True)
            if search is not None
        ]
        ranker = api.Ranker(rrf=api.ReciprocalRankFusion(weights=[float(weight) for _, weight, _ in asked]))
        if self._asking.ranker == "vertex":
            spec = api.VertexRanker.TextRecordSpec(query=text, content_template=f"{{{FIELD}}}")
            ranker.vertex_ranker = api.VertexRanker(
                text_record_spec=spec, model=self._asking.ranker_model, top_n=self._asking.window
            )
        request = api.BatchSearchDataObjectsRequest(
            parent=self._path,
            searches=[api.Search(**{f"{name}_search": search}) for name, _, search in asked],
            combine=api.BatchSearchDataObjectsRequest.CombineResultsOptions(ranker=ranker, top_k=limit),
        )
        answer = self._service.call("search", self._service.searches.batch_search_data_objects, request)
        if len(answer.results) != 1:
            raise StackError(f"vertex: {len(answer.results)} lists came back from a combined search, and one is wanted")
        self._check(answer.results[0])
        if answer.results[0].next_page_token:
            raise StackError("vertex: a combined answer says that it goes on, and there is no way to ask for the rest")
        return list(answer.results[0].results[:limit])

    def _check(self, page: Any) -> None:
        """Raise for an answer that the service itself calls incomplete, or found otherwise than it was asked to."""
        about = page.search_response_metadata
        if about.warnings:
            raise StackError(f"vertex: the answer comes with a warning: {about.warnings[0].message}", retryable=True)
        if self._asking.index is not None and about.used_knn:
            raise StackError(
                f"vertex: the index {self._asking.index!r} was not used; it may not be built yet", retryable=True
            )
        if self._asking.index is None and about.used_index.name:
            raise StackError(f"vertex: an exact search was asked for, and {about.used_index.name!r} was used")


def _whole(answer: Answer, missing: int) -> Answer:
    if missing:
        raise StackError(f"vertex: {missing} hits are missing, and an exact search lacks none", retryable=True)
    return answer


def words_of(text: str) -> list[str]:
    """Return the different words of a text, in order."""
    return list(dict.fromkeys(re.findall(r"\w+", text)))


def _leaf(text: str, *, enhanced: bool = False) -> Any:
    leaf = api.TextQuery(text=text, fields=[FIELD], match_type=api.TextQuery.MatchType.TEXT)
    if enhanced:
        leaf.query_enhancement = api.QueryEnhancement(enabled=True)
    return api.StructuredQuery(text=leaf)
