"""Laws of the arithmetic: bounds, monotony, and agreement with exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import floor

from hypothesis import given
from hypothesis import strategies as st

from ragassay.records import ClaimVerdict, Verdict, VerdictWord
from ragassay.score import (
    EvidenceRanks,
    count_tokens,
    evidence_ranks,
    item_hundredths,
    ndcg_at_k,
    reach_at_k,
    reach_within_tokens,
    reciprocal_rank,
    run_score,
)

WORDS: st.SearchStrategy[VerdictWord] = st.sampled_from(["SUPPORTS", "HEDGES", "CONTRADICTS", "OMITS"])
WORTH = {"SUPPORTS": Fraction(1), "HEDGES": Fraction(1, 2), "CONTRADICTS": Fraction(0), "OMITS": Fraction(0)}
TEXTS = st.lists(st.sampled_from(["a b", "the fact.", "x the\nfact.", "", "c, d; e", "the fact. again"]), max_size=8)


def verdict(words: list[VerdictWord], contradicted: bool) -> Verdict:
    """Return a verdict with these classes."""
    claims = tuple(
        ClaimVerdict(id=n, text="", central=False, verdict=word, quote="", reason="") for n, word in enumerate(words, 1)
    )
    return Verdict(claims=claims, central_contradicted=contradicted)


@given(st.lists(WORDS, min_size=1, max_size=40), st.booleans())
def test_the_integer_formula_is_half_up(words: list[VerdictWord], contradicted: bool) -> None:
    """The score equals ⌊100·mean + 1/2⌋ of exact fractions, capped at 25 where the central claim is contradicted."""
    exact = floor(100 * sum((WORTH[word] for word in words), Fraction(0)) / len(words) + Fraction(1, 2))
    score = item_hundredths(verdict(words, contradicted))
    assert score == (min(exact, 25) if contradicted else exact)
    assert 0 <= score <= 100


@given(st.lists(WORDS, min_size=1, max_size=12), st.booleans(), st.data())
def test_a_better_class_never_lowers_a_score(words: list[VerdictWord], contradicted: bool, data: st.DataObject) -> None:
    """Turning one claim into a HEDGES or SUPPORTS cannot cost, nor does the order of claims matter."""
    at = data.draw(st.integers(0, len(words) - 1))
    scores = [
        item_hundredths(verdict([*words[:at], word, *words[at + 1 :]], contradicted))
        for word in ("OMITS", "HEDGES", "SUPPORTS")
    ]
    assert scores == sorted(scores)
    assert item_hundredths(verdict(words[::-1], contradicted)) == item_hundredths(verdict(words, contradicted))


@given(st.lists(st.one_of(st.none(), st.integers(0, 100)), max_size=60))
def test_a_missing_item_moves_no_mean(hundredths: list[int | None]) -> None:
    """A run's score is the exact mean of the scored items, whatever is missing, and its decimal is half-up."""
    score = run_score(hundredths)
    scored = [value for value in hundredths if value is not None]
    assert score == run_score(scored)
    if not scored:
        assert score is None
        return
    assert score is not None
    mean = Fraction(sum(scored), 100 * len(scored))
    assert Fraction(score.num, score.den) == mean
    assert Fraction(score.decimal) == Fraction(floor(mean * 10_000 + Fraction(1, 2)), 10_000)


@given(TEXTS, st.integers(1, 10))
def test_measures_stay_within_0_and_1(texts: list[str], k: int) -> None:
    """Reach, reciprocal rank and nDCG lie in 0..1 for any delivered texts, duplicates included."""
    found = evidence_ranks(("the fact",), texts)
    values = [reach_at_k(found, k), reciprocal_rank(found), ndcg_at_k(found, k)]
    assert all(value is not None and 0 <= value <= 1 for value in values)
    assert list(found.ranks) == sorted(set(found.ranks))
    assert not set(found.ranks) & set(found.duplicates)


@given(TEXTS, st.integers(1, 9), st.integers(0, 40))
def test_more_depth_or_budget_never_hurts(texts: list[str], k: int, budget: int) -> None:
    """Reach and nDCG rise with k, reach within tokens with the budget; the whole delivery is reach at its length."""
    found = evidence_ranks(("the fact",), texts)
    for measure in (reach_at_k, ndcg_at_k):
        small, large = measure(found, k), measure(found, k + 1)
        assert small is not None
        assert large is not None
        assert small <= large
    less, more = reach_within_tokens(found, texts, budget), reach_within_tokens(found, texts, budget + 1)
    assert less is not None
    assert more is not None
    assert less <= more
    whole = reach_within_tokens(found, texts, sum(map(count_tokens, texts)))
    assert whole == reach_at_k(found, max(1, len(texts)))


@given(st.integers(1, 50))
def test_an_earlier_rank_is_worth_more(rank: int) -> None:
    """Reciprocal rank and nDCG fall strictly with the first rank."""
    near, far = EvidenceRanks(state="exact", ranks=(rank,)), EvidenceRanks(state="exact", ranks=(rank + 1,))
    assert (reciprocal_rank(near) or 0) > (reciprocal_rank(far) or 0)
    assert (ndcg_at_k(near, 99) or 0) > (ndcg_at_k(far, 99) or 0)
