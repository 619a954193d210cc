"""Laws of the draw: even over rows, even over levels within a row, each answer once, only what was judged."""

from __future__ import annotations

from collections import Counter
from random import Random

import calibration_lab as lab
from hypothesis import given
from hypothesis import strategies as st

from ragassay.estimate.ratings import nearest_level
from ragassay.site.calibration.items import Item
from ragassay.site.calibration.sample import draw

ROWS = ("a", "b", "c")
SEEDS = st.text("0123456789", min_size=1, max_size=6)


@st.composite
def pools(draw_from: st.DrawFn) -> list[Item]:
    """Items that stand in one row each, at scores that need not be levels."""
    chosen = draw_from(st.lists(st.tuples(st.sampled_from(ROWS), st.integers(0, 100)), max_size=60))
    return [lab.item(n, {row: [score]}) for n, (row, score) in enumerate(chosen, 1)]


def stratum(item: Item) -> tuple[str, int]:
    """Return row and level of an item of one row."""
    score = item.seen[0].score
    assert score is not None
    return item.seen[0].row, nearest_level(score)


@given(pools(), st.integers(1, 70), SEEDS)
def test_the_sample_is_as_large_as_asked_or_as_there_is(items: list[Item], size: int, seed: str) -> None:
    """No answer comes twice, and none is left out while there is room."""
    drawn = draw(items, ROWS, size, seed)
    assert len(drawn) == len(set(drawn)) == min(size, len(items))
    assert set(drawn) <= {item.key for item in items}


@given(pools(), st.integers(1, 70), SEEDS)
def test_a_row_has_more_than_another_only_where_the_other_is_used_up(items: list[Item], size: int, seed: str) -> None:
    """Rows differ by one at most, unless the smaller one has no further answer; the same of levels within a row."""
    chosen = set(draw(items, ROWS, size, seed))
    strata = {item.key: stratum(item) for item in items}
    taken, there = Counter(strata[key] for key in chosen), Counter(strata.values())

    def even(taken: Counter[object], there: Counter[object]) -> None:
        for one in there:
            assert taken[one] == there[one] or taken[one] + 1 >= max(taken[other] for other in there)

    even(_by(taken, 0), _by(there, 0))
    for row in ROWS:
        inside = [Counter({s: n for s, n in counts.items() if s[0] == row}) for counts in (taken, there)]
        even(_by(inside[0], 1), _by(inside[1], 1))


def _by(counts: Counter[tuple[str, int]], part: int) -> Counter[object]:
    found: Counter[object] = Counter()
    for key, count in counts.items():
        found[key[part]] += count
    return found


@given(pools(), st.integers(1, 70), SEEDS, st.randoms(use_true_random=False))
def test_the_order_of_what_is_given_does_not_matter(items: list[Item], size: int, seed: str, random: Random) -> None:
    """Seed and answers settle the sample and its order."""
    shuffled = list(items)
    random.shuffle(shuffled)
    assert draw(shuffled, tuple(reversed(ROWS)), size, seed) == draw(items, ROWS, size, seed)


@given(pools(), st.integers(1, 30), SEEDS)
def test_a_larger_sample_holds_the_smaller_one(items: list[Item], size: int, seed: str) -> None:
    """Whoever asks for more answers later keeps those that were rated."""
    assert set(draw(items, ROWS, size, seed)) <= set(draw(items, ROWS, size + 7, seed))


def test_what_has_no_score_and_what_is_in_no_row_of_today_is_not_drawn() -> None:
    """An answer that the judge failed on is no level, above all not 0."""
    failed, old, judged = lab.item(1, {"a": [None]}), lab.item(2, {"gone": [100]}), lab.item(3, {"a": [0]})
    assert draw([failed, old, judged], ROWS, 10, "1") == (judged.key,)


def test_an_answer_that_several_rows_gave_is_drawn_once() -> None:
    """It counts for the row whose turn it was; the others go on with what they have."""
    shared = lab.item(1, {"a": [100], "b": [100], "c": [50]})
    own = [lab.item(n, {row: [100]}) for n, row in enumerate(ROWS, 2)]
    drawn = draw([shared, *own], ROWS, 10, "1")
    assert sorted(drawn) == sorted(item.key for item in (shared, *own))


def test_another_seed_draws_other_answers_in_another_order() -> None:
    """The seed shows."""
    items = [lab.item(n, {"a": [n % 101]}) for n in range(1, 60)]
    assert set(draw(items, ROWS, 20, "1")) != set(draw(items, ROWS, 20, "2"))
    assert draw(items, ROWS, 99, "1") != draw(items, ROWS, 99, "2")


def test_the_order_tells_nothing_of_row_and_level() -> None:
    """Half a sample that holds two rows alike holds both of them."""
    items = [lab.item(n, {"ab"[n % 2]: [100 if n % 2 else 0]}) for n in range(1, 81)]
    rows = {item.key: item.seen[0].row for item in items}
    first = Counter(rows[key] for key in draw(items, ROWS, 80, "5")[:40])
    assert min(first.values()) >= 10
