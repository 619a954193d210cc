"""`ragassay keys`: make and list the keys that sign."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ragassay.cli.key_making import Ready, has_key, make_key
from ragassay.cli.key_registry import registry, revoke, rotate, statuses
from ragassay.cli.verb_group import VerbGroup
from ragassay.errors import RagassayError
from ragassay.manifest.files import REGISTRY
from ragassay.manifest.keyfile import key_path
from ragassay.manifest.keyfolder import KeyEntry, kind_of, list_keys
from ragassay.manifest.sign import KINDS, KeyKind

_folder = click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".ragassay/keys"),
    show_default=True,
    help="The folder of the keys.",
)
_as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("keys", cls=VerbGroup)
def command() -> None:
    """Make, list, publish, replace and revoke the keys that sign."""


@command.command("init")
@click.option("--name", help="The key's name; it stands in each manifest. Default: its kind.")
@click.option(
    "--kind", type=click.Choice(KINDS), help="Make one key of this kind. Default: run, and a log key with it."
)
@_folder
@_as_json
def init(name: str | None, kind: KeyKind | None, folder: Path, as_json: bool) -> None:
    """Make the keys that are not there, encrypted under your passphrase, and print their fingerprints."""
    name = name or kind or "run"
    keys = [make_key(folder, kind or kind_of(key_path(folder, name)) or "run", name)]
    if kind is None and keys[0].kind == "run" and not has_key(folder, "log"):
        keys.append(make_key(folder, "log", "log"))
    if as_json:
        click.echo(json.dumps([_json(key) for key in keys], indent=2))
        return
    click.echo("\n\n".join("\n".join(_lines(key)) for key in keys))


def _json(key: Ready) -> dict[str, Any]:
    return {
        "made": key.made,
        "encrypted": key.encrypted,
        "name": key.name,
        "kind": key.kind,
        "kid": key.kid,
        "path": str(key.path),
        "public": str(key.public),
    }


def _lines(key: Ready) -> list[str]:
    done = "made" if key.made else "encrypted" if key.encrypted else "there is already"
    private = key.path.name if key.path else ""
    lines = [
        f"{done} {key.path} ({key.kind} key)",
        f"fingerprint  {click.style(key.kid, bold=True)}",
        f"public key   {key.public}; give it to those who verify, keep {private} to yourself",
    ]
    if key.kind == "root":
        lines += [
            "",
            "This root key stays offline: keep it on a medium that is plugged in only to sign a new version of the key",
            "registry. What others pin is its fingerprint:",
            "",
            f"    {click.style(key.kid, bold=True)}",
        ]
    return lines


@command.command("list")
@_folder
@click.option(
    "--file",
    "registry_path",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path(REGISTRY),
    show_default=True,
    help="The key registry, if there is one.",
)
@_as_json
def list_(folder: Path, registry_path: Path, as_json: bool) -> None:
    """List the keys with kind, fingerprint, whether they are encrypted, and what the registry says of them."""
    entries = list_keys(folder)
    known = _statuses(registry_path)
    if as_json:
        click.echo(json.dumps([_entry_json(entry, known) for entry in entries], indent=2))
        return
    if not entries:
        click.echo(f"there is no key in {folder}; `ragassay keys init` makes one")
    for entry in entries:
        about = f"{entry.kid}  {_state(entry, known)}" if entry.kid else f"unusable: {entry.problem}"
        click.echo(f"{entry.name:<20} {entry.kind or '?':<8} {about}")


def _statuses(path: Path) -> dict[str, str] | None:
    """Return what the registry says of keys, or None where there is none; one that is no registry is told."""
    try:
        return statuses(path) or None
    except RagassayError as error:
        click.echo(f"{path} is not used: {error}", err=True)
        return None


def _state(entry: KeyEntry, known: dict[str, str] | None) -> str:
    encrypted = f"not encrypted: `ragassay keys init --name {entry.name}` encrypts it"
    words = ["encrypted" if entry.encrypted else encrypted]
    if known is not None and entry.kind != "log":
        words.append(known.get(entry.kid or "", "not in the registry"))
    return ", ".join(words)


def _entry_json(entry: KeyEntry, known: dict[str, str] | None) -> dict[str, Any]:
    return {
        "name": entry.name,
        "kind": entry.kind,
        "kid": entry.kid,
        "encrypted": entry.encrypted,
        "registry": (known or {}).get(entry.kid or ""),
        "path": str(entry.path),
        "problem": entry.problem,
    }


for _more in (registry, rotate, revoke):
    command.add_command(_more)
