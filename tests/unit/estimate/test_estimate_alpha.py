"""Krippendorff's α with several raters and missing ratings."""

from __future__ import annotations

import pytest

from ragassay.errors import InputError
from ragassay.estimate import Undefined, krippendorff_alpha
from ragassay.estimate.ratings import Ratings

THREE: list[Ratings] = [
    [0, 25, 100, None],
    [0, 25, 75, 50],
    [0, 50, None, None],
]


def test_interval_by_hand() -> None:
    """Items (0,0,0), (25,25,50), (100,75); the last has one rating and leaves.

    n = 8 ratings: 0 ×3, 25 ×2, 50, 75, 100. Observed over unordered pairs: 2·625/2 + 625/1 = 1250. Expected: all pairs,
    36,250 = 3·(2·625 + 2500 + 5625 + 10000) [58,125] + 2·(625 + 2500 + 5625) [17,500] + (625 + 2500 + 625) [3,750]
    = 79,375. α = 1 - 1250·7/79,375.
    """
    assert krippendorff_alpha(THREE, "interval") == pytest.approx(1 - 1250 * 7 / 79_375, abs=1e-12)


def test_ordinal_by_hand() -> None:
    """Distances count ratings between two values, both ends half: 0 to 25 is 3/2 + 2/2 = 2.5.

    Ratings 0 ×3, 25 ×2, 50, 75, 100 stand at 1.5, 4, 5.5, 6.5, 7.5 places. Observed: 2·1.5²/2 + 1² = 3.25. Expected:
    3·(2·2.5² + 4² + 5² + 6²) + 2·(1.5² + 2.5² + 3.5²) + (1 + 4 + 1) = 268.5 + 41.5 + 6 = 316. α = 1 - 3.25·7/316.
    """
    assert krippendorff_alpha(THREE, "ordinal") == pytest.approx(1 - 3.25 * 7 / 316, abs=1e-12)


def test_worked_case_of_two_raters() -> None:
    """A = 0,0,0,2,4 and B = 0,0,2,2,4: values 0 ×5, 2 ×3, 4 ×2; 1 - 4·9/(60 + 160 + 24) = .8525 (interval)."""
    a, b = [0, 0, 0, 50, 100], [0, 0, 50, 50, 100]
    assert krippendorff_alpha([a, b], "interval") == pytest.approx(1 - 4 * 9 / 244, abs=1e-12)


def test_ordinal_sees_places_and_interval_distances() -> None:
    """Moving 100 to 60 keeps every place and changes every distance."""
    near: list[Ratings] = [[0, 25, 60, None], [0, 25, 55, 50], [0, 50, None, None]]
    assert krippendorff_alpha(near, "ordinal") == krippendorff_alpha(THREE, "ordinal")
    assert krippendorff_alpha(near, "interval") != krippendorff_alpha(THREE, "interval")


def test_a_single_rating_changes_nothing() -> None:
    """An item with one rating cannot disagree; it also leaves the expected disagreement."""
    shorter = [ratings[:3] for ratings in THREE]
    for level in ("ordinal", "interval"):
        assert krippendorff_alpha(THREE, level) == krippendorff_alpha(shorter, level)


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        ([[], [], []], "no item was rated by two raters"),
        ([[0, None, None], [None, 50, None], [None, None, 100]], "no item was rated by two raters"),
        ([[100, 100], [100, 100], [100, None]], "every rating is the same"),
        ([[0, 50, 100], [50, 50, 50]], "fewer than two raters gave different scores"),
        ([[0, 50, 100], [50, 50, 50], [75, 75, 75]], "fewer than two raters gave different scores"),
    ],
)
def test_what_cannot_be_seen_is_undefined(ratings: list[Ratings], reason: str) -> None:
    """No common item, one value only, or fewer than two raters who vary: no number, never 0 or 1."""
    found = krippendorff_alpha(ratings, "interval")
    assert isinstance(found, Undefined)
    assert found.reason.startswith(reason)


def test_one_constant_rater_among_three_counts() -> None:
    """With two raters who vary, a third who does not lowers α and does not hide it."""
    a, b, c = [0, 25, 75, 100], [0, 25, 100, 100], [50, 50, 50, 50]
    two, three = krippendorff_alpha([a, b], "interval"), krippendorff_alpha([a, b, c], "interval")
    assert not isinstance(two, Undefined)
    assert not isinstance(three, Undefined)
    assert three < two


def test_raters_of_one_item_each_are_not_called_constant() -> None:
    """Many people who rated one or two items each have an α."""
    sparse: list[Ratings] = [[0, None], [25, None], [None, 100], [None, 75]]
    assert krippendorff_alpha(sparse, "interval") == pytest.approx(1 - 1250 * 3 / 25_000)


@pytest.mark.parametrize("ratings", [[], [[0, 50]]])
def test_fewer_than_two_raters_are_refused(ratings: list[Ratings]) -> None:
    """One rater has nobody to agree with."""
    with pytest.raises(InputError, match="two raters or more"):
        krippendorff_alpha(ratings, "ordinal")


def test_an_unknown_level_is_refused() -> None:
    """Only what is implemented is accepted."""
    with pytest.raises(InputError, match="ordinal or interval, not 'nominal'"):
        krippendorff_alpha([[0], [0]], "nominal")  # type: ignore[arg-type]
