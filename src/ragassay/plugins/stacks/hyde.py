"""A passage that might answer the question, written by a language model and searched for instead of the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ragassay.errors import StackError
from ragassay.plugins.stacks.fusing import fused
from ragassay.plugins.stacks.inner import asked, inner_of
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.prompted import Prompt, model_of, said
from ragassay.records import JSON, Chunk, Hit
from ragassay.seams import BlockingModel, Progress, Retriever

PROMPT = Prompt(
    id="hyde/1",
    system=(
        "You get a question about technical documentation. Write a short passage, as it could stand in that "
        "documentation, that answers it. Write the passage and nothing else. Where you do not know the answer, write "
        "what such a passage would most likely say."
    ),
    user="Question: {question}\nPassage:",
)
MAX_CHARACTERS = 8_000
"""How much of a passage is searched for."""


class HyDE:
    """Takes `passages`, `with_question`, `depth`, `rrf_k`, and the parts `of` (one stack) and `model`.

    Source: Gao, Ma, Lin and Callan, "Precise zero-shot dense retrieval without relevance labels", ACL 2023. There the
    vectors of passages and question are averaged; here, over any stack, their lists are fused.
    """

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {}

    def __init__(self, **params: Any) -> None:
        read = Parameters("hyde", params)
        self._passages = read.integer("passages", 1, low=1, high=8)
        self._with_question = read.flag("with_question", False)
        self._depth = read.integer("depth", 20, low=1, high=1_000)
        self._rrf_k = read.integer("rrf_k", 60, low=0, high=1_000_000)
        read.finish()

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> HyDEIndex:
        """Return the wrapped stack with its model; raises `InputError` where one is missing."""
        inner, model = inner_of("hyde", parts), model_of("hyde", parts)
        progress(len(chunks), len(chunks))
        about: JSON = {
            "kind": "hyde",
            "passages": self._passages,
            "with_question": self._with_question,
            "depth": self._depth,
            "rrf_k": self._rrf_k,
            "prompt": PROMPT.describe(),
            "model": model.describe(),
        }
        return HyDEIndex(inner, model, {chunk.id: chunk for chunk in chunks}, about)


class HyDEIndex:
    """Asks the model for passages, the stack for each of them; several lists are fused by rank."""

    def __init__(self, inner: Retriever, model: BlockingModel, known: Mapping[str, Chunk], about: JSON) -> None:
        self._inner = inner
        self._model = model
        self._known = known
        self._about = about

    def search(self, text: str, k: int) -> list[Hit]:
        """Return at most k chunks.

        With one passage, and without the question, the scores are the wrapped stack's. Raises `StackError` where the
        model writes nothing: the question never stands in for a passage.
        """
        if not self._known or k < 1:
            return []
        depth = self._about["depth"]
        queries = [self._passage(text) for _ in range(self._about["passages"])]
        if self._about["with_question"]:
            queries.append(text)
        lists = [asked(self._inner, query, depth, self._known) for query in dict.fromkeys(queries)]
        alone = self._about["passages"] == 1 and not self._about["with_question"]
        return (lists[0] if alone else fused(lists, depth=depth, rrf_k=self._about["rrf_k"]))[:k]

    def describe(self) -> JSON:
        """Return parameters, prompt, model and what the wrapped stack says of itself."""
        return {**self._about, "of": self._inner.describe()}

    def close(self) -> None:
        """Close the wrapped stack."""
        self._inner.close()

    def _passage(self, text: str) -> str:
        passage = said(self._model, PROMPT, question=text)[:MAX_CHARACTERS]
        if not passage:
            raise StackError("the model wrote no passage")
        return passage
