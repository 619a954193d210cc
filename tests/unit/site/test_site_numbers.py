"""Numbers are written in one form, exactly."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.site.bar import bar
from ragassay.site.numbers import bracket, decimal6, exact, money, pvalue, short, shown, signed
from ragassay.site.record import Interval, Ratio


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        ("0.732", 3, ".732"),
        ("0.7325", 3, ".733"),
        ("1", 3, "1.000"),
        ("0", 3, ".000"),
        ("-0.12", 2, "−.12"),
        ("-0.0004", 3, ".000"),
        (None, 3, "–"),
    ],
)
def test_one_form(value: str | None, places: int, text: str) -> None:
    """Scores have no leading zero, a real minus, half-up rounding, and a dash where they are unknown."""
    assert shown(value, places) == text


def test_a_score_is_rounded_once_from_its_integers() -> None:
    """4406.94/6000 is .734, although its four-place decimal .7345 would round to .735."""
    assert exact(Ratio(num=440694, den=600000, decimal="0.7345")) == ".734"


@pytest.mark.parametrize(
    ("p", "text"),
    [
        ("0.000100", "< .001"),
        ("0.000999", "< .001"),
        ("0.001000", ".001"),
        ("0.031250", ".031"),
        ("0.050000", ".050"),
        ("0.050400", ".0504"),
        ("0.049600", ".0496"),
        ("0.050001", ".050001"),
        ("1.000000", "1.000"),
        (None, "–"),
    ],
)
def test_a_p_value_is_never_zero_and_its_side_of_the_level_is_seen(p: str | None, text: str) -> None:
    """The smallest p of 9,999 draws is 1/10,000; three decimals would print it as .000, and .0504 as .050."""
    assert pvalue(p) == text


def test_differences_and_intervals() -> None:
    """A difference carries its sign, an interval its brackets."""
    assert [signed("0.008"), signed("-0.46"), signed("0")] == ["+.008", "−.460", ".000"]
    assert bracket(Interval(low="0.05", high="0.19"), 2) == "[.05, .19]"
    assert bracket(None) == ""


def test_money_and_counts() -> None:
    """Unknown money is a dash and never $0; small sums keep four decimals."""
    assert [money(None), money(0), money(1_230), money(12_300_000)] == ["–", "$0.00", "$0.0012", "$12.30"]
    assert [short(None), short(940), short(5_400), short(54_000), short(1_200_000)] == [
        "–",
        "940",
        "5.4k",
        "54k",
        "1.2M",
    ]


@given(st.floats(-1, 1, allow_nan=False))
def test_estimates_become_decimal_strings(value: float) -> None:
    """Six places never move a value by more than half of the last, and there is no negative zero."""
    text = decimal6(value)
    assert abs(Decimal(text) - Decimal(value)) <= Decimal("0.000001")
    assert text != "-0.000000"


@given(st.tuples(*[st.integers(0, 1000)] * 3).map(sorted), st.integers(10, 60))
def test_bar_fills_its_cells_and_keeps_its_order(figures: list[int], width: int) -> None:
    """A bar takes exactly its cells, and full cells, ├, ┼ and ┤ stand in that order."""
    low, score, high = (str(Decimal(f) / 1000) for f in figures)
    drawn = bar(score, low, high, width)
    assert len(drawn) == width
    assert drawn.strip(" ") == "" or "".join(sorted(drawn.rstrip(), key="█├─┼┤".index)).startswith(
        "█" * drawn.count("█")
    )
    assert drawn.lstrip("█")[:1] in ("├", "┼")


@pytest.mark.parametrize(
    ("score", "drawn"), [("0.9", "████├─┤  ┼"), ("0.1", "█┼██├─┤   "), ("0.55", "████├┼┤   "), ("0.4", "████├─┤   ")]
)
def test_a_score_outside_its_interval_is_drawn_outside(score: str, drawn: str) -> None:
    """A lower median can lie beyond the interval of the mean; the mark stands where the score is."""
    assert bar(score, "0.4", "0.65", 10) == drawn


def test_bar_without_an_interval_is_in_eighths() -> None:
    """Half of ten cells is five full ones; one sixteenth of ten is five eighths of a cell; unknown is empty."""
    assert bar("0.5", None, None, 10) == "█████     "
    assert bar("0.0625", None, None, 10) == "▋         "
    assert bar(None, None, None, 4) == "    "
