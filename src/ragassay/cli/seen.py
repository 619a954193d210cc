"""Remembers the newest version of each key registry that was seen on this machine, so that an older one is noticed."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

MAX_BYTES = 1 << 20


def seen_path() -> Path:
    """Return where the memory is: $XDG_STATE_HOME/ragassay/registry-seen.json, by default under ~/.local/state."""
    given = os.environ.get("XDG_STATE_HOME", "")
    state = Path(given) if Path(given).is_absolute() else Path("~/.local/state")
    with contextlib.suppress(
        RuntimeError
    ):  # nobody's home: the path stays as it is and cannot be written, which is said
        state = state.expanduser()
    return state / "ragassay" / "registry-seen.json"


def seen_version(root: str) -> int | None:
    """Return the highest version that was seen under a root's fingerprint, or None; says so where it cannot be read."""
    return _read(seen_path()).get(root)


def remember(root: str, version: int) -> None:
    """Remember a version under a root's fingerprint; it never goes down. Says so where it cannot be written."""
    path = seen_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path.parent):
            seen = _read(path)
            if seen.get(root, 0) >= version:
                return
            _write(path, {**seen, root: version})
    except OSError as error:
        click.echo(
            f"version {version} of this key registry is not remembered: {path} cannot be written "
            f"({error.strerror}); an older one will not be noticed",
            err=True,
        )


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _read(path: Path) -> dict[str, int]:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES} bytes")
        return msgspec.convert(json.loads(data), dict[str, int])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        click.echo(
            f"the versions of key registries that were seen are not known: {path} cannot be read ({error}); "
            "an older one will not be noticed",
            err=True,
        )
        return {}


def _write(path: Path, seen: dict[str, int]) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            file.write(json.dumps(seen, indent=1, sort_keys=True).encode("ascii") + b"\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
