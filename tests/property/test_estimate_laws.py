"""Laws of the estimates on arbitrary scores: finite or absent, mirrored, and blind to order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.estimate import (
    RowScores,
    ScoredRun,
    adjusted_pvalues,
    compare,
    competition_ranks,
    gap_share,
    holm,
    lower_median,
    missing_bounds,
    rank_intervals,
    row_interval,
    saturation,
    window_range,
)
from ragassay.records import to_json

IDS = [f"q{i}" for i in range(20)]
SCORES = st.one_of(st.none(), st.sampled_from([0, 100]), st.integers(0, 100))
PASSES = st.lists(st.dictionaries(st.sampled_from(IDS), SCORES, max_size=20), max_size=4).map(tuple)
DOCUMENTS = st.one_of(st.none(), st.dictionaries(st.sampled_from(IDS), st.sampled_from("ABC")))
MEANS = st.dictionaries(st.sampled_from(IDS), st.integers(0, 300).map(lambda x: x / 300))


def row(name: str, passes: tuple[Mapping[str, int | None], ...]) -> RowScores:
    """Return a row of these passes."""
    return RowScores(name=name, passes=passes)


def floats(value: Any) -> list[float]:
    """Return every float inside a JSON value."""
    if isinstance(value, float):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [x for member in value for x in floats(member)] if isinstance(value, list) else []


@settings(deadline=None, max_examples=200)
@given(PASSES, PASSES, PASSES, DOCUMENTS, st.integers(0, 2**64 - 1))
def test_every_number_is_finite_or_absent(
    a: tuple[Mapping[str, int | None], ...],
    b: tuple[Mapping[str, int | None], ...],
    c: tuple[Mapping[str, int | None], ...],
    documents: dict[str, str] | None,
    seed: int,
) -> None:
    """Whatever is missing, equal or alone: no NaN, no infinity, every probability and mean within its range."""
    rows = [row("a", a), row("b", b), row("c", c)]
    found = compare(rows[0], rows[1], seed=seed, documents=documents, draws=99)
    share = gap_share(*rows, seed=seed, documents=documents, draws=99)
    interval = row_interval(rows[0].means(), documents)
    results = [found, share, interval, missing_bounds(a)]
    assert all(math.isfinite(x) for result in results for x in floats(to_json(result)))
    assert found.p is None or 0 < found.p <= 1
    assert (found.difference is None) == (found.n == 0)
    assert found.wins + found.ties + found.losses == found.n == len(found.differences)
    assert found.interval is None or found.interval.low <= (found.difference or 0) <= found.interval.high
    assert (found.interval is None) <= (found.interval_note is not None)
    assert share.established == (share.share is not None)
    assert (share.low is None) == (share.high is None) == (share.note is not None)
    if interval is not None and interval.low is not None and interval.high is not None:
        assert 0 <= interval.low <= interval.mean <= interval.high <= 1
        assert interval.high - interval.low > 0


@settings(deadline=None, max_examples=100)
@given(PASSES, PASSES, DOCUMENTS)
def test_swapping_the_rows_only_changes_signs(
    a: tuple[Mapping[str, int | None], ...],
    b: tuple[Mapping[str, int | None], ...],
    documents: dict[str, str] | None,
) -> None:
    """compare(b, a) mirrors compare(a, b), including p, its draws and what depends on missing items."""
    forth = compare(row("a", a), row("b", b), seed=1, documents=documents, draws=99)
    back = compare(row("b", b), row("a", a), seed=1, documents=documents, draws=99)
    assert (forth.p, forth.mde, forth.bound_p, forth.deciding) == (back.p, back.mde, back.bound_p, back.deciding)
    assert (forth.wins, forth.ties, forth.losses) == (back.losses, back.ties, back.wins)
    assert forth.depends_on_missing == back.depends_on_missing
    if forth.difference is not None and back.difference is not None:
        assert forth.difference == -back.difference
    if forth.bounds is not None and back.bounds is not None:
        assert (forth.bounds.worst, forth.bounds.best) == (-back.bounds.best, -back.bounds.worst)


@settings(deadline=None, max_examples=50)
@given(PASSES, PASSES)
def test_order_of_questions_does_not_matter(
    a: tuple[Mapping[str, int | None], ...], b: tuple[Mapping[str, int | None], ...]
) -> None:
    """Reversed mappings give the same comparison to the last digit."""
    turned = tuple(dict(reversed(list(scores.items()))) for scores in a)
    assert compare(row("a", a), row("b", b), seed=1) == compare(row("a", turned), row("b", b), seed=1)


@given(MEANS)
def test_a_document_per_question_changes_nothing(means: dict[str, float]) -> None:
    """The clustered formulas with one question per document are the plain ones."""
    assert row_interval(means, {q: f"doc-{q}" for q in means}) == row_interval(means)


@settings(deadline=None, max_examples=100)
@given(PASSES)
def test_bounds_enclose_every_completion(passes: tuple[Mapping[str, int | None], ...]) -> None:
    """Filling what is missing with 0, 37 or 100 lands within the bounds."""
    found = missing_bounds(passes)
    ids = sorted({q for scores in passes for q in scores})
    if found is None:
        assert all(scores.get(q) is not None for scores in passes for q in ids)
        return
    for fill in (0, 37, 100):
        filled = [{q: fill if scores.get(q) is None else scores.get(q) for q in ids} for scores in passes]
        interval = row_interval(row("a", tuple(filled)).means())
        assert interval is not None
        assert found.worst - 1e-9 <= interval.mean <= found.best + 1e-9


@given(st.dictionaries(st.integers(0, 30), st.one_of(st.none(), st.floats(0, 1))))
def test_holm_never_helps(pvalues: dict[int, float | None]) -> None:
    """An adjusted p is at least the raw one, at most 1, ordered like the raw ones; absent stays absent."""
    found = holm(pvalues)
    assert found.keys() == pvalues.keys()
    tested = [(p, found[pair]) for pair, p in pvalues.items() if p is not None]
    assert all(found[pair] is None for pair, p in pvalues.items() if p is None)
    for p, adjusted in tested:
        assert adjusted is not None
        assert p - 1e-12 <= adjusted <= min(1.0, len(tested) * p) + 1e-12
    for (p, x), (q, y) in combinations(tested, 2):
        assert x is not None
        assert y is not None
        assert (p <= q) <= (x <= y)


RUNS = st.lists(
    st.tuples(st.integers(0, 60), st.sampled_from([60, 120, 600]), st.integers(0, 3)), min_size=1, max_size=9
).map(lambda rows: [ScoredRun(run=f"r{i}", num=n, den=d, time=t) for i, (n, d, t) in enumerate(rows)])


@given(RUNS, st.randoms(use_true_random=False))
def test_lower_median_is_a_run_with_half_below(runs: list[ScoredRun], shuffler: Any) -> None:
    """It is one of the runs, fewer than half lie below it, no more than half above, whatever their order."""
    found = lower_median(runs)
    value = Fraction(found.num, found.den)
    others = [Fraction(run.num, run.den) for run in runs]
    assert found in runs
    assert sum(x < value for x in others) <= (len(runs) - 1) // 2
    assert sum(x > value for x in others) <= len(runs) // 2
    low, high = window_range(runs)
    assert (Fraction(low.num, low.den), Fraction(high.num, high.den)) == (min(others), max(others))
    shuffled = list(runs)
    shuffler.shuffle(shuffled)
    assert lower_median(shuffled) == found


@given(RUNS)
def test_ranks_count_the_better_ones(runs: list[ScoredRun]) -> None:
    """A rank is one more than the number of strictly better runs."""
    values = [Fraction(run.num, run.den) for run in runs]
    assert competition_ranks(runs) == [1 + sum(other > value for other in values) for value in values]


@settings(deadline=None, max_examples=60)
@given(st.lists(PASSES, min_size=1, max_size=4))
def test_rank_intervals_agree_with_significance(rows: list[tuple[Mapping[str, int | None], ...]]) -> None:
    """Each interval is within 1..rows, and a significant pair stands in both rows' lists."""
    scored = [row(str(i), passes) for i, passes in enumerate(rows)]
    names = [r.name for r in scored]
    comparisons = [compare(x, y, seed=1, draws=99) for x, y in combinations(scored, 2)]
    found = rank_intervals(names, comparisons)
    adjusted = adjusted_pvalues(names, comparisons)
    assert all(1 <= r.first <= r.last <= len(rows) for r in found.values())
    for comparison in comparisons:
        p = adjusted[comparison.a, comparison.b]
        apart = p is not None and p <= 0.05 and bool(comparison.difference)
        a, b = found[comparison.a], found[comparison.b]
        assert apart == (b.row in a.above or b.row in a.below) == (a.row in b.above or a.row in b.below)


@given(st.lists(MEANS, max_size=4), MEANS)
def test_no_question_is_at_ceiling_and_floor(rows: list[dict[str, float]], control: dict[str, float]) -> None:
    """Flags exclude each other and exist only for questions that somebody scored."""
    for question, flags in saturation(rows, control).items():
        assert not (flags.ceiling and flags.floor)
        assert flags.question == question
        assert any(question in means for means in [*rows, control])


@pytest.mark.parametrize("n", [60, 2000])
def test_comparison_is_fast(n: int) -> None:
    """A comparison is bounded work: well under a second for 2,000 questions and 20 ms for 60 (CPU, best of three)."""
    from time import process_time

    rows = [
        row(name, tuple({f"q{i}": (i * step + shift) % 101 for i in range(n)} for shift in range(3)))
        for name, step in (("a", 37), ("b", 53))
    ]
    times = []
    for _ in range(3):
        start = process_time()
        compare(*rows, seed=1)
        times.append(process_time() - start)
    assert min(times) < (0.02 if n == 60 else 1.0)
