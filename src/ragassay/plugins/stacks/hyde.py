"""A passage that might answer the question, written by a language model and searched for instead of the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ragassay.errors import StackError
from ragassay.plugins.stacks.inner import inner_of, lacks_inner
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.prompted import Prompt, lacks_model, model_of, said
from ragassay.plugins.stacks.rewriting import Rewriting, lists_of
from ragassay.records import JSON, Chunk
from ragassay.seams import Progress

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
    takes_own_texts: ClassVar[bool] = True
    """A stack with a corpus of its own can be wrapped: its hits are delivered with their texts."""
    default_parts: ClassVar[Mapping[str, JSON]] = {}

    def __init__(self, **params: Any) -> None:
        read = Parameters("hyde", params)
        self._passages = read.integer("passages", 1, low=1, high=8)
        self._with_question = read.flag("with_question", False)
        self._lists = lists_of(read)
        read.finish()

    @classmethod
    def lacking(cls, entry: JSON) -> str | None:
        """Say which part the entry lacks; None where it has all."""
        return lacks_inner("hyde", entry) or lacks_model("hyde", entry)

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Rewriting:
        """Return the wrapped stack with its model; raises `InputError` where one is missing."""
        inner, model = inner_of("hyde", parts, takes_own_texts=True), model_of("hyde", parts)
        progress(len(chunks), len(chunks))
        about: JSON = {
            "kind": "hyde",
            "passages": self._passages,
            "with_question": self._with_question,
            **self._lists,
            "prompt": PROMPT.describe(),
            "model": model.describe(),
        }

        def rewrite(text: str) -> list[str]:
            passages = [passage_of(said(model, PROMPT, question=text)) for _ in range(self._passages)]
            return [*passages, text] if self._with_question else passages

        alone = self._passages == 1 and not self._with_question
        return Rewriting(inner, rewrite, chunks, about, as_it_is=alone)


def passage_of(reply: str) -> str:
    """Return the first `MAX_CHARACTERS` of a reply; raises `StackError` for an empty one."""
    if not reply:
        raise StackError("the model wrote no passage")
    return reply[:MAX_CHARACTERS]
