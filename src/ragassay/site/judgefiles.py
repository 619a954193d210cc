"""Reads what a workspace keeps of its judges: how they did on known cases, and how far people agree with them."""

from __future__ import annotations

from pathlib import Path

from ragassay import canon
from ragassay.errors import InputError
from ragassay.judge.conformance import load_conformance
from ragassay.site.calibration import load_report
from ragassay.site.calibration.ledger import Ledger
from ragassay.site.judgeknown import Known


def load_known(workspace: Path) -> Known:
    """Return the records of a workspace (the `.ragassay` folder); what cannot be read is a problem, never a figure."""
    problems: list[str] = []
    conformance, report, ratings = [], None, None
    try:
        conformance = load_conformance(workspace)
    except InputError as error:
        problems.append(f"conformance: {error}")
    try:
        report = load_report(workspace)
        ratings = canon.sha256(Ledger(workspace).read()) if report else None
    except InputError as error:
        problems.append(f"calibration: {error}")
        report = None
    return Known(conformance=tuple(conformance), calibration=report, ratings=ratings, problems=tuple(problems))
