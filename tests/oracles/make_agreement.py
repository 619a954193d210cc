"""Write ratings with our measures of their agreement into a folder, for programs that others wrote.

Used by `make oracles`: `python tests/oracles/make_agreement.py FOLDER`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ragassay.estimate import LEVELS, Undefined, agreement, gwet_ac2, krippendorff_alpha

PAIRS = 400
PANELS = 300
SEED = 20_270_214


def drawn(generator: np.random.Generator, raters: int, items: int, holes: float) -> list[list[int | None]]:
    """Return ratings on the five levels: a common truth, blurred per rater, with a share of holes."""
    weights = generator.dirichlet(np.full(len(LEVELS), 0.7))
    truth = generator.choice(len(LEVELS), size=items, p=weights)
    blur = generator.integers(0, 3)
    noise = generator.integers(-blur, blur, size=(raters, items), endpoint=True)
    codes = np.clip(truth + noise, 0, len(LEVELS) - 1)
    absent = generator.random((raters, items)) < holes
    return [
        [None if gone else LEVELS[code] for code, gone in zip(line, holed, strict=True)]
        for line, holed in zip(codes, absent, strict=True)
    ]


def pair(ratings: list[list[int | None]]) -> dict[str, Any] | None:
    """Return two raters with what we say of them, or None where we say "undefined"."""
    a, b = ratings
    found, ac2 = agreement(a, b), gwet_ac2(a, b)
    if any(isinstance(value, Undefined) for value in (found.spearman, found.qwk, ac2)):
        return None
    rho = None if isinstance(found.spearman, Undefined) else found.spearman.rho
    return {"ratings": ratings, "rho": rho, "qwk": found.qwk, "ac2": ac2}


def panel(ratings: list[list[int | None]]) -> dict[str, Any] | None:
    """Return several raters with our α on both levels, or None where we say "undefined"."""
    ordinal, interval = krippendorff_alpha(ratings, "ordinal"), krippendorff_alpha(ratings, "interval")
    if isinstance(ordinal, Undefined) or isinstance(interval, Undefined):
        return None
    return {"ratings": ratings, "ordinal": ordinal, "interval": interval}


def main(folder: Path) -> None:
    """Write `agreement.json`: the worked case of the documentation first, then drawn ones."""
    generator = np.random.default_rng(SEED)
    worked: list[list[int | None]] = [[0, 0, 0, 50, 100], [0, 0, 50, 50, 100]]
    pairs = [pair(worked)] + [pair(drawn(generator, 2, int(generator.integers(4, 120)), 0.0)) for _ in range(PAIRS)]
    panels = [
        panel(drawn(generator, int(generator.integers(3, 7)), int(generator.integers(3, 60)), 0.3))
        for _ in range(PANELS)
    ]
    cases = {"pairs": [case for case in pairs if case], "panels": [case for case in panels if case]}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agreement.json").write_text(json.dumps(cases), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
