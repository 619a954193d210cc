"""`ragassay corpus diff`: what became of the pages of a documentation, and which questions rot with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragassay.cli.question_sources import corpus_of, json_option, print_json

if TYPE_CHECKING:
    from ragassay.corpus.diff import CorpusDiff
    from ragassay.question.rot import Rot
    from ragassay.records import Corpus


@click.command("diff")
@click.argument("old", type=click.Path(path_type=Path), metavar="OLD")
@click.argument("new", type=click.Path(path_type=Path), metavar="NEW")
@click.option(
    "--questions",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A question file, or a board that names one: say what becomes of each question's evidence.",
)
@click.option("--pdf", is_flag=True, help="Read PDF files too; needs the extra `pdf`.")
@json_option
def diff_(old: Path, new: Path, file: Path | None, pdf: bool, as_json: bool) -> int:
    """Say which pages of OLD came, went, moved or changed in NEW, and with --questions which questions rot.

    OLD and NEW are folders, archives, crawl folders or stored corpora. Exit code 1 when a question rots: its evidence
    is gone, lies on another page, stands in more places than before, or its page is lost.
    """
    from ragassay.cli.corpus_diff_lines import diff_lines, rot_lines
    from ragassay.corpus.diff import diff
    from ragassay.corpus.found import unreadable

    before, after = corpus_of(old, pdf=pdf), corpus_of(new, pdf=pdf)
    found = diff(before.pages, after.pages)
    rots = None if file is None else _rots(file, before, after, found)
    if as_json:
        print_json(_values(before, after, found, rots))
    else:
        extractors = None if before.extractor == after.extractor else (before.extractor, after.extractor)
        unread = (unreadable(before.source), unreadable(after.source))
        for line in (*diff_lines(found, extractors, unread), *rot_lines(rots or [])):
            click.echo(line)
    return int(any(one.rotten for one in rots or ()))


def _rots(file: Path, before: Corpus, after: Corpus, found: CorpusDiff) -> list[Rot]:
    from ragassay.cli.question_sources import of_board
    from ragassay.question import load_file
    from ragassay.question.rot import rot

    read = load_file(of_board(file, Path())[0])
    return rot(read.benchmark, before.pages, after.pages, {page.old: page.new for page in found.moved})


def _values(before: Corpus, after: Corpus, found: CorpusDiff, rots: list[Rot] | None) -> dict[str, object]:
    from ragassay.corpus.found import unreadable
    from ragassay.question.rot import counts
    from ragassay.records import to_json

    values = {
        "extractors": [before.extractor, after.extractor],
        "unreadable": [unreadable(before.source), unreadable(after.source)],
        "pages": to_json(found),
    }
    if rots is not None:
        rows = [{**to_json(one), "rotten": one.rotten} for one in rots]
        values |= {"ok": not any(one.rotten for one in rots), "counts": counts(rots), "questions": rows}
    return values
