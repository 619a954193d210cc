"""The worked numbers of the explanations are what the code gives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ragassay.estimate import (
    RowScores,
    adjusted_pvalues,
    compare,
    gap_share,
    lower_median,
    missing_bounds,
    rank_intervals,
    row_interval,
)
from ragassay.estimate.window import ScoredRun

EXPLAIN = Path(__file__).resolve().parents[3] / "docs" / "explain"
SIXTY = [100] * 37 + [50] * 15 + [0] * 8


def page(name: str) -> str:
    """Return the text of a page as one line."""
    return " ".join((EXPLAIN / f"{name}.md").read_text(encoding="utf-8").split())


def row(name: str, *passes: Sequence[int | None]) -> RowScores:
    """Return a row whose questions are 01, 02, …."""
    return RowScores(name=name, passes=tuple({f"{i:02}": s for i, s in enumerate(p, 1)} for p in passes))


def short(value: float | None, places: int = 4) -> str:
    """Write a number as the pages do: rounded, without a leading zero, a real minus sign."""
    assert value is not None
    return f"{value:.{places}f}".replace("0.", ".", 1).replace("-", "−")


def test_lower_median_page() -> None:
    """The four runs of the example show .7550 of r1."""
    runs = [ScoredRun(run=f"r{i}", num=n, den=6000, time=i) for i, n in enumerate((4530, 4590, 4500, 4560), 1)]
    assert f"shows {short(lower_median(runs).num / 6000)}, the score of run {lower_median(runs).run}" in page(
        "lower-median-and-window"
    )


@pytest.mark.parametrize(
    ("scores", "documents"), [([100, 100, 100, 0], False), (SIXTY, False), (SIXTY, True)], ids=["4", "60", "clustered"]
)
def test_wilson_page(scores: list[int], documents: bool) -> None:
    """Each interval of the page is computed."""
    means = row("r", scores).means()
    found = row_interval(means, {q: str((int(q) - 1) // 3) for q in means} if documents else None)
    assert found is not None
    assert f"[{short(found.low)}, {short(found.high)}]" in page("wilson-interval")


def test_wilson_page_corners() -> None:
    """Sixty of sixty and none of 24 are computed."""
    right, wrong = row_interval(row("r", [100] * 60).means()), row_interval(row("r", [0] * 24).means())
    assert right is not None
    assert wrong is not None
    assert f"[{short(right.low)}, 1], and 24 wrong ones give [0, {short(wrong.high)}]" in page("wilson-interval")


def test_paired_page() -> None:
    """Difference, interval, p and deciding questions of the twelve-question example are computed."""
    hybrid = row("hybrid", [100, 100, 100, 50, 100, 100, 75, 100, 100, 100, 0, 100])
    found = compare(hybrid, row("dense", [100, 50, 75, 50, 0, 100, 25, 50, 100, 0, 25, 50]), seed=1)
    text = page("paired-comparison")
    assert found.interval is not None
    assert f"wins {found.wins} questions, ties {found.ties} and loses {found.losses}" in text
    assert f"mean difference is {short(found.difference)}" in text
    assert f"Here it is [{short(found.interval.low)}, {short(found.interval.high)}]" in text
    assert f"Here {round((found.p or 0) * 256)} of 256 are as extreme, so p = {short(found.p)}" in text
    assert found.deciding == ("05", "10", "02", "07", "08", "12", "03", "11")


def test_paired_page_repeatability() -> None:
    """The six-question example of both intervals is computed."""
    a = row("a", [100, 80, 60, 40, 100, 0], [100, 60, 60, 40, 80, 0], [100, 70, 60, 50, 90, 0])
    b = row("b", [90, 60, 50, 40, 50, 0], [80, 60, 60, 20, 60, 0], [100, 60, 40, 30, 40, 0])
    found = compare(a, b, seed=1)
    assert found.interval is not None
    assert found.repeatability is not None
    text = page("paired-comparison")
    for span in (found.interval, found.repeatability):
        assert f"[{short(span.low)}, {short(span.high)}]" in text
    assert f"difference of {short(found.difference)}" in text


def test_detectable_page() -> None:
    """Both examples of the minimum detectable difference are computed."""
    text = page("minimum-detectable-difference")
    found = compare(row("a", [50, 50, 0, 0]), row("b", [0] * 4), seed=1)
    assert f"= {short(found.mde)}" in text
    assert f"printed as {found.questions_needed}" in text
    lucky = compare(row("a", [100] * 8 + [0] * 8), row("b", [0] * 8 + [100] + [0] * 7), seed=1)
    assert f"{short(lucky.difference)}, a minimum detectable difference of {short(lucky.mde)} and p" in text
    for note in (found.power_note, lucky.power_note):
        assert (note or "?").lower() in text.lower()


def test_gap_page() -> None:
    """The share of the sixty-question example is computed; its bounds are rounded to three places."""
    three = row("r", SIXTY), row("c", [100] * 3 + [50] * 3 + [0] * 54), row("o", [100] * 54 + [50] * 4 + [0] * 2)
    found = gap_share(*three, seed=1)
    assert (
        f"= {short(found.share)} of the gap, with the 95 % interval [{short(found.low, 3)}, {short(found.high, 3)}]"
        in (page("share-of-the-gap"))
    )


def test_missing_page() -> None:
    """Bounds, and the p at the worst bound, are computed."""
    text = page("missing-items")
    bounds = missing_bounds([{"a": 100, "b": 50, "c": None, "d": None}])
    assert bounds is not None
    assert f"bounds {short(bounds.worst, 3)} and {short(bounds.best, 3)}" in text
    one, two = (compare(row("a", [100] * 8 + [None] * k), row("b", [0] * 8 + [100] * k), seed=1) for k in (1, 2))
    assert f"p = {short(one.bound_p)} at the worst bound, {short(one.p)} without it" in text
    assert f"but with p = {short(two.bound_p)}" in text
    assert (one.depends_on_missing, two.depends_on_missing) == (False, True)


def test_rank_page() -> None:
    """The rank intervals of both examples are computed."""
    text = page("holm-and-rank-intervals")
    for rights, names in (((20, 18, 2), ("top", "near", "far")), ((20, 15, 10), ("a", "b", "c"))):
        rows = [row(name, [100] * right + [0] * (20 - right)) for name, right in zip(names, rights, strict=True)]
        comparisons = [compare(x, y, seed=1) for i, x in enumerate(rows) for y in rows[i + 1 :]]
        found = rank_intervals(names, comparisons)
        first, second, third = (f"{r.first}–{r.last}" for r in found.values())
        assert f"rank intervals are {first}, {second} and {third}" in text
        assert all(short(p).rstrip("0") in text for p in adjusted_pvalues(names, comparisons).values())
