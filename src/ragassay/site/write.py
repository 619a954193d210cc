"""Writes `board.json` and the site: each appears as a whole, or the old one stays. The only module here that writes."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ragassay.errors import InputError
from ragassay.site.board import build_board
from ragassay.site.file import encode_board, is_board
from ragassay.site.judgefiles import load_known
from ragassay.site.kept_name import kept_name
from ragassay.site.loaded import LoadedRun
from ragassay.site.pages import site_files
from ragassay.site.publications import load_public
from ragassay.site.record import Board, BoardPlan
from ragassay.site.runs import load_log, load_runs


def write_preview(
    workspace: Path, site_folder: Path, plan: BoardPlan | None = None, *, now: int | None = None
) -> Board:
    """Build the board of a workspace (the `.ragassay` folder), write its site, and return it.

    Raises `InputError` where `site_folder` holds something that is not a site of ours.
    """
    board, runs = local_board_of(workspace, plan, now=now)
    write_site(board, runs, site_folder, load_log(workspace))
    return board


def write_public(
    workspace: Path, site_folder: Path | None, plan: BoardPlan | None = None, *, now: int | None = None
) -> Board:
    """Build the public board of a workspace from what it has published and nothing else, and return it.

    Its site is written to `site_folder`, unless that is None. Raises `InputError` as `write_preview` does.
    """
    board, runs = public_board_of(workspace, plan, now=now)
    if site_folder is not None:
        write_site(board, runs, site_folder, load_log(workspace))
    return board


def public_board_of(
    workspace: Path, plan: BoardPlan | None = None, *, now: int | None = None
) -> tuple[Board, Sequence[LoadedRun]]:
    """Return the public board of a workspace and the published runs that it is of, without writing anything."""
    when = int(time.time()) if now is None else now
    public = load_public(workspace, when)
    board = build_board(
        public.runs,
        plan=None if plan is None else _without_private(plan),
        name=kept_name(workspace),
        now=when,
        known=load_known(workspace),
        scope="public",
        withdrawn=tuple(public.withdrawn.values()),
    )
    return board, public.runs


def _without_private(plan: BoardPlan) -> BoardPlan:
    """Return what a board file asks for without what only the workspace knows: passes that were begun."""
    rows = [
        msgspec.structs.replace(row, held=None, left_out=row.left_out or "nothing of it is published")
        for row in plan.rows
    ]
    return msgspec.structs.replace(plan, rows=tuple(rows))


def local_board_of(
    workspace: Path, plan: BoardPlan | None = None, *, now: int | None = None
) -> tuple[Board, Sequence[LoadedRun]]:
    """Return the board of a workspace and the runs that it is of, each verified once, without writing anything."""
    when = int(time.time()) if now is None else now
    runs = load_runs(workspace, now=when)
    name = kept_name(workspace)
    return build_board(runs, plan=plan, name=name, now=when, known=load_known(workspace)), runs


def board_of(workspace: Path, plan: BoardPlan | None = None, *, now: int | None = None) -> Board:
    """Return the board of a workspace without writing anything."""
    return local_board_of(workspace, plan, now=now)[0]


def write_site(board: Board, runs: Sequence[LoadedRun], folder: Path, log: Mapping[str, bytes] | None = None) -> None:
    """Write the site so that `folder` holds either the old one or the whole new one."""
    _check_ours(folder)
    try:
        _swap(folder, site_files(board, runs, log))
    except OSError as error:
        raise InputError(f"the site {folder} cannot be written ({error.strerror}); free it or give --site") from error


def write_board_file(board: Board, path: Path) -> None:
    """Write `board.json` so that a crash leaves the old bytes or all of the new ones."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        temporary.write_bytes(encode_board(board))
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror})") from error
    finally:
        temporary.unlink(missing_ok=True)


def _check_ours(folder: Path) -> None:
    """Refuse to replace what was not written here: only an empty folder, or one with our board.json of any version."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError(f"{folder} is no folder; give another with --site")
    if not folder.exists() or not any(folder.iterdir()):
        return
    try:
        ours = is_board((folder / "board.json").read_bytes())
    except OSError:
        ours = False
    if not ours:
        raise InputError(
            f"{folder} holds files that are no site of ours, and a new site would replace them all; "
            "empty it or give another folder with --site"
        )


def _swap(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    token = secrets.token_hex(4)
    new, old = folder.with_name(f".{folder.name}.{token}.new"), folder.with_name(f".{folder.name}.{token}.old")
    try:
        for name, data in files.items():
            path = new / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        if folder.exists():
            folder.rename(old)
        try:
            new.rename(folder)
        except OSError:
            if old.exists():
                old.rename(folder)
            raise
    finally:
        for left in (new, old):
            if left.exists():
                shutil.rmtree(left)
