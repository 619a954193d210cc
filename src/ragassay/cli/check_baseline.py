"""What stands after `--vs` becomes a baseline: verified runs of a workspace, a site or bundles, or a `board.json`."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from ragassay.cli.fetch import is_address
from ragassay.cli.sources import Source, open_source
from ragassay.errors import InputError
from ragassay.manifest import is_run_folder
from ragassay.site.check.baseline import Baseline
from ragassay.site.file import MAX_BYTES, decode_board, is_board
from ragassay.site.loaded import LoadedRun
from ragassay.site.runs import Trust, load_runs, loaded_run

BOARD_JSON = "board.json"
WITHOUT_PIN = "no run, and no board.json; give a board, a .ragassay folder, a site, a bundle, or a board.json"


def open_baseline(text: str) -> Baseline:
    """Return the baseline that `text` stands for.

    A board file or its folder, or a `.ragassay` folder: its runs, verified as its own board does. A site, a folder of
    runs or of bundles, a bundle or its address: its runs, verified without a pin. A `board.json`, also the one in a
    folder without runs: as it stands. Raises `InputError` where it is none of these.
    """
    if is_address(text):
        return _unpinned(text, open_source(text))
    path = Path(text)
    if not path.exists():
        raise InputError(f"--vs {text} does not exist; give a board, a .ragassay folder, a bundle or a board.json")
    if path.is_file():
        return _of_file(path)
    workspace = _workspace(path)
    if workspace is not None and _any(workspace / "runs"):
        return Baseline(source=str(path), name=_name(workspace), runs=load_runs(workspace))
    if workspace is None and _any_run(path):
        return _unpinned(text, open_source(text))
    board = path / BOARD_JSON
    if board.is_file():
        return _of_board(board)
    raise InputError(f"--vs {text} holds {WITHOUT_PIN}")


def _of_file(path: Path) -> Baseline:
    if path.suffix == ".toml":
        return open_baseline(str(path.parent))
    with path.open("rb") as file:
        start = file.read(2)
    if start == b"PK":
        return _unpinned(str(path), open_source(str(path)))
    return _of_board(path)


def _of_board(path: Path) -> Baseline:
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES or not is_board(data):
        raise InputError(f"{path} is no board.json and no bundle; `ragassay board` writes a board.json")
    return Baseline(source=str(path), board=decode_board(data, name=str(path)))


def _workspace(path: Path) -> Path | None:
    """Return the workspace that a folder is, or holds; None where there is none."""
    inside = path / ".ragassay"
    if inside.is_dir():
        return inside
    return path if any((path / name).is_dir() for name in ("keys", "passes")) else None


def _any(folder: Path) -> bool:
    return folder.is_dir() and any(not child.name.startswith(".") for child in folder.iterdir())


def _any_run(path: Path) -> bool:
    """Tell whether a folder holds runs or bundles, or is a run."""
    if is_run_folder(path) or _any(path / "runs"):
        return True
    return any(child.suffix.lower() == ".zip" or is_run_folder(child) for child in path.iterdir())


def _name(workspace: Path) -> str | None:
    from ragassay.site.kept_name import kept_name

    return kept_name(workspace)


def _unpinned(text: str, sources: list[Source]) -> Baseline:
    """Return runs that are verified by their own bytes: whose key signed them is told, and not asked."""
    trust = Trust(own={}, policy=None, log=None, problems=(), now=int(time.time()))
    return Baseline(source=text, runs=tuple(_loaded(source, trust) for source in sources))


def _loaded(source: Source, trust: Trust) -> LoadedRun:
    run = loaded_run(source.files, trust, name=source.name, wanted=None)
    return msgspec.structs.replace(run, id=run.document.predicate.run_id) if run.document else run
