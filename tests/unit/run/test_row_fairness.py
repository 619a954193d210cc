"""What a built row searches, asked of its stacks and embedders; recorded with its configuration."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from run_lab import Lab, register, silent

from ragassay.corpus import read_corpus
from ragassay.plugins import BUILT_IN
from ragassay.question import load_benchmark, match_evidence
from ragassay.question.fairness import OWN_TEXTS
from ragassay.records import Fairness, Hit
from ragassay.run.board_file import load_board
from ragassay.run.build import StackBuilder, make_chunker, owns_corpus
from ragassay.run.fairness import built_fairness, reading
from ragassay.run.prepared import Options


class Counting:
    """An embedder that reads so many characters."""

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def count_truncated(self, texts: Sequence[str]) -> int:
        """Count the texts that are longer."""
        return sum(len(text) > self._limit for text in texts)


def test_reading_is_what_any_embedder_reads() -> None:
    """One that reads further suffices; without an embedder, or with one that cannot say, nobody knows."""
    found = reading([Counting(3), Counting(5)])
    assert found is not None
    assert [found("x" * length) for length in (3, 5, 6)] == [True, True, False]
    assert reading([]) is None
    assert reading([Counting(3), object()]) is None


def _built(lab: Lab, entry: Mapping[str, Any]) -> Fairness | None:
    board = load_board(lab.folder / "board.toml")
    corpus = read_corpus(board.corpus, make_chunker(board.chunker))
    benchmark = load_benchmark(board.benchmark)
    cache = lab.space.root / "cache"
    builder = StackBuilder(corpus.chunks, evidence={}, cache=cache, weights_cache=cache, report=silent)
    retriever = builder.build(dict(entry), "row 'x'")
    owns = owns_corpus(str(entry["kind"]), retriever)
    findings = match_evidence(benchmark, corpus.pages)
    return built_fairness(benchmark, corpus, findings, dict(entry), builder, owns=owns)


def _nothing(_text: str, _k: int, _chunks: Any) -> Sequence[Hit]:
    return []


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A board of ten questions."""
    made = Lab(tmp_path)
    made.write()
    return made


def test_a_stack_that_leaves_chunks_out_is_asked_for_them(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """What no search of it sees is absent, under a wrapper too; beside a stack that sees everything it is there."""
    register(monkeypatch, _nothing)
    stack = __import__("scripted_stack").Stack
    everything = {chunk.id for chunk in read_corpus(lab.folder / "docs", make_chunker({"kind": "heading"})).chunks}
    stack.left_out = frozenset(everything)
    ids = tuple(question.id for question in load_benchmark(load_board(lab.folder / "board.toml").benchmark).questions)
    assert _built(lab, {"kind": "scripted"}) == Fairness(absent=ids)
    assert _built(lab, {"kind": "window", "of": {"kind": "scripted"}}) == Fairness(absent=ids)
    both = {"kind": "hybrid", "of": [{"kind": "scripted"}, {"kind": "bm25"}]}
    assert _built(lab, both) == Fairness()
    stack.left_out = None
    assert _built(lab, {"kind": "scripted"}) == Fairness(unknowable=ids)
    assert _built(lab, both) == Fairness()
    del stack.left_out
    assert _built(lab, {"kind": "scripted"}) == Fairness()


def test_a_stack_with_its_own_corpus_is_unknowable(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stands in the board's corpus."""
    register(monkeypatch, _nothing, owns_corpus=True)
    assert "scripted" in BUILT_IN["stacks"]
    assert _built(lab, {"kind": "scripted"}) == OWN_TEXTS
    assert _built(lab, {"kind": "none"}) is None


def test_a_run_records_it(lab: Lab) -> None:
    """In the signed configuration of each row; nothing for the control; missing evidence only where it is allowed."""
    docs = lab.folder / "docs"
    page = next(iter(sorted(docs.iterdir())))
    page.write_text("# Nothing\n\nNothing is left of it.\n", encoding="utf-8")
    ended = lab.run(Options(allow_missing_evidence=True))
    found = {
        row: json.loads((lab.space.runs / end.run_id / "config.json").read_bytes())["circumstance"]["fairness"]
        for (row, _), end in ended.items()
    }
    assert found["no-retrieval"] is None
    assert len(found["row"]["absent"]) == 1
    assert found["row"]["ownTexts"] is False
