"""`ragassay questions freeze`: a checked question set becomes a file that never changes, and its signed manifest."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragassay.cli.question_sources import corpus_option, file_argument, json_option, of_board, print_json
from ragassay.cli.questions_signing import checked_set, docs_from, signer_from, signing_options
from ragassay.errors import InputError

if TYPE_CHECKING:
    from ragassay.manifest.item_set import SignedItems
    from ragassay.manifest.item_statement import Declaration
    from ragassay.records import Benchmark
    from ragassay.run.question_sets.freeze_set import Checked
    from ragassay.run.question_sets.frozen import FrozenSet


@click.command("freeze")
@file_argument
@corpus_option
@click.option("--version", metavar="TEXT", help="MAJOR.MINOR.PATCH [default: that of the file].")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the two files [default: that of FILE].",
)
@signing_options
@json_option
def freeze(
    file: Path,
    source: Path | None,
    version: str | None,
    out: Path | None,
    url: str | None,
    author: str | None,
    not_derived: bool,
    drop_rejected: bool,
    keys: Path,
    key: str | None,
    as_json: bool,
) -> int:
    """Write FILE as NAME-VERSION.json, which never changes, with a signed manifest of its items beside it.

    Every reason against it is said at once, and then nothing is written. FILE may be a board (.toml).
    """
    from ragassay.question.freezing import Signing
    from ragassay.run.question_sets.frozen import load_set

    file, source = of_board(file, source)
    if source is None:
        raise click.UsageError("give --corpus, or a board file in place of FILE")
    read, signed_already = load_set(file)
    benchmark = read.benchmark
    folder = out or file.parent
    asked = version or benchmark.version
    problem = _why_not(file, asked, folder, benchmark, signed_already)
    signing = Signing(author=author, not_derived=not_derived, drop_rejected=drop_rejected)
    found = checked_set(file, benchmark, docs_from(source, benchmark, url), signing)
    if problems := [*([problem] if problem else []), *found.problems]:
        raise InputError(f"{file} cannot be frozen as it is; nothing was written", problems)
    paths, signed = write_frozen(found, asked, folder, keys, key)
    if as_json:
        print_json(frozen_json(paths, signed))
    else:
        for line in frozen_lines(found, paths, signed):
            click.echo(line)
    return 0


def _why_not(file: Path, version: str, folder: Path, benchmark: Benchmark, frozen: FrozenSet | None) -> str | None:
    """Return why a set cannot be frozen under a version, None where it can; `frozen` is the set where it is already."""
    from ragassay.manifest.item_set import set_file
    from ragassay.question.versions import DRAFT, version_problem
    from ragassay.records.question import version_numbers
    from ragassay.run.question_sets.frozen import frozen_versions, halves_left
    from ragassay.run.question_sets.frozen_beside import copy_of, other_set, own_versions

    here = frozen_versions(folder, benchmark.name)
    if (half := halves_left(folder, benchmark.name, here)) is not None:
        return half
    if frozen is not None:
        of = frozen.predicate.benchmark.version
        return f"it is frozen already, as version {of}: one version is signed once; `questions bump` makes the next"
    if benchmark.version.endswith(DRAFT):
        how = _with(copy_of(file, benchmark), file)
        return f"version {benchmark.version!r} marks the editable copy of a frozen set: {how} freezes it"
    if (other := other_set(folder, benchmark.name, here)) is not None:
        return other
    there = dict.fromkeys(here, folder) | dict.fromkeys(own_versions(file.parent, benchmark.name), file.parent)
    if not there:
        return version_problem(version, [], own=benchmark.version)
    last = max(there, key=lambda one: version_numbers(one) or (0, 0, 0))
    path = there[last] / set_file(benchmark.name, last)
    return f"the set is frozen already, as {path}, so {version} is no first version: {_with(path, file)} makes the next"


def _with(frozen: Path | None, file: Path) -> str:
    """Return the command that freezes a file as the version after a frozen one, as it is to be typed."""
    return f"`questions bump {frozen or 'FROZEN'} --with {file} --corpus SOURCE`"


def write_frozen(
    found: Checked, version: str, folder: Path, keys: Path, key: str | None, previous: Any = None
) -> tuple[tuple[Path, Path], SignedItems]:
    """Sign and write a set; return where the file and its manifest are, and the manifest."""
    from ragassay.manifest.item_set import decode_items, items_file, set_file
    from ragassay.run.question_sets.freeze_set import seal_set
    from ragassay.run.question_sets.frozen_write import READ_ONLY, write_together

    signer = signer_from(keys, key)
    data, envelope = seal_set(found, version, signer, now=int(time.time()), previous=previous)
    name = found.benchmark.name
    paths = folder / set_file(name, version), folder / items_file(name, version)
    write_together({paths[1]: (envelope, READ_ONLY), paths[0]: (data, READ_ONLY)})
    return paths, decode_items(envelope)


def frozen_json(paths: tuple[Path, Path], signed: SignedItems) -> dict[str, Any]:
    """Return what was frozen: both files, the digest of the envelope, and what the manifest says but the items."""
    from ragassay.records import to_json

    about = {name: value for name, value in to_json(signed.predicate).items() if name != "items"}
    unreviewed = [item.id for item in signed.predicate.items if item.reviewer is None]
    files = {"questions": str(paths[0]), "items": str(paths[1]), "itemsSha256": signed.digest}
    return {**files, "unreviewed": unreviewed, **about}


def frozen_lines(found: Checked, paths: tuple[Path, Path], signed: SignedItems) -> Iterator[str]:
    """Yield what a person is told of a frozen set."""
    from ragassay.question.printable import plural, printable

    p = signed.predicate
    warned = sum(p.lint.warnings.values())
    yield f"frozen    {printable(p.benchmark.name)} {p.benchmark.version}: {plural(p.benchmark.items, 'question')}"
    yield f"file      {printable(str(paths[0]))}"
    yield f"items     {printable(str(paths[1]))}"
    yield f"digest    {p.benchmark.digest.sha256}"
    yield f"itemSet   {p.benchmark.item_set.sha256}"
    yield f"corpus    {plural(p.corpus.pages, 'page')}, {p.corpus.digest.sha256}"
    yield f"lint      0 errors, {plural(warned, 'warning')}, {len(p.lint.waivers)} waived"
    yield from declared_lines(p.declaration)
    if found.applied.dropped:
        yield f"dropped   {len(found.applied.dropped)} rejected: {', '.join(map(printable, found.applied.dropped))}"
    if found.applied.cleared:
        yield f"cleared   reviewer saw other words: {', '.join(map(printable, found.applied.cleared))}"
    yield f"signed    {p.signer.kid} ({printable(p.signer.name)})"
    if p.review.unreviewed:
        names = [item.id for item in p.items if item.reviewer is None]
        yield click.style(
            f"UNREVIEWED: nobody reviewed {p.review.unreviewed} of {p.benchmark.items} questions, and the manifest "
            "says so; `questions review` records a review",
            bold=True,
        )
        yield f"          {', '.join(map(printable, names[:20]))}{', …' if len(names) > 20 else ''}"
    else:
        yield f"reviewed  {p.review.reviewed} of {p.benchmark.items}"


def declared_lines(declaration: Declaration) -> Iterator[str]:
    """Yield what a set declares of where its questions are from."""
    from ragassay.question.printable import plural

    if declaration.holds:
        alone = f" ({declaration.by_signer} by your word alone)" if declaration.by_signer else ""
        yield f"declares  {declaration.text}{alone}"
    else:
        yield f"DERIVED   {plural(declaration.derived, 'question')} from a system under test; nothing is declared"
