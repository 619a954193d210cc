"""Agreement on levels: table, weighted kappa, AC2, positive agreement."""

from __future__ import annotations

import pytest

from ragassay.errors import InputError
from ragassay.estimate import (
    Undefined,
    contingency,
    gwet_ac2,
    positive_agreement,
    quadratic_weighted_kappa,
)

A = [0, 0, 0, 50, 100]
B = [0, 0, 50, 50, 100]


def test_worked_case_table() -> None:
    """Rows are the first rater, columns the second, and unused levels keep their place."""
    table = contingency(A, B)
    assert table.levels == (0, 25, 50, 75, 100)
    assert table.counts == ((2, 0, 1, 0, 0), (0,) * 5, (0, 0, 1, 0, 0), (0,) * 5, (0, 0, 0, 0, 1))
    assert (table.first, table.second, table.n, table.diagonal) == ((3, 0, 1, 0, 1), (2, 0, 2, 0, 1), 5, 4)


def test_worked_case_kappa() -> None:
    """One pair is two levels apart: observed 4, by chance 124/5 = 24.8, so 1 - 4/24.8 = .8387."""
    assert quadratic_weighted_kappa(A, B) == pytest.approx(1 - 4 / 24.8, abs=1e-12)


def test_worked_case_ac2() -> None:
    """Observed .95; chance 18.75/20 · (.25 + .21 + .16) = .58125; (.95 - .58125)/.41875 = .8806."""
    assert gwet_ac2(A, B) == pytest.approx((0.95 - 0.58125) / 0.41875, abs=1e-12)
    assert f"{gwet_ac2(A, B):.4f}" == "0.8806"


def test_labels_are_fixed() -> None:
    """A level that nobody used still keeps its neighbours apart: 0 and 100 alone are four steps, not one."""
    a, b = [0, 0, 100, 100, 50], [0, 100, 100, 100, 50]
    used = (0, 50, 100)
    assert quadratic_weighted_kappa(a, b) == quadratic_weighted_kappa(a, b, used)
    assert gwet_ac2(a, b) != gwet_ac2(a, b, used)


def test_perfect_and_opposite() -> None:
    """The same ratings give 1 and mirrored ones -1 in kappa."""
    a = [0, 25, 50, 75, 100]
    assert (quadratic_weighted_kappa(a, a), gwet_ac2(a, a)) == (1.0, 1.0)
    assert quadratic_weighted_kappa(a, a[::-1]) == -1.0


def test_kappa_misleads_where_one_level_is_common_and_ac2_does_not() -> None:
    """95 % the same level and 94 % exact: kappa is near 0, AC2 above .9."""
    a = [100] * 94 + [100] * 3 + [75] * 3
    b = [100] * 94 + [75] * 3 + [100] * 3
    kappa, ac2 = quadratic_weighted_kappa(a, b), gwet_ac2(a, b)
    assert not isinstance(kappa, Undefined)
    assert not isinstance(ac2, Undefined)
    assert -0.05 < kappa < 0
    assert ac2 > 0.99


def test_a_rater_of_one_level_is_undefined_though_the_hundredths_vary() -> None:
    """98, 99 and 100 are one level: nothing is corrected for chance."""
    for value in (quadratic_weighted_kappa([98, 99, 100], [0, 50, 100]), gwet_ac2([98, 99, 100], [0, 50, 100])):
        assert isinstance(value, Undefined)
        assert value.reason.startswith("the first rater gave every item the same level")


def test_positive_agreement_by_hand() -> None:
    """On 50 and more: both twice, the first alone never, the second once: 4/5."""
    assert positive_agreement(A, B, [50, 75, 100]) == 0.8
    assert positive_agreement(A, B, [0]) == 0.8


def test_positive_agreement_of_a_level_that_nobody_gave() -> None:
    """There is nothing to agree on: no number."""
    found = positive_agreement(A, B, [25, 75])
    assert isinstance(found, Undefined)
    assert found.reason == "nobody gave 25, 75"
    assert isinstance(positive_agreement([], [], [25]), Undefined)


@pytest.mark.parametrize("positive", [[], [33], [0, 101]])
def test_positive_levels_are_levels(positive: list[int]) -> None:
    """No level, or one that does not exist, is refused."""
    with pytest.raises(InputError, match="positive levels are some of"):
        positive_agreement(A, B, positive)


@pytest.mark.parametrize("levels", [[], [50], [0, 0, 100], [100, 0], [0, 101], [0.0, 0.5]])
def test_levels_that_are_none_are_refused(levels: list[int]) -> None:
    """Levels rise, are at least two, and are hundredths."""
    with pytest.raises(InputError, match="levels are two or more rising integers"):
        contingency(A, B, levels)
