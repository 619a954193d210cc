"""The one place of this room that touches the disk: a path becomes a question file."""

from __future__ import annotations

from pathlib import Path

from ragassay.errors import InputError
from ragassay.question.parse import QuestionFile, parse_file
from ragassay.question.tree import MAX_BYTES
from ragassay.records import Benchmark


def load_benchmark(path: Path) -> Benchmark:
    """Return the benchmark of a question file (.json, .jsonl, .ndjson, .csv; at most 64 MiB).

    Raises `InputError` that names the file and lists every problem in it.
    """
    return load_file(path).benchmark


def load_file(path: Path) -> QuestionFile:
    """Like `load_benchmark`, and say in which form the file is written."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise InputError(f"the question file {path} does not exist") from error
    except IsADirectoryError as error:
        raise InputError(f"{path} is a folder; name the question file itself") from error
    except OSError as error:
        raise InputError(f"the question file {path} cannot be read: {error.strerror or error}") from error
    try:
        return parse_file(data, name=path.stem, suffix=path.suffix)
    except InputError as error:
        raise InputError(f"{path}: {error.message}", error.problems) from error
