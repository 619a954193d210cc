"""What stands on the command line for runs becomes runs: folders, bundles, addresses of bundles, standard input."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from ragassay.cli.fetch import TooLarge, fetch, is_address, shown
from ragassay.errors import InputError, VerifyError
from ragassay.manifest import RunFiles, is_run_folder, read_run
from ragassay.manifest.bundle import MAX_BUNDLE_BYTES, read_bundle
from ragassay.manifest.files import BESIDE, MAX_BYTES

FETCH_TIMEOUT_S = 120.0
STANDARD_INPUT = "-"


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One run to be read: what to call it, and how to get its files."""

    name: str
    read: Callable[[], RunFiles]

    @property
    def files(self) -> RunFiles:
        """Read the files now; raises `InputError` where a folder or file cannot be read at all."""
        return self.read()


def open_source(text: str) -> list[Source]:
    """Return the runs that `text` stands for, at least one.

    A run folder; a folder of run folders and `.zip` bundles, such as `.ragassay/runs`; the folder of a board, of its
    site, or a workspace, for its runs; a bundle; an http(s) address of one; `-` for one on the standard input. Folders
    and files are read when their content is asked for, everything else now. Raises `InputError` where it stands for
    none, and `PluginError` where an address cannot be fetched. What is wrong with a bundle is among its problems.
    """
    if text == STANDARD_INPUT:
        return [_bundle("standard input", sys.stdin.buffer.read(MAX_BUNDLE_BYTES + 1))]
    if is_address(text):
        return [_fetched(text)]
    path = Path(text)
    if path.is_dir():
        return _folder(path)
    if not path.exists():
        raise InputError(f"{path} does not exist; give a run folder, a folder of runs, a .zip bundle or its address")
    if path.name in MAX_BYTES or path.name in BESIDE:
        raise InputError(f"{path} is one file of a run; give the folder that holds all of them")
    return [_file(path)]


def _folder(path: Path) -> list[Source]:
    if is_run_folder(path):
        return [_run(path)]
    runs = next((runs for runs in (path / ".ragassay" / "runs", path / "runs") if runs.is_dir()), path)
    try:
        inside = sorted(child for child in runs.iterdir() if not child.name.startswith("."))
    except OSError as error:
        raise InputError(f"{runs} cannot be read ({error.strerror}); check its permissions") from error
    bundles = [child for child in inside if _is_bundle(child)]
    packed = {child.stem for child in bundles}  # beside a page of a site stands its run as a bundle: the run is that
    folders = [child for child in inside if child.is_dir() and not (child.name in packed and _has_page(child))]
    if not folders and not bundles:
        raise InputError(f"{path} holds no run; `ragassay run` writes runs to .ragassay/runs")
    return sorted([*map(_run, folders), *map(_file, bundles)], key=lambda source: Path(source.name))


def _is_bundle(path: Path) -> bool:
    return path.suffix.lower() == ".zip" and path.is_file()


def _has_page(folder: Path) -> bool:
    return folder.with_name(f"{folder.name}.html").is_file()


def _run(folder: Path) -> Source:
    return Source(name=str(folder), read=lambda: read_run(folder))


def _file(path: Path) -> Source:
    if not path.is_file():
        raise InputError(f"{path} is neither a folder nor a file")
    if not _is_bundle(path) and _read(path, 2) != b"PK":
        raise InputError(f"{path} is no folder and no .zip bundle; `ragassay export bundle` writes one")
    return Source(name=str(path), read=lambda: read_bundle(_read(path, MAX_BUNDLE_BYTES + 1)))


def _read(path: Path, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check its permissions") from error


def _fetched(url: str) -> Source:
    try:
        data = fetch(url, max_bytes=MAX_BUNDLE_BYTES, timeout_s=FETCH_TIMEOUT_S)
    except TooLarge as error:
        problem = VerifyError(str(error), code="BUNDLE_TOO_LARGE")
        refused = RunFiles(files={}, problems=(problem,))
        return Source(name=shown(url), read=lambda: refused)
    return _bundle(shown(url), data)


def _bundle(name: str, data: bytes) -> Source:
    files = read_bundle(data)
    return Source(name=name, read=lambda: files)
