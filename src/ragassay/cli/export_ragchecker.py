"""`ragassay export ragchecker`: answers and what was retrieved for them, as RAGChecker reads them."""

from __future__ import annotations

from pathlib import Path

import click

from ragassay.cli.export_answered import print_answered
from ragassay.cli.exported import chosen_runs, run_options
from ragassay.export.answered import write_answered
from ragassay.export.out import new_folder
from ragassay.export.ragchecker import write_results


@click.command("ragchecker")
@run_options
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("ragchecker"), show_default=True, help="The new folder."
)
@click.option("--force", is_flag=True, help="Replace an earlier export.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def ragchecker(
    runs: tuple[str, ...],
    workspace: Path,
    rows: tuple[str, ...],
    voided: bool,
    out: Path,
    force: bool,
    as_json: bool,
) -> int:
    """Write each run as a file that RAGChecker checks: query, reference answer, response and retrieved context.

    RUN is a run id or its first characters, or whatever `ragassay verify` takes; default: every run of the workspace.
    """
    source = chosen_runs(runs, workspace, rows=rows, voided=voided)
    with new_folder(out, force=force) as folder:
        written = write_answered(source, folder, "ragchecker", ".json", write_results)
    return print_answered(out, written, source, as_json=as_json)
