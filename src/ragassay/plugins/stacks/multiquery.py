"""Several wordings of the question, written by a language model, searched one by one and fused."""

from __future__ import annotations

import re
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


class MultiQuery:
    """Takes `queries`, `with_question`, `depth`, `rrf_k`, and the parts `of` (one stack) and `model`."""

    owns_corpus: ClassVar[bool] = False
    takes_own_texts: ClassVar[bool] = True
    """A stack with a corpus of its own can be wrapped: its hits are delivered with their texts."""
    default_parts: ClassVar[Mapping[str, JSON]] = {}

    def __init__(self, **params: Any) -> None:
        read = Parameters("multiquery", params)
        self._queries = read.integer("queries", 3, low=1, high=10)
        self._with_question = read.flag("with_question", True)
        self._lists = lists_of(read)
        read.finish()

    @classmethod
    def lacking(cls, entry: JSON) -> str | None:
        """Say which part the entry lacks; None where it has all."""
        return lacks_inner("multiquery", entry) or lacks_model("multiquery", entry)

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Rewriting:
        """Return the wrapped stack with its model; raises `InputError` where one is missing."""
        inner, model = inner_of("multiquery", parts, takes_own_texts=True), model_of("multiquery", parts)
        progress(len(chunks), len(chunks))
        about: JSON = {
            "kind": "multiquery",
            "queries": self._queries,
            "with_question": self._with_question,
            **self._lists,
            "prompt": PROMPT.describe(),
            "model": model.describe(),
        }

        def rewrite(text: str) -> list[str]:
            words = wordings(said(model, PROMPT, count=str(self._queries), question=text), self._queries)
            return [text, *words] if self._with_question else words

        return Rewriting(inner, rewrite, chunks, about)


def wordings(reply: str, count: int) -> list[str]:
    """Return the first `count` lines of a reply that hold text, without list marks; raises `StackError` for none."""
    lines = [_MARKER.sub("", line).strip().strip('"').strip()[:MAX_CHARACTERS] for line in reply.splitlines()]
    found = [line for line in lines if line][:count]
    if not found:
        raise StackError(f"the model wrote no wording of the question, but {reply[:200]!r}")
    return found
