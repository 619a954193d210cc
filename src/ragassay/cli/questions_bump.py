"""`ragassay questions bump`: an editable copy of a frozen set, and its next version with what moved."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragassay.cli.question_sources import json_option, print_json
from ragassay.cli.questions_freeze import frozen_json, frozen_lines, write_frozen
from ragassay.cli.questions_signing import checked_set, docs_from, signing_options
from ragassay.errors import InputError
from ragassay.records import to_json

if TYPE_CHECKING:
    from ragassay.question.freezing import Standing
    from ragassay.question.moved import Moved
    from ragassay.run.freeze_set import Checked
    from ragassay.run.frozen import FrozenSet

MAX_SHOWN = 30
"""How many questions of one change are printed; the rest is counted."""


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
@signing_options
@json_option
def bump(
    file: Path,
    edited: Path | None,
    source: Path | None,
    version: str | None,
    out: Path | None,
    workspace: Path,
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
    from ragassay.run.frozen import load_set

    read, frozen = load_set(file)
    if frozen is None:
        raise InputError(
            f"{file} is not frozen: no item manifest stands beside it; `ragassay questions freeze` makes one"
        )
    folder = out or file.parent
    if edited is None:
        return _copy(frozen, to_json(read.benchmark), folder, as_json=as_json)
    if source is None:
        raise click.UsageError("give --corpus, the documentation of the next version")
    after = load_set(edited)[0].benchmark
    signing = Signing(author=author, not_derived=not_derived, drop_rejected=drop_rejected)
    docs = docs_from(source, after, url, pdf=reads_pdf(frozen.predicate.corpus.extractor))
    found = checked_set(edited, after, docs, signing, before=_reviews(frozen))
    found, change = _moved(read.benchmark, found, frozen)
    asked, problems = _version(frozen, change, version, folder)
    if read.benchmark.name != after.name:
        problems.append(f"{edited} is the set {after.name!r}, and {file} is {read.benchmark.name!r}")
    if problems := [*problems, *found.problems]:
        raise InputError(f"{edited} cannot be frozen as the next version; nothing was written", problems)
    paths, signed = write_frozen(found, asked, folder, keys, key, previous=_link(frozen))
    rows = _superseded(workspace, frozen)
    if as_json:
        print_json({**frozen_json(paths, signed), "moved": _moved_json(change), "superseded": rows})
        return 0
    for line in (*frozen_lines(found, paths, signed), *_moved_lines(change, frozen), *_row_lines(rows)):
        click.echo(line)
    return 0


def _copy(frozen: FrozenSet, value: Any, folder: Path, *, as_json: bool) -> int:
    from ragassay.manifest.item_set import set_slug
    from ragassay.question.printable import printable
    from ragassay.question.versions import DRAFT, raised
    from ragassay.question.waivers import waivers_path
    from ragassay.run.frozen_write import write_together

    about = frozen.predicate.benchmark
    path = folder / f"{set_slug(about.name)}.json"
    value["version"] = raised(about.version, "patch") + DRAFT
    files = {path: (json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n", 0o644)}
    if waived := _waiver_lines(frozen):
        files[waivers_path(path)] = ("\n".join(waived).encode() + b"\n", 0o644)
    write_together(files)
    if as_json:
        print_json({"copy": str(path), "version": value["version"], "of": about.version, "waivers": len(waived)})
        return 0
    shown, of = printable(str(path)), printable(str(frozen.path))
    click.echo(f"wrote {shown}, version {value['version']}: edit it, then type")
    click.echo(f"  ragassay questions bump {of} --with {shown} --corpus SOURCE")
    return 0


def _waiver_lines(frozen: FrozenSet) -> list[str]:
    """Return the waivers of a frozen set as its copy's file of waivers holds them."""
    from ragassay.question.freezing import waiver_line

    return [waiver_line(one.rule, one.questions, one.reason) for one in frozen.predicate.lint.waivers]


