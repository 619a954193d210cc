"""`ragassay questions closed-book`: which questions does the answering model answer without retrieval?"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path

import click

from ragassay.cli.question_sources import json_option, print_json
from ragassay.errors import InputError


@click.command("closed-book")
@click.argument("board_path", metavar="[BOARD]", default="board.toml", type=click.Path(path_type=Path))
@click.option("--workspace", type=click.Path(path_type=Path), help="Default: .ragassay beside the board file.")
@click.option("--from", "least", default=".25", show_default=True, metavar="MEAN", help="Known from this mean on.")
@json_option
def closed_book(board_path: Path, workspace: Path | None, least: str, as_json: bool) -> int:
    """Say which questions of BOARD the answering model answers without retrieval, by its control runs.

    Exit code 1 when some are known, 2 when no control by a model was run on these questions.
    """
    from ragassay.cli import closed_book_lines
    from ragassay.run.board_file import load_board
    from ragassay.run.question_sets.frozen import load_questions
    from ragassay.site.closedbook import closed_books
    from ragassay.site.runs import load_runs

    level = _level(least)
    board = load_board(board_path)
    benchmark = load_questions(board.benchmark)
    space = workspace or board.path.parent / ".ragassay"
    documents = [run.document for run in load_runs(space) if run.document is not None] if space.is_dir() else []
    books = closed_books(documents, benchmark.digest(), level)
    if not any(not book.reader for book in books):
        raise InputError(closed_book_lines.nothing(books, benchmark.name), closed_book_lines.advice(books))
    if as_json:
        print_json(closed_book_lines.told(books, benchmark))
    else:
        for line in closed_book_lines.lines(books):
            click.echo(line)
    return int(any(book.known for book in books if not book.reader))


def _level(given: str) -> float:
    try:
        level = Decimal(given)
    except InvalidOperation:
        level = Decimal("NaN")
    if not level.is_finite() or not 0 < level <= 1:
        raise InputError(f"--from {given!r} must be a decimal number above 0 and at most 1, such as .25")
    return float(level)
