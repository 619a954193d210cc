"""`ragassay export mlflow`: runs as runs of MLflow, with parameters, metrics, tags and their bundles."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from ragassay.cli.aside import printing_aside
from ragassay.cli.exported import chosen_runs, code_of, left_out_lines, run_options
from ragassay.export.about import left_out_json
from ragassay.export.mlflow_runs import LoggedRun, log_runs
from ragassay.export.source import RunSource
from ragassay.records import to_json
from ragassay.site.safe import one_line


@click.command("mlflow")
@run_options
@click.option(
    "--tracking-uri",
    metavar="URI",
    envvar="MLFLOW_TRACKING_URI",
    default="sqlite:///mlflow.db",
    show_default=True,
    help="Where MLflow keeps its runs; MLFLOW_TRACKING_URI where it is set.",
)
@click.option("--experiment", metavar="NAME", default="ragassay", show_default=True, help="The experiment.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def mlflow(
    ctx: click.Context,
    runs: tuple[str, ...],
    workspace: Path,
    rows: tuple[str, ...],
    voided: bool,
    tracking_uri: str,
    experiment: str,
    as_json: bool,
) -> None:
    """Log each run into an experiment of MLflow; a run that is there already is left as it is.

    RUN is a run id or its first characters, or whatever `ragassay verify` takes; default: every run of the workspace.
    """
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    source = chosen_runs(runs, workspace, rows=rows, voided=voided)
    with printing_aside():
        logged = log_runs(source, tracking_uri, experiment)
    if as_json:
        found = {"experiment": experiment, "runs": [to_json(one) for one in logged]}
        click.echo(json.dumps({**found, "leftOut": left_out_json(source.left_out)}, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(_lines(experiment, logged, source)))
    ctx.exit(code_of(source))


def _lines(experiment: str, logged: Sequence[LoggedRun], source: RunSource) -> Iterator[str]:
    new = sum(one.new for one in logged)
    yield f"experiment {one_line(experiment)}: {new} logged, {len(logged) - new} there already"
    for one in logged:
        score = "no score" if one.score is None else f"score {one.score:.4f}"
        yield f"  {one_line(one.row)}, pass {one.pass_k}: {score}, MLflow run {one_line(one.mlflow_run)}"
    yield from left_out_lines(source.left_out)
