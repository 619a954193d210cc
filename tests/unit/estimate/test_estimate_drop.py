"""The rule of a check: a drop counts where both measures of a paired difference say so, and never otherwise."""

from __future__ import annotations

import math

import pytest

from ragassay.errors import InputError
from ragassay.estimate import Drop, drop
from ragassay.estimate.drop import fewest


def moved(*differences: float, allowed: float = 0.0, level: float = 0.95, pages: dict[str, str] | None = None) -> Drop:
    """Return the drop of a row whose questions moved by these amounts, from .5 each."""
    before = {f"q-{n:03d}": 0.5 for n in range(len(differences))}
    now = {f"q-{n:03d}": 0.5 + difference for n, difference in enumerate(differences)}
    return drop(now, before, allowed=allowed, level=level, seed=7, documents=pages)


def test_equal_rows_hold() -> None:
    """No difference on any question is no drop, though no spread can be estimated."""
    found = moved(*[0.0] * 20)
    assert (found.outcome, found.difference, found.interval) == ("held", 0.0, None)


def test_a_rise_holds() -> None:
    """A row that got better passes whatever its interval."""
    assert moved(*[0.5] * 3, *[0.0] * 20).outcome == "held"


def test_a_drop_of_exactly_what_is_allowed_holds() -> None:
    """The limit itself is allowed: six of sixty questions from 1 to 0 are a drop of .1."""
    before = {f"q-{n}": 1.0 for n in range(60)}
    now = {question: 0.0 if n < 6 else 1.0 for n, question in enumerate(before)}
    assert drop(now, before, allowed=0.1, seed=1).outcome == "held"
    assert drop(now, before, allowed=0.0999999, seed=1).outcome == "inconclusive"


def test_five_questions_that_fall_are_no_proof_and_six_are() -> None:
    """Five of sixty leave the t interval below 0 and the sign flips at .0625; six bring them to .03125."""
    five, six = moved(*[-0.5] * 5, *[0.0] * 55), moved(*[-0.5] * 6, *[0.0] * 54)
    assert five.interval is not None
    assert five.interval.high < 0
    assert (five.outcome, five.p, five.needed) == ("inconclusive", 0.0625, 88)
    assert "only 5 of 60 questions differ" in (five.note or "")
    assert (six.outcome, six.p) == ("dropped", 0.03125)


def test_the_whole_interval_has_to_lie_below_what_is_allowed() -> None:
    """Twelve of sixty questions fell by .5: surely more than nothing, not surely more than .05."""
    values = [*[-0.5] * 12, *[0.0] * 48]
    assert moved(*values).outcome == "dropped"
    half = moved(*values, allowed=0.05)
    assert half.interval is not None
    assert half.interval.low < -0.05 < half.interval.high < 0
    assert half.outcome == "inconclusive"
    spread = math.sqrt(sum((value + 0.1) ** 2 for value in values) / 59 / 60)
    assert half.needed == math.ceil(60 * ((1.959964 + 0.841621) * spread / 0.05) ** 2)


def test_a_row_that_lost_everything_fails_though_it_has_no_spread() -> None:
    """Every question from 1 to 0: no interval can be given, and no sign flip is rarer."""
    before = {f"q-{n}": 1.0 for n in range(30)}
    found = drop(dict.fromkeys(before, 0.0), before, allowed=0.5, seed=3)
    assert (found.outcome, found.interval) == ("dropped", None)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_few_questions_that_lost_everything_are_inconclusive(count: int) -> None:
    """A handful of questions can all fall by chance, and one has no spread at all."""
    before = {f"q-{n}": 1.0 for n in range(count)}
    found = drop(dict.fromkeys(before, 0.0), before, allowed=0.0, seed=3)
    assert found.outcome == "inconclusive"
    assert found.note


def test_questions_of_one_page_count_once() -> None:
    """Eight questions that fell and stand on one page are one thing that happened, not eight."""
    values = [*[-0.5] * 8, *[0.0] * 40]
    pages = {f"q-{n:03d}": "one.md" for n in range(8)}
    assert moved(*values).outcome == "dropped"
    found = moved(*values, pages=pages)
    assert (found.outcome, found.units) == ("inconclusive", 41)


def test_less_confidence_needs_fewer_questions() -> None:
    """At .9 five questions that fell are enough, at .99 seven are not; the interval follows."""
    five = moved(*[-0.5] * 5, *[0.0] * 55, level=0.9)
    assert five.outcome == "dropped"
    seven = moved(*[-0.5] * 7, *[0.0] * 53, level=0.99)
    assert seven.outcome == "inconclusive"
    assert [fewest(level) for level in (0.8, 0.9, 0.95, 0.99)] == [4, 5, 6, 8]
    ninety, usual = moved(-0.5, *[0.0] * 20, level=0.9).interval, moved(-0.5, *[0.0] * 20).interval
    assert ninety is not None
    assert usual is not None
    assert usual.low < ninety.low < ninety.high < usual.high


def test_only_common_questions_are_compared() -> None:
    """A question of one side alone changes nothing."""
    found = drop({"a": 0.0, "b": 1.0, "new": 0.0}, {"a": 0.0, "b": 1.0, "gone": 1.0}, allowed=0.0, seed=1)
    assert (found.outcome, found.n) == ("held", 2)


@pytest.mark.parametrize(
    ("now", "before", "allowed", "level"),
    [
        ({"a": 1.0}, {"b": 1.0}, 0.0, 0.95),
        ({}, {}, 0.0, 0.95),
        ({"a": 1.0}, {"a": 1.0}, -0.1, 0.95),
        ({"a": 1.0}, {"a": 1.0}, 1.0, 0.95),
        ({"a": 1.0}, {"a": 1.0}, 0.0, 0.4),
        ({"a": 1.0}, {"a": 1.0}, 0.0, 1.0),
        ({"a": math.nan}, {"a": 1.0}, 0.0, 0.95),
        ({"a": 1.5}, {"a": 1.0}, 0.0, 0.95),
    ],
)
def test_what_cannot_be_compared_is_refused(
    now: dict[str, float], before: dict[str, float], allowed: float, level: float
) -> None:
    """Nothing in common, a limit or a confidence out of range, and numbers that are no means are input errors."""
    with pytest.raises(InputError):
        drop(now, before, allowed=allowed, level=level, seed=1)
