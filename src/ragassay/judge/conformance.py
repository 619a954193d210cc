"""Conformance: cases with the right verdicts, any judge run over them, and the records that a workspace keeps of it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.judge.conformance_cases import Case, read_cases
from ragassay.judge.conformance_report import (
    CaseResult,
    ConformanceRecord,
    ConformanceReport,
    Tally,
    mean_absolute,
    mean_signed,
    worst_first,
)
from ragassay.judge.conformance_run import conformance
from ragassay.records import to_json

__all__ = [
    "Case",
    "CaseResult",
    "ConformanceRecord",
    "ConformanceReport",
    "Tally",
    "conformance",
    "load_conformance",
    "mean_absolute",
    "mean_signed",
    "read_cases",
    "record_bytes",
    "record_path",
    "shipped_cases",
    "worst_first",
]

FOLDER = "conformance"
"""Where a workspace keeps one record per judge."""
MAX_RECORD_BYTES = 64 * 1024 * 1024


def shipped_cases() -> tuple[tuple[Case, ...], str]:
    """Return the cases that ship with ragassay, and the SHA-256 of their file."""
    data = files("ragassay.judge").joinpath("conformance.jsonl").read_bytes()
    return read_cases(data, "judge/conformance.jsonl"), canon.sha256(data)


def record_path(workspace: Path, digest: str) -> Path:
    """Return where the record of the judge with this digest is, under the workspace's folder."""
    return workspace / FOLDER / f"{digest}.json"


def record_bytes(record: ConformanceRecord) -> bytes:
    """Return the canonical bytes of a record."""
    return canon.canonical(to_json(record))


def load_conformance(workspace: Path) -> list[ConformanceRecord]:
    """Return every record under the workspace's folder, by judge id and digest; none where the folder is absent.

    Raises `InputError` naming each file that is no record.
    """
    records, problems = [], []
    for path in sorted((workspace / FOLDER).glob("*.json")):
        try:
            value = canon.load_canonical(_read(path), max_bytes=MAX_RECORD_BYTES)
            record = msgspec.convert(value, ConformanceRecord, strict=True)
            if not path.stem == record.digest == canon.digest(record.judge):
                problems.append(f"{path} is named for another judge than the one that it describes")
            records.append(record)
        except (OSError, canon.NotCanonical, msgspec.ValidationError) as error:
            problems.append(f"{path}: {error}")
    if problems:
        raise InputError(
            "what is kept of a judge's conformance cannot be read; remove these files and run "
            "`ragassay judge --conformance` again",
            problems,
        )
    return sorted(records, key=lambda record: (str(record.judge.get("id")), record.digest))


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_RECORD_BYTES + 1)
