"""`ragassay questions hash` and `export`: digests and canonical bytes of a question file."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ragassay.cli.question_sources import about, file_argument, json_option, print_json
from ragassay.errors import InputError
from ragassay.question import load_file, published_form


@click.command("hash")
@file_argument
@json_option
def hash_(file: Path, as_json: bool) -> int:
    """Print the digest of the published form (itemSet) and, for our own form, of the full one (digest)."""
    read = load_file(file)
    digests = {"itemSet": read.benchmark.item_set_digest()}
    if read.form == "full":
        digests["digest"] = read.benchmark.digest()
    if as_json:
        print_json({**digests, **about(read), "canonical": read.canonical})
        return 0
    for label, digest in digests.items():
        click.echo(f"{label:<8} {digest}")
    return 0


@click.command("export")
@file_argument
@click.option("--form", type=click.Choice(["published", "full"]), default="published", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="Write this new file; without it, standard output.")
def export(file: Path, form: str, out: Path | None) -> int:
    """Write FILE as canonical bytes: the published form (id, input, target), or our full form."""
    benchmark = load_file(file).benchmark
    data = published_form(benchmark) if form == "published" else benchmark.full_form()
    if out is None:
        sys.stdout.buffer.write(data)
        return 0
    try:
        with out.open("xb") as target:
            target.write(data)
    except FileExistsError as error:
        raise InputError(f"{out} exists already; name another file or remove it") from error
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror or error}") from error
    digest = benchmark.item_set_digest() if form == "published" else benchmark.digest()
    click.echo(f"{out}: {len(data)} bytes, sha256 {digest}", err=True)
    return 0
