"""Key files on disk: an encrypted private key that only its owner can read, and the public key beside it."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

import msgspec

from ragassay.errors import InputError
from ragassay.manifest.sign import KeyKind, PublicKey, Signer, Unlock, is_encrypted, parse_public_key
from ragassay.records import Secret

PRIVATE, PUBLIC = ".pem", ".pub.json"
DEFAULT_NAME = "run"
MAX_KEY_BYTES = 16_384

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_GITIGNORE = "# Private keys are never committed.\n*\n!.gitignore\n!*.pub.json\n"


def generate_key(name: str = DEFAULT_NAME) -> Signer:
    """Return a new key; nothing is written. Raises `InputError` for a name that cannot be a file name."""
    return Signer.generate(check_name(name))


def check_name(name: str) -> str:
    """Return `name` if it can be a key's file name; raises `InputError`."""
    if not _NAME.fullmatch(name) or name.endswith((PRIVATE, PUBLIC)):
        raise InputError(f"{name!r} cannot name a key; use up to 64 letters, digits, '.', '_' and '-'")
    return name


def key_path(folder: Path, name: str) -> Path:
    """Return where the private key of that name is; raises `InputError` for a name that cannot be a file name."""
    return folder / f"{check_name(name)}{PRIVATE}"


def store_key(signer: Signer, folder: Path, passphrase: Secret, kind: KeyKind = "run") -> Path:
    """Write `<name>.pem` (0600, encrypted) and `<name>.pub.json`, and a .gitignore; return the private file.

    The private file appears whole or not at all. Raises `InputError` where the passphrase is empty or a key of that
    name exists: a key is never overwritten.
    """
    path = folder / f"{signer.name}{PRIVATE}"
    pem = signer.to_pem(passphrase)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text(_GITIGNORE, encoding="utf-8")
        try:
            _create(path, pem)
        except FileExistsError:
            raise InputError(f"{path} exists and is not overwritten; give another --name, or move it away") from None
    except OSError as error:
        raise InputError(f"the key cannot be written to {folder}: {error.strerror}") from error
    complete_key(signer, folder, kind)
    return path


def complete_key(signer: Signer, folder: Path, kind: KeyKind | None = None) -> Path:
    """Write the public file of a key where it is not there, as after a crash, and return it."""
    path = folder / f"{signer.name}{PUBLIC}"
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        if not path.exists():
            temporary.write_bytes(msgspec.structs.replace(signer.public, kind=kind).jwk())
            temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError(f"the public key cannot be written to {path}: {error.strerror}") from error
    return path


def encrypt_key(path: Path, passphrase: Secret) -> bool:
    """Encrypt a private key file in place and tell whether it was not encrypted before; it stays the same key.

    A crash leaves either the old file or the new one whole. Raises `InputError` where it cannot be read or written.
    """
    if is_encrypted(read_private(path)):
        return False
    signer = load_key(path)
    pem = signer.to_pem(passphrase)
    if Signer.from_pem(pem, signer.name, lambda _: passphrase).x != signer.x:
        raise InputError(f"{path} could not be encrypted: it did not read back; it was not changed")
    temporary = _temporary(path)
    try:
        _write(temporary, pem)
        temporary.replace(path)
        _sync(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError(f"{path} cannot be encrypted in place: {error.strerror}; it was not changed") from error
    return True


def _create(path: Path, data: bytes) -> None:
    """Make a file of mode 0600 that appears with all its bytes, and only where there was none."""
    temporary = _temporary(path)
    try:
        _write(temporary, data)
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise
        except OSError:
            _move_new(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync(path.parent)


def _move_new(temporary: Path, path: Path) -> None:
    """Give a file its name where the file system has no hard links, as on a memory stick."""
    if path.exists():
        raise FileExistsError(path)
    temporary.rename(path)


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}")


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Bring a folder's names to the disk, so that a new name outlives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_private(path: Path) -> bytes:
    """Return the bytes of a private key file; raises `InputError` where others could read or write it too."""
    if path.exists() and not path.is_file():
        raise InputError(f"the key {path} is no plain file; restore it, or make another key with `ragassay keys init`")
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
    return data


def load_key(path: Path, unlock: Unlock | None = None) -> Signer:
    """Read a private key file, encrypted or not; its name is the file's.

    `unlock` gives the passphrase where the key is encrypted. Raises `InputError` where others could read the file, it
    does not open, or the public file beside it is of another key.
    """
    name = path.name.removesuffix(PRIVATE)
    signer = Signer.from_pem(read_private(path), name, unlock)
    public = path.with_name(f"{name}{PUBLIC}")
    if public.exists() and (kid := load_public_key(public).kid) != signer.kid:
        raise InputError(
            f"{public} is of the key {kid}, but {path.name} is {signer.kid}; restore the right one of the two"
        )
    return signer


def load_public_key(path: Path) -> PublicKey:
    """Read a public key file (JSON Web Key or PEM); raises `InputError`."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_KEY_BYTES)
    except OSError as error:
        raise InputError(f"the key {path} cannot be read: {error.strerror}") from error
    return parse_public_key(data, name=path.name)
