"""`ragassay keys registry | rotate | revoke`: publish, replace and revoke keys in the registry that the root signs."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import click

from ragassay.cli.key_making import make_key
from ragassay.cli.moments import moment_text, read_moment
from ragassay.cli.passphrase import environment_signer, signer_named, signer_of
from ragassay.cli.seen import remember, seen_version
from ragassay.errors import InputError
from ragassay.manifest.files import REGISTRY
from ragassay.manifest.keyfile import PUBLIC, key_path, load_public_key
from ragassay.manifest.keyfolder import RETIRED, list_keys, retire_key
from ragassay.manifest.registry import KeyRecord, Registry, SignedRegistry, sign_registry
from ragassay.manifest.registry_change import (
    find_record,
    first_version,
    next_version,
    with_keys,
    with_new_root,
    with_replaced,
    with_revoked,
)
from ragassay.manifest.registry_file import load_registry, store_registry
from ragassay.manifest.sign import Signer
from ragassay.records import to_json
from ragassay.site.safe import one_line

_DIRECTORY = click.Path(path_type=Path, file_okay=False)
_KEYS = Path(".ragassay/keys")

_folder = click.option(
    "--dir", "folder", type=_DIRECTORY, default=_KEYS, show_default=True, help="The folder of the keys."
)
_root_dir = click.option(
    "--root-dir", type=_DIRECTORY, default=_KEYS, show_default=True, help="The folder of the root key."
)
_file = click.option(
    "--file",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path(REGISTRY),
    show_default=True,
    help="The registry's file.",
)
_days = click.option(
    "--expires",
    "days",
    type=click.IntRange(1, 3650),
    default=365,
    show_default=True,
    metavar="DAYS",
    help="After how many days readers must have a newer version.",
)


@click.command("registry")
@_root_dir
@_file
@_days
@click.option(
    "--add", "public", multiple=True, type=click.Path(path_type=Path), metavar="PUBFILE", help="A public key file."
)
@click.option("--from", "start", metavar="TIME", help="Since when the added keys sign. Default: now.")
@click.option(
    "--version", "number", type=click.IntRange(1), help="Begin at this version, where the newest file is lost."
)
@click.option("--show", type=click.Path(path_type=Path), metavar="FILE", help="Print this registry and write nothing.")
@click.option("--root", "pinned", metavar="FINGERPRINT", help="With --show: say whether this root vouches for it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def registry(
    ctx: click.Context,
    root_dir: Path,
    path: Path,
    days: int,
    public: tuple[Path, ...],
    start: str | None,
    number: int | None,
    show: Path | None,
    pinned: str | None,
    as_json: bool,
) -> None:
    """Make the registry of your public keys, or its next version, signed by the root key."""
    if show is not None:
        ctx.exit(_show(load_registry(show), pinned, as_json))
    if pinned is not None:
        raise InputError("--root goes with --show; the registry is signed by the key of --root-dir")
    keys = [load_public_key(one) for one in public]
    now = int(time.time())
    if path.exists():
        if number is not None:
            raise InputError(f"--version begins a registry anew, and {path} is there; move it away first")
        old = load_registry(path).registry
        root = root_signer(root_dir, old.root.kid)
        new = next_version(old, now=now, days=days)
    else:
        if not keys:
            raise InputError(
                f"there is no {path}; name the first keys with --add, for example .ragassay/keys/run.pub.json"
            )
        root = signer_of(root_dir, "root")
        new = first_version(root, now=now, days=days, version=number or 1)
    new = with_keys(new, keys, start=now if start is None else read_moment(start, "--from"))
    _write(path, new, root)
    if keys and start is None:
        click.echo("what is added counts from now on; --from TIME takes in what it signed before", err=True)
    if as_json:
        click.echo(json.dumps(_json(new, None), indent=2))
        return
    click.echo("\n".join(_lines(new)))
    click.echo(f"wrote {path}; publish it, and tell readers the root's fingerprint by a way that they trust")


@click.command("rotate")
@click.option("--name", default="run", show_default=True, help="The key that is replaced.")
@click.option("--new-name", help="The name of the key that replaces it.")
@click.option("--root", "whole_root", is_flag=True, help="Replace the root key; --dir and --name are not used.")
@_folder
@_root_dir
@_file
@_days
def rotate(
    name: str, new_name: str | None, whole_root: bool, folder: Path, root_dir: Path, path: Path, days: int
) -> None:
    """Replace a key by a new one and say so in the registry: the old one is deprecated from now on."""
    old = load_registry(path).registry
    if new_name is None:
        name = "root" if whole_root else name
        raise InputError(f"name the new key with --new-name, for example --new-name {name}-{old.version + 1}")
    if whole_root:
        _rotate_root(old, root_dir, new_name, path, days)
    else:
        _rotate_key(old, folder, root_dir, name, new_name, path, days)


def _rotate_key(old: Registry, folder: Path, root_dir: Path, name: str, new_name: str, path: Path, days: int) -> None:
    private = key_path(folder, name)
    before = load_public_key(folder / f"{name}{PUBLIC}")
    record = find_record(old, before.kid)
    after = folder / f"{new_name}{PUBLIC}"
    done = record.status == "deprecated" and after.exists() and old.key(load_public_key(after).kid) is not None
    if not done:
        if record.status != "active":
            raise InputError(f"{name} is {record.status} already; name the key that signs now with --name")
        root = root_signer(root_dir, old.root.kid)
        make_key(folder, before.kind or "run", new_name)
        now = int(time.time())
        new = with_replaced(next_version(old, now=now, days=days), before.kid, load_public_key(after), now=now)
        _write(path, new, root)
        click.echo(f"{path} is version {new.version}")
    if private.exists():
        retire_key(private)
    click.echo(f"{name} is deprecated and was moved to {folder / RETIRED}; {new_name} signs from now on")
    click.echo(f"fingerprint  {click.style(load_public_key(after).kid, bold=True)}")


def _rotate_root(old: Registry, root_dir: Path, new_name: str, path: Path, days: int) -> None:
    before = root_signer(root_dir, old.root.kid)
    made = make_key(root_dir, "root", new_name)
    after = signer_named(root_dir, new_name)
    new = with_new_root(next_version(old, now=int(time.time()), days=days), before, after)
    _write(path, new, after)
    private = next((entry.path for entry in list_keys(root_dir) if entry.kid == before.kid), None)
    if private is not None:
        retire_key(private)
    click.echo(f"{path} is version {new.version}, signed by the new root; the handover is signed by both")
    click.echo(f"readers who pin {before.kid} follow to the new root by themselves; tell new ones:")
    click.echo(f"\n    {click.style(made.kid, bold=True)}\n")


class _TakesFingerprint(click.Command):
    """A command whose argument may be a fingerprint that begins with a dash."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put such a fingerprint behind the mark that ends the options."""
        dashed = [word for word in args if re.fullmatch(r"-[A-Za-z0-9_-]{42}", word)]
        rest = [word for word in args if word not in dashed]
        return super().parse_args(ctx, [*rest, "--", *dashed] if dashed else args)


