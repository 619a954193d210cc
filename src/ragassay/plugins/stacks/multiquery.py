"""Several wordings of the question, written by a language model, searched one by one and fused."""

from __future__ import annotations

import re
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
    default_parts: ClassVar[Mapping[str, JSON]] = {}

    def __init__(self, **params: Any) -> None:
        read = Parameters("multiquery", params)
        self._queries = read.integer("queries", 3, low=1, high=10)
        self._with_question = read.flag("with_question", True)
        self._depth = read.integer("depth", 20, low=1, high=1_000)
        self._rrf_k = read.integer("rrf_k", 60, low=0, high=1_000_000)
        read.finish()

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> MultiQueryIndex:
        """Return the wrapped stack with its model; raises `InputError` where one is missing."""
        inner, model = inner_of("multiquery", parts), model_of("multiquery", parts)
        progress(len(chunks), len(chunks))
        about: JSON = {
            "kind": "multiquery",
            "queries": self._queries,
            "with_question": self._with_question,
            "depth": self._depth,
            "rrf_k": self._rrf_k,
            "prompt": PROMPT.describe(),
            "model": model.describe(),
        }
        return MultiQueryIndex(inner, model, {chunk.id: chunk for chunk in chunks}, about)


class MultiQueryIndex:
    """Asks the model for wordings, the stack for each of them, and fuses the ranks."""

    def __init__(self, inner: Retriever, model: BlockingModel, known: Mapping[str, Chunk], about: JSON) -> None:
        self._inner = inner
        self._model = model
        self._known = known
        self._about = about

    def search(self, text: str, k: int) -> list[Hit]:
        """Return at most k chunks by reciprocal rank fusion over the wordings.

        Raises `StackError` where the model writes no wording: the question alone never stands in for them.
        """
        if not self._known or k < 1:
            return []
        depth, count = self._about["depth"], self._about["queries"]
        words = wordings(said(self._model, PROMPT, count=str(count), question=text), count)
        queries = [text, *words] if self._about["with_question"] else words
        lists = [asked(self._inner, query, depth, self._known) for query in dict.fromkeys(queries)]
        return fused(lists, depth=depth, rrf_k=self._about["rrf_k"])[:k]

    def describe(self) -> JSON:
        """Return parameters, prompt, model and what the wrapped stack says of itself."""
        return {**self._about, "of": self._inner.describe()}

    def close(self) -> None:
        """Close the wrapped stack."""
        self._inner.close()


def wordings(reply: str, count: int) -> list[str]:
    """Return the first `count` lines of a reply that hold text, without list marks; raises `StackError` for none."""
    lines = [_MARKER.sub("", line).strip().strip('"').strip()[:MAX_CHARACTERS] for line in reply.splitlines()]
    found = [line for line in lines if line][:count]
    if not found:
        raise StackError(f"the model wrote no wording of the question, but {reply[:200]!r}")
    return found
