"""On the bundled corpus and its 60 questions: what the reference pages of `window` and `parent` say is so."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ragassay.corpus import read_corpus
from ragassay.plugins.chunkers.heading import HeadingChunker
from ragassay.plugins.stacks.bm25 import BM25
from ragassay.plugins.stacks.parent import Parent
from ragassay.plugins.stacks.window import Window
from ragassay.question.load import load_benchmark
from ragassay.records import Chunk
from ragassay.retrieve import search
from ragassay.score import evidence_ranks, reach_at_k
from ragassay.seams import Retriever
from ragassay.testing.stack_contract import ignore_progress

ROOT = Path(__file__).resolve().parents[3]
BUNDLED = ROOT / "examples" / "bundled"
ASKED = "What if one of two fused stacks returns nothing?"


@pytest.fixture(scope="module")
def corpora() -> Mapping[int, Sequence[Chunk]]:
    """The bundled corpus in the board's chunks and in small ones, by their cap in tokens."""
    sizes = {256: 32, 64: 8}
    return {
        cap: read_corpus(BUNDLED / "corpus", HeadingChunker(max_tokens=cap, overlap=overlap)).chunks
        for cap, overlap in sizes.items()
    }


def over_bm25(stack: Any, chunks: Sequence[Chunk]) -> Retriever:
    """Return the wrapper built over `bm25`."""
    built: Retriever = stack.build(chunks, {"of": BM25().build(chunks, {}, ignore_progress)}, ignore_progress)
    return built


def reach(retriever: Retriever, chunks: Sequence[Chunk]) -> int:
    """Return for how many of the questions evidence stands among the best five."""
    known = {chunk.id: chunk for chunk in chunks}
    found = 0
    for question in load_benchmark(BUNDLED / "questions.json").questions:
        got = search(retriever, question.input, chunks=known, owns_corpus=False, top_k=5, threshold=None)
        found += reach_at_k(evidence_ranks(question.evidence, [one.text for one in got.delivered]), 5) or 0
    return found


@pytest.mark.parametrize(
    ("cap", "bm25", "window", "section", "page"),
    [(256, 32, 28, 28, 26), (64, 28, 22, 22, 19)],
)
def test_wrappers_reach_what_their_pages_say(
    corpora: Mapping[int, Sequence[Chunk]], cap: int, bm25: int, window: int, section: int, page: int
) -> None:
    """Neighbours take places among five: none of the wrappers has more than `bm25` alone here."""
    chunks = corpora[cap]
    assert reach(BM25().build(chunks, {}, ignore_progress), chunks) == bm25
    assert reach(over_bm25(Window(), chunks), chunks) == window
    assert reach(over_bm25(Parent(level="section"), chunks), chunks) == section
    assert reach(over_bm25(Parent(level="page"), chunks), chunks) == page


@pytest.mark.parametrize(("kind", "stack", "cap"), [("window", Window, 256), ("parent", Parent, 64)])
def test_the_example_of_the_page_is_what_comes_out(
    corpora: Mapping[int, Sequence[Chunk]], kind: str, stack: Any, cap: int
) -> None:
    """Ids and scores of the six chunks, line by line."""
    hits = over_bm25(stack(), corpora[cap]).search(ASKED, 6)
    said = re.findall(
        r"^\d  (\S+) +(\S+)$", (ROOT / f"docs/reference/stacks/{kind}.md").read_text("utf-8"), re.MULTILINE
    )
    assert said == [(hit.chunk, str(hit.score)) for hit in hits]