@click.command("revoke", cls=_TakesFingerprint)
@click.argument("key", metavar="KID_OR_NAME")
@click.option("--since", required=True, metavar="TIME", help="From when on nothing by the key counts.")
@click.option("--reason", help="Why, in a few words; it stands in the registry.")
@_folder
@_root_dir
@_file
@_days
def revoke(key: str, since: str, reason: str | None, folder: Path, root_dir: Path, path: Path, days: int) -> None:
    """Revoke a key in the registry: only what a witness saw before TIME counts from now on.

    Its private key, where --dir holds it, is put aside, so that it signs nothing more.
    """
    moment = read_moment(since, "--since")
    old = load_registry(path).registry
    record = find_record(old, key)
    root = root_signer(root_dir, old.root.kid)
    new = with_revoked(next_version(old, now=int(time.time()), days=days), record.kid, since=moment, reason=reason)
    _write(path, new, root)
    click.echo(f"{path} is version {new.version}; publish it at once")
    click.echo(f"revoked  {one_line(record.name)}  {record.kid}  since {moment_text(moment)}")
    private = next((entry.path for entry in list_keys(folder) if entry.kid == record.kid), None)
    if private is not None:
        click.echo(f"put aside  {retire_key(private)}")


def root_signer(folder: Path, kid: str) -> Signer:
    """Return the root key of that fingerprint, of the environment or the folder; raises `InputError`."""
    signer = environment_signer("root")
    if signer is None:
        entry = next((entry for entry in list_keys(folder) if entry.kid == kid), None)
        if entry is None:
            raise InputError(f"the registry's root key {kid} is not in {folder}; name its folder with --root-dir")
        signer = signer_named(folder, entry.name)
    if signer.kid != kid:
        raise InputError(f"RAGASSAY_ROOT_KEY is the key {signer.kid}, but the registry's root is {kid}")
    return signer


