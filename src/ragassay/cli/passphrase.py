"""Where the command line takes private keys and their passphrases from: the environment, a file, the terminal."""

from __future__ import annotations

import base64
import binascii
import os
import sys
from collections.abc import Callable
from pathlib import Path

import click
import msgspec

from ragassay.errors import InputError
from ragassay.manifest.keyfile import PUBLIC, key_path, load_key
from ragassay.manifest.keyfolder import kind_of, load_kind
from ragassay.manifest.sign import KeyKind, Signer, Unlock, WrongPassphrase
from ragassay.records import Secret

PASSPHRASE = "RAGASSAY_PASSPHRASE"
ROOT_PASSPHRASE = "RAGASSAY_ROOT_PASSPHRASE"
KEY_VARIABLES: dict[KeyKind, str] = {
    "run": "RAGASSAY_RUN_KEY",
    "log": "RAGASSAY_LOG_KEY",
    "root": "RAGASSAY_ROOT_KEY",
    "witness": "RAGASSAY_WITNESS_KEY",
}

_prompted: dict[str, Secret] = {}
"""What was typed in this process, for the root and for all others, so that one command asks once."""


def run_signer(folder: Path) -> Signer:
    """Return the key that signs runs: RAGASSAY_RUN_KEY, else that of the folder; raises `InputError`."""
    return signer_of(folder, "run")


def log_signer(folder: Path) -> Signer:
    """Return the key that signs a log's checkpoints: RAGASSAY_LOG_KEY, else that of the folder; raises `InputError`."""
    return signer_of(folder, "log")


def signer_of(folder: Path, kind: KeyKind) -> Signer:
    """Return the key of that kind: the environment's, else that of the folder; raises `InputError`."""
    signer = environment_signer(kind)
    if signer is None:
        return _opened(kind, lambda unlock: load_kind(folder, kind, unlock))
    if kind != "root":
        publish(signer, folder, kind)
    return signer


def signer_named(folder: Path, name: str) -> Signer:
    """Return the key of that name in the folder; raises `InputError`."""
    path = key_path(folder, name)
    return _opened(kind_of(path) or "run", lambda unlock: load_key(path, unlock))


def environment_signer(kind: KeyKind) -> Signer | None:
    """Return the key that the variable of that kind holds (PEM, or base64 of it), or None; it is never written."""
    variable = KEY_VARIABLES[kind]
    text = os.environ.get(variable, "").strip()
    if not text:
        return None
    data = text.encode("utf-8", "surrogateescape")
    if b"-----BEGIN" not in data:
        try:
            data = base64.b64decode(b"".join(data.split()), validate=True)
        except (ValueError, binascii.Error):
            raise InputError(f"{variable} holds neither a PEM private key nor the base64 of one") from None
    try:
        signer = _opened(kind, lambda unlock: Signer.from_pem(data, kind, unlock))
    except WrongPassphrase as error:
        raise WrongPassphrase(f"{variable}: {error.message}") from None
    except InputError as error:
        raise InputError(f"{variable}: {error.message}") from None
    return signer


def publish(signer: Signer, folder: Path, kind: KeyKind) -> Path:
    """Write the public file of a key of the environment, so that the board knows its runs; return it."""
    path = folder / f"{kind}-{signer.kid[:8]}{PUBLIC}"
    if not path.exists():
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.write_bytes(msgspec.structs.replace(signer.public, kind=kind).jwk())
        except OSError as error:
            raise InputError(f"the public key cannot be written to {path}: {error.strerror}") from error
    return path


def has_passphrase() -> bool:
    """Tell whether a passphrase can be had: it is in the environment, or somebody is there to type it."""
    return bool(os.environ.get(PASSPHRASE)) or _attended()


def new_passphrase(kind: KeyKind) -> Secret:
    """Return the passphrase for a key that is made: of the environment, else typed twice; raises `InputError`."""
    given = _from_environment(kind)
    if given is not None:
        return given
    if _purpose(kind) not in _prompted:
        _need_terminal(f"a new {kind} key is encrypted")
        text = click.prompt(f"Passphrase for the new {kind} key", hide_input=True, confirmation_prompt=True, err=True)
        _prompted[_purpose(kind)] = Secret(text)
    return _prompted[_purpose(kind)]


def _opened(kind: KeyKind, load: Callable[[Unlock], Signer]) -> Signer:
    """Load a key with the passphrase of the environment, the one typed before, or one typed now."""
    before = _prompted.get(_purpose(kind)) or next(iter(_prompted.values()), None)
    try:
        return load(lambda name: _from_environment(kind) or before or _ask(kind, name))
    except WrongPassphrase as error:
        if (variable := _variable(kind)) is not None:
            raise WrongPassphrase(f"{error.message} (the passphrase is that of {variable})") from None
        if before is None:
            _prompted.pop(_purpose(kind), None)
            raise
    return load(lambda name: _ask(kind, name))


def _ask(kind: KeyKind, name: str) -> Secret:
    _need_terminal(f"the key {name} is encrypted")
    typed = Secret(click.prompt(f"Passphrase of the key {name}", hide_input=True, err=True))
    _prompted[_purpose(kind)] = typed
    return typed


def _purpose(kind: KeyKind) -> str:
    return "root" if kind == "root" else "work"


def _variable(kind: KeyKind) -> str | None:
    """Return the variable that gives the passphrase of such keys; a root may have one of its own."""
    names = (ROOT_PASSPHRASE, PASSPHRASE) if kind == "root" else (PASSPHRASE,)
    return next((name for name in names if name in os.environ), None)


def _from_environment(kind: KeyKind) -> Secret | None:
    variable = _variable(kind)
    if variable is None:
        return None
    if not os.environ[variable]:
        raise InputError(f"{variable} is empty; set it to the passphrase of your keys, or unset it to be asked")
    return Secret(os.environ[variable])


def _need_terminal(why: str) -> None:
    if not _attended():
        raise InputError(f"{why} and nobody is there to type its passphrase; set {PASSPHRASE} to it")


def _attended() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()
