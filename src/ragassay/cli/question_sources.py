"""What the verbs of `ragassay questions` share: their arguments, and what a file, a corpus or a board stands for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ragassay.question import QuestionFile
from ragassay.records import JSON, Chunk, Corpus, Page

file_argument = click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
corpus_option = click.option(
    "--corpus",
    "source",
    type=click.Path(path_type=Path),
    help="The documentation: a folder, an archive, a page, a crawl folder, a built corpus, or a board that names it.",
)
_PDF = "ragassay.corpus.pdf"
"""Where a verb remembers whether its board reads PDF files."""


class _Whole:
    """Splits nothing: a page is one chunk, because only pages are searched here."""

    def split(self, page: Page) -> Sequence[Chunk]:
        """Return the page's text as its one chunk."""
        whole = Chunk(id=page.id, page=page.id, start=0, end=len(page.text), text=page.text, sha256=page.sha256)
        return [whole] if page.text else []

    def describe(self) -> JSON:
        """Return the name of this chunker."""
        return {"kind": "whole-page", "version": "1"}


def pages_of(source: Path) -> Sequence[Page]:
    """Return the pages of documentation, as `corpus_of` reads it."""
    return corpus_of(source).pages


def corpus_of(source: Path, *, pdf: bool = False) -> Corpus:
    """Return documentation: a folder, an archive, one page, a crawl folder, a built corpus, or that of a board.

    PDF files are pages with `pdf`, or where the board says so.
    """
    from ragassay.cli.corpus_named import corpus_named
    from ragassay.corpus import load_corpus, read_corpus

    named = corpus_named(source)
    source, pdf = named.source, pdf or named.pdf
    if (source / "corpus.json").is_file() and (source / "pages.jsonl").is_file():
        return load_corpus(source)
    context = click.get_current_context(silent=True)
    return read_corpus(source, _Whole(), pdf=pdf or (context is not None and context.meta.get(_PDF) is True))


def of_board(path: Path, source: Path | None) -> tuple[Path, Path | None]:
    """Return what a board names as question file and, where no other is given, as corpus; else the same again.

    A board that is only begun, without answering model, judge and rows, need have [corpus] and [benchmark] alone.
    """
    from ragassay.cli.corpus_named import is_begun, is_board, questions_named
    from ragassay.run.board_file import load_board

    if not is_board(path):
        return path, source
    if is_begun(path):
        return questions_named(path), source or path
    board = load_board(path)
    click.get_current_context().meta[_PDF] = board.pdf and source is None
    return board.benchmark, source or board.corpus


def about(read: QuestionFile) -> dict[str, Any]:
    """Return what every verb says of a question file: name, version, number of questions, form."""
    benchmark = read.benchmark
    return {
        "name": benchmark.name,
        "version": benchmark.version,
        "questions": len(benchmark.questions),
        "form": read.form,
    }


def print_json(value: object) -> None:
    """Print a value as JSON; what steers a terminal, hides or reorders stands in it as an escape."""
    from ragassay.site.safe import STEERING

    text = json.dumps(value, ensure_ascii=False, indent=1)
    click.echo(STEERING.sub(lambda found: json.dumps(found.group())[1:-1], text))
