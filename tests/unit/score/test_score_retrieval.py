"""Evidence ranks and the measures that read them."""

from __future__ import annotations

from math import log2

import pytest

from ragassay.score import (
    EvidenceRanks,
    count_tokens,
    evidence_ranks,
    ndcg_at_k,
    reach_at_k,
    reach_within_tokens,
    reciprocal_rank,
)

EVIDENCE = ("the limit is 32 MB", "at most 32 megabytes")
NOISE = "nothing to see"


def test_ranks_count_from_1() -> None:
    """Every text that holds accepted evidence has its rank; any alternative will do."""
    found = evidence_ranks(EVIDENCE, [NOISE, "so at most 32 megabytes.", "Here the limit is 32 MB."])
    assert found == EvidenceRanks(state="exact", ranks=(2, 3))
    assert found.first == 2


def test_presentation_folds_are_listed() -> None:
    """A wrapped line, an NBSP or a curly quote is *folded*, with the folds of the first rank."""
    found = evidence_ranks(("the server's limit",), [NOISE, "the server’s\n\u00a0limit", "the server's limit"])
    assert (found.state, found.ranks, found.folds) == ("folded", (2, 3), ("quotes", "whitespace"))


def test_the_alternative_with_fewest_folds_decides() -> None:
    """A text that holds one alternative as written is exact even if another would need a fold."""
    found = evidence_ranks(("it\nworks", "well done"), ["it works, well done"])
    assert (found.state, found.folds) == ("exact", ())


@pytest.mark.parametrize("text", ["the limit is 33 MB", "the limits is 32 MB", "The limit is 32 MB", ""])
def test_a_changed_word_or_digit_is_missing(text: str) -> None:
    """Anything but presentation makes another text of it."""
    found = evidence_ranks(EVIDENCE, [text])
    assert (found.state, found.ranks, found.first) == ("missing", (), None)


def test_a_repeated_text_is_credited_once() -> None:
    """The same text again is a duplicate, named and not credited; every measure stays within 0..1."""
    text = "Here the limit is 32 MB."
    found = evidence_ranks(EVIDENCE, [NOISE, text, text, text])
    assert (found.ranks, found.duplicates) == ((2,), (3, 4))
    assert ndcg_at_k(found, 4) == 1 / log2(3)
    assert reach_at_k(found, 4) == 1


def test_without_evidence_nothing_is_known() -> None:
    """A question without evidence has no rank, and each measure is None instead of 0."""
    for evidence in ((), ("  ",)):
        found = evidence_ranks(evidence, ["a text"])
        assert found.state == "none"
        assert reach_at_k(found, 5) is None
        assert reach_within_tokens(found, ["a text"], 100) is None
        assert reciprocal_rank(found) is None
        assert ndcg_at_k(found, 5) is None


def test_an_empty_search_counts_0() -> None:
    """A search that returned nothing is 0 in every measure: it was asked."""
    found = evidence_ranks(EVIDENCE, [])
    assert (reach_at_k(found, 5), reciprocal_rank(found), ndcg_at_k(found, 5)) == (0, 0.0, 0.0)
    assert reach_within_tokens(found, [], 1000) == 0


def test_values_by_hand() -> None:
    """Rank 3: reach from k = 3, reciprocal rank 1/3, nDCG 1/log2(4)."""
    found = EvidenceRanks(state="exact", ranks=(3, 4))
    assert [reach_at_k(found, k) for k in (1, 2, 3, 5)] == [0, 0, 1, 1]
    assert reciprocal_rank(found) == 1 / 3
    assert [ndcg_at_k(found, k) for k in (2, 3)] == [0.0, 0.5]
    assert ndcg_at_k(EvidenceRanks(state="exact", ranks=(1,)), 1) == 1.0


def test_a_budget_of_tokens_counts_everything_before() -> None:
    """The text that holds the evidence counts whole, with every text before it."""
    texts = ["one two three.", "the limit is 32 MB"]
    found = evidence_ranks(EVIDENCE, texts)
    assert [count_tokens(text) for text in texts] == [4, 5]
    assert [reach_within_tokens(found, texts, budget) for budget in (8, 9)] == [0, 1]


def test_tokens_are_words_and_single_marks() -> None:
    """A token is a run of word characters or one other visible character."""
    assert count_tokens("--no-clean: 3.5 naïve\n") == 10


def test_wrong_arguments_are_refused() -> None:
    """k counts from 1, and ranks must belong to the texts."""
    found = EvidenceRanks(state="exact", ranks=(3,))
    with pytest.raises(ValueError, match="k counts from 1"):
        reach_at_k(found, 0)
    with pytest.raises(ValueError, match="k counts from 1"):
        ndcg_at_k(found, 0)
    with pytest.raises(ValueError, match="not the texts"):
        reach_within_tokens(found, ["a"], 9)
