"""`ragassay corpus`: build the corpus and say what is in it and what was left out."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from ragassay import plugins
from ragassay.cli.corpus_crawl import crawl_
from ragassay.cli.corpus_diff import diff_
from ragassay.cli.corpus_named import corpus_named
from ragassay.cli.counting import counting
from ragassay.cli.verb_group import VerbGroup
from ragassay.errors import InputError
from ragassay.records import JSON, Corpus
from ragassay.seams import Chunker

SHOWN = 20


@click.group(cls=VerbGroup)
def command() -> None:
    """Crawl a site, build a corpus, compare two states of one."""


command.add_command(crawl_)


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

    plan = corpus_named(source or Path("board.toml"))
    chunker = _chunker(_override(plan.chunker, kind, params))
    with counting("pages") as progress:
        corpus = read_corpus(plan.source, chunker, progress=progress, pdf=pdf or plan.pdf)
    folder = store_corpus(corpus, out or plan.workspace / "corpus")
    if as_json:
        click.echo(msgspec.json.encode({**summary(corpus), "folder": str(folder)}).decode())
    else:
        for line in _lines(corpus, folder):
            click.echo(line)
    return 0


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
    yield from _left_out(left, of_crawl=source["kind"] == "crawl")
    yield f"digest    {corpus.digest()}"
    yield f"stored in {folder}"


def _left_out(left: list[JSON], *, of_crawl: bool) -> Iterator[str]:
    """Yield what was left out: of a crawl, which has listed it, how much for each reason and what is new here."""
    from ragassay.corpus.found import UNREADABLE, by_kind

    if of_crawl:
        yield from (f"  {kind}: {count:,}" for kind, count in by_kind(one["reason"] for one in left).items())
    told = [one for one in left if not of_crawl or one["reason"].startswith(UNREADABLE)]
    yield from (f"  {one['path']}: {one['reason']}" for one in told[:SHOWN])
    if len(left) > len(told[:SHOWN]):
        more = len(told) - SHOWN
        yield "  all are listed in corpus.json" if of_crawl else f"  … and {more:,} more, all listed in corpus.json"


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


command.add_command(diff_)
