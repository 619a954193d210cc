"""A small real workspace that was run and is ready to be published, once per session; each test takes a copy."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

UNIT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(UNIT / "run"))

from judge_lab import PANEL_LITERAL as PANEL_LITERAL  # noqa: E402
from judge_lab import JudgeLab as JudgeLab  # noqa: E402
from run_lab import LOG_SIGNER, SIGNER, Lab  # noqa: E402

from ragassay.publish.decisions import DecisionFile  # noqa: E402
from ragassay.publish.detect import Detector, detectors  # noqa: E402
from ragassay.publish.reading import reading_of, touching  # noqa: E402
from ragassay.publish.redact import Keys  # noqa: E402
from ragassay.publish.release import Look, Released, Wanted, look, release  # noqa: E402
from ragassay.publish.signoffs import ReviewFile  # noqa: E402
from ragassay.publish.store import publishing  # noqa: E402
from ragassay.records.publication import Action  # noqa: E402
from ragassay.run.workspace import Workspace  # noqa: E402

_Lab = TypeVar("_Lab", bound=Lab)
MAIL = "jane.roe@acme-mail.org"
KEYS = Keys(run=lambda: SIGNER, log=lambda: LOG_SIGNER)
NOW = 2_000_000_000


@cache
def found_by() -> tuple[Detector, ...]:
    """Return the detectors, made once."""
    return detectors()


def make(folder: Path, kind: type[_Lab] = Lab) -> _Lab:  # type: ignore[assignment]
    """Run a board of a control and a row over three questions, one pass each; one page holds an address."""
    lab = kind(folder, 3)
    page = folder / "docs" / "page-001.md"
    page.write_text(page.read_text(encoding="utf-8") + f"\nAsk {MAIL} about it.\n", encoding="utf-8")
    lab.write()
    lab.run()
    lab.space.keys.mkdir()
    (lab.space.keys / "run.pub.json").write_bytes(SIGNER.public.jwk())
    return lab


def copy(lab: Lab, folder: Path) -> Workspace:
    """Return a copy of a workspace of one's own."""
    shutil.copytree(lab.space.root, folder / ".ragassay")
    return Workspace(folder / ".ragassay")


def seen(space: Workspace, *runs: str) -> Look:
    """Look at the whole main table, or at the named runs."""
    return look(space, None, Wanted(runs=runs), found_by(), now=NOW)


def decide(space: Workspace, action: Action = "redact") -> None:
    """Decide every finding alike."""
    file = DecisionFile(space.root)
    for one in seen(space).looked.findings:
        file.add(one, action, reason="a private address", by="Ann")


def sign_off(space: Workspace, reader: str = "Ann") -> None:
    """Let a reader read every row of every run and sign it off, as the review page does."""
    found, file = seen(space), ReviewFile(space.root)
    for run in found.chosen:
        reading = reading_of(run)
        assert reading is not None
        for unit in dict.fromkeys(reading.units):
            file.mark(reader, unit)
        file.sign(reading, reader, touching(run.id, found.looked.findings, found.looked.decisions))


def ready(space: Workspace, action: Action = "redact") -> Workspace:
    """Decide and sign off everything."""
    decide(space, action)
    sign_off(space)
    return space


def published(space: Workspace) -> list[str]:
    """Publish what can be published, as the verb does."""
    return list(released(space).runs)


def released(space: Workspace) -> Released:
    """Publish what can be published, and return all that was done."""
    with publishing(space.root):
        return release(space, seen(space), KEYS, now=NOW)


def refusals(space: Workspace, *runs: str) -> Mapping[str, str]:
    """Return the text of each refusal by its code."""
    return {one.code: one.text for verdict in seen(space, *runs).verdicts for one in verdict.refusals}


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder by its path there."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
