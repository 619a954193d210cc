"""`ragassay questions fairness`: is the evidence of each question in the texts that each row searches?"""

from __future__ import annotations

from pathlib import Path

import click

from ragassay.cli.question_sources import json_option, print_json


@click.command("fairness")
@click.argument("board_path", metavar="[BOARD]", default="board.toml", type=click.Path(path_type=Path))
@json_option
def fairness(board_path: Path, as_json: bool) -> int:
    """Look the evidence of every question of BOARD up in the texts that each of its rows searches.

    Nothing is built, embedded or asked, and nothing is written: a run records the same of each row, signed. Exit code 1
    where evidence is absent from a row's texts.
    """
    from ragassay.cli import fairness_lines
    from ragassay.run.board_file import load_board
    from ragassay.run.fairness import board_fairness

    found = board_fairness(load_board(board_path))
    if as_json:
        print_json(fairness_lines.told(found))
    else:
        for line in fairness_lines.lines(found):
            click.echo(line)
    return int(bool(found.lacking))
