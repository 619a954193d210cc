"""The keys of a folder: which there are, of which kind, which one signs, and where a replaced one goes."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ragassay.errors import InputError
from ragassay.manifest.keyfile import PRIVATE, PUBLIC, key_path, load_key, load_public_key, read_private
from ragassay.manifest.sign import KINDS, KeyKind, Signer, Unlock, is_encrypted

RETIRED = "retired"
"""The folder, inside that of the keys, of private keys that were replaced and sign nothing more."""


class KeyEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One private key of a folder: name, file, kind and fingerprint where known, or why it cannot be used.

    The fingerprint of an encrypted key is that of its public file.
    """

    name: str
    path: Path
    kind: KeyKind | None = None
    kid: str | None = None
    encrypted: bool | None = None
    problem: str | None = None


def list_keys(folder: Path) -> list[KeyEntry]:
    """Return the private keys of a folder by name, without unlocking any; one that cannot be used says why."""
    return [_entry(path) for path in _private(folder)]


def _private(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob(f"*{PRIVATE}") if not path.name.startswith("."))


def _entry(path: Path) -> KeyEntry:
    name = path.name.removesuffix(PRIVATE)
    public = path.with_name(f"{name}{PUBLIC}")
    encrypted: bool | None = None
    try:
        encrypted = is_encrypted(read_private(path))
        if not encrypted:
            return KeyEntry(name=name, path=path, kind=kind_of(path), kid=load_key(path).kid, encrypted=False)
        if not public.exists():
            raise InputError(f"{public.name} is missing; `ragassay keys init --name {name}` writes it anew")
        return KeyEntry(name=name, path=path, kind=kind_of(path), kid=load_public_key(public).kid, encrypted=True)
    except InputError as error:
        return KeyEntry(name=name, path=path, kind=kind_of(path), encrypted=encrypted, problem=error.message)


def kind_of(path: Path) -> KeyKind | None:
    """Return the kind that the public file beside a private one gives, else the kind that is its name, else None."""
    name = path.name.removesuffix(PRIVATE)
    try:
        kind = load_public_key(path.with_name(f"{name}{PUBLIC}")).kind
    except InputError:
        kind = None
    return kind or next((known for known in KINDS if known == name), None)


def find_key(folder: Path, kind: KeyKind) -> Path | None:
    """Return the key of that kind: the one called like it, else the only one; None where there is none.

    A key of no known kind counts as a run key. Raises `InputError` naming them where there are several.
    """
    found = [path for path in _private(folder) if (kind_of(path) or "run") == kind]
    chosen = [path for path in found if path.name == kind + PRIVATE] or found
    if len(chosen) > 1:
        names = ", ".join(path.name.removesuffix(PRIVATE) for path in chosen)
        raise InputError(
            f"there are several {kind} keys in {folder} ({names}) and none is called {kind!r}; move each private key "
            f"that is not to sign into {folder / RETIRED}"
        )
    return chosen[0] if chosen else None


def load_kind(folder: Path, kind: KeyKind, unlock: Unlock | None = None) -> Signer:
    """Return the key of that kind as `find_key` finds it; raises `InputError` that says how to make one."""
    path = find_key(folder, kind)
    if path is None:
        purpose = {"run": "runs", "log": "a log", "root": "a key registry", "witness": "as a witness"}[kind]
        option = "" if kind == "run" else f" --kind {kind}"
        raise InputError(f"there is no key in {folder} to sign {purpose} with; `ragassay keys init{option}` makes one")
    return load_key(path, unlock)


def load_run_key(folder: Path, name: str | None = None, unlock: Unlock | None = None) -> Signer:
    """Return the key that signs runs: the named one, the one called `run`, or the only one.

    Raises `InputError` that names `ragassay keys init` where there is none, and the names where there are several.
    """
    return load_key(key_path(folder, name), unlock) if name is not None else load_kind(folder, "run", unlock)


def retire_key(path: Path) -> Path:
    """Move a private key that was replaced into `retired/`, so that it signs nothing more; its public file stays.

    Raises `InputError` where it cannot be moved or another of that name was retired before.
    """
    target = path.parent / RETIRED / path.name
    try:
        target.parent.mkdir(mode=0o700, exist_ok=True)
        if target.exists():
            raise InputError(f"{target} exists and is not overwritten; move it away, then run the same command again")
        path.rename(target)
    except OSError as error:
        raise InputError(f"{path} cannot be moved to {target.parent}: {error.strerror}") from error
    return target
