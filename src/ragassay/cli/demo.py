"""`ragassay demo`: run the bundled board, verify every run that it made, show the board."""

from __future__ import annotations

from pathlib import Path

import click

import ragassay
from ragassay.errors import InputError

BOARDS = {"reader": "board.toml", "smollm2": "board-smollm2.toml"}
WORKSPACES = {"reader": Path(".ragassay"), "smollm2": Path(".ragassay/smollm2")}
"""A workspace for each model, so that the board that is shown is of that model alone."""


@click.command("demo")
@click.option("--model", type=click.Choice(sorted(BOARDS)), default="reader", show_default=True)
@click.option("--workspace", type=click.Path(path_type=Path), help="Default: .ragassay, or .ragassay/smollm2.")
@click.option("--site", type=click.Path(path_type=Path), default="site", show_default=True)
def command(model: str, workspace: Path | None, site: Path) -> int:
    """Run the bundled board of real documentation: no key, no server; then verify every run that it made."""
    from ragassay.cli.key_making import ensure_key
    from ragassay.cli.models import weights_cache
    from ragassay.cli.run import execute, finish
    from ragassay.cli.verify import verify_paths
    from ragassay.run.board_file import load_board
    from ragassay.run.board_run import Options
    from ragassay.run.workspace import Workspace

    board = load_board(bundled() / BOARDS[model])
    space = Workspace(workspace or WORKSPACES[model])
    space.prepare()
    key = ensure_key(space.keys, "run")
    ensure_key(space.keys, "log")
    subset = 12 if model == "smollm2" else None
    executed = execute(board, space, Options(subset=subset, weights_cache=weights_cache()))
    signed = [space.runs / end.run_id for end in executed.ended if end.held is None]
    refused = verify_paths(signed, key=key.public)
    click.echo()
    return finish(board, space, site, executed, quiet=False) or refused


def bundled() -> Path:
    """Return the folder of the bundled board: inside the package, or in a checkout beside it."""
    package = Path(ragassay.__file__).parent
    for folder in (package / "bundled", package.parents[1] / "examples" / "bundled"):
        if (folder / "board.toml").is_file():
            return folder
    raise InputError("the bundled board is not part of this installation; install ragassay from its package")
