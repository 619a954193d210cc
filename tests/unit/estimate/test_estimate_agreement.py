"""Two raters: Spearman with its interval, differences, and all measures together."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pytest

from ragassay.errors import InputError
from ragassay.estimate import (
    Agreement,
    Correlation,
    Undefined,
    agreement,
    exact_agreement,
    gwet_ac2,
    krippendorff_alpha,
    mean_absolute_error,
    mean_signed_difference,
    nearest_level,
    paired,
    same_sign_under,
    spearman,
)
from ragassay.estimate.ratings import LEVELS, Ratings
from ragassay.records import to_json

A: Ratings = [0, 0, 0, 50, 100]
B: Ratings = [0, 0, 50, 50, 100]


def rho(a: Ratings, b: Ratings) -> Correlation:
    """Return a correlation that is defined."""
    found = spearman(a, b)
    assert isinstance(found, Correlation)
    return found


def reason(value: object) -> str:
    """Return why a value is undefined."""
    assert isinstance(value, Undefined)
    return value.reason


def short(value: float | Undefined | None, places: int = 4) -> str:
    """Write a number as the pages do: rounded, without a leading zero, a real minus sign."""
    assert isinstance(value, float)
    return f"{value:.{places}f}".replace("0.", ".", 1).replace("-", "−")


def test_worked_case_rho() -> None:
    """Ranks 2, 2, 2, 4, 5 and 1.5, 1.5, 3.5, 3.5, 5 give 7/√(8·9) = .8250."""
    assert rho(A, B).rho == pytest.approx(7 / math.sqrt(72), abs=1e-12)


def test_the_shortcut_is_not_used() -> None:
    """With d = .5, .5, -1.5, .5, 0 the shortcut 1 - 6Σd²/(n³ - n) gives .85, and ρ is .8250."""
    shortcut = 1 - 6 * (0.25 * 3 + 2.25) / (125 - 5)
    assert shortcut == 0.85
    assert f"{rho(A, B).rho:.4f}" == "0.8250"


def test_worked_case_interval() -> None:
    """atanh ρ = 1.1721, half width 1.96·√(1.340278/2) = 1.6045: from tanh(-.4324) to tanh(2.7766)."""
    found = rho(A, B)
    half = 1.96 * math.sqrt((1 + 49 / 72 / 2) / 2)
    middle = 0.5 * math.log((math.sqrt(72) + 7) / (math.sqrt(72) - 7))
    assert half == pytest.approx(1.604495, abs=1e-6)
    assert found.lower == pytest.approx(math.tanh(middle - half), abs=1e-12)
    assert found.upper == pytest.approx(math.tanh(middle + half), abs=1e-12)
    assert (round(found.lower or 0, 4), round(found.upper or 0, 4)) == (-0.4073, 0.9923)


@pytest.mark.parametrize("n", [2, 3])
def test_fewer_than_four_items_have_no_interval(n: int) -> None:
    """n - 3 is the divisor: with two or three items there is ρ and no interval."""
    found = rho([0, 50, 25][:n], [0, 75, 100][:n])
    assert (found.lower, found.upper, found.n) == (None, None, n)
    assert found.note == "fewer than 4 items: no interval"


def test_four_items_have_an_interval() -> None:
    """With four items that are not in perfect order there is one, and it holds ρ."""
    found = rho([0, 25, 50, 100], [0, 50, 25, 100])
    assert found.rho == 0.8
    assert found.lower is not None
    assert found.upper is not None
    assert -1 < found.lower < 0.8 < found.upper < 1


@pytest.mark.parametrize(("b", "expected"), [([1, 2, 3, 40, 99], 1.0), ([99, 40, 3, 2, 1], -1.0)])
def test_perfect_order_is_no_certainty(b: list[int], expected: float) -> None:
    """At ρ = ±1 the formula's interval has no width: none is given, and the note says so."""
    found = rho([0, 25, 50, 75, 100], b)
    assert (found.rho, found.lower, found.upper) == (expected, None, None)
    assert "no certainty" in (found.note or "")


