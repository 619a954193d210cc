"""`ragassay questions bump`: an editable copy of a frozen set, and its next version with what moved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragassay.cli.question_sources import json_option, print_json
from ragassay.cli.questions_bump_out import moved_json, moved_lines, print_dry, row_lines
from ragassay.cli.questions_freeze import frozen_json, frozen_lines, write_frozen
from ragassay.cli.questions_signing import checked_set, docs_from, signing_options
from ragassay.errors import InputError
from ragassay.records import to_json

if TYPE_CHECKING:
    from ragassay.records import Benchmark
    from ragassay.run.question_sets.frozen import FrozenSet


@click.command("bump")
@click.argument("file", type=click.Path(path_type=Path), metavar="FROZEN")
@click.option(
    "--with", "edited", type=click.Path(path_type=Path), help="The edited copy: freeze it as the next version."
)
@click.option(
    "--corpus",
    "source",
    type=click.Path(path_type=Path),
    help="The documentation of the next version (a folder or an archive), or a built corpus folder.",
)
@click.option("--version", metavar="TEXT", help="A higher version than the rule gives.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), help="Folder to write into [default: that of FROZEN]."
)
@click.option(
    "--workspace",
    type=click.Path(path_type=Path),
    default=Path(".ragassay"),
    show_default=True,
    help="Where runs of the old version are looked for.",
)
@click.option("--dry-run", is_flag=True, help="With --with: say what freezing would say; write and sign nothing.")
@signing_options
@json_option
def bump(
    file: Path,
    edited: Path | None,
    source: Path | None,
    version: str | None,
    out: Path | None,
    workspace: Path,
    dry_run: bool,
    url: str | None,
    author: str | None,
    not_derived: bool,
    drop_rejected: bool,
    keys: Path,
    key: str | None,
    as_json: bool,
) -> int:
    """Write NAME.json, an editable copy of FROZEN; with --with, freeze that as the next version and say what moved.

    Reviews of questions that did not change stand. FROZEN stays as it is.
    """
    from ragassay.corpus import reads_pdf
    from ragassay.question.freezing import Signing
    from ragassay.run.question_sets.frozen import load_set
    from ragassay.run.question_sets.next_set import next_set, previous_of, standing_reviews

    read, frozen = load_set(file)
    if frozen is None:
        raise InputError(
            f"{file} is not frozen: no item manifest stands beside it; `ragassay questions freeze` makes one"
        )
    folder = out or file.parent
    if edited is None:
        if dry_run:
            raise click.UsageError("--dry-run goes with --with: without it nothing is frozen")
        return _copy(frozen, read.benchmark, folder, as_json=as_json)
    if source is None:
        raise click.UsageError("give --corpus, the documentation of the next version")
    after = load_set(edited)[0].benchmark
    signing = Signing(author=author, not_derived=not_derived, drop_rejected=drop_rejected)
    docs = docs_from(source, after, url, pdf=reads_pdf(frozen.predicate.corpus.extractor))
    found = checked_set(edited, after, docs, signing, before=standing_reviews(frozen))
    new = next_set(read.benchmark, frozen, found, version, folder)
    rows = _superseded(workspace, frozen)
    if dry_run:
        print_dry(new, frozen, rows, as_json=as_json)
    if new.problems:
        raise InputError(f"{edited} cannot be frozen as the next version; nothing was written", new.problems)
    if dry_run:
        return 0
    paths, signed = write_frozen(found, new.version, folder, keys, key, previous=previous_of(frozen))
    if as_json:
        print_json({**frozen_json(paths, signed), "moved": moved_json(new.moved), "superseded": rows})
        return 0
    for line in (*frozen_lines(found, paths, signed), *moved_lines(new.moved, frozen), *row_lines(rows)):
        click.echo(line)
    return 0


def _copy(frozen: FrozenSet, benchmark: Benchmark, folder: Path, *, as_json: bool) -> int:
    from ragassay.manifest.item_set import set_slug
    from ragassay.question.printable import printable
    from ragassay.question.waivers import waivers_path
    from ragassay.run.question_sets.frozen_write import write_together
    from ragassay.run.question_sets.next_set import editable

    about = frozen.predicate.benchmark
    path = folder / f"{set_slug(about.name)}.json"
    value = to_json(editable(benchmark))
    files = {path: (json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n", 0o644)}
    if waived := _waiver_lines(frozen):
        files[waivers_path(path)] = ("\n".join(waived).encode() + b"\n", 0o644)
    write_together(files)
    if as_json:
        print_json({"copy": str(path), "version": value["version"], "of": about.version, "waivers": len(waived)})
        return 0
    shown, of = printable(str(path)), printable(str(frozen.path))
    click.echo(f"wrote {shown}, version {value['version']}: edit it, then type")
    click.echo(f"  ragassay questions bump {of} --with {shown} --corpus SOURCE --dry-run")
    click.echo("which says what moved and what is to be reviewed again; without --dry-run it freezes the next version")
    return 0


def _waiver_lines(frozen: FrozenSet) -> list[str]:
    """Return the waivers of a frozen set as its copy's file of waivers holds them."""
    from ragassay.question.freezing import waiver_line

    return [waiver_line(one.rule, one.questions, one.reason) for one in frozen.predicate.lint.waivers]


def _superseded(workspace: Path, frozen: FrozenSet) -> dict[str, int]:
    from ragassay.run.question_sets.superseded import rows_measured_on
    from ragassay.run.workspace import Workspace

    return rows_measured_on(Workspace(workspace).runs, frozen.predicate.benchmark.digest.sha256)
