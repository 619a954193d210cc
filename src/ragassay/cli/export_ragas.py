"""`ragassay export ragas`: answers and what was retrieved for them, under the column names of ragas."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click

from ragassay.cli.export_answered import print_answered
from ragassay.cli.exported import chosen_runs, run_options
from ragassay.export.answered import write_answered
from ragassay.export.out import new_folder
from ragassay.export.ragas import WRITERS, Form


@click.command("ragas")
@run_options
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("ragas"), show_default=True, help="The new folder."
)
@click.option(
    "--form", type=click.Choice(["jsonl", "csv"]), default="jsonl", show_default=True, help="How a file is written."
)
@click.option("--force", is_flag=True, help="Replace an earlier export.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def ragas(
    runs: tuple[str, ...],
    workspace: Path,
    rows: tuple[str, ...],
    voided: bool,
    out: Path,
    form: str,
    force: bool,
    as_json: bool,
) -> int:
    """Write each run as a data set that ragas evaluates: question, contexts, response and reference.

    RUN is a run id or its first characters, or whatever `ragassay verify` takes; default: every run of the workspace.
    """
    source = chosen_runs(runs, workspace, rows=rows, voided=voided)
    with new_folder(out, force=force) as folder:
        written = write_answered(source, folder, "ragas", f".{form}", WRITERS[cast("Form", form)])
    return print_answered(out, written, source, as_json=as_json)