@pytest.mark.parametrize(
    ("a", "b", "who"),
    [
        ([100] * 5, A, "the first rater"),
        (A, [100] * 5, "the second rater"),
        ([0] * 5, [0] * 5, "both raters"),
        ([0] * 5, [100] * 5, "both raters"),
        ([50], [50], "both raters"),
    ],
)
def test_a_constant_rater_is_undefined(a: list[int], b: list[int], who: str) -> None:
    """A rater who never varied has no ρ, no kappa and no AC2: neither 0 nor 1, and the reason says who it is."""
    found = agreement(a, b)
    for value in (found.spearman, found.qwk, *([found.skew.ac2] if found.skew else [])):
        assert reason(value).startswith(who)


def test_the_remaining_numbers_of_a_constant_rater_stand() -> None:
    """Bias, MAE, exact agreement and the table need no variation."""
    found = agreement([100] * 5, A)
    assert (found.bias, found.mae, found.exact, found.table.diagonal) == (0.7, 0.7, 0.2, 1)


def test_differences_by_hand() -> None:
    """-50 on one of five items: bias -.1, MAE .1, four of five exact."""
    assert mean_signed_difference(A, B) == -0.1
    assert mean_absolute_error(A, B) == 0.1
    assert exact_agreement(A, B) == 0.8


def test_a_bias_of_opposite_errors_is_nothing_and_the_mae_is_not() -> None:
    """+25 and -25 cancel in the bias alone."""
    assert mean_signed_difference([25, 50], [50, 25]) == 0.0
    assert mean_absolute_error([25, 50], [50, 25]) == 0.25


def test_an_absent_score_enters_nothing() -> None:
    """Items without a score from both are counted and leave every number as it is: absent is not zero."""
    holed = agreement([*A, None, 100, None], [*B, 100, None, None])
    whole = agreement(A, B)
    assert (holed.n, holed.left_out) == (5, 3)
    assert msgspec.structs.replace(holed, left_out=0) == whole


@pytest.mark.parametrize(("a", "b"), [([], []), ([None, 50], [50, None])])
def test_nothing_in_common_is_no_number(a: list[int | None], b: list[int | None]) -> None:
    """Without an item that both scored, every number is undefined and the table is empty."""
    found = agreement(a, b)
    assert (found.n, found.table.n, found.skew) == (0, 0, None)
    for value in (found.spearman, found.qwk, found.bias, found.mae, found.exact, found.exact_hundredths):
        assert reason(value) == "no item has a score from both"


@pytest.mark.parametrize(
    ("score", "level"),
    [(0, 0), (12, 0), (13, 25), (33, 25), (37, 25), (38, 50), (50, 50), (62, 50), (63, 75), (67, 75), (88, 100)],
)
def test_a_score_between_levels_goes_to_the_nearest(score: int, level: int) -> None:
    """33 of a question with three claims is .25 where levels are needed, 67 is .75."""
    assert nearest_level(score) == level


def test_a_tie_between_levels_goes_up() -> None:
    """Half up: on the levels 0, 50, 100 a 25 is 50 and a 75 is 100."""
    assert [nearest_level(score, (0, 50, 100)) for score in (24, 25, 74, 75)] == [0, 50, 50, 100]


def test_rounding_is_declared_and_reaches_no_measure_of_hundredths() -> None:
    """33 against 25 is exact on the levels, .08 apart in hundredths, and counted as rounded."""
    found = agreement([33, 0, 67, 100], [25, 0, 75, 100])
    assert (found.exact, found.exact_hundredths, found.rounded, found.qwk) == (1.0, 0.5, 2, 1.0)
    assert (found.mae, found.bias) == (0.04, 0.0)


def test_seven_in_ten_alike_is_not_yet_skew() -> None:
    """Exactly 70 % of the ratings on one level bring no AC2; one more does."""
    a = [100] * 7 + [0, 0, 50]
    assert agreement(a, a).skew is None
    skew = agreement([*a[:-1], 100], a).skew
    assert skew is not None
    assert (skew.level, skew.ratings) == (100, 15)


def test_skew_by_hand() -> None:
    """Of 40 ratings 35 are 100: five leave it, four of them in pairs, so positive agreement is 2·2/5 = .8.

    Common level: 2·17/35. AC2: observed 19/20 = .95, as one pair is 0 against 100; π = 3/40 (0), 2/40 (50), 35/40,
    so Σπ(1 - π) = (3·37 + 2·38 + 35·5)/1600 = .22625, times 18.75/20 = .212109.
    """
    a = [100] * 17 + [0, 50, 0]
    b = [100] * 17 + [0, 50, 100]
    skew = agreement(a, b).skew
    assert skew is not None
    assert (skew.level, skew.ratings) == (100, 35)
    assert skew.positive == 0.8
    assert skew.negative == pytest.approx(34 / 35)
    assert skew.ac2 == pytest.approx((0.95 - 0.212109375) / (1 - 0.212109375))


