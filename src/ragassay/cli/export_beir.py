"""`ragassay export beir`: the corpus and the questions of a board as a BEIR folder."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from ragassay.cli.board import find_places
from ragassay.errors import InputError
from ragassay.export.out import new_folder
from ragassay.records import Benchmark, to_json
from ragassay.site.numbers import plural
from ragassay.site.safe import one_line

if TYPE_CHECKING:
    from ragassay.export.beir import BeirWritten, Documents

SHORTEST = 6
"""The fewest characters of a digest that stand for a corpus."""
NAMED = 10
"""The most questions that are named in one line."""


@click.command("beir")
@click.argument("board", metavar="[BOARD]", default=".", type=click.Path(path_type=Path))
@click.option("--corpus", "digest", metavar="DIGEST", help="Which stored corpus, where the workspace holds several.")
@click.option("--questions", type=click.Path(path_type=Path), help="A question file; default: that of the board.")
@click.option(
    "--documents",
    type=click.Choice(["chunks", "pages"]),
    default="chunks",
    show_default=True,
    help="What a document is.",
)
@click.option("--workspace", type=click.Path(path_type=Path), help="Default: .ragassay beside the board file.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("beir"), show_default=True, help="The new folder.")
@click.option("--force", is_flag=True, help="Replace an earlier export.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def beir(
    board: Path,
    digest: str | None,
    questions: Path | None,
    documents: str,
    workspace: Path | None,
    out: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Write the corpus that a board searches and its questions as a BEIR folder, with qrels from the evidence.

    BOARD is a board file, or the folder that holds one; default: the current folder.
    """
    from ragassay.corpus.stream import StoredCorpus  # reading a corpus needs more than the base install
    from ragassay.export.beir import write_beir

    places = find_places(board, workspace)
    benchmark = _questions(questions, places.board_file)
    corpus = StoredCorpus(_stored(places.workspace / "corpus", digest))
    with new_folder(out, force=force) as folder:
        written = write_beir(corpus, benchmark, folder, cast("Documents", documents))
    if as_json:
        click.echo(json.dumps({"path": str(out), **to_json(written)}, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(_lines(out, written, documents)))


def _questions(questions: Path | None, board_file: Path | None) -> Benchmark:
    from ragassay.run.board_file import load_board
    from ragassay.run.question_sets.frozen import load_questions

    if questions is not None:
        return load_questions(questions)
    if board_file is None:
        raise InputError("there is no board file to name the questions; give one, or the file with --questions")
    return load_questions(load_board(board_file).benchmark)


def _stored(corpora: Path, digest: str | None) -> Path:
    """Return the folder of the corpus that is meant; raises `InputError` where that is none or more than one."""
    if digest is not None and re.fullmatch(f"[0-9a-f]{{{SHORTEST},64}}", digest) is None:
        raise InputError(f"--corpus {digest} is not {SHORTEST} to 64 characters of a corpus digest")
    found = sorted(path for path in corpora.glob(f"{digest or ''}*") if re.fullmatch("[0-9a-f]{64}", path.name))
    if not found:
        raise InputError(
            f"{corpora} holds no such corpus; `ragassay run` and `ragassay corpus build` store those that they read"
        )
    if len(found) > 1:
        raise InputError(
            f"{corpora} holds {len(found)} corpora; name one with --corpus", [_named(one) for one in found]
        )
    return found[0]


def _named(folder: Path) -> str:
    from ragassay.corpus.stream import StoredCorpus

    described = StoredCorpus(folder).described
    pages, chunks = described["pages"]["count"], described["chunks"]["count"]
    chunker = one_line(json.dumps(described["chunker"], ensure_ascii=False))
    return f"{folder.name[:12]}: {pages:,} pages, {chunks:,} chunks, {chunker}"


def _lines(out: Path, written: BeirWritten, documents: str) -> list[str]:
    lines = [
        f"wrote {one_line(str(out))}",
        f"  corpus.jsonl    {written.documents:,} {documents} of corpus {written.corpus[:12]}",
        f"  queries.jsonl   {plural(written.queries, 'question')} of {one_line(written.benchmark)}",
        f"  qrels/test.tsv  {plural(written.pairs, 'pair')} of {plural(written.in_qrels, 'question')}",
    ]
    for ids, why in (
        (written.without_evidence, "without evidence"),
        (written.split, "whose evidence is whole in no single chunk"),
        (written.absent, "whose evidence stands in no document"),
    ):
        if ids:
            lines.append(f"not in the qrels: {plural(len(ids), 'question')} {why}: {_ids(ids)}")
    return lines


def _ids(ids: Sequence[str]) -> str:
    beyond = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return ", ".join(map(one_line, ids[:NAMED])) + beyond
