"""What every exported folder says of itself in `export.json`: which program, which runs, and which were left out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from ragassay import __version__
from ragassay.export.out import ABOUT
from ragassay.export.source import LeftOut
from ragassay.records import JSON

FORMAT = "ragassay-export/1"


def about(kind: str, **more: object) -> JSON:
    """Return what a folder of an export of this kind says of itself."""
    return {"format": FORMAT, "kind": kind, "harness": __version__, **more}


def write_about(folder: Path, said: JSON) -> None:
    """Write it into the folder; by this file a later export knows that it may be replaced."""
    (folder / ABOUT).write_text(json.dumps(said, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def left_out_json(left_out: Iterable[LeftOut]) -> Sequence[JSON]:
    """Return runs that are left out as JSON objects."""
    return [{"run": one.name, "code": one.code, "reason": one.reason, "refused": one.refused} for one in left_out]
