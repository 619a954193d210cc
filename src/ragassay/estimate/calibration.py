"""The gate: when a judge may be called calibrated against people."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ragassay.estimate.agreement import Agreement
from ragassay.estimate.correlation import Correlation
from ragassay.estimate.results import PLACES
from ragassay.estimate.undefined import Undefined
from ragassay.records import Record

RHO = 0.85
LOWER = 0.75
BIAS = 0.05
ENOUGH = 100
"""Rated items from which a judge can be calibrated."""
PROVISIONAL = 30
"""Rated items below which nothing is said."""

GateState: TypeAlias = Literal["calibrated", "provisional", "failed", "too few"]


class Gate(Record, frozen=True):
    """Whether a judge is calibrated, in one sentence, with each condition that is not met and what to keep in mind."""

    state: GateState
    why: str
    unmet: tuple[str, ...] = ()
    """The conditions on ρ, its lower bound and the bias that these items do not meet; also while provisional."""
    cautions: tuple[str, ...] = ()
    """What could make the state look better than it is."""


def calibration_gate(agreement: Agreement) -> Gate:
    """Return the gate of `agreement(judge, person)`.

    Calibrated: ρ ≥ .85, its lower bound ≥ .75 and |bias| ≤ .05 on 100 items or more. From 30 to 99 it is provisional
    whatever the numbers are, and `unmet` lists what they lack; fewer are too few.
    """
    n = agreement.n
    if n < PROVISIONAL:
        return Gate(state="too few", why=f"{n} of at least {PROVISIONAL} rated items")
    unmet, cautions = _unmet(agreement), _cautions(agreement)
    if n < ENOUGH:
        so_far = f"; not met so far: {'; '.join(unmet)}" if unmet else ""
        why = f"{n} of {ENOUGH} rated items{so_far}"
        return Gate(state="provisional", why=why, unmet=unmet, cautions=cautions)
    if unmet:
        return Gate(state="failed", why="; ".join(unmet), unmet=unmet, cautions=cautions)
    return Gate(state="calibrated", why=_met(agreement), cautions=cautions)


def _met(agreement: Agreement) -> str:
    """Return the figures behind a yes."""
    rho, bias, bounds = agreement.spearman, agreement.bias, ""
    if isinstance(rho, Correlation) and rho.lower is not None and rho.upper is not None:
        bounds = f" [{_short(rho.lower)}, {_short(rho.upper)}]"
    figures = [f"ρ {_short(rho.rho)}{bounds}"] if isinstance(rho, Correlation) else []
    figures += [] if isinstance(bias, Undefined) else [f"bias {_short(bias)}"]
    return f"{', '.join(figures)} on {agreement.n} rated items"


def _unmet(agreement: Agreement) -> tuple[str, ...]:
    found = [*_correlation_unmet(agreement.spearman)]
    bias = agreement.bias
    if isinstance(bias, Undefined):
        found.append(f"the bias is undefined: {bias.reason}")
    elif abs(bias) > BIAS:
        found.append(f"the bias is {_short(bias)}, beyond ±{_short(BIAS)}")
    return tuple(found)


def _correlation_unmet(spearman: Correlation | Undefined) -> list[str]:
    """Return what ρ lacks; at ρ = 1 there is no interval, and the formula's limit, 1, stands for the bound."""
    if isinstance(spearman, Undefined):
        return [f"ρ is undefined: {spearman.reason}"]
    found = [f"ρ is {_short(spearman.rho)}, below {_short(RHO)}"] if spearman.rho < RHO else []
    lower = spearman.rho if spearman.lower is None else spearman.lower
    if lower < LOWER:
        found.append(f"the lower bound of ρ is {_short(lower)}, below {_short(LOWER)}")
    return found


def _cautions(agreement: Agreement) -> tuple[str, ...]:
    if agreement.skew is None:
        return ()
    rare = 2 * agreement.n - agreement.skew.ratings
    return (
        f"{agreement.skew.ratings} of {2 * agreement.n} ratings are {agreement.skew.level}, so ρ rests on the other "
        f"{rare}: read AC2 and the positive agreement beside it",
    )


def _short(value: float) -> str:
    """Write a number to four places; one that would round to a threshold, and is not it, to as many as it has."""
    places = 4 if round(abs(value), 4) not in (RHO, LOWER, BIAS) else PLACES
    text = f"{abs(value):.{places}f}".rstrip("0").rstrip(".").removeprefix("0") or "0"
    return ("−" if value < 0 else "") + text
