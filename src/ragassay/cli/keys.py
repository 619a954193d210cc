"""`ragassay keys`: make and list the keys that sign."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ragassay.cli.key_making import Ready, has_key, make_key
from ragassay.manifest.keyfolder import list_keys
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


@click.group("keys")
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
    keys = [make_key(folder, kind or "run", name or kind or "run")]
    if kind is None and not has_key(folder, "log"):
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
@_as_json
def list_(folder: Path, as_json: bool) -> None:
    """List the keys with kind, fingerprint, and whether they are encrypted."""
    entries = list_keys(folder)
    if as_json:
        keys = [
            {
                "name": e.name,
                "kind": e.kind,
                "kid": e.kid,
                "encrypted": e.encrypted,
                "path": str(e.path),
                "problem": e.problem,
            }
            for e in entries
        ]
        click.echo(json.dumps(keys, indent=2))
        return
    if not entries:
        click.echo(f"there is no key in {folder}; `ragassay keys init` makes one")
    for entry in entries:
        state = "" if entry.encrypted else "not encrypted; `ragassay keys init` with its name encrypts it"
        about = f"{entry.kid}  {state}".rstrip() if entry.kid else f"unusable: {entry.problem}"
        click.echo(f"{entry.name:<20} {entry.kind or '?':<8} {about}")
