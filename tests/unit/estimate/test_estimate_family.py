"""Holm, rank intervals and leads."""

from __future__ import annotations

import pytest

from ragassay.errors import InputError
from ragassay.estimate import (
    Comparison,
    RowScores,
    adjusted_pvalues,
    compare,
    holm,
    leads,
    not_distinguished,
    rank_intervals,
)


def row(name: str, right: int, of: int = 20) -> RowScores:
    """Return a row that answers the first `right` of `of` questions."""
    return RowScores(name=name, passes=({f"q{i:02}": 100 if i < right else 0 for i in range(of)},))


def pairs(*rows: RowScores) -> list[Comparison]:
    """Return every pair's comparison."""
    return [compare(a, b, seed=1) for i, a in enumerate(rows) for b in rows[i + 1 :]]


def test_holm_by_hand() -> None:
    """.01, .04, .03, .005 of four: 4·.005 = .02, 3·.01 = .03, 2·.03 = .06, then .04 is lifted to .06."""
    found = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert found == {"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02}


def test_holm_stops_at_one_and_keeps_ties_equal() -> None:
    """Adjusted values never exceed 1, and equal p stay equal."""
    assert holm({"a": 0.5, "b": 0.5, "c": 0.9}) == {"a": 1.0, "b": 1.0, "c": 1.0}
    assert holm({"a": 0.02, "b": 0.02}) == {"a": 0.04, "b": 0.04}


def test_pair_without_p_stays_absent() -> None:
    """A pair that could not be tested is neither 0 nor 1, and does not enlarge the family."""
    assert holm({"a": 0.02, "b": None, "c": 0.5}) == {"a": 0.04, "b": None, "c": 0.5}
    assert holm({}) == {}


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_impossible_p_is_refused(p: float) -> None:
    """A p outside 0..1 is refused with its pair."""
    with pytest.raises(InputError, match="pair"):
        holm({"pair": p})


def test_rank_intervals_by_hand() -> None:
    """20, 18 and 2 of 20 right: the first two differ on 2 questions only, the third is below both."""
    rows = [row("top", 20), row("near", 18), row("far", 2)]
    found = rank_intervals(["top", "near", "far"], pairs(*rows))
    assert {name: (r.first, r.last) for name, r in found.items()} == {"top": (1, 2), "near": (1, 2), "far": (3, 3)}
    assert found["far"].above == ("top", "near")
    assert found["top"].below == ("far",)
    assert not_distinguished("top", ["top", "near", "far"], pairs(*rows)) == ["near"]


def test_not_distinguished_is_not_transitive() -> None:
    """20 and 15, 15 and 10 of 20 are not told apart, 20 and 10 are: no ties of ranks, an interval for each."""
    names = ["a", "b", "c"]
    comparisons = pairs(row("a", 20), row("b", 15), row("c", 10))
    found = rank_intervals(names, comparisons)
    assert {name: (r.first, r.last) for name, r in found.items()} == {"a": (1, 2), "b": (1, 3), "c": (2, 3)}


def test_control_and_oracle_do_not_enlarge_the_family() -> None:
    """Comparisons with rows outside the family are left out of Holm."""
    comparisons = pairs(row("a", 20), row("b", 14), row("control", 0), row("oracle", 20))
    assert adjusted_pvalues(["a", "b"], comparisons) == {("a", "b"): 2 / 2**6}
    found = rank_intervals(["a", "b"], comparisons)
    assert (found["a"].last, found["b"].first) == (1, 2)


def test_pair_without_comparison_separates_nothing() -> None:
    """Rows that were never compared can have any rank."""
    found = rank_intervals(["a", "b"], [])
    assert [(r.first, r.last) for r in found.values()] == [(1, 2), (1, 2)]


def test_double_counting_is_refused() -> None:
    """A pair compared twice, a row listed twice and an unknown first row are refused."""
    comparisons = pairs(row("a", 20), row("b", 14))
    with pytest.raises(InputError, match="compared once"):
        adjusted_pvalues(["a", "b"], comparisons * 2)
    with pytest.raises(InputError, match="stands twice"):
        rank_intervals(["a", "a"], comparisons)
    with pytest.raises(InputError, match="'c'"):
        not_distinguished("c", ["a", "b"], comparisons)


@pytest.mark.parametrize(
    ("difference", "p", "others", "badge"),
    [
        (0.1, 0.05, (), True),
        (0.1, 0.051, (), False),
        (-0.1, 0.01, (), False),
        (0.1, 0.01, (0.02, 0.1), True),
        (0.1, 0.01, (0.02, -0.01), False),
        (0.1, 0.01, (0.0,), False),
        (0.1, None, (), False),
        (None, None, (), False),
    ],
)
def test_leads_needs_holm_and_every_judge(
    difference: float | None, p: float | None, others: tuple[float, ...], badge: bool
) -> None:
    """The badge stands at Holm p ≤ .05 and one sign under all judges."""
    assert leads(difference, p, others) is badge
