"""Reads the judgements of a workspace under caps; what must not be there is told by reason code."""

from __future__ import annotations

from pathlib import Path

from ragassay.errors import InputError, VerifyError
from ragassay.manifest.folder import RunFiles, read_capped
from ragassay.manifest.judgement import JUDGEMENT, JUDGEMENT_BYTES, decode_signed, folder_name

FOLDER = "judgements"
"""The folder of a workspace that holds them: `judgements/<run id>/<judge>-<purpose>-<n>`."""
MAX_JUDGEMENTS = 10_000
"""The most judgements of one run that are read."""


def judgement_folders(workspace: Path, run_id: str) -> list[Path]:
    """Return the folders of one run's judgements in the order of their names; those being written are hidden.

    Raises `InputError` where they cannot be listed.
    """
    place = workspace / FOLDER / run_id
    if not place.is_dir():
        return []
    try:
        found = sorted(path for path in place.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError as error:
        raise InputError(f"{place} cannot be read ({error.strerror}); check its permissions") from error
    if len(found) > MAX_JUDGEMENTS:
        raise InputError(f"{place} holds {len(found)} judgements; {MAX_JUDGEMENTS} are read")
    return found


def read_judgement(folder: Path) -> RunFiles:
    """Read the files of one judgement; a foreign name, a link or a file over its cap is among the problems.

    So is a judgement that belongs into another folder: which one of several counts is told by the folders' numbers.

    Raises `InputError` only where the folder itself cannot be read.
    """
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"{folder} cannot be read ({error.strerror}); check its permissions") from error
    if unknown := [path.name for path in paths if path.name not in JUDGEMENT_BYTES]:
        name = unknown[0].encode("utf-8", "backslashreplace").decode("utf-8")[:200]
        problem = VerifyError(f"{name!r} is no file of a judgement", code="BUNDLE_NAME")
        return RunFiles(files={}, problems=(problem,))
    files: dict[str, bytes] = {}
    problems: list[VerifyError] = []
    for path in paths:
        try:
            files[path.name] = _read(path)
        except VerifyError as error:
            problems.append(error)
    return RunFiles(files=files, problems=(*problems, *_misplaced(folder, files.get(JUDGEMENT))))


def _misplaced(folder: Path, envelope: bytes | None) -> list[VerifyError]:
    try:
        p = decode_signed(envelope or b"").predicate
    except VerifyError:
        return []  # whoever verifies says what is wrong with it
    wanted = folder_name(p.judge.digest.sha256 if p.judge.digest else "", p.purpose, p.n)
    if wanted == folder.name:
        return []
    return [VerifyError(f"the judgement in it belongs into {wanted}", code="BUNDLE_NAME")]


def _read(path: Path) -> bytes:
    if path.is_symlink() or not path.is_file():
        raise VerifyError(f"{path.name} is no plain file; a judgement holds files only", code="BUNDLE_LINK")
    return read_capped(path, JUDGEMENT_BYTES[path.name])
