"""Where a workspace keeps what people decided, were shown and signed off: files that are only ever appended to."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from ragassay.manifest.append_only import AppendOnlyFile
from ragassay.publish.review_lines import check_reader
from ragassay.records.publication import Reached, Seen, SignOff

FOLDER = "review"
"""The folder of a workspace (`.ragassay`) that holds what people decided, were shown and signed off."""

_Line = TypeVar("_Line", Seen, Reached, SignOff)


def reader_file(workspace: Path, name: str, kind: type[_Line]) -> AppendOnlyFile[_Line]:
    """Return the file of a workspace whose lines each name a reader, who must be spelt as names are."""
    return AppendOnlyFile(workspace / FOLDER / name, kind, check=check_reader)
