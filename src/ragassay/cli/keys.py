"""`ragassay keys`: make and list the keys that sign runs."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ragassay.manifest import Signer, complete_key, generate_key, list_keys, load_key, store_key
from ragassay.manifest.keyfile import DEFAULT_NAME, PRIVATE, check_name

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
    """Make and list the keys that sign runs."""


@command.command("init")
@click.option("--name", default=DEFAULT_NAME, show_default=True, help="The key's name; it stands in each manifest.")
@_folder
@_as_json
def init(name: str, folder: Path, as_json: bool) -> None:
    """Make a run key if there is none of that name, and print its fingerprint."""
    path = folder / f"{check_name(name)}{PRIVATE}"
    made = not path.exists()
    if made:
        signer: Signer = generate_key(name)
        path = store_key(signer, folder)
    else:
        signer = load_key(path)
    public = complete_key(signer, folder)
    if as_json:
        click.echo(json.dumps({"made": made, "name": name, "kid": signer.kid, "path": str(path)}, indent=2))
        return
    click.echo(f"{'made' if made else 'there is already'} {path}")
    click.echo(f"fingerprint  {click.style(signer.kid, bold=True)}")
    click.echo(f"public key   {public}; give it to those who verify, keep {path.name} to yourself")


@command.command("list")
@_folder
@_as_json
def list_(folder: Path, as_json: bool) -> None:
    """List the run keys and their fingerprints."""
    entries = list_keys(folder)
    if as_json:
        keys = [{"name": e.name, "kid": e.kid, "path": str(e.path), "problem": e.problem} for e in entries]
        click.echo(json.dumps(keys, indent=2))
        return
    if not entries:
        click.echo(f"there is no key in {folder}; `ragassay keys init` makes one")
    for entry in entries:
        click.echo(f"{entry.name:<20} {entry.kid or 'unusable: ' + (entry.problem or '')}")
