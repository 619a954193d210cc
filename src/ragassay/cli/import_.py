"""`ragassay import`: take in scores that were computed elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click

from ragassay.cli.passphrase import run_signer
from ragassay.cli.verb_group import VerbGroup
from ragassay.errors import InputError
from ragassay.manifest import RunPredicate, decode_run, read_run
from ragassay.manifest.files import FOREIGN, MAX_BYTES
from ragassay.manifest.foreign import Unreadable, read_foreign
from ragassay.manifest.readable import unreadable
from ragassay.manifest.republish import UNKNOWN, Claimed, ItemSet, foreign_items, own_items, republished_run
from ragassay.manifest.scores import MAX_SCORES_BYTES, PublishedScores, read_scores
from ragassay.question import parse_benchmark
from ragassay.records import to_json
from ragassay.run.workspace import Workspace, write_folder
from ragassay.site.numbers import plural
from ragassay.site.safe import one_line

TABLES = (".csv", ".jsonl", ".ndjson")
"""Endings of item sets that are kept as they are; a .json file is, if it is in the published form."""


@click.group("import", cls=VerbGroup)
def command() -> None:
    """Take in scores that were computed elsewhere."""


@command.command("republished")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--items", "items_path", required=True, type=click.Path(path_type=Path), help="The item set.")
@click.option("--row", help="The row's name on the board. Default: FILE without its ending.")
@click.option("--judge", help="The judge of all lines, for a FILE whose lines name none.")
@click.option("--evaluator", default=UNKNOWN, show_default=True, help="The program that computed the scores.")
@click.option("--evaluator-version", default=UNKNOWN, show_default=True, help="Its version.")
@click.option("--source", help="Where the scores were published: an address or a text.")
@click.option("--id", "set_id", help="What a foreign item set is called. Default: ITEMS without its ending.")
@click.option("--set-version", help="The version of a foreign item set. Default: 0.")
@click.option("--round", "rounding", is_flag=True, help="Round scores half-up to hundredths; the metric says so.")
@click.option(
    "--workspace",
    type=click.Path(path_type=Path),
    default=Path(".ragassay"),
    show_default=True,
    help="Where runs and keys are.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def republished(
    file: Path,
    items_path: Path,
    row: str | None,
    judge: str | None,
    evaluator: str,
    evaluator_version: str,
    source: str | None,
    set_id: str | None,
    set_version: str | None,
    rounding: bool,
    workspace: Path,
    as_json: bool,
) -> int:
    """Sign the scores in FILE as a run that says `republished`.

    FILE holds one JSON object per line: id, question, answer, score and judge. Nothing is written where any line does
    not fit.
    """
    items = _items(items_path, set_id, set_version)
    data = _read(file, MAX_SCORES_BYTES)
    try:
        scores = read_scores(data, items.benchmark.questions, judge=judge, rounding=rounding)
    except InputError as error:
        raise InputError(f"{file}: {error.message}", error.problems) from error
    claimed = Claimed(
        row=file.stem if row is None else row, evaluator=evaluator, evaluator_version=evaluator_version, source=source
    )
    space = Workspace(workspace)
    space.prepare()
    files = republished_run(scores, items, claimed, run_signer(space.keys))
    if (fault := unreadable(files)) is not None:
        raise InputError(f"{file}: nothing was imported, for nobody could verify the run: {fault}")
    predicate = decode_run(files).predicate
    folder = space.runs / predicate.run_id
    new = _write(folder, files)
    if as_json:
        said = {"made": new, "path": str(folder), "file": items.file, "rounded": scores.rounded}
        click.echo(json.dumps({**said, "run": to_json(predicate)}, indent=1))
    else:
        _print(folder, predicate, items, scores, new=new)
    return 0


def _items(path: Path, name: str | None, version: str | None) -> ItemSet:
    """Return a question file of ours in its full form, and any other as its bytes are."""
    data = _read(path, MAX_BYTES[FOREIGN])
    suffix = path.suffix.lower()
    if suffix in TABLES or (suffix == ".json" and _is_published(data)):
        try:
            return foreign_items(data, name=path.stem if name is None else name, version=version or "0")
        except InputError as error:
            raise InputError(f"{path}: {error.message}", error.problems) from error
    if name is not None or version is not None:
        raise click.UsageError(f"{path} is a question file, which has a name and a version of its own")
    try:
        return own_items(parse_benchmark(data, name=path.stem, suffix=path.suffix))
    except InputError as error:
        raise InputError(f"{path}: {error.message}", error.problems) from error


def _is_published(data: bytes) -> bool:
    try:
        return read_foreign(data).published
    except Unreadable:
        return False


def _read(path: Path, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    if len(data) > most:
        raise InputError(f"{path} has more than the {most} bytes allowed")
    return data


def _write(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Write the run, and tell whether it is new; the same run imported again is left as it is."""
    if folder.exists():
        if read_run(folder).files == files:
            return False
        raise InputError(f"{folder} holds this run with other bytes (another key?); move it away and import again")
    write_folder(folder, files)
    return True


def _print(folder: Path, predicate: RunPredicate, items: ItemSet, scores: PublishedScores, *, new: bool) -> None:
    counts, score, said = predicate.counts, predicate.score, predicate.provenance
    click.echo(f"{'imported' if new else 'imported before'}  {one_line(str(folder))}")
    version = "" if said.evaluator.version == UNKNOWN else f" {said.evaluator.version}"
    click.echo(f"    {predicate.row.name}, republished; computed by: {said.evaluator.name}{version}")
    click.echo(f"    source: {'unknown' if said.upstream_ref is None else said.upstream_ref}")
    shown = f"score {score.decimal} ({score.num}/{score.den})" if score else "no score"
    click.echo(f"    {shown}, {counts.scored} of {counts.asked} scored, {predicate.metric.id}")
    kept = "kept byte for byte" if items.file == FOREIGN else "kept in its full form"
    click.echo(f"    {items.ref.id} {items.ref.version}, {items.file} {kept}, sha256 {items.ref.digest.sha256}")
    if scores.rounded:
        click.echo(f"    {plural(scores.rounded, 'score')} rounded half-up to hundredths, as the metric says")
    click.echo(f"    signed by {predicate.signer.kid}; `ragassay board` shows it, never ranked with measured rows")
