"""`ragassay export junit`: runs as JUnit XML for the tools of continuous integration."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path

import click

from ragassay.cli.exported import chosen_runs
from ragassay.cli.exported_file import file_options, finish_file
from ragassay.export.junit import write_junit
from ragassay.export.out import new_file
from ragassay.site.numbers import plural


def _score(_ctx: click.Context, _option: click.Parameter, value: str) -> Decimal:
    try:
        score = Decimal(value)
    except InvalidOperation as error:
        raise click.BadParameter(f"{value} is no number") from error
    if not score.is_finite() or not 0 <= score <= 1:
        raise click.BadParameter(f"{value} is not from 0 to 1")
    return score


@click.command("junit")
@file_options("junit.xml")
@click.option(
    "--min-score", callback=_score, required=True, metavar="SCORE", help="From 0 to 1: a lower score is a failure."
)
@click.pass_context
def junit(
    ctx: click.Context,
    runs: tuple[str, ...],
    workspace: Path,
    rows: tuple[str, ...],
    voided: bool,
    out: Path,
    force: bool,
    as_json: bool,
    min_score: Decimal,
) -> None:
    """Write runs as JUnit XML: a suite for each row and pass, a case for each question.

    RUN is a run id or its first characters, or whatever `ragassay verify` takes; default: every run of the workspace.
    """
    source = chosen_runs(runs, workspace, rows=rows, voided=voided)
    with new_file(out, force=force) as file:
        ends = write_junit(source, file, min_score=min_score)
    counts = {"tests": ends.total(), "failures": ends["failure"], "errors": ends["error"], "skipped": ends["skipped"]}
    said = f"{plural(ends.total(), 'test')}, {ends['failure']} below {min_score}, {ends['error']} without a score"
    finish_file(ctx, out, source, counts, said, as_json=as_json)
