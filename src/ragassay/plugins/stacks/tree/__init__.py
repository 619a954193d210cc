"""Tree reasoning: a language model reads titles and summaries of pages and sections and chooses what is delivered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from ragassay import canon
from ragassay.errors import InputError
from ragassay.plugins.stacks.inner import asked, inner_of
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.parent import FORMATS, Format
from ragassay.plugins.stacks.prompted import lacks_model, model_of
from ragassay.plugins.stacks.tree.answer import QUESTION_CHARACTERS, Form
from ragassay.plugins.stacks.tree.choice import LEAST_CHARACTERS, LONGEST_SUMMARY, Selector
from ragassay.plugins.stacks.tree.nodes import Branch, Node, grown
from ragassay.records import JSON, Chunk, Hit
from ragassay.seams import Progress, Retriever


class Tree:
    """Chooses sections by the part `model`, in pages that it chooses too or that the part `of` finds."""

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {}

    def __init__(self, **params: Any) -> None:
        read = Parameters("tree", params)
        self._format = cast(Format, read.choice("format", "markdown", FORMATS))
        self._pages = read.integer("pages", 5, low=1, high=1_000)
        self._nodes = read.integer("nodes", 5, low=1, high=1_000)
        self._per_call = read.integer("per_call", 50, low=2, high=10_000)
        self._max_characters = read.integer("max_characters", 24_000, low=LEAST_CHARACTERS, high=10_000_000)
        self._summary = read.integer("summary_characters", 200, low=0, high=LONGEST_SUMMARY)
        self._attempts = read.integer("attempts", 2, low=1, high=10)
        self._form = Form(thinking=read.flag("thinking", False), schema=read.flag("schema", False))
        self._depth = read.integer("depth", 50, low=1, high=100_000)
        self._max_calls = read.integer("max_calls", 100, low=1, high=1_000_000)
        read.finish()

    @classmethod
    def lacking(cls, entry: JSON) -> str | None:
        """Say which part the entry lacks; None where it has all."""
        return lacks_model("tree", entry)

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> TreeIndex:
        """Grow the tree; `InputError` without a model, or where a search may take more than `max_calls` calls."""
        model = model_of("tree", parts)
        of = inner_of("tree", parts) if parts.get("of") is not None else None
        branches = grown(chunks, self._format, self._summary)
        selector = Selector(
            model,
            per_call=self._per_call,
            max_characters=self._max_characters,
            attempts=self._attempts,
            form=self._form,
        )
        by = "of" if of is not None else "all" if len(branches) <= self._pages else "model"
        calls = self._calls_at_most(selector, branches, by)
        progress(len(chunks), len(chunks))
        about = {**self._described(by), "calls_at_most": calls, "tree": _told(branches), "model": model.describe()}
        return TreeIndex(branches, {chunk.id: chunk for chunk in chunks}, selector, of, about)

    def _described(self, by: str) -> JSON:
        """Return what shapes a result whatever the corpus is; `by` is who chooses the pages."""
        return {
            "kind": "tree",
            "format": self._format,
            "pages": self._pages,
            "pages_by": by,
            **({"depth": self._depth} if by == "of" else {}),
            "nodes": self._nodes,
            "per_call": self._per_call,
            "max_characters": self._max_characters,
            "question_characters": QUESTION_CHARACTERS,
            "summary_characters": self._summary,
            "attempts": self._attempts,
            "scores": "rank",
            "schema": self._form.schema,
            "prompt": self._form.prompt.describe(),
        }

    def _calls_at_most(self, selector: Selector, branches: Sequence[Branch], by: str) -> int:
        """Return how often one search may call the model, refused answers included; `InputError` above `max_calls`."""
        calls = selector.calls_at_most([one.node for one in branches], self._pages) if by == "model" else 0
        sections = [node for branch in branches for node in branch.sections]
        longest = max(sections, key=lambda node: len(node.entry(1)), default=None)
        most = sum(sorted((len(branch.sections) for branch in branches), reverse=True)[: self._pages])
        calls += selector.calls_at_most([longest] * most, self._nodes) if longest else 0
        if calls > self._max_calls:
            raise InputError(
                f"a search of 'tree' may call the model {calls:,} times over {len(branches):,} pages, and max_calls is "
                f'{self._max_calls:,}: let a stack find the pages, of = {{ kind = "bm25" }}, raise per_call and '
                "max_characters, lower pages, or allow it with max_calls"
            )
        return calls


class TreeIndex:
    """The tree in memory, and who chooses in it."""

    def __init__(
        self,
        branches: Sequence[Branch],
        known: Mapping[str, Chunk],
        selector: Selector,
        of: Retriever | None,
        about: JSON,
    ) -> None:
        self._branches = branches
        self._by_name = {branch.page: branch for branch in branches}
        self._by_node = {branch.node: branch for branch in branches}
        self._known = known
        self._selector = selector
        self._of = of
        self._about = about

    def search(self, text: str, k: int) -> list[Hit]:
        """Return the first k chunks of the chosen sections, as they were chosen, each in page order; scores 1 / rank.

        Empty where the model says that nothing fits, or the wrapped stack found no page. Raises `StackError` where the
        model's choice cannot be used.
        """
        if not self._branches or k < 1:
            return []
        sections = [node for branch in self._candidates(text) for node in branch.sections]
        chosen = self._selector.choose(text, sections, self._about["nodes"], "sections")
        ids = dict.fromkeys(chunk for node in chosen for chunk in node.chunks)
        return [Hit(chunk=chunk, score=1 / rank) for rank, chunk in enumerate(ids, 1)][:k]

    def _candidates(self, text: str) -> Sequence[Branch]:
        """Return the pages in whose sections is chosen."""
        most = self._about["pages"]
        if self._about["pages_by"] == "all":
            return self._branches
        if self._of is not None:
            found = asked(self._of, text, self._about["depth"], self._known)
            named = dict.fromkeys(self._known[hit.chunk].page for hit in found)
            return [self._by_name[name] for name in named if name in self._by_name][:most]
        pages = [branch.node for branch in self._branches]
        return [self._by_node[node] for node in self._selector.choose(text, pages, most, "pages")]

    def describe(self) -> JSON:
        """Return parameters, the tree by its digest, prompt and model, and what the wrapped stack says of itself."""
        return {**self._about, **({"of": self._of.describe()} if self._of is not None else {})}

    def close(self) -> None:
        """Close the wrapped stack, where there is one."""
        if self._of is not None:
            self._of.close()


def _told(branches: Sequence[Branch]) -> JSON:
    """Return how large the tree is, how many sections have no text of their own, and a digest over all of it."""
    nodes: list[Node] = [node for branch in branches for node in branch.sections]
    shape = [[branch.node, *branch.sections] for branch in branches]
    return {
        "pages": len(branches),
        "sections": len(nodes),
        "heading_only": sum(not node.own and bool(node.chunks) for node in nodes),
        "without_text": sum(not node.chunks for node in nodes),
        "sha256": canon.digest([[[one.path, one.summary, list(one.chunks)] for one in nodes] for nodes in shape]),
    }
