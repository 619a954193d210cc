"""Laws of agreement, noise and variance components on arbitrary ratings; known components are recovered."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from ragassay.estimate import (
    Agreement,
    Components,
    Correlation,
    Noise,
    Undefined,
    agreement,
    calibration_gate,
    gwet_ac2,
    judge_noise,
    krippendorff_alpha,
    quadratic_weighted_kappa,
    spearman,
    variance_components,
)
from ragassay.estimate.balanced import Cell
from ragassay.records import JudgementRow, to_json

SCORE = st.one_of(st.sampled_from([0, 25, 50, 75, 100]), st.integers(0, 100))
MAYBE = st.one_of(st.none(), SCORE)
PAIRED = st.lists(st.tuples(MAYBE, MAYBE), max_size=40)
RATED = st.lists(st.tuples(SCORE, SCORE), min_size=2, max_size=40)
PANEL = st.integers(2, 5).flatmap(lambda raters: st.lists(st.tuples(*[MAYBE] * raters), max_size=15))

Pairs = list[tuple[int | None, int | None]]


def split(pairs: Pairs) -> tuple[list[int | None], list[int | None]]:
    """Return both raters."""
    return [a for a, _ in pairs], [b for _, b in pairs]


def numbers(value: Any) -> list[float]:
    """Return every float inside a JSON value."""
    if isinstance(value, float):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [x for member in value for x in numbers(member)] if isinstance(value, list) else []


@given(PAIRED)
def test_every_number_is_in_range_or_undefined(pairs: Pairs) -> None:
    """No NaN and nothing beyond its range; JSON gives the same back; the gate always says something."""
    found = agreement(*split(pairs))
    assert found.n + found.left_out == len(pairs)
    assert found.table.n == found.n
    assert all(math.isfinite(x) and -1 <= x <= 1 for x in numbers(to_json(found)))
    for share in (found.mae, found.exact, found.exact_hundredths):
        assert isinstance(share, Undefined) or 0 <= share <= 1
    assert msgspec.convert(msgspec.json.decode(msgspec.json.encode(to_json(found))), Agreement) == found
    assert calibration_gate(found).why


@given(PAIRED)
def test_swapping_the_raters_changes_the_sign_of_the_bias_and_nothing_else(pairs: Pairs) -> None:
    """Neither rater is the truth."""
    a, b = split(pairs)
    there, back = agreement(a, b), agreement(b, a)
    for name in ("n", "left_out", "rounded", "mae", "exact", "exact_hundredths"):
        assert getattr(there, name) == getattr(back, name)
    for one, other in ((there.spearman, back.spearman), (there.qwk, back.qwk), (gwet_ac2(a, b), gwet_ac2(b, a))):
        assert one == other or (isinstance(one, Undefined) and isinstance(other, Undefined))
    assert isinstance(there.bias, Undefined) or isinstance(back.bias, Undefined) or there.bias == -back.bias


@given(PAIRED, st.randoms(use_true_random=False))
def test_the_order_of_the_items_is_nothing(pairs: Pairs, shuffled: Any) -> None:
    """Agreement does not depend on which item comes first."""
    mixed = list(pairs)
    shuffled.shuffle(mixed)
    assert agreement(*split(mixed)) == agreement(*split(pairs))


@given(st.lists(SCORE, min_size=2, max_size=40))
def test_full_agreement_is_one_wherever_it_is_defined(scores: list[int]) -> None:
    """A rater against itself: 1 in every measure, or undefined where it never varied."""
    for value in (
        quadratic_weighted_kappa(scores, scores),
        gwet_ac2(scores, scores),
        krippendorff_alpha([scores, scores, scores], "ordinal"),
        krippendorff_alpha([scores, scores, scores], "interval"),
    ):
        assert isinstance(value, Undefined) or value == 1.0
    assert isinstance(spearman(scores, scores), Undefined) == (len(set(scores)) == 1)


@given(RATED)
def test_spearman_is_scipys(pairs: list[tuple[int, int]]) -> None:
    """ρ under ties is what scipy's spearmanr gives."""
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    assume(len(set(a)) > 1 and len(set(b)) > 1)
    found = spearman(a, b)
    assert isinstance(found, Correlation)
    assert found.rho == pytest.approx(float(spearmanr(a, b).statistic), abs=1e-9)
    if found.lower is not None and found.upper is not None:
        assert found.lower <= found.rho <= found.upper


@given(RATED)
def test_spearman_sees_only_the_order(pairs: list[tuple[int, int]]) -> None:
    """A rater who is harsher everywhere in the same order has the same ρ: bias must be read beside it."""
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    places = {score: place for place, score in enumerate(sorted(set(a)))}
    assert spearman([places[score] for score in a], b) == spearman(a, b)


@given(PANEL, st.sampled_from(["ordinal", "interval"]), st.randoms(use_true_random=False))
def test_alpha_is_blind_to_the_order_of_raters_and_items(items: Any, level: Any, shuffled: Any) -> None:
    """α at most 1, and the same for any order; an item that nobody rated changes nothing."""
    assume(items)
    mixed = [*items, (None,) * len(items[0])]
    shuffled.shuffle(mixed)
    raters = [list(rater) for rater in zip(*mixed, strict=True)]
    shuffled.shuffle(raters)
    found = krippendorff_alpha([list(rater) for rater in zip(*items, strict=True)], level)
    assert krippendorff_alpha(raters, level) == found
    assert isinstance(found, Undefined) or found <= 1


