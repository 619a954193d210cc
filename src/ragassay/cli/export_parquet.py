"""`ragassay export parquet`: the items of runs as Parquet."""

from __future__ import annotations

from pathlib import Path

import click

from ragassay.cli.exported import chosen_runs
from ragassay.cli.exported_file import file_options, finish_file
from ragassay.export.out import new_file
from ragassay.export.parquet import require_pyarrow, write_parquet
from ragassay.site.numbers import plural


@click.command("parquet")
@file_options("ragassay.parquet")
@click.pass_context
def parquet(
    ctx: click.Context,
    runs: tuple[str, ...],
    workspace: Path,
    rows: tuple[str, ...],
    voided: bool,
    out: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Write the items of runs as Parquet: a row for each question of each pass. Needs the extra `export`.

    RUN is a run id or its first characters, or whatever `ragassay verify` takes; default: every run of the workspace.
    """
    require_pyarrow()
    source = chosen_runs(runs, workspace, rows=rows, voided=voided)
    with new_file(out, force=force) as file:
        items = write_parquet(source, file)
    finish_file(ctx, out, source, {"items": items}, plural(items, "item"), as_json=as_json)
