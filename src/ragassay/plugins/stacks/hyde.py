"""A passage that might answer the question, written by a language model and searched for instead of the question."""

from __future__ import annotations

from typing import Any

from ragassay.errors import StackError
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.prompted import Prompt, said
from ragassay.plugins.stacks.rewriting import Rewrites, lists_of
from ragassay.seams import BlockingModel

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


class HyDE(Rewrites):
    """Takes `passages`, `with_question`, `depth`, `rrf_k`, and the parts `of` (one stack) and `model`.

    Source: Gao, Ma, Lin and Callan, "Precise zero-shot dense retrieval without relevance labels", ACL 2023. There the
    vectors of passages and question are averaged; here, over any stack, their lists are fused.
    """

    kind = "hyde"
    prompt = PROMPT

    def __init__(self, **params: Any) -> None:
        read = Parameters(self.kind, params)
        self._passages = read.integer("passages", 1, low=1, high=8)
        self._with_question = read.flag("with_question", False)
        self._about = {"passages": self._passages, "with_question": self._with_question, **lists_of(read)}
        self._as_it_is = self._passages == 1 and not self._with_question
        read.finish()

    def rewritten(self, model: BlockingModel, text: str) -> list[str]:
        """Return the passages, and the question where it is searched for too."""
        passages = [passage_of(said(model, PROMPT, question=text)) for _ in range(self._passages)]
        return [*passages, text] if self._with_question else passages


def passage_of(reply: str) -> str:
    """Return the first `MAX_CHARACTERS` of a reply; raises `StackError` for an empty one."""
    if not reply:
        raise StackError("the model wrote no passage")
    return reply[:MAX_CHARACTERS]
