"""`ragassay check`: fail a job where a row is not whole, scores too little, or dropped by more than chance allows."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragassay.cli.board import Places, find_places, plan_of
from ragassay.cli.new_file import write_new
from ragassay.errors import InputError
from ragassay.records import Config, to_json
from ragassay.site.check.demands import demands_of

if TYPE_CHECKING:
    from ragassay.site.check.record import CheckReport
    from ragassay.site.check.report import Checked
    from ragassay.site.loaded import LoadedRun


@click.command("check")
@click.argument("path", metavar="[BOARD]", default=".", type=click.Path(path_type=Path))
@click.option("--row", "rows", multiple=True, help="Check only this row; may be given several times.")
@click.option("--min-score", metavar="S", help="Fail where the score shown is below S.")
@click.option("--vs", metavar="BASELINE", help="Compare with the same row there: a board, a bundle, a board.json.")
@click.option("--max-drop", metavar="D", help="Fail on a drop that is surely larger than D. Default with --vs: 0.")
@click.option("--confidence", metavar="C", default="0.95", show_default=True, help="How sure a drop has to be.")
@click.option("--allow-missing", is_flag=True, help="Take missing scores against the row, and do not fail for them.")
@click.option("--workspace", type=click.Path(path_type=Path), help="Default: .ragassay beside the board file.")
@click.option("--junit", "junit_file", type=click.Path(path_type=Path), help="Write JUnit XML here.")
@click.option("--markdown", "markdown_file", type=click.Path(path_type=Path), help="Add the report to this file.")
@click.option("--github", is_flag=True, help="Print annotations of a GitHub Actions job besides.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    path: Path,
    rows: tuple[str, ...],
    min_score: str | None,
    vs: str | None,
    max_drop: str | None,
    confidence: str,
    allow_missing: bool,
    workspace: Path | None,
    junit_file: Path | None,
    markdown_file: Path | None,
    github: bool,
    as_json: bool,
) -> None:
    """Check rows of a board that was run: whole, scoring enough, and not dropped by more than chance allows.

    BOARD is a board file, the folder that holds one, or a .ragassay folder; default: the current folder. Nothing is
    asked of a model. Exit code 1 where a check fails.
    """
    from ragassay.cli.check_baseline import open_baseline
    from ragassay.site.check.report import check

    if github and as_json:
        raise InputError("--github prints beside the text, and --json prints nothing else; give one of them")
    demands = demands_of(rows, min_score, max_drop, confidence, baseline=vs is not None, allow_missing=allow_missing)
    checked = _checked(find_places(path, workspace))
    report = check(checked, demands, open_baseline(vs) if vs is not None else None)
    _write(report, junit_file, markdown_file)
    _print(report, github=github, as_json=as_json)
    ctx.exit(0 if report.passed else 1)


def _print(report: CheckReport, *, github: bool, as_json: bool) -> None:
    """Print a report as JSON, or as text with the annotations that were asked for."""
    from ragassay.site.check.annotations import github_annotations
    from ragassay.site.check.text import render

    if as_json:
        click.echo(json.dumps(to_json(report), indent=1))
    else:
        width = min(140, shutil.get_terminal_size((100, 24)).columns)
        click.echo(render(report, width=width), nl=False)
    for line in github_annotations(report) if github else ():
        click.echo(line)


def _checked(places: Places) -> Checked:
    """Return the board of a workspace, with what its file asks for and what was measured otherwise."""
    from ragassay.cli.check_stale import stale_rows
    from ragassay.run.board_file import load_board
    from ragassay.run.held import held_passes
    from ragassay.run.workspace import Workspace
    from ragassay.site.check.report import Checked
    from ragassay.site.write import local_board_of

    plan = plan_of(places.board_file, places.workspace) if places.board_file else None
    board, runs = local_board_of(places.workspace, plan)
    held = held_passes(Workspace(places.workspace))
    if places.board_file is None:
        return Checked(board=board, runs=runs, held=held)
    asked = load_board(places.board_file)
    stale = stale_rows(asked, _latest_configs(runs))
    return Checked(board=board, runs=runs, plan=plan, passes=asked.passes, held=held, stale=stale)


def _latest_configs(runs: Sequence[LoadedRun]) -> dict[str, Config]:
    """Return the configuration of each row's most recent run."""
    documents = [run.document for run in runs if run.document is not None]
    documents.sort(key=lambda d: (d.predicate.window.end if d.predicate.window else 0, d.predicate.run_id))
    return {d.config.row: d.config for d in documents if d.config is not None}


def _write(report: CheckReport, junit_file: Path | None, markdown_file: Path | None) -> None:
    """Write the files that were asked for: JUnit XML as a whole, Markdown at the end of what is there."""
    from ragassay.site.check.junit import junit
    from ragassay.site.check.markdown import markdown

    if junit_file is not None:
        write_new(junit_file, junit(report), force=True, option="--junit")
    if markdown_file is not None:
        with markdown_file.open("ab") as file:
            file.write(markdown(report).encode("utf-8"))
