"""Hold our measures of agreement against irrCAC, krippendorff and scipy: `python check_agreement.py FOLDER`.

irrCAC is bound to scipy 1.12 and krippendorff is under the GPL: both stand in an environment of their own.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import krippendorff  # type: ignore[import-not-found]
import numpy as np
import pandas as pd
from irrCAC.raw import CAC  # type: ignore[import-not-found]
from scipy.stats import spearmanr

LEVELS = [0, 25, 50, 75, 100]
CLOSE = 1e-9


def of_pairs(cases: list[dict[str, Any]]) -> Iterator[tuple[str, float, float]]:
    """Yield oracle and number, the oracle's value and ours, for two raters."""
    for case in cases:
        a, b = case["ratings"]
        coefficients = CAC(pd.DataFrame({"a": a, "b": b}), weights="quadratic", categories=LEVELS, digits=12)
        yield "irrCAC's AC2", coefficients.gwet()["est"]["coefficient_value"], case["ac2"]
        yield "irrCAC's weighted kappa", coefficients.conger()["est"]["coefficient_value"], case["qwk"]
        yield "scipy's ρ", float(spearmanr(a, b).statistic), case["rho"]


def of_panels(cases: list[dict[str, Any]]) -> Iterator[tuple[str, float, float]]:
    """Yield oracle and number, the oracle's value and ours, for several raters with holes."""
    for case in cases:
        ratings = np.array(case["ratings"], dtype=float)
        for level in ("ordinal", "interval"):
            value = krippendorff.alpha(reliability_data=ratings, level_of_measurement=level)
            yield f"krippendorff's {level} α", float(value), case[level]


def main(folder: Path) -> int:
    """Compare every number, print one line, and return 1 where an oracle says something else."""
    cases = json.loads((folder / "agreement.json").read_text(encoding="utf-8"))
    compared = [*of_pairs(cases["pairs"]), *of_panels(cases["panels"])]
    wrong = [f"{name} is {theirs}, ours {ours}" for name, theirs, ours in compared if not abs(theirs - ours) <= CLOSE]
    done = f"{len(compared)} numbers of {len(cases['pairs'])} pairs and {len(cases['panels'])} panels"
    print("\n".join(wrong) or f"agreement: irrCAC, krippendorff and scipy agree on {done}")
    return 1 if wrong or not cases["pairs"] or not cases["panels"] else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
