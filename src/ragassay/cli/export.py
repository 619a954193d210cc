"""`ragassay export`: a run as one file that can be sent, or runs in the forms of other tools."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

import click

from ragassay.cli.export_beir import beir
from ragassay.cli.export_csv import csv
from ragassay.cli.export_every_eval_ever import every_eval_ever
from ragassay.cli.export_junit import junit
from ragassay.cli.export_mlflow import mlflow
from ragassay.cli.export_otel import otel
from ragassay.cli.export_parquet import parquet
from ragassay.cli.export_ragas import ragas
from ragassay.cli.export_ragchecker import ragchecker
from ragassay.cli.export_trec import trec
from ragassay.cli.export_verifier import verifier
from ragassay.cli.exported import find_run
from ragassay.cli.new_file import write_new
from ragassay.cli.verb_group import VerbGroup
from ragassay.errors import VerifyError
from ragassay.manifest import read_run
from ragassay.manifest.bundle import write_bundle
from ragassay.manifest.files import BESIDE, MANIFEST, MAX_BYTES
from ragassay.manifest.sigstore import MEDIA_TYPE, sigstore_bundle
from ragassay.site.safe import one_line
from ragassay.verify import Report, Unpinned, verify

_workspace = click.option(
    "--workspace",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".ragassay"),
    show_default=True,
    help="Where a run id is looked up.",
)
_force = click.option("--force", is_flag=True, help="Replace a file that is there.")
_as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("export", cls=VerbGroup)
def command() -> None:
    """Write a run as one file that can be sent, the page that checks runs, or runs in the forms of other tools."""


command.add_command(verifier)
command.add_command(trec)
command.add_command(beir)
command.add_command(csv)
command.add_command(parquet)
command.add_command(junit)
command.add_command(ragas)
command.add_command(ragchecker)
command.add_command(otel)
command.add_command(mlflow)
command.add_command(every_eval_ever)


@command.command("bundle")
@click.argument("run", metavar="RUN")
@click.option("--out", type=click.Path(path_type=Path), help="Default: RUN-ID.zip in the current folder.")
@_workspace
@_force
@_as_json
def bundle(run: str, out: Path | None, workspace: Path, force: bool, as_json: bool) -> None:
    """Write a run as a ZIP file that `ragassay verify` and the verifier page read.

    RUN is a run folder, a run id, or its first characters. Only the files of the run are packed, and only where
    `ragassay verify` does not refuse them.
    """
    folder = find_run(run, workspace)
    read = read_run(folder)
    files = {name: read.files[name] for name in (*MAX_BYTES, *BESIDE) if name in read.files}
    left_out = sorted(read.files.keys() - files.keys())
    report = _refuse_refused(folder, files, read.problems)
    data = write_bundle(files)
    place = out or Path(f"{report.run_id}.zip")
    write_new(place, data, force=force)
    if as_json:
        members = [{"name": name, "bytes": len(content)} for name, content in files.items()]
        click.echo(
            json.dumps({"path": str(place), "bytes": len(data), "files": members, "leftOut": left_out}, indent=2)
        )
        return
    click.echo(f"wrote {place}, {len(data):,} bytes")
    for name, content in files.items():
        click.echo(f"  {len(content):>12,}  {name}")
    if left_out:
        click.echo(f"left out, as it is no file of a run: {one_line(', '.join(left_out))}")


@command.command("sigstore-bundle")
@click.argument("run", metavar="RUN")
@click.option("--out", type=click.Path(path_type=Path), help="Default: RUN-ID.sigstore.json in the current folder.")
@_workspace
@_force
@_as_json
def sigstore(run: str, out: Path | None, workspace: Path, force: bool, as_json: bool) -> None:
    """Write a run's manifest as a Sigstore bundle (v0.3), which tools for those check with the bare key.

    It shows that the manifest is signed; the numbers are recomputed by `ragassay verify` alone.
    """
    folder = find_run(run, workspace)
    read = read_run(folder)
    report = _refuse_refused(folder, read.files, read.problems)
    data = sigstore_bundle(read.files[MANIFEST])
    place = out or Path(f"{report.run_id}.sigstore.json")
    write_new(place, data, force=force)
    if as_json:
        found = {"path": str(place), "bytes": len(data), "mediaType": MEDIA_TYPE, "hint": report.fingerprint}
        click.echo(json.dumps(found, indent=2))
    else:
        click.echo(f"wrote {place}, {len(data):,} bytes\nkey hint {report.fingerprint}")


def _refuse_refused(folder: Path, files: dict[str, bytes], problems: Sequence[VerifyError]) -> Report:
    """Return the verifier's report; raises the first reason for which it refuses the run, whoever signed it."""
    report = verify(files, policy=Unpinned(), now=int(time.time()), problems=problems)
    failures = [f for f in report.findings if f.severity == "fail"]
    if failures:
        reasons = "\n".join(f"  - {f.code}: {one_line(f.message)}" for f in failures)
        raise VerifyError(
            f"{folder} is refused by `ragassay verify` and not exported:\n{reasons}", code=failures[0].code
        )
    return report