def _reviews(frozen: FrozenSet) -> dict[str, Standing]:
    from ragassay.question.freezing import Standing

    return {
        item.id: Standing(item.material, item.reviewer, item.reviewed_at)
        for item in frozen.predicate.items
        if item.reviewer is not None
    }


def _moved(before: Any, found: Checked, frozen: FrozenSet) -> tuple[Checked, Moved]:
    """Return what moved; where nothing did, that is one more reason against freezing."""
    import msgspec

    from ragassay.manifest.item_set import pages_digest
    from ragassay.question.moved import moved
    from ragassay.run.freeze_set import source_pages

    old = {item.id: item.page_sha256 for item in frozen.predicate.items}
    corpus = pages_digest(found.docs.pages) != frozen.predicate.corpus.digest.sha256
    change = moved(before, found.benchmark, pages=(old, source_pages(found)), corpus=corpus)
    if change.part is not None:
        return found, change
    problem = f"nothing differs from version {frozen.predicate.benchmark.version}"
    return msgspec.structs.replace(found, problems=(*found.problems, problem)), change


def _version(frozen: FrozenSet, change: Moved, given: str | None, folder: Path) -> tuple[str, list[str]]:
    """Return the next version and what is wrong with it: never lower than the rule gives."""
    from ragassay.question.versions import raised, version_problem
    from ragassay.records.question import version_numbers
    from ragassay.run.frozen import frozen_versions, halves_left

    about = frozen.predicate.benchmark
    least = raised(about.version, change.part or "patch")
    asked = given or least
    here = frozen_versions(folder, about.name)
    there = {about.version, *here, *frozen_versions(frozen.path.parent, about.name)}
    problem = halves_left(folder, about.name, here) or version_problem(asked, there)
    numbers, wanted = version_numbers(asked), version_numbers(least)
    if problem is None and numbers is not None and wanted is not None and numbers < wanted:
        problem = f"version {asked} is too low: what moved asks for {least} or higher"
    return asked, [problem] if problem else []


def _link(frozen: FrozenSet) -> Any:
    from ragassay.manifest.item_statement import PreviousSet
    from ragassay.manifest.statement import Digest

    about = frozen.predicate.benchmark
    return PreviousSet(version=about.version, digest=about.digest, envelope=Digest(sha256=frozen.signed.digest))


def _superseded(workspace: Path, frozen: FrozenSet) -> dict[str, int]:
    from ragassay.run.superseded import rows_measured_on
    from ragassay.run.workspace import Workspace

    return rows_measured_on(Workspace(workspace).runs, frozen.predicate.benchmark.digest.sha256)


def _moved_json(change: Moved) -> dict[str, Any]:
    return {**to_json(change), "counts": change.counts()}


def _moved_lines(change: Moved, frozen: FrozenSet) -> Iterator[str]:
    from ragassay.question.moved import CHANGES

    yield f"since {frozen.predicate.benchmark.version} ({change.part}):"
    yield f"  unchanged   {change.counts()['unchanged']}"
    for one in CHANGES:
        yield from _named(one, [move.id for move in change.kept if one in move.changes])
    yield from _named("retired", change.retired)
    yield from _named("added", change.added)
    said = {"order": "the questions stand in another order", "head": "the scorer or the set's own words on its corpus"}
    for name, what in {**said, "corpus": "pages of the documentation changed, came or went"}.items():
        if getattr(change, name):
            yield f"  {name:<11} {what}"


def _named(name: str, ids: Any) -> Iterator[str]:
    from ragassay.question.printable import printable

    if ids:
        more = f", and {len(ids) - MAX_SHOWN} more" if len(ids) > MAX_SHOWN else ""
        yield f"  {name:<11} {len(ids)}: {', '.join(map(printable, ids[:MAX_SHOWN]))}{more}"


def _row_lines(rows: Mapping[str, int]) -> Iterator[str]:
    from ragassay.question.printable import plural, printable

    if rows:
        yield "superseded once the board names the new file; their runs stay, in a table of the old version:"
    for row, count in rows.items():
        yield f"  {printable(row)}: {plural(count, 'run')}"
