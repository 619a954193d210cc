"""The stack `tree` keeps the promises of the shipped contract suite, with a selector that always chooses the same."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ragassay.plugins.stacks.bm25 import BM25
from ragassay.plugins.stacks.tree import Tree
from ragassay.records import Chunk, Message
from ragassay.testing.blocking_model import BlockingScript
from ragassay.testing.stack_contract import StackContract, ignore_progress


def choose(messages: Sequence[Message]) -> list[int]:
    """Return the entries that share most words with the question, best first, at most as many as are asked for."""
    listed, _, rest = messages[-1].content.partition("\n\nQuestion: ")
    question, most = re.findall(r"(.*)\n\n(?:Your last.*\n\n)?Choose at most (\d+)", rest, re.DOTALL)[0]
    words = set(re.findall(r"\w+", question.lower()))
    entries = [line for line in listed.splitlines() if re.match(r"\d+\. ", line)]
    shared = [len(words & set(re.findall(r"\w+", entry.lower()))) for entry in entries]
    ranked = sorted(range(len(entries)), key=lambda at: -shared[at])
    return [at + 1 for at in ranked if shared[at]][: int(most)]


class TestTree(StackContract):
    """The model chooses pages and sections, in one call each."""

    stack = Tree

    def parts(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:
        """Give the selector."""
        return {"model": BlockingScript(lambda messages: json.dumps(choose(messages)))}


class TestTreeInBlocks(TestTree):
    """Three pages and few characters in a call: lists are narrowed in rounds."""

    params: ClassVar[Mapping[str, Any]] = {"per_call": 3, "max_characters": 8_000, "pages": 2, "nodes": 2}


class TestTreeOfAllPages(TestTree):
    """Every page is a candidate, titles alone are shown, the answer is bare numbers."""

    params: ClassVar[Mapping[str, Any]] = {"pages": 100, "nodes": 20, "summary_characters": 0}

    def parts(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:
        """Give a selector that writes lines."""
        return {"model": BlockingScript(lambda messages: "\n".join(map(str, choose(messages))) or "none")}


class TestTreeOverBM25(TestTree):
    """`bm25` finds the pages; the model tells what it thinks."""

    params: ClassVar[Mapping[str, Any]] = {"thinking": True}

    def parts(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:
        """Build what finds the pages, and the selector."""
        model = BlockingScript(lambda messages: json.dumps({"thinking": "so", "nodes": choose(messages)}))
        return {"model": model, "of": BM25().build(chunks, {}, ignore_progress)}
