"""Makes the keys that a command needs where they are not there yet, and encrypts those that older versions left."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ragassay.cli.passphrase import environment_signer, new_passphrase, publish, signer_named
from ragassay.errors import InputError
from ragassay.manifest.keyfile import (
    PRIVATE,
    PUBLIC,
    complete_key,
    encrypt_key,
    generate_key,
    key_path,
    load_public_key,
    read_private,
    store_key,
)
from ragassay.manifest.keyfolder import find_key, kind_of
from ragassay.manifest.sign import KeyKind, is_encrypted


class Ready(NamedTuple):
    """A key that is there: `made` now or before, `encrypted` now, and `path` None where the environment holds it."""

    name: str
    kind: KeyKind
    kid: str
    path: Path | None
    public: Path
    made: bool = False
    encrypted: bool = False


def has_key(folder: Path, kind: KeyKind) -> bool:
    """Tell whether the environment or the folder holds a key of that kind; raises `InputError` for an unusable one."""
    return environment_signer(kind) is not None or find_key(folder, kind) is not None


def ensure_key(folder: Path, kind: KeyKind) -> Ready:
    """Return the key of that kind, of the environment or the folder, made and stored where there is none."""
    signer = environment_signer(kind)
    if signer is not None:
        return Ready(signer.name, kind, signer.kid, None, publish(signer, folder, kind))
    path = find_key(folder, kind)
    return make_key(folder, kind, kind) if path is None else _there(path, kind)


def make_key(folder: Path, kind: KeyKind, name: str) -> Ready:
    """Make and store a key of that name; one that is there is kept, and encrypted where it was not.

    Raises `InputError` where the key that is there is of another kind.
    """
    path = key_path(folder, name)
    if not path.exists():
        signer = generate_key(name)
        path = store_key(signer, folder, new_passphrase(kind), kind)
        return Ready(name, kind, signer.kid, path, folder / f"{name}{PUBLIC}", made=True)
    if (known := kind_of(path) or kind) != kind:
        raise InputError(f"{path} is a {known} key and not a {kind} key; give another --name")
    encrypted = not is_encrypted(read_private(path)) and encrypt_key(path, new_passphrase(kind))
    return _there(path, kind)._replace(encrypted=encrypted)


def _there(path: Path, kind: KeyKind) -> Ready:
    """Return the key of a file, whose public file is written anew where it was lost."""
    name = path.name.removesuffix(PRIVATE)
    public = path.with_name(f"{name}{PUBLIC}")
    if not public.exists():
        complete_key(signer_named(path.parent, name), path.parent, kind)
    return Ready(name, kind, load_public_key(public).kid, path, public)
