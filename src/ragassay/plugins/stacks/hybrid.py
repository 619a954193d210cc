"""Reciprocal rank fusion of two or more stacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ragassay.errors import InputError
from ragassay.plugins.stacks.fusing import fused
from ragassay.plugins.stacks.inner import own_corpus_refused, owns_texts
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.records import JSON, Chunk, Hit
from ragassay.seams import Progress, Retriever

_NEEDS = '\'hybrid\' needs two or more stacks: of = [ { kind = "bm25" }, { kind = "dense" } ]'


class Hybrid:
    """Fuses the stacks in its part `of`: score(chunk) = Σ over stacks of 1 / (rrf_k + rank)."""

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {}
    deterministic: ClassVar[bool] = True
    """Where every stack in it is: each part speaks for itself."""

    def __init__(self, **params: Any) -> None:
        read = Parameters("hybrid", params)
        self._rrf_k = read.integer("rrf_k", 60, low=0, high=1_000_000)
        self._depth = read.integer("depth", 20, low=1, high=100_000)
        read.finish()

    @classmethod
    def lacking(cls, entry: JSON) -> str | None:
        """Say that the entry lists fewer than two stacks; None where it lists them."""
        of = entry.get("of")
        return None if isinstance(of, list) and len(of) > 1 else _NEEDS

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Fusion:
        """Return the fusion; raises `InputError` unless `parts["of"]` lists two or more built stacks."""
        of = parts.get("of")
        if not isinstance(of, list | tuple) or len(of) < 2 or not all(isinstance(one, Retriever) for one in of):
            raise InputError(_NEEDS)
        if own := next((str(one.describe().get("kind")) for one in of if owns_texts(one)), None):
            raise InputError(own_corpus_refused("hybrid", own))
        progress(len(chunks), len(chunks))
        return Fusion(tuple(of), self._rrf_k, self._depth)


class Fusion:
    """Asks every stack for the same question and fuses their ranks; scores of the stacks do not enter."""

    def __init__(self, of: tuple[Retriever, ...], rrf_k: int, depth: int) -> None:
        self._of = of
        self._rrf_k = rrf_k
        self._depth = depth

    def search(self, text: str, k: int) -> list[Hit]:
        """Return at most k chunks, best fused score first; equal scores as first met, stack by stack.

        Every stack is asked for `depth` hits, whatever k is. A stack that fails fails the fusion: the others never
        stand in for it.
        """
        lists = (stack.search(text, self._depth) for stack in self._of)
        return fused([list(hits) for hits in lists], depth=self._depth, rrf_k=self._rrf_k)[: max(0, k)]

    def describe(self) -> JSON:
        """Return the method, its parameters and what every fused stack says of itself."""
        return {
            "kind": "hybrid",
            "method": "reciprocal rank fusion",
            "rrf_k": self._rrf_k,
            "depth": self._depth,
            "of": [stack.describe() for stack in self._of],
        }

    def close(self) -> None:
        """Close every fused stack."""
        for stack in self._of:
            stack.close()
