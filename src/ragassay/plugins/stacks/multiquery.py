"""Several wordings of the question, written by a language model, searched one by one and fused."""

from __future__ import annotations

import re
from typing import Any

from ragassay.errors import StackError
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.prompted import Prompt, said
from ragassay.plugins.stacks.rewriting import Rewrites, lists_of
from ragassay.seams import BlockingModel

PROMPT = Prompt(
    id="multiquery/1",
    system=(
        "You help a search engine over technical documentation. You get a question and write other wordings of it "
        "that a page with the answer might match: other terms for the same thing, more specific or more general. "
        "Write one wording per line and nothing else: no numbers, no quotation marks, no answer."
    ),
    user="Write {count} other wordings of this question:\n{question}",
)
MAX_CHARACTERS = 1000
"""The longest wording that is searched for."""
_MARKER = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.):])\s+")


class MultiQuery(Rewrites):
    """Takes `queries`, `with_question`, `depth`, `rrf_k`, and the parts `of` (one stack) and `model`."""

    kind = "multiquery"
    prompt = PROMPT

    def __init__(self, **params: Any) -> None:
        read = Parameters(self.kind, params)
        self._queries = read.integer("queries", 3, low=1, high=10)
        self._with_question = read.flag("with_question", True)
        self._about = {"queries": self._queries, "with_question": self._with_question, **lists_of(read)}
        read.finish()

    def rewritten(self, model: BlockingModel, text: str) -> list[str]:
        """Return the wordings, and the question where it is searched for too."""
        words = wordings(said(model, PROMPT, count=str(self._queries), question=text), self._queries)
        return [text, *words] if self._with_question else words


def wordings(reply: str, count: int) -> list[str]:
    """Return the first `count` lines of a reply that hold text, without list marks; raises `StackError` for none."""
    lines = [_MARKER.sub("", line).strip().strip('"').strip()[:MAX_CHARACTERS] for line in reply.splitlines()]
    found = [line for line in lines if line][:count]
    if not found:
        raise StackError(f"the model wrote no wording of the question, but {reply[:200]!r}")
    return found
