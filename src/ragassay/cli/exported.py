"""What the verbs that export runs share: which runs are meant, and what is said of those that are left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from ragassay.cli.sources import open_source
from ragassay.errors import InputError
from ragassay.export.source import Given, LeftOut, RunSource, folder_run, workspace_runs, workspace_trust
from ragassay.manifest import is_run_folder
from ragassay.site.safe import one_line

F = TypeVar("F", bound=Callable[..., Any])

SHORTEST = 6
"""The fewest characters of a run id that stand for a run."""
_ID = re.compile(f"[0-9a-f]{{{SHORTEST},32}}")
SAID = 20
"""The most runs that are left out and named, each on its line."""


def run_options(command: F) -> F:
    """Give a command the arguments and options by which runs are chosen: RUN…, --workspace, --row and --voided."""
    for option in (
        click.option("--voided", is_flag=True, help="Export runs too that their log takes back."),
        click.option("--row", "rows", multiple=True, metavar="NAME", help="Only runs of this row; may be repeated."),
        click.option(
            "--workspace",
            type=click.Path(path_type=Path, file_okay=False),
            default=Path(".ragassay"),
            show_default=True,
            help="Where runs, keys, policy and log are looked up.",
        ),
        click.argument("runs", metavar="[RUN]...", nargs=-1),
    ):
        command = option(command)
    return command


def find_run(run: str, workspace: Path) -> Path:
    """Return the folder of a run given as folder, run id, or the first characters of one.

    Raises `InputError` where it stands for no run or for more than one.
    """
    if is_run_folder(Path(run)):
        return Path(run)
    if _ID.fullmatch(run) is None:
        raise InputError(f"{run} is neither a run folder nor {SHORTEST} to 32 characters of a run id")
    runs = workspace / "runs"
    found = sorted(path for path in runs.glob(f"{run}*") if path.is_dir()) if runs.is_dir() else []
    if len(found) > 1:
        raise InputError(f"{run} begins {len(found)} run ids of {runs}; give more of it", [path.name for path in found])
    if not found:
        raise InputError(f"{runs} holds no run {run}; give its folder, or the workspace with --workspace")
    return found[0]


def chosen_runs(runs: Sequence[str], workspace: Path, *, rows: Sequence[str] = (), voided: bool = False) -> RunSource:
    """Return the runs that words stand for, or every run of the workspace where there is no word.

    A word is a run id or its first characters, or whatever `ragassay verify` takes: a run folder, a folder of runs, a
    board, a bundle, its address, `-`. Raises `InputError` with every word that stands for none.
    """
    given = [one for word in runs for one in _given(word, workspace)] if runs else workspace_runs(workspace)
    if not given:
        raise InputError(f"{workspace / 'runs'} holds no run; `ragassay run` makes them, or name runs or a --workspace")
    return RunSource(given, workspace_trust(workspace), rows=rows, voided=voided)


def _given(word: str, workspace: Path) -> list[Given]:
    if _ID.fullmatch(word) is not None and not Path(word).exists():
        folder = find_run(word, workspace)
        return [folder_run(folder, run_id=folder.name)]
    return [Given(name=source.name, read=source.read) for source in open_source(word)]


def left_out_lines(left_out: Sequence[LeftOut]) -> list[str]:
    """Return a line for each run that is not exported, the refused ones first, and one that counts those beyond."""
    named = sorted((one for one in left_out if one.code != "OTHER_ROW"), key=lambda one: not one.refused)
    lines = [
        f"{'refused' if one.refused else 'left out'}: {one_line(one.name)}: {one.code}: {one_line(one.reason)}"
        for one in named[:SAID]
    ]
    if len(named) > SAID:
        lines.append(f"and {len(named) - SAID} more that are not exported; --json names them")
    return lines


def code_of(source: RunSource) -> int:
    """Return 0 where at least one run was exported and none was refused by verification, else 1."""
    return 1 if source.refused or not source.exported else 0
