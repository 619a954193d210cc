"""`ragassay corpus`: build the corpus and say what is in it and what was left out."""

from __future__ import annotations

import contextlib
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from ragassay import plugins
from ragassay.cli.corpus_crawl import crawl_
from ragassay.cli.corpus_diff import diff_
from ragassay.cli.verb_group import VerbGroup
from ragassay.errors import InputError
from ragassay.records import JSON, Corpus
from ragassay.seams import Chunker, Progress

SHOWN = 20
PLAIN_EVERY_S = 5.0


@click.group(cls=VerbGroup)
def command() -> None:
    """Crawl a site, build a corpus, compare two states of one."""


command.add_command(crawl_)
command.add_command(diff_)


@command.command("build")
@click.argument("source", required=False, type=click.Path(path_type=Path), metavar="[SOURCE|BOARD]")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for <digest>/ [default: .ragassay/corpus beside the board, for a SOURCE in the current folder].",
)
@click.option("--chunker", "kind", metavar="KIND", help="Chunker instead of the board's [default: heading].")
@click.option("--param", "params", multiple=True, metavar="K=V", help="A parameter of the chunker; may be repeated.")
@click.option("--pdf", is_flag=True, help="Read PDF files too; needs the extra `pdf`.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def build(
    source: Path | None, out: Path | None, kind: str | None, params: tuple[str, ...], pdf: bool, as_json: bool
) -> int:
    """Read documentation, split it, and store it under its digest.

    SOURCE is a folder, a .tar archive, one page or a crawl folder; BOARD is a board.toml, whose [corpus] table names
    path or crawl, and chunker. Without an argument it is ./board.toml.
    """
    from ragassay.corpus import read_corpus, store_corpus, summary

    plan = _plan(source or Path("board.toml"))
    chunker = _chunker(_override(plan.chunker, kind, params))
    with _shown() as progress:
        corpus = read_corpus(plan.source, chunker, progress=progress, pdf=pdf or plan.pdf)
    folder = store_corpus(corpus, out or plan.workspace / "corpus")
    if as_json:
        click.echo(msgspec.json.encode({**summary(corpus), "folder": str(folder)}).decode())
    else:
        for line in _lines(corpus, folder):
            click.echo(line)
    return 0


class _Plan(msgspec.Struct, frozen=True):
    """What is read, the chunker's table, the workspace folder, and whether PDF files are pages."""

    source: Path
    chunker: JSON
    workspace: Path
    pdf: bool = False


def _plan(given: Path) -> _Plan:
    """Return what an argument stands for; of a board nothing but its [corpus] table need be right."""
    if given.suffix.lower() != ".toml":
        return _Plan(given, {"kind": "heading"}, Path(".ragassay"))
    try:
        board = tomllib.loads(given.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        raise InputError(f"{given} does not exist; name a folder of documentation, or run `ragassay init`") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{given} cannot be read as TOML: {error}") from error
    table = board.get("corpus")
    if not isinstance(table, dict):
        raise InputError(f"{given} has no [corpus] table; give it one with `path` or `crawl`")
    workspace = given.parent / ".ragassay"
    source = _source(given, table, workspace)
    entry = table.get("chunker", {"kind": "heading"})
    if not isinstance(entry, dict) or not isinstance(entry.get("kind"), str):
        raise InputError(f"{given}: corpus.chunker needs a `kind`, for example {{ kind = 'heading' }}")
    if not isinstance(pdf := table.get("pdf", False), bool):
        raise InputError(f"{given}: corpus.pdf must be true or false")
    return _Plan(source, entry, workspace, pdf)


def _source(given: Path, table: JSON, workspace: Path) -> Path:
    """Return the documentation that a [corpus] table names, by its path or by the site that was crawled."""
    from ragassay.corpus.crawled import crawl_folder

    named = {key: table[key] for key in ("path", "crawl") if key in table}
    value = next(iter(named.values()), None)
    if len(named) != 1 or not isinstance(value, str) or not value:
        what = "`path`, the folder or archive of the documentation, or `crawl`, the address of its site"
        raise InputError(f"{given}: [corpus] needs either {what}")
    if "path" in named:
        return given.parent / value
    try:
        return crawl_folder(value, workspace)
    except InputError as error:
        raise InputError(f"{given}: corpus.crawl: {error.message}") from error


def _override(entry: JSON, kind: str | None, params: tuple[str, ...]) -> JSON:
    chosen = dict(entry) if kind in (None, entry["kind"]) else {"kind": kind}
    broken = [param for param in params if not param.partition("=")[0].strip() or "=" not in param]
    if broken:
        raise InputError("each --param is NAME=VALUE, for example max_tokens=128", map(repr, broken))
    for param in params:
        name, _, value = param.partition("=")
        chosen[name.strip()] = _value(value.strip())
    return chosen


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _chunker(entry: JSON) -> Chunker:
    made: Chunker = plugins.load("chunkers", entry["kind"])(**{k: v for k, v in entry.items() if k != "kind"})
    return made


def _lines(corpus: Corpus, folder: Path) -> Iterator[str]:
    source = corpus.source
    empty, left = source["emptyPages"], source["leftOut"]
    params = ", ".join(f"{k} {v}" for k, v in corpus.chunker.items() if k not in ("kind", "version", "tokens"))
    kind = corpus.chunker.get("kind", "?")
    yield f"pages     {len(corpus.pages):,}" + (f", {len(empty):,} of them without text (no chunks)" if empty else "")
    yield f"chunks    {len(corpus.chunks):,} ({kind}" + (f": {params})" if params else ")")
    yield from _done(source)
    yield f"left out  {len(left):,} of {source['seen']:,}"
    yield from (f"  {one['path']}: {one['reason']}" for one in left[:SHOWN])
    if len(left) > SHOWN:
        yield f"  … and {len(left) - SHOWN:,} more, all listed in corpus.json"
    yield f"digest    {corpus.digest()}"
    yield f"stored in {folder}"


def _done(source: JSON) -> Iterator[str]:
    """Yield what was changed on the way from bytes to text, where anything was."""
    for field, what in (
        ("frontMatterDropped", "front matter dropped"),
        ("lineEndsNormalised", "CRLF or CR line ends written as LF"),
        ("byteOrderMarkDropped", "byte order mark dropped"),
        ("otherCharsets", "decoded from a declared charset other than UTF-8"),
    ):
        if source[field]:
            count = len(source[field])
            yield f"          {what}: {count:,} page{'s' if count > 1 else ''}"


@contextlib.contextmanager
def _shown() -> Iterator[Progress]:
    """Show a bar on a terminal, elsewhere a plain line every few seconds; nothing for what takes no time."""
    if not sys.stderr.isatty():
        yield _plain()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("pages", total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


def _plain() -> Progress:
    last = time.monotonic()

    def progress(done: int, total: int) -> None:
        nonlocal last
        if (now := time.monotonic()) - last >= PLAIN_EVERY_S:
            last = now
            click.echo(f"  pages: {done:,}/{total:,}", err=True)

    return progress
