"""On the real uv documentation, windows of 150 words every 120: how often the evidence is among the best five."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ragassay import canon
from ragassay.errors import PluginError
from ragassay.plugins import weights
from ragassay.plugins.embedders.minilm import KIND, MiniLM
from ragassay.plugins.stacks.bm25 import BM25
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.hybrid import Hybrid
from ragassay.plugins.stacks.qdrant import Qdrant
from ragassay.records import Chunk
from ragassay.retrieve import search
from ragassay.seams import Retriever
from ragassay.testing.stack_contract import ignore_progress


def flat(text: str) -> str:
    """Return `text` with white space collapsed."""
    return " ".join(text.split())


def windows(page: str, text: str) -> list[Chunk]:
    """Return windows of 150 words that begin every 120 words."""
    words = [match.span() for match in re.finditer(r"\S+", text)]
    spans = [(words[at][0], words[min(at + 150, len(words)) - 1][1]) for at in range(0, max(1, len(words) - 30), 120)]
    return [
        Chunk(id=f"{page}#{a}", page=page, start=a, end=b, text=text[a:b], sha256=canon.sha256(text[a:b].encode()))
        for a, b in spans
    ]


@pytest.fixture(scope="module")
def uv_docs(shared_data: Path) -> tuple[list[Chunk], list[dict[str, Any]]]:
    """Chunks and questions."""
    folder = shared_data / "uv-docs"
    pages = sorted((folder / "corpus").rglob("*.md"))
    chunks = [
        chunk for page in pages for chunk in windows(page.relative_to(folder).as_posix(), page.read_text("utf-8"))
    ]
    return chunks, json.loads((folder / "questions.json").read_bytes())["samples"]


def reach(retriever: Retriever, chunks: Sequence[Chunk], questions: Sequence[dict[str, Any]]) -> int:
    """Return for how many questions the first evidence stands in one of the best five chunks."""
    known = {chunk.id: chunk for chunk in chunks}
    found = 0
    for question in questions:
        evidence = question["evidence"] if isinstance(question["evidence"], str) else question["evidence"][0]
        got = search(retriever, question["input"], chunks=known, owns_corpus=False, top_k=5, threshold=None)
        found += any(flat(evidence) in flat(one.text) for one in got.delivered)
    return found


def test_bm25_reaches_all_thirty(uv_docs: tuple[list[Chunk], list[dict[str, Any]]]) -> None:
    """30 of 30, as an independent run with bm25s had it."""
    chunks, questions = uv_docs
    assert reach(BM25().build(chunks, {}, ignore_progress), chunks, questions) == 30


@pytest.mark.slow
def test_dense_fused_and_engine_reach_what_they_did(uv_docs: tuple[list[Chunk], list[dict[str, Any]]]) -> None:
    """MiniLM 20, its fusion with BM25 29, qdrant as many as exact cosine; one question either way is tolerated."""
    chunks, questions = uv_docs
    try:
        parts = {"embedder": MiniLM(path=weights.require(KIND, weights.default_cache()))}
    except PluginError as error:
        pytest.skip(str(error))
    dense, engine = Dense().build(chunks, parts, ignore_progress), Qdrant().build(chunks, parts, ignore_progress)
    fused = Hybrid().build(chunks, {"of": [BM25().build(chunks, {}, ignore_progress), dense]}, ignore_progress)
    try:
        assert abs(reach(dense, chunks, questions) - 20) <= 1
        assert abs(reach(fused, chunks, questions) - 29) <= 1
        assert reach(engine, chunks, questions) == reach(dense, chunks, questions)
    finally:
        engine.close()
