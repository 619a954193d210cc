"""`ragassay export every-eval-ever`: runs as records for the datastore of Every Eval Ever."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import click

from ragassay.cli.exported import chosen_runs, code_of, left_out_lines, run_options
from ragassay.errors import InputError
from ragassay.export.about import left_out_json
from ragassay.export.every_eval_ever import Publisher, Relationship
from ragassay.export.every_eval_ever_out import RecordedRun, write_records
from ragassay.export.out import new_folder
from ragassay.export.source import RunSource
from ragassay.question.written import name_problem
from ragassay.records import to_json
from ragassay.site.safe import one_line


@click.command("every-eval-ever")
@run_options
@click.option("--organization", required=True, metavar="NAME", help="Who evaluated.")
@click.option(
    "--relationship",
    required=True,
    type=click.Choice(["first_party", "third_party", "collaborative", "other"]),
    help="What the evaluator is to the model.",
)
@click.option("--developer", metavar="NAME", help="Who made the answering model, where its id does not say it.")
@click.option("--model-id", metavar="DEVELOPER/NAME", help="The answering model's id in the datastore.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("every-eval-ever"), show_default=True, help="The new folder."
)
@click.option("--force", is_flag=True, help="Replace an earlier export.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def every_eval_ever(
    runs: tuple[str, ...],
    workspace: Path,
    rows: tuple[str, ...],
    voided: bool,
    organization: str,
    relationship: str,
    developer: str | None,
    model_id: str | None,
    out: Path,
    force: bool,
    as_json: bool,
) -> int:
    """Write each run as records of Every Eval Ever 0.3.0; a run with a stub in it is refused.

    RUN is a run id or its first characters, or whatever `ragassay verify` takes; default: every run of the workspace.
    """
    given = {"--organization": organization, "--developer": developer, "--model-id": model_id}
    problems = [f"{name} {problem}" for name, value in given.items() if value and (problem := name_problem(value))]
    if model_id is not None and not all(model_id.partition("/")[::2]):
        problems.append("--model-id is DEVELOPER/NAME, as in meta-llama/Llama-3.2-1B-Instruct")
    if problems:
        raise InputError("these names cannot be used", problems)
    publisher = Publisher(
        organization=organization,
        relationship=cast("Relationship", relationship),
        retrieved=int(time.time()),
        model=model_id,
        developer=developer,
    )
    source = chosen_runs(runs, workspace, rows=rows, voided=voided)
    with new_folder(out, force=force) as folder:
        written = write_records(source, folder, publisher)
    if as_json:
        found = {"path": str(out), "runs": [to_json(one) for one in written]}
        click.echo(json.dumps({**found, "leftOut": left_out_json(source.left_out)}, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(_lines(out, written, source)))
    return code_of(source)


def _lines(out: Path, written: Sequence[RecordedRun], source: RunSource) -> Iterator[str]:
    yield f"wrote {one_line(str(out))}: {len(written)} {'run' if len(written) == 1 else 'runs'}"
    for one in written:
        yield f"  {one_line(one.row)}, pass {one.pass_k}: {one.lines:,} of {one.questions:,} questions: {one.file}"
        yield from (f"    {count:,} without a line: {one_line(reason)}" for reason, count in one.left_out.items())
    yield from left_out_lines(source.left_out)
