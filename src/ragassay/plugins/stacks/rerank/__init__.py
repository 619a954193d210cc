"""The best hits of any stack in a new order: by a cross-encoder, by a rerank service, or by a language model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.inner import asked, inner_of, lacks_inner, owns_texts
from ragassay.plugins.stacks.prompted import lacks_model, model_of
from ragassay.plugins.stacks.rerank.endpoint import EndpointScorer
from ragassay.plugins.stacks.rerank.llm import LlmScorer
from ragassay.plugins.stacks.rerank.runtime import cross_encoder
from ragassay.plugins.stacks.rerank.scorer import Scorer
from ragassay.plugins.stacks.rerank.settings import EndpointSettings, LlmSettings, read_settings
from ragassay.records import JSON, Chunk, Hit, Secret
from ragassay.seams import Progress, Retriever


class Rerank:
    """Takes `method`, `depth`, what the method takes, and the parts `of` (one stack) and, for `llm`, `model`.

    `key` comes from the runner: the secret in the variable that `key_env` names.
    """

    owns_corpus: ClassVar[bool] = False
    """Where the wrapped stack does, the built retriever does too."""
    takes_own_texts: ClassVar[bool] = True
    """A stack with a corpus of its own can be wrapped: the texts that come with its hits are what is scored."""
    needs_folder: ClassVar[bool] = True
    """The runner gives the board's folder, in which `path` lies."""
    wire_form_only: ClassVar[str] = "url"
    """The services were tested with stand-ins only."""
    default_parts: ClassVar[Mapping[str, JSON]] = {}

    def __init__(self, *, key: Secret | None = None, **params: Any) -> None:
        self._settings, self._depth = read_settings(params)
        self._key = key

    @classmethod
    def lacking(cls, entry: JSON) -> str | None:
        """Say which part the entry lacks; None where it has all."""
        return lacks_inner("rerank", entry) or (lacks_model("rerank", entry) if entry.get("method") == "llm" else None)

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Reranked:
        """Load the model, or ask the service once whether it answers; raises `InputError` where a part is missing."""
        inner = inner_of("rerank", parts, takes_own_texts=True)
        if parts.get("model") is not None and not isinstance(self._settings, LlmSettings):
            raise InputError("the part `model` belongs to method = 'llm'; leave it out")
        texts = [] if owns_texts(inner) else [chunk.text for chunk in chunks]
        scorer = self._scorer(texts, parts)
        progress(len(chunks), len(chunks))
        return Reranked(inner, scorer, {chunk.id: chunk for chunk in chunks}, self._depth)

    def _scorer(self, texts: Sequence[str], parts: Mapping[str, Any]) -> Scorer:
        settings = self._settings
        if isinstance(settings, LlmSettings):
            return LlmScorer(settings, model_of("rerank", parts), texts)
        if isinstance(settings, EndpointSettings):
            return EndpointScorer(settings, self._key)
        return cross_encoder(settings, parts.get("folder", Path()), texts)


class Reranked:
    """A built stack whose best `depth` hits come in the order of their new scores; the others are not delivered."""

    def __init__(self, inner: Retriever, scorer: Scorer, known: Mapping[str, Chunk], depth: int) -> None:
        self._inner = inner
        self._scorer = scorer
        self._known = known
        self._depth = depth
        self.owns_corpus = owns_texts(inner)

    def search(self, text: str, k: int) -> list[Hit]:
        """Return the first k hits by score; equal scores stay in the wrapped stack's order.

        All candidates are scored, whatever k is. What fails raises: a candidate without a score is never passed over.
        """
        if k < 1:
            return []
        found = asked(self._inner, text, self._depth, self._known)
        if not found:
            return []
        passages = [hit.text if self.owns_corpus and hit.text else self._known[hit.chunk].text for hit in found]
        scores = self._scorer.scores(text, passages)
        if len(scores) != len(found) or not all(math.isfinite(score) for score in scores):
            raise StackError(f"{len(found)} candidates need {len(found)} finite scores; there are {list(scores)[:40]}")
        order = sorted(range(len(found)), key=lambda at: -scores[at])
        texts = [hit.text if self.owns_corpus else None for hit in found]
        return [Hit(chunk=found[at].chunk, score=float(scores[at]) + 0.0, text=texts[at]) for at in order[:k]]

    def describe(self) -> JSON:
        """Return how candidates are scored, how many there are, and what the wrapped stack says of itself."""
        return {"kind": "rerank", "depth": self._depth, **self._scorer.describe(), "of": self._inner.describe()}

    def close(self) -> None:
        """Release the model or the connections, and close the wrapped stack."""
        self._scorer.close()
        self._inner.close()
