"""Key files on disk: a private key that only its owner can read, and the public key beside it."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

import msgspec

from ragassay.errors import InputError
from ragassay.manifest.sign import PublicKey, Signer, parse_public_key

PRIVATE, PUBLIC = ".pem", ".pub.json"
DEFAULT_NAME = "run"
MAX_KEY_BYTES = 16_384

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_GITIGNORE = "# Private keys are never committed.\n*\n!.gitignore\n!*.pub.json\n"


class KeyEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One key of a folder: its name, file and fingerprint, or the problem why it cannot be used."""

    name: str
    path: Path
    kid: str | None = None
    problem: str | None = None


def generate_key(name: str = DEFAULT_NAME) -> Signer:
    """Return a new run key; nothing is written. Raises `InputError` for a name that cannot be a file name."""
    return Signer.generate(check_name(name))


def check_name(name: str) -> str:
    """Return `name` if it can be a key's file name; raises `InputError`."""
    if not _NAME.fullmatch(name) or name.endswith((PRIVATE, PUBLIC)):
        raise InputError(f"{name!r} cannot name a key; use up to 64 letters, digits, '.', '_' and '-'")
    return name


def store_key(signer: Signer, folder: Path) -> Path:
    """Write `<name>.pem` (0600) and `<name>.pub.json` into `folder`, and a .gitignore; return the private file.

    The private file appears whole or not at all. Raises `InputError` where a key of that name exists: a key is
    never overwritten.
    """
    path = folder / f"{signer.name}{PRIVATE}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text(_GITIGNORE, encoding="utf-8")
        try:
            _create(path, signer.to_pem())
        except FileExistsError:
            raise InputError(f"{path} exists and is not overwritten; give another --name, or move it away") from None
    except OSError as error:
        raise InputError(f"the key cannot be written to {folder}: {error.strerror}") from error
    complete_key(signer, folder)
    return path


def complete_key(signer: Signer, folder: Path) -> Path:
    """Write the public file of a key where it is not there, as after a crash, and return it."""
    path = folder / f"{signer.name}{PUBLIC}"
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        if not path.exists():
            temporary.write_bytes(signer.public.jwk())
            temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError(f"the public key cannot be written to {path}: {error.strerror}") from error
    return path


def _create(path: Path, data: bytes) -> None:
    """Make a file of mode 0600 that appears with all its bytes, and only where there was none."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.link(temporary, path)
    finally:
        temporary.unlink()


def load_key(path: Path) -> Signer:
    """Read a private key file; its name is the file's. Raises `InputError` where others could read it too."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(MAX_KEY_BYTES)
    except OSError as error:
        raise InputError(f"the key {path} cannot be read: {error.strerror}; `ragassay keys init` makes one") from error
    if mode & 0o077:
        raise InputError(
            f"{path} can be read or written by others (mode {mode & 0o777:04o}); if nobody has read it, run "
            f"`chmod 600 {path}`, otherwise make a new key with `ragassay keys init --name NEW`"
        )
    return Signer.from_pem(data, path.name.removesuffix(PRIVATE))


def load_public_key(path: Path) -> PublicKey:
    """Read a public key file (JSON Web Key or PEM); raises `InputError`."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_KEY_BYTES)
    except OSError as error:
        raise InputError(f"the key {path} cannot be read: {error.strerror}") from error
    return parse_public_key(data, name=path.name)


def list_keys(folder: Path) -> list[KeyEntry]:
    """Return the private keys of a folder by name; one that cannot be used says why."""
    entries: list[KeyEntry] = []
    for path in sorted(folder.glob(f"*{PRIVATE}")):
        name = path.name.removesuffix(PRIVATE)
        try:
            entries.append(KeyEntry(name=name, path=path, kid=load_key(path).kid))
        except InputError as error:
            entries.append(KeyEntry(name=name, path=path, problem=error.message))
    return entries


def load_run_key(folder: Path, name: str | None = None) -> Signer:
    """Return the key that signs runs: the named one, the one called `run`, or the only one.

    Raises `InputError` that names `ragassay keys init` where there is none, and the names where there are several.
    """
    if name is not None:
        return load_key(folder / f"{check_name(name)}{PRIVATE}")
    found = sorted(folder.glob(f"*{PRIVATE}"))
    chosen = [path for path in found if path.name == DEFAULT_NAME + PRIVATE] or found
    if not chosen:
        raise InputError(f"there is no key in {folder} to sign runs with; `ragassay keys init` makes one")
    if len(chosen) > 1:
        names = ", ".join(path.name.removesuffix(PRIVATE) for path in chosen)
        raise InputError(f"there are several keys in {folder} ({names}) and none is called {DEFAULT_NAME!r}; name one")
    return load_key(chosen[0])
