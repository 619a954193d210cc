"""The gate of a calibrated judge."""

from __future__ import annotations

import msgspec
import pytest

from ragassay.estimate import (
    Agreement,
    Correlation,
    Gate,
    Skew,
    Undefined,
    agreement,
    calibration_gate,
)
from ragassay.estimate.kappa import Table


def made(
    n: int = 100,
    rho: float = 0.9,
    lower: float | None = 0.85,
    bias: float = 0.0,
    skew: Skew | None = None,
) -> Agreement:
    """Return an agreement with just these numbers."""
    return Agreement(
        n=n,
        left_out=0,
        rounded=0,
        spearman=Correlation(rho=rho, lower=lower, upper=None if lower is None else 0.99, n=n),
        qwk=0.9,
        bias=bias,
        mae=0.1,
        exact=0.8,
        exact_hundredths=0.8,
        table=Table(levels=(0, 100), counts=((n, 0), (0, 0))),
        skew=skew,
    )


@pytest.mark.parametrize(
    ("n", "state"),
    [(0, "too few"), (29, "too few"), (30, "provisional"), (99, "provisional"), (100, "calibrated")],
)
def test_edges_of_the_number_of_items(n: int, state: str) -> None:
    """30 items make it provisional, 100 make a judge that meets the rest calibrated."""
    assert calibration_gate(made(n=n)).state == state


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (made(rho=0.85), "calibrated"),
        (made(rho=0.849999), "failed"),
        (made(lower=0.75), "calibrated"),
        (made(lower=0.749999), "failed"),
        (made(bias=0.05), "calibrated"),
        (made(bias=-0.05), "calibrated"),
        (made(bias=0.050001), "failed"),
        (made(bias=-0.050001), "failed"),
    ],
)
def test_edges_of_each_condition(found: Agreement, state: str) -> None:
    """ρ ≥ .85, lower bound ≥ .75, |bias| ≤ .05: each threshold itself passes, a hair beyond it does not."""
    assert calibration_gate(found).state == state


def test_a_near_miss_is_not_printed_as_the_threshold() -> None:
    """.849999 must not be reported as ".85, below .85"."""
    gate = calibration_gate(made(rho=0.849999, lower=0.749999, bias=-0.050001))
    assert gate.unmet == (
        "ρ is .849999, below .85",
        "the lower bound of ρ is .749999, below .75",
        "the bias is −.050001, beyond ±.05",
    )
    assert gate.why == "; ".join(gate.unmet)


def test_a_yes_shows_its_figures() -> None:
    """A calibrated judge's sentence has ρ, interval, bias and number of items."""
    assert calibration_gate(made(n=120, rho=0.912, bias=-0.01)) == Gate(
        state="calibrated", why="ρ .912 [.85, .99], bias −.01 on 120 rated items"
    )


def test_provisional_says_what_is_not_met() -> None:
    """Under 100 items the state is provisional whatever the numbers are, and they are not hidden."""
    gate = calibration_gate(made(n=40, rho=0.3, lower=0.0))
    assert gate.state == "provisional"
    assert gate.why.startswith("40 of 100 rated items; not met so far: ρ is .3, below .85")


def test_undefined_never_passes() -> None:
    """A judge that gives everything 1 has no ρ: on 100 items it fails, with the reason."""
    people = [0, 25, 50, 100] * 25
    gate = calibration_gate(agreement([100] * 100, people))
    assert gate.state == "failed"
    assert "ρ is undefined: the first rater gave every item the same score" in gate.why


def test_absent_scores_do_not_count_as_rated() -> None:
    """120 items of which 20 the judge could not score are 100; 21 leave 99."""
    people: list[int | None] = [0, 25, 50, 75, 100, 100] * 20
    for holes, state in ((20, "calibrated"), (21, "provisional")):
        judge = [None] * holes + people[holes:]
        assert calibration_gate(agreement(judge, people)).state == state


def test_perfect_order_passes_and_says_no_interval() -> None:
    """At ρ = 1 the formula's limit is the bound; no interval is shown."""
    people = [0, 25, 50, 75, 100] * 20
    assert calibration_gate(agreement(people, people)).why == "ρ 1, bias 0 on 100 rated items"
    mirrored = calibration_gate(agreement([100 - score for score in people], people))
    assert mirrored.unmet == ("ρ is −1, below .85", "the lower bound of ρ is −1, below .75")


def test_skew_is_a_caution() -> None:
    """Ninety-nine right and one wrong, both alike, pass every number; the gate says what that rests on."""
    people = [100] * 99 + [0]
    gate = calibration_gate(agreement(people, people))
    assert gate.state == "calibrated"
    assert gate.cautions == (
        "198 of 200 ratings are 100, so ρ rests on the other 2: read AC2 and the positive agreement beside it",
    )


def test_an_undefined_bias_is_not_a_small_one() -> None:
    """Were a bias absent, the gate would not pass."""
    absent = msgspec.structs.replace(made(), bias=Undefined(reason="none"))
    assert calibration_gate(absent).unmet == ("the bias is undefined: none",)
