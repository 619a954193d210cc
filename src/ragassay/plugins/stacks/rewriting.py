"""What searches for texts that a language model wrote about the question share: one search a text, lists fused."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from ragassay.plugins.stacks.fusing import fused
from ragassay.plugins.stacks.inner import asked, inner_of, lacks_inner, owns_texts
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.prompted import Prompt, lacks_model, model_of
from ragassay.records import JSON, Chunk, Hit
from ragassay.seams import BlockingModel, Progress, Retriever

Rewrite = Callable[[str], list[str]]
"""Returns what is searched for, by the question; raises `StackError` where the model wrote nothing."""


def lists_of(read: Parameters) -> JSON:
    """Return how deep each list goes and how they are fused, as they are recorded."""
    return {
        "depth": read.integer("depth", 20, low=1, high=1_000),
        "rrf_k": read.integer("rrf_k", 60, low=0, high=1_000_000),
    }


class Rewrites(ABC):
    """A stack that searches for what a model writes about the question; parts `of` (one stack) and `model`."""

    owns_corpus: ClassVar[bool] = False
    takes_own_texts: ClassVar[bool] = True
    """A stack with a corpus of its own can be wrapped: its hits are delivered with their texts."""
    default_parts: ClassVar[Mapping[str, JSON]] = {}
    kind: ClassVar[str]
    prompt: ClassVar[Prompt]

    _about: JSON
    """The parameters, as they are recorded."""
    _as_it_is = False
    """True where hits keep their scores: one text is searched for, and nothing is fused."""

    @classmethod
    def lacking(cls, entry: JSON) -> str | None:
        """Say which part the entry lacks; None where it has all."""
        return lacks_inner(cls.kind, entry) or lacks_model(cls.kind, entry)

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Rewriting:
        """Return the wrapped stack with its model; raises `InputError` where one is missing."""
        inner, model = inner_of(self.kind, parts, takes_own_texts=True), model_of(self.kind, parts)
        progress(len(chunks), len(chunks))
        about = {"kind": self.kind, **self._about, "prompt": self.prompt.describe(), "model": model.describe()}
        return Rewriting(inner, partial(self.rewritten, model), chunks, about, as_it_is=self._as_it_is)

    @abstractmethod
    def rewritten(self, model: BlockingModel, text: str) -> list[str]:
        """Return what is searched for; raises what the model raises, and `StackError` where it wrote nothing."""


class Rewriting:
    """Asks the wrapped stack for each text, equal ones once. `as_it_is`: hits of a single text keep their scores."""

    def __init__(
        self, inner: Retriever, rewrite: Rewrite, chunks: Sequence[Chunk], about: JSON, *, as_it_is: bool = False
    ) -> None:
        self._inner = inner
        self._rewrite = rewrite
        self._known: Mapping[str, Chunk] = {chunk.id: chunk for chunk in chunks}
        self._about = about
        self._as_it_is = as_it_is
        self.owns_corpus = owns_texts(inner)

    def search(self, text: str, k: int) -> list[Hit]:
        """Return at most k chunks; raises what the model raises, and `StackError` where it wrote nothing."""
        if k < 1 or not (self._known or self.owns_corpus):
            return []
        depth = self._about["depth"]
        lists = [asked(self._inner, query, depth, self._known) for query in dict.fromkeys(self._rewrite(text))]
        return (lists[0] if self._as_it_is else fused(lists, depth=depth, rrf_k=self._about["rrf_k"]))[:k]

    def describe(self) -> JSON:
        """Return parameters, prompt, model and what the wrapped stack says of itself."""
        return {**self._about, "of": self._inner.describe()}

    def close(self) -> None:
        """Close the wrapped stack."""
        self._inner.close()