@given(st.dictionaries(st.integers(0, 30), st.tuples(MAYBE, MAYBE), max_size=20))
def test_noise_is_counted_in_full(pairs: dict[int, tuple[int | None, int | None]]) -> None:
    """n + lost = asked again; swapping both times changes the sign of the mean change and nothing else."""

    def lines(side: int) -> dict[int, JudgementRow]:
        return {
            item: JudgementRow(
                id=str(item),
                status="judge_failed" if scores[side] is None else "judged",
                claims=(),
                verdict=None,
                score=scores[side],
            )
            for item, scores in pairs.items()
        }

    there, back = judge_noise(lines(0), lines(1)), judge_noise(lines(1), lines(0))
    assert isinstance(there, Undefined) == (not any(None not in scores for scores in pairs.values()))
    if isinstance(there, Noise) and isinstance(back, Noise) and there.mean_change is not None:
        assert there.n + there.lost == len(pairs)
        assert back == msgspec.structs.replace(there, mean_change=-there.mean_change + 0.0)
        assert all(math.isfinite(x) for x in numbers(to_json(there)))


SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.integers(1, 2))


def cells(shape: tuple[int, int, int, int], scores: list[int | None]) -> dict[Cell, int | None]:
    """Return a crossing of this shape with these scores."""
    keys = [(f"q{q}", f"r{r}", p, f"j{j}") for q, r, p, j in np.ndindex(*shape)]
    return dict(zip(keys, scores, strict=True))


@settings(deadline=None)
@given(
    SHAPES.flatmap(
        lambda shape: st.tuples(st.just(shape), st.lists(MAYBE, min_size=math.prod(shape), max_size=math.prod(shape)))
    )
)
def test_components_are_finite_and_every_cell_is_accounted_for(case: Any) -> None:
    """Whatever is missing: kept + left out + missing cells make the crossing, and shares sum to 1 or are absent."""
    found = variance_components(cells(*case))
    if isinstance(found, Components):
        assert found.cells + found.left_out == sum(score is not None for score in case[1])
        shares = [c.share for c in found.components if c.share is not None]
        assert not shares or math.fsum(shares) == pytest.approx(1, abs=1e-9)
        assert all(c.variance >= 0 and c.negative == (c.estimate < 0) for c in found.components)
        assert msgspec.convert(msgspec.json.decode(msgspec.json.encode(to_json(found))), Components) == found


@given(st.lists(st.integers(0, 60), min_size=24, max_size=24), st.integers(1, 40))
def test_a_better_row_changes_the_row_component_alone(scores: list[int | None], more: int) -> None:
    """The same amount on every item of one row moves rows, and no interaction."""
    plain = cells((3, 2, 2, 2), scores)
    raised = {cell: (score or 0) + (more if cell[1] == "r0" else 0) for cell, score in plain.items()}
    before, after = variance_components(plain), variance_components(raised)
    assert isinstance(before, Components)
    assert isinstance(after, Components)
    for one, other in zip(before.components, after.components, strict=True):
        assert one.facets == ("row",) or one.estimate == other.estimate


TRUE = {"q": 8.0, "r": 3.0, "p": 0.0, "j": 3.0, "qr": 5.0, "qj": 2.0, "qrp": 3.0, "qrpj": 3.0}
"""Standard deviations of a known world, in hundredths; what is not named is 0."""
BOARDS = 150


def simulated(generator: np.random.Generator) -> dict[Cell, int | None]:
    """Return 20 questions × 4 rows × 3 passes × 2 judges around 50, rounded to hundredths."""
    shape = (20, 4, 3, 2)
    values = np.full(shape, 50.0)
    for name, spread in TRUE.items():
        values += generator.normal(
            0, spread, [n if facet in name else 1 for facet, n in zip("qrpj", shape, strict=True)]
        )
    return cells(shape, [int(score) for score in np.clip(np.rint(values), 0, 100).ravel()])


def test_known_components_are_recovered() -> None:
    """Over 150 simulated boards the mean of each estimate is within 4 standard errors of the truth, plus 1/12.

    1/12 squared hundredths is what rounding a score to a whole hundredth adds to the residual. The estimates below 0
    stay in the mean: set to 0 they would be biased upwards.
    """
    generator = np.random.default_rng(20_270_301)
    estimates: dict[str, list[float]] = {}
    for _ in range(BOARDS):
        found = variance_components(simulated(generator))
        assert isinstance(found, Components)
        for component in found.components:
            name = "".join(facet[0] for facet in component.facets)
            estimates.setdefault(name, []).append(component.estimate * 10_000)
    assert len(estimates) == 15
    for name, values in estimates.items():
        error = float(np.std(values, ddof=1)) / math.sqrt(BOARDS)
        assert abs(float(np.mean(values)) - TRUE.get(name, 0.0) ** 2) <= 4 * error + 1 / 12, name
    assert any(value < 0 for value in estimates["p"])


def test_the_judges_noise_is_recovered() -> None:
    """A judge with a spread of 6 hundredths, asked twice about 4,000 items, shows .06 within 5 %."""
    generator = np.random.default_rng(7)
    truth = generator.uniform(30, 70, 4_000)
    first, second = (
        {
            i: JudgementRow(id=str(i), status="judged", claims=(), verdict=None, score=round(float(score)))
            for i, score in enumerate(truth + generator.normal(0, 6, truth.size))
        }
        for _ in range(2)
    )
    found = judge_noise(first, second)
    assert isinstance(found, Noise)
    assert found.sd == pytest.approx(0.06, rel=0.05)
