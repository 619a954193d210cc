"""`ragassay board`: print the board of a workspace and write it as JSON and as a static site."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import click

from ragassay.errors import InputError
from ragassay.site.file import decode_board, encode_board
from ragassay.site.record import Board, BoardPlan, PlannedRow
from ragassay.site.text import render_text

PUBLIC_SITE = "public-site"
NO_EVIDENCE = "no question has evidence"
NEEDED = frozenset({"jinja2", "markupsafe", "numpy", "scipy"})
"""What building a board needs and the base install lacks."""


@click.command("board")
@click.argument("path", metavar="[BOARD]", default=".", type=click.Path(path_type=Path))
@click.option("--workspace", type=click.Path(path_type=Path), help="Default: .ragassay beside the board file.")
@click.option("--public", is_flag=True, help="The board of what was published, and of nothing else.")
@click.option("--site", type=click.Path(path_type=Path), help="Default: site, or public-site, beside the board file.")
@click.option("--no-site", is_flag=True, help="Write board.json and no pages.")
@click.option("--all", "whole", is_flag=True, help="Print the tables that stand apart in full.")
@click.option("--json", "as_json", is_flag=True, help="Print the board as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    path: Path,
    workspace: Path | None,
    public: bool,
    site: Path | None,
    no_site: bool,
    whole: bool,
    as_json: bool,
) -> None:
    """Print the board of all verified runs, and write board.json and a static site.

    With --public it is the board of the published runs, as strangers get it. BOARD is a board file, the folder that
    holds one, or a .ragassay folder; default: the current folder. Exit code 1 when a run of the workspace could not be
    verified.
    """
    places = find_places(path, workspace)
    try:
        if public:
            board = build_public(places, None if no_site else site or places.folder / PUBLIC_SITE)
        else:
            board = build_and_write(places, None if no_site else site or places.folder / "site")
    except ImportError as error:
        if public:
            raise
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        board = _written_before(places, error.name or "")
    if as_json:
        click.echo(encode_board(board), nl=False)
    else:
        print_board(board, whole=whole)
    ctx.exit(1 if board.refused else 0)


def print_board(board: Board, *, whole: bool) -> None:
    """Print the board in the terminal's width; unless `whole`, tables that stand apart are one line each."""
    width = min(140, shutil.get_terminal_size((100, 24)).columns)
    click.echo(render_text(board, width=width, whole=whole), nl=False)


class Places(NamedTuple):
    """Where a board's files are; `board_file` is None for a workspace without one."""

    folder: Path
    board_file: Path | None
    workspace: Path

    @property
    def board_json(self) -> Path:
        """The board as data, beside the workspace."""
        return self.workspace.parent / "board.json"


def find_places(path: Path, workspace: Path | None = None) -> Places:
    """Return the files that `path` stands for: a board file, its folder, or a `.ragassay` folder.

    Raises `InputError` where there is neither a board file nor a workspace.
    """
    if path.is_file():
        return Places(path.parent, path, workspace or path.parent / ".ragassay")
    if not path.is_dir():
        raise InputError(f"{path} does not exist; give a board.toml, its folder or a .ragassay folder")
    if (path / "runs").is_dir() and not (path / "board.toml").exists():
        folder = path.resolve().parent
        board_file = folder / "board.toml"
        return Places(folder, board_file if board_file.is_file() else None, workspace or path)
    board_file = path / "board.toml"
    space = workspace or path / ".ragassay"
    if not board_file.is_file() and not space.is_dir() and not (path / "board.json").is_file():
        raise InputError(f"{path} holds neither board.toml nor .ragassay; `ragassay init` writes a board")
    return Places(path, board_file if board_file.is_file() else None, space)


def plan_of(board_file: Path, workspace: Path, left_out: Mapping[str, str] | None = None) -> BoardPlan:
    """Return what a board file asks for; `left_out` says why a row was not run.

    Raises `InputError` where the board file or its question file cannot be used.
    """
    from ragassay.run.board_file import load_board
    from ragassay.run.held import held_passes
    from ragassay.run.question_sets.frozen import load_questions
    from ragassay.run.workspace import Workspace

    board = load_board(board_file)
    benchmark = load_questions(board.benchmark)
    held = held_passes(Workspace(workspace))
    bare = not any(question.evidence for question in benchmark.questions)
    return BoardPlan(
        name=board.name,
        rows=tuple(
            PlannedRow(
                name=row.name,
                stack=str(row.stack["kind"]),
                exposure=row.exposure,
                held=held.get(row.name),
                left_out=(left_out or {}).get(row.name)
                or (NO_EVIDENCE if bare and row.stack["kind"] == "oracle" else None),
            )
            for row in board.rows
        ),
        control_waiver=board.control_waiver,
        benchmark=benchmark.digest(),
        benchmark_id=benchmark.name,
    )


def build(places: Places) -> Board:
    """Return the board of a workspace without writing anything."""
    from ragassay.site import board_of

    plan = plan_of(places.board_file, places.workspace) if places.board_file else None
    return board_of(places.workspace, plan)


def build_and_write(places: Places, site: Path | None, left_out: Mapping[str, str] | None = None) -> Board:
    """Build the board of a workspace, write `board.json` beside the workspace and, unless None, the site."""
    from ragassay.site import write_board_file, write_preview

    if site is None:
        board = build(places)
    else:
        plan = plan_of(places.board_file, places.workspace, left_out) if places.board_file else None
        board = write_preview(places.workspace, site, plan)
    write_board_file(board, places.board_json)
    return board


def build_public(places: Places, site: Path | None) -> Board:
    """Build the board of what a workspace has published and, unless None, write its site; the local board stays."""
    from ragassay.site import write_public

    plan = plan_of(places.board_file, places.workspace) if places.board_file else None
    return write_public(places.workspace, site, plan)


def _written_before(places: Places, missing: str) -> Board:
    """Return the board that was written last, saying so; raises `InputError` where there is none."""
    path = places.board_json
    if not path.is_file():
        raise InputError(f"building a board needs {missing}; install it with: pip install 'ragassay[run]'")
    board = decode_board(path.read_bytes(), name=str(path))
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(board.generated))
    click.echo(
        f"{missing} is not installed, so this is the board as it was written on {when}, not rebuilt and not verified; "
        "to build it: pip install 'ragassay[run]'",
        err=True,
    )
    return board
