"""The ceiling: each question is given its own evidence, so that a row reads as a share of the closable gap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.records import JSON, Chunk, Hit
from ragassay.seams import Progress


class Oracle:
    """The stack that delivers the chunks which hold a question's evidence; takes no parameters.

    Its part `evidence` maps a question's text to the ids of those chunks in page order; the runner makes it.
    """

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {}
    deterministic: ClassVar[bool] = True
    ignores_top_k: ClassVar[bool] = True
    """True for the oracle alone: evidence that chunking split is delivered whole."""

    def __init__(self, **params: Any) -> None:
        Parameters("oracle", params).finish()

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> EvidenceLookup:
        """Return the retriever; raises `InputError` when `parts` has no evidence or it names unknown chunks."""
        evidence: Mapping[str, Sequence[str]] | None = parts.get("evidence")
        if evidence is None:
            raise InputError("the oracle needs the evidence of the questions; without it leave its row out")
        known = {chunk.id for chunk in chunks}
        unknown = sorted({one for ids in evidence.values() for one in ids} - known)
        if unknown:
            raise InputError("the oracle's evidence names chunks that the corpus does not hold", unknown)
        progress(len(chunks), len(chunks))
        return EvidenceLookup({text: tuple(ids) for text, ids in evidence.items()})


class EvidenceLookup:
    """Looks a question's text up and returns its evidence."""

    def __init__(self, evidence: Mapping[str, tuple[str, ...]]) -> None:
        self._evidence = evidence

    def search(self, text: str, k: int) -> list[Hit]:
        """Return all evidence chunks in page order with the score 1; k does not cut.

        Raises `StackError` for a question without evidence: its oracle score is unknown, not low.
        """
        if not (ids := self._evidence.get(text)):
            raise StackError(f"the oracle knows no evidence for the question {text[:80]!r}")
        return [Hit(chunk=chunk, score=1.0) for chunk in ids]

    def describe(self) -> JSON:
        """Return the kind and that top-k does not cut."""
        return {"kind": "oracle", "top_k": "ignored", "evidence": "chunks that overlap the first evidence"}

    def close(self) -> None:
        """Do nothing."""
