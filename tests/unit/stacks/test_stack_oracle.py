"""The ceiling delivers evidence, all of it, and never guesses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.oracle import Oracle
from ragassay.records import Chunk, Hit
from ragassay.testing.stack_contract import corpus, ignore_progress


def ids(hits: Sequence[Hit]) -> list[int]:
    """Return the numbers of the pages that were hit."""
    return [int(hit.chunk.removeprefix("page-").partition(".")[0]) for hit in hits]


def _oracle(evidence: Any) -> Any:
    return Oracle().build(corpus(["a", "b", "c"]), {"evidence": evidence}, ignore_progress)


def test_oracle_delivers_all_evidence_in_page_order_whatever_k_is() -> None:
    """Evidence that chunking split is delivered whole."""
    chunks: list[Chunk] = corpus(["a", "b", "c"])
    oracle = _oracle({"q": [chunks[1].id, chunks[2].id]})
    assert ids(oracle.search("q", 1)) == [1, 2]
    assert [hit.score for hit in oracle.search("q", 1)] == [1.0, 1.0]


@pytest.mark.parametrize("question", ["other", "", "Q"])
def test_oracle_without_evidence_is_a_failure_not_an_empty_retrieval(question: str) -> None:
    """Its score is unknown, not low; an empty list of ids is no evidence either."""
    with pytest.raises(StackError, match="knows no evidence"):
        _oracle({"q": ["page-0.md#0"], "": []}).search(question, 5)


def test_oracle_refuses_missing_or_unknown_evidence() -> None:
    """It needs the mapping, and every id in it must be a chunk's."""
    with pytest.raises(InputError, match="needs the evidence"):
        Oracle().build([], {}, ignore_progress)
    with pytest.raises(InputError, match="nosuch"):
        _oracle({"q": ["nosuch"]})
