"""A local server that reranks in three wire forms: Cohere's version 2, Jina's, and Text Embeddings Inference's.

Shapes are those of Cohere's Python client (`V2RerankResponse`, `ApiMeta`), of vLLM's `RerankResponse`, which is Jina's,
and of the OpenAPI document of Text Embeddings Inference 1.7. The score of a passage is the share of the question's
words that it holds. Operations for `fail`: `cohere`, `jina`, `tei` and `info`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from ragassay.records import JSON
from ragassay.testing.rest_server import Answer, Asked, RestServer

PATHS = {"cohere": "/v2/rerank", "jina": "/v1/rerank", "tei": "/rerank"}
"""The path of each form."""
MODEL = "word-share-1"
_OPERATIONS = {**{path: form for form, path in PATHS.items()}, "/info": "info"}
_SEARCH = 100


def share(question: str, passage: str) -> float:
    """Return the share of the question's words that stand in the passage, 0 for a question without words."""
    asked = set(re.findall(r"\w+", question.lower()))
    return len(asked & set(re.findall(r"\w+", passage.lower()))) / len(asked) if asked else 0.0


class RerankServer(RestServer):
    """Serves all three forms; with `token` only to who sends it, and TEI's at most `max_client_batch_size` texts."""

    def __init__(self, *, token: str | None = None, max_client_batch_size: int = 32) -> None:
        super().__init__()
        self.token = token
        self.max_client_batch_size = max_client_batch_size
        self.model = MODEL

    def address(self, form: str) -> str:
        """Return the whole address of a form."""
        return self.url + PATHS[form]

    def operation(self, asked: Asked) -> str:
        """Return the form that a path belongs to."""
        return _OPERATIONS.get(asked.path, "unknown")

    def answered(self, operation: str, asked: Asked) -> Answer:
        """Return scores, or the refusal that the form has for what is wrong."""
        if operation == "unknown":
            return Answer(status=404, body={"message": "not found"})
        if self.token is not None and asked.headers.get("authorization") != f"Bearer {self.token}":
            return Answer(status=401, body=_refusal(operation, "invalid api token"))
        if operation == "info":
            return Answer(body=self._info())
        try:
            body = msgspec.json.decode(asked.raw)
            return self._tei(body) if operation == "tei" else self._ranked(operation, body)
        except (KeyError, TypeError, msgspec.DecodeError) as error:
            return Answer(status=422, body=_refusal(operation, f"invalid request: {error}"))

    def _ranked(self, form: str, body: JSON) -> Answer:
        documents = [_text(document) for document in body["documents"]]
        results = _by_score(body["query"], documents, "relevance_score")[: body.get("top_n") or len(documents)]
        if form == "cohere":
            units = {"search_units": float(math.ceil(len(documents) / _SEARCH))}
            meta = {"api_version": {"version": "2"}, "billed_units": units}
            return Answer(body={"id": "r-1", "results": results, "meta": meta})
        tokens = sum(len(text.split()) + len(body["query"].split()) for text in documents)
        told = [{**result, "document": {"text": documents[result["index"]]}} for result in results]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return Answer(body={"id": "rerank-1", "model": self.model, "usage": usage, "results": told})

    def _tei(self, body: JSON) -> Answer:
        texts = [_text(text) for text in body["texts"]]
        if len(texts) > self.max_client_batch_size:
            said = f"batch size {len(texts)} > maximum allowed batch size {self.max_client_batch_size}"
            return Answer(status=422, body=_refusal("tei", said))
        return Answer(body=_by_score(body["query"], texts, "score"))

    def _info(self) -> JSON:
        return {
            "model_id": self.model,
            "model_sha": "0" * 40,
            "model_dtype": "float32",
            "model_type": {"reranker": {"id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}}},
            "max_concurrent_requests": 512,
            "max_input_length": 512,
            "max_batch_tokens": 16384,
            "max_client_batch_size": self.max_client_batch_size,
            "auto_truncate": False,
            "tokenization_workers": 2,
            "version": "1.7.1",
        }


def _by_score(question: str, texts: Sequence[str], name: str) -> list[JSON]:
    found = [{"index": at, name: share(question, text)} for at, text in enumerate(texts)]
    return sorted(found, key=lambda result: -result[name])


def _text(document: Any) -> str:
    if not isinstance(document, str):
        raise TypeError("a document is no text")
    return document


def _refusal(form: str, said: str) -> JSON:
    if form in ("tei", "info"):
        return {"error": said, "error_type": "validation"}
    return {"message": said} if form == "cohere" else {"detail": said}