def _write(path: Path, new: Registry, root: Signer) -> None:
    """Sign and write the next version, unless a later one was seen before; remember it."""
    data = sign_registry(new, root)
    seen = max(seen_version(kid) or 0 for kid in new.roots())
    if new.version <= seen:
        raise InputError(
            f"version {seen} of this root's registry was seen before, so version {new.version} would be refused as "
            f"older; restore the newest file to {path}, or where it is lost begin at --version {seen + 1}"
        )
    store_registry(path, data)
    for kid in new.roots():
        remember(kid, new.version)


def _show(signed: SignedRegistry, pinned: str | None, as_json: bool) -> int:
    """Print a registry and, where a root is pinned, whether it vouches for it; return 1 where it does not."""
    found = signed.registry
    vouched = None if pinned is None else signed.vouched_by(pinned)
    seen = seen_version(pinned) or 0 if pinned is not None and vouched else 0
    old = found.version < seen
    if pinned is not None and vouched and not old:
        remember(pinned, found.version)
    if as_json:
        click.echo(json.dumps({**_json(found, vouched), "seen": seen or None}, indent=2, ensure_ascii=True))
    else:
        click.echo("\n".join(_lines(found)))
        if found.expires < time.time():
            click.echo("REGISTRY_EXPIRED: its time is over; ask its owner for a newer version")
        if old:
            click.echo(f"REGISTRY_ROLLBACK: version {seen} was seen before")
        if vouched is not None:
            click.echo(f"{'vouched by' if vouched else 'NOT vouched by'} the root {one_line(pinned or '')}")
        else:
            click.echo("no root was pinned, so whose registry this is was not checked; pin one with --root FINGERPRINT")
    return 0 if vouched is not False and not old else 1


def _json(found: Registry, vouched: bool | None) -> dict[str, Any]:
    return {**to_json(found), "vouched": vouched}


def _lines(found: Registry) -> list[str]:
    handovers = [f"before   {link.from_.kid}, until version {link.version - 1}" for link in found.rotations]
    return [
        f"version  {found.version}, issued {moment_text(found.issued)}, expires {moment_text(found.expires)}",
        f"root     {click.style(found.root.kid, bold=True)}",
        *handovers,
        *(_key_line(record) for record in found.keys),
    ]


def _key_line(record: KeyRecord) -> str:
    times = f"from {moment_text(record.valid_for.start)}"
    if record.valid_for.end is not None:
        times += f" to {moment_text(record.valid_for.end)}"
    if record.invalid_since is not None:
        times += f", invalid since {moment_text(record.invalid_since)}"
    if record.reason:
        times += f": {one_line(record.reason)}"
    return f"{record.status:<11}{one_line(record.name):<20} {record.kid}  {times}"


def statuses(path: Path) -> dict[str, str]:
    """Return the status of each key of a registry file by fingerprint, the root's too; empty where there is no file.

    Raises `InputError` or `VerifyError` where the file cannot be used.
    """
    if not path.exists():
        return {}
    found = load_registry(path).registry
    return {**{record.kid: record.status for record in found.keys}, found.root.kid: "root"}
