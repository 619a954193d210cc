"""Reads what is to be rated from a workspace, and brings sample and report in step with it."""

from __future__ import annotations

import time
from pathlib import Path

from ragassay import canon
from ragassay.errors import InputError
from ragassay.records.calibration import CalibrationReport, CalibrationSample
from ragassay.site.calibration.files import load_sample, store_report, store_sample
from ragassay.site.calibration.ledger import Ledger
from ragassay.site.calibration.material import Material, material_of, wanted_sample
from ragassay.site.calibration.ratings import Standing, standing
from ragassay.site.calibration.report import build_report
from ragassay.site.record import BoardPlan
from ragassay.site.runs import load_runs


def load_material(workspace: Path, plan: BoardPlan | None = None) -> Material:
    """Return what can be rated in a workspace (the `.ragassay` folder), and what its judges gave each answer.

    Of runs and judgements only those count that can be verified. Raises `InputError` where there is nothing to rate.
    """
    return material_of(load_runs(workspace), plan)


def prepare_sample(
    workspace: Path, material: Material, size: int | None = None, seed: int | None = None
) -> tuple[CalibrationSample, bool]:
    """Return the sample to be rated, and whether it was drawn just now; a new one is stored over an earlier one.

    Raises `InputError` where no judge gave any answer a score, so that there is nothing to compare with.
    """
    stored = load_sample(workspace)
    sample = wanted_sample(material, stored, size, seed)
    if not sample.items:
        raise InputError("no answer of these runs was judged, so there is no score that people could be compared with")
    if sample != stored:
        store_sample(workspace, sample)
    return sample, sample != stored


def load_ratings(workspace: Path, material: Material) -> tuple[Standing, str]:
    """Return the ratings that stand, and the SHA-256 of the bytes that they were read from."""
    ledger = Ledger(workspace)
    data = ledger.read()
    return standing(ledger.decode(data), material.pool.items.keys()), canon.sha256(data)


def write_report(workspace: Path, material: Material) -> CalibrationReport:
    """Compute what the ratings of today say of each judge, store it for the board, and return it."""
    found, digest = load_ratings(workspace, material)
    report = build_report(
        found,
        material.pool.items,
        material.published,
        material.panel,
        benchmark=material.benchmark,
        ratings=digest,
        sample=load_sample(workspace),
        at=int(time.time()),
    )
    store_report(workspace, report)
    return report
