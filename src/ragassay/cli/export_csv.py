"""`ragassay export csv`: the items of runs as CSV."""

from __future__ import annotations

from pathlib import Path

import click

from ragassay.cli.exported import chosen_runs
from ragassay.cli.exported_file import file_options, finish_file
from ragassay.export.csv_file import write_csv
from ragassay.export.out import new_file
from ragassay.site.numbers import plural


@click.command("csv")
@file_options("ragassay.csv")
@click.option("--raw", is_flag=True, help="Put no apostrophe before what a spreadsheet takes for a formula.")
@click.pass_context
def csv(
    ctx: click.Context,
    runs: tuple[str, ...],
    workspace: Path,
    rows: tuple[str, ...],
    voided: bool,
    out: Path,
    force: bool,
    as_json: bool,
    raw: bool,
) -> None:
    """Write the items of runs as CSV: a line for each question of each pass.

    RUN is a run id or its first characters, or whatever `ragassay verify` takes; default: every run of the workspace.
    """
    source = chosen_runs(runs, workspace, rows=rows, voided=voided)
    with new_file(out, force=force) as file:
        items = write_csv(source, file, raw=raw)
    finish_file(ctx, out, source, {"items": items}, plural(items, "item"), as_json=as_json)
