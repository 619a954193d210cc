"""The interval of one row: Wilson's, with an effective number of questions and Student's t."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ragassay.estimate.results import Interval, settle
from ragassay.estimate.scores import present
from ragassay.estimate.units import Units, student


def row_interval(means: Mapping[str, float | None], documents: Mapping[str, str] | None = None) -> Interval | None:
    """Return mean and 95 % interval of a row from its question means (0..1); None when no question has one.

    With m the mean, SE its standard error over questions (over documents where they are shared), n_eff =
    m(1-m)/SE² and t of Student at units - 1 degrees of freedom:
    [m + t²/2n_eff ± t·√(m(1-m)/n_eff + t²/4n_eff²)] / (1 + t²/n_eff). Where SE is 0, n_eff is the number of units.
    After E. B. Wilson (1927), J. Am. Stat. Assoc. 22, with the effective sample size of survey statistics.
    """
    kept = present(means)
    if not kept:
        return None
    values = np.fromiter(kept.values(), dtype=np.float64, count=len(kept))
    units = Units(list(kept), documents)
    mean = math.fsum(kept.values()) / len(kept)
    if units.count < 2:
        alone = f"one {units.noun}: no interval can be given"
        return Interval(mean=settle(mean), low=None, high=None, n=len(kept), n_eff=None, note=alone)
    error = units.standard_error(values)
    n_eff = mean * (1 - mean) / error**2 if error else float(units.count)
    low, high = _wilson(mean, n_eff, student(units.count - 1))
    note = f"over {units.count} documents that {len(kept)} questions share" if units.shared else None
    return Interval(mean=settle(mean), low=settle(low), high=settle(high), n=len(kept), n_eff=settle(n_eff), note=note)


def _wilson(mean: float, n_eff: float, t: float) -> tuple[float, float]:
    ratio = t * t / n_eff
    middle = mean + ratio / 2
    reach = math.sqrt(ratio * mean * (1 - mean) + ratio * ratio / 4)
    low, high = (middle - reach) / (1 + ratio), (middle + reach) / (1 + ratio)
    return max(0.0, min(low, mean)), min(1.0, max(high, mean))
