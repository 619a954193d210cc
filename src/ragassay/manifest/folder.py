"""Reads the files of one run folder under caps; what must not be there is told by reason code."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ragassay.errors import InputError, VerifyError
from ragassay.manifest.files import BESIDE, MAX_BYTES, MAX_MEMBERS


class RunFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The files of a run as bytes, and why others were not read."""

    files: dict[str, bytes]
    problems: tuple[VerifyError, ...] = ()


def is_run_folder(folder: Path) -> bool:
    """Tell whether a folder holds any file of a run."""
    return any((folder / name).is_symlink() or (folder / name).exists() for name in MAX_BYTES)


def read_run(folder: Path) -> RunFiles:
    """Read a run folder; raises `InputError` only where the folder itself cannot be read.

    A link, a folder or a special file inside becomes BUNDLE_LINK or BUNDLE_NAME, a file over its cap
    BUNDLE_TOO_LARGE, one that cannot be read BUNDLE_DAMAGED. Unknown names are kept for the verifier to refuse.
    """
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(
            f"{str(folder).encode('utf-8', 'backslashreplace').decode()} cannot be read: {error.strerror}"
        ) from error
    if len(paths) > MAX_MEMBERS:
        message = f"the folder has {len(paths)} entries; {MAX_MEMBERS} are allowed"
        return RunFiles(files={}, problems=(VerifyError(message, code="BUNDLE_TOO_LARGE"),))
    files: dict[str, bytes] = {}
    problems: list[VerifyError] = []
    for path in paths:
        try:
            files[path.name] = _read(path)
        except VerifyError as error:
            problems.append(error)
    return RunFiles(files=files, problems=tuple(problems))


def _read(path: Path) -> bytes:
    name = path.name.encode("utf-8", "backslashreplace").decode("utf-8")  # a file system takes bytes that are no text
    if path.is_symlink():
        raise VerifyError(f"{name} is a link; a run holds files only", code="BUNDLE_LINK")
    if not path.is_file():
        raise VerifyError(f"{name} is no plain file; a run holds files only", code="BUNDLE_NAME")
    cap = MAX_BYTES.get(path.name, BESIDE.get(path.name))
    if cap is None:
        return b""  # refused by its name: its bytes are not needed
    return read_capped(path, cap)


def read_capped(path: Path, cap: int) -> bytes:
    """Return the bytes of a file that may have `cap`; raises `VerifyError`: BUNDLE_DAMAGED or BUNDLE_TOO_LARGE."""
    name = path.name.encode("utf-8", "backslashreplace").decode("utf-8")
    try:
        with path.open("rb") as file:
            data = file.read(cap + 1)
    except OSError as error:
        raise VerifyError(f"{name} cannot be read: {error.strerror}", code="BUNDLE_DAMAGED") from error
    if len(data) > cap:
        raise VerifyError(f"{name} has more than the {cap} bytes allowed", code="BUNDLE_TOO_LARGE")
    return data
