"""What varies independently: questions, or the documents that several questions share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

Floats = npt.NDArray[np.float64]

NOTHING = 1e-12
"""Below this a float difference of means of hundredths can only be rounding."""


class Units:
    """The units of `questions` under `documents`, in order of first appearance.

    A question without a document is a unit of its own. `index[i]` is the unit of question i, `count` their number.
    """

    __slots__ = ("count", "index", "shared")

    def __init__(self, questions: Sequence[str], documents: Mapping[str, str] | None) -> None:
        numbers: dict[tuple[bool, str], int] = {}
        given = documents or {}
        keys = [(True, given[q]) if q in given else (False, q) for q in questions]
        self.index = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)
        self.count = len(numbers)
        self.shared = self.count < len(questions)

    @property
    def noun(self) -> str:
        """Return what a unit is called in a sentence, in the number that `count` asks for."""
        return self.named(self.count)

    def named(self, count: int) -> str:
        """Return what `count` units are called."""
        return ("document" if self.shared else "question") + ("" if count == 1 else "s")

    def sums(self, values: Floats) -> Floats:
        """Return the sum of `values` (one per question) in each unit."""
        return np.bincount(self.index, weights=values, minlength=self.count).astype(np.float64, copy=False)

    def standard_error(self, values: Floats) -> float:
        """Return the standard error of the mean of `values`, 0 where only rounding is left; needs two units.

        SE² = G/(G-1) · Σ_g(Σ_{i∈g}(x_i - m))²/n², which is sd(x)²/n where every question is its own unit.
        """
        residuals = self.sums(values - values.mean())
        spread = self.count / (self.count - 1) * float(residuals @ residuals)
        error = math.sqrt(spread) / values.size
        return error if error > NOTHING else 0.0


def student(df: int, level: float = 0.95) -> float:
    """Return the two-sided critical value of Student's t with `df` degrees of freedom."""
    return float(stdtrit(df, 0.5 + level / 2))
