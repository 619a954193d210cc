"""`ragassay index`: build every row's index ahead of a run, and say what is stale."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TextIO

import click
import msgspec

from ragassay.cli import index_lines
from ragassay.cli.aside import printing_aside
from ragassay.cli.key_values import key_values
from ragassay.cli.models import weights_cache
from ragassay.errors import InputError


@click.command()
@click.argument("board_path", metavar="[BOARD]", default="board.toml", type=click.Path(path_type=Path))
@click.option("--row", "rows", multiple=True, metavar="NAME", help="Index only this row; may be given several times.")
@click.option("--workspace", type=click.Path(path_type=Path), help="Default: .ragassay beside the board file.")
@click.option("--check", is_flag=True, help="Build and write nothing; say what is there and what lacks.")
@click.option("--prune", is_flag=True, help="Remove stale chunk vectors from the workspace.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    board_path: Path, rows: tuple[str, ...], workspace: Path | None, check: bool, prune: bool, as_json: bool
) -> int:
    """Build each row's index over BOARD's corpus; what is interrupted goes on where it stopped; 3 if a service failed.

    A run builds the same indexes itself: this is for doing it ahead, and for looking at what is there.
    """
    from ragassay.cli.progress import Building
    from ragassay.run import index_stale
    from ragassay.run.board_file import load_board
    from ragassay.run.build import needed_keys
    from ragassay.run.index import RowIndexed, index_board
    from ragassay.run.workspace import Workspace

    if check and prune:
        raise InputError("--check writes nothing and --prune removes: give one of them")
    board = load_board(board_path)
    wanted = [] if check else needed_keys([], [row.stack for row in board.rows if not rows or row.name in rows])
    if unset := [name for name in wanted if not os.environ.get(name)]:
        raise InputError(
            f"{board.path.name} names keys that are not set",
            [f"export {name}=… (its value is never written anywhere)" for name in unset],
        )
    space = Workspace(workspace or board.path.parent / ".ragassay")

    def show(out: TextIO, row: RowIndexed) -> None:
        if not as_json:
            for line in index_lines.row(row):
                click.echo(line, file=out)

    try:
        with printing_aside() as out:
            found = index_board(
                board,
                space,
                rows=rows,
                keys=key_values(wanted),
                weights_cache=weights_cache(),
                report=Building(),
                build=not check,
                on_row=partial(show, out),
            )
    except KeyboardInterrupt:
        click.echo("\n  what is embedded and stored is kept; run the same command again to continue", err=True)
        raise
    stale = index_stale.stale(board, space, found, weights_cache=weights_cache(), whole=not rows)
    freed = index_stale.prune(stale) if prune else None
    if as_json:
        told = {**msgspec.to_builtins(found), "stale": index_lines.stale_json(stale), "freed_bytes": freed}
        click.echo(msgspec.json.encode(told).decode())
    else:
        for line in (*index_lines.stale(stale, freed), index_lines.summary(found)):
            click.echo(line)
    return found.exit_code
