"""The sample and the report of a workspace on disk, each written as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest.log_disk import read_file, write_files
from ragassay.records import Record, to_json
from ragassay.records.calibration import FOLDER, CalibrationReport, CalibrationSample

SAMPLE = "sample.json"
REPORT = "report.json"
MAX_BYTES = 4 << 20

R = TypeVar("R", bound=Record)


def load_sample(workspace: Path) -> CalibrationSample | None:
    """Return the stored sample of a workspace, None where there is none; raises `InputError` for one that is none."""
    return _load(workspace, SAMPLE, CalibrationSample)


def load_report(workspace: Path) -> CalibrationReport | None:
    """Return what people's ratings said of the judges when it was last computed, None where it never was.

    Raises `InputError` where the file is no report.
    """
    return _load(workspace, REPORT, CalibrationReport)


def store_sample(workspace: Path, sample: CalibrationSample) -> None:
    """Write the sample over an earlier one; raises `InputError` where the workspace cannot be written."""
    _store(workspace, SAMPLE, sample)


def store_report(workspace: Path, report: CalibrationReport) -> None:
    """Write the report over an earlier one; raises `InputError` where the workspace cannot be written."""
    _store(workspace, REPORT, report)


def _load(workspace: Path, name: str, kind: type[R]) -> R | None:
    path = workspace / FOLDER / name
    data = read_file(path, MAX_BYTES)
    if data is None:
        return None
    try:
        return msgspec.convert(canon.load_strict(data, max_bytes=MAX_BYTES), kind)
    except (canon.NotCanonical, msgspec.ValidationError) as error:
        raise InputError(
            f"{path} cannot be read: {error}; delete it, `ragassay calibrate` writes it anew from the ratings"
        ) from error


def _store(workspace: Path, name: str, record: Record) -> None:
    write_files(workspace / FOLDER, {name: canon.canonical(to_json(record)) + b"\n"})