@pytest.mark.parametrize("bad", [101, -1, 0.5, True, "50", float("nan")])
def test_a_score_that_is_no_hundredths_is_refused_with_its_place(bad: object) -> None:
    """Fractions, NaN, text and truth values are no scores; the message names rater and item."""
    with pytest.raises(InputError, match="rater 2, item 3"):
        agreement([0, 50, 100], [0, 50, bad])  # type: ignore[list-item]


def test_raters_of_different_length_are_refused() -> None:
    """Item by item means the same items: a shorter list is no list with missing scores."""
    with pytest.raises(InputError, match=r"\[3, 2\] items: pass None"):
        spearman([0, 50, 100], [0, 50])


def test_mappings_are_paired_by_item() -> None:
    """Every item that either rater names is in both lists once, None where one has no score."""
    assert paired({"q1": 100, "q2": None}, {"q2": 50, "q3": 0}) == ([100, None, None], [None, 50, 0])


def test_an_agreement_is_written_and_read_back() -> None:
    """Numbers and reasons survive JSON, also where both may stand."""
    for found in (agreement(A, B), agreement([100] * 5, A), agreement([], [])):
        assert msgspec.convert(msgspec.json.decode(msgspec.json.encode(to_json(found))), Agreement) == found


def test_levels_are_the_five() -> None:
    """The fixed labels are 0, .25, .5, .75 and 1."""
    assert LEVELS == (0, 25, 50, 75, 100)


def test_same_sign_under_every_judge() -> None:
    """A lead needs every judge that scored both rows; one that did not is silent, and 0 is no sign."""
    found = same_sign_under(0.1, {"strict": 0.01, "half": None, "literal": 0.3})
    assert (found.holds, found.agreeing, found.silent) == (True, ("strict", "literal"), ("half",))
    assert same_sign_under(-0.1, {"strict": -0.2}).holds
    for other in (-0.001, 0.0):
        refused = same_sign_under(0.1, {"strict": 0.2, "other": other})
        assert (refused.holds, refused.against) == (False, ("other",))


@pytest.mark.parametrize("difference", [None, 0.0])
def test_without_a_difference_there_is_no_sign_to_share(difference: float | None) -> None:
    """No judge can confirm a difference that is absent or 0."""
    assert not same_sign_under(difference, {}).holds
    assert not same_sign_under(difference, {"other": 0.2}).holds
    assert same_sign_under(0.1, {}).holds


def test_every_number_of_the_page_is_computed() -> None:
    """The worked cases of the page on agreement are what the code gives."""
    path = Path(__file__).resolve().parents[3] / "docs" / "explain" / "agreement-measures.md"
    text = " ".join(path.read_text(encoding="utf-8").split())
    found, correlation = agreement(A, B), rho(A, B)
    assert f"ρ = 7/√(8·9) = {short(correlation.rho)}" in text
    assert f"[{short(correlation.lower)}, {short(correlation.upper)}]" in text
    assert f"1 − 4/24.8 = {short(found.qwk)}" in text
    assert f"/(1 − .58125) = {short(gwet_ac2(A, B))}" in text
    assert f"bias {short(found.bias, 1)}, MAE {short(found.mae, 1)}, exact agreement {short(found.exact, 1)}" in text
    skew = agreement([100] * 17 + [50, 0, 0], [100] * 17 + [50, 0, 100]).skew
    assert skew is not None
    assert f"2·2/5 = {short(skew.positive, 1)}, negative agreement 34/35 = {short(skew.negative)}" in text
    three: list[Ratings] = [[0, 25, 100, None], [0, 25, 75, 50], [0, 50, None, None]]
    assert f"1 − 1,250·7/79,375 = {short(krippendorff_alpha(three, 'interval'))} (interval)" in text
    assert f"1 − 3.25·7/316 = {short(krippendorff_alpha(three, 'ordinal'))}" in text
