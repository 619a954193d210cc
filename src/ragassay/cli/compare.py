"""`ragassay compare A B`: the difference of two rows, and what may be said of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click

from ragassay.cli.board import build, find_places
from ragassay.records import to_json
from ragassay.site.pairtext import find_pair, render_pair, rows_of
from ragassay.site.pairwords import pair_sentence


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option("--board", "path", default=".", type=click.Path(path_type=Path), help="A board file, or its folder.")
@click.option("--workspace", type=click.Path(path_type=Path), help="Default: .ragassay beside the board file.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def command(a: str, b: str, path: Path, workspace: Path | None, as_json: bool) -> None:
    """Compare two rows: difference, both intervals, p, smallest detectable difference, deciding questions.

    A and B are names of rows of the board; the difference is A minus B.
    """
    table, pair = find_pair(build(find_places(path, workspace)), a, b)
    first, second = rows_of(table, pair)
    if as_json:
        names = {first.key: first.name, second.key: second.name}
        cells = {line.id: [to_json(c) for c in line.cells if c.row in names] for line in table.questions}
        found = {
            "sentence": pair_sentence(pair, names),
            "a": first.name,
            "b": second.name,
            "pair": to_json(pair),
            "questions": {question: cells[question] for question in pair.deciding},
        }
        click.echo(json.dumps(found, indent=2, ensure_ascii=True))
    else:
        click.echo(render_pair(table, pair, min(140, shutil.get_terminal_size((100, 24)).columns)), nl=False)
