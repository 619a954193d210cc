"""`ragassay log cosign`: act as a witness of a log, one's own or another's."""

from __future__ import annotations

import re
import time
from pathlib import Path

import click

from ragassay.cli.log_source import FolderSource, LogSource, open_log, read_checkpoint, read_vkey, tree_of
from ragassay.cli.passphrase import environment_signer, signer_named
from ragassay.errors import InputError
from ragassay.manifest import LogFolder, NoteKey, Signer, parse_vkey
from ragassay.manifest.checkpoint import SignedCheckpoint
from ragassay.manifest.checkpoint import cosign as add_cosignature
from ragassay.manifest.keyfile import key_path
from ragassay.manifest.log_disk import locked, read_file, write_files
from ragassay.manifest.note import note_key
from ragassay.manifest.witness import (
    MAX_STATE_BYTES,
    WitnessState,
    decode_state,
    encode_state,
    log_key,
    observe,
)


@click.command("cosign")
@click.argument("log")
@click.option("--name", required=True, help="The witness's name, for example witness.example/1.")
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".ragassay/keys"),
    show_default=True,
    help="The folder of the witness's key.",
)
@click.option("--key-name", default="witness", show_default=True, help="The key's name in that folder.")
@click.option(
    "--state", type=click.Path(path_type=Path, dir_okay=False), help="Default: NAME.state.json beside the key."
)
@click.option("--vkey", help="The log's key; needed when a log at an address is seen for the first time.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the cosigned checkpoint here.")
def cosign(
    log: str, name: str, folder: Path, key_name: str, state: Path | None, vkey: str | None, out: Path | None
) -> None:
    """Cosign a log as a witness, if it only grew since the last time.

    LOG is the folder of a log or the address under which it is served. Without --out the cosignature is added to the
    log's folder. Exit code 1 when the log shrank, was rewritten, or is not signed by its key.
    """
    source = open_log(log)
    if out is None and not isinstance(source, FolderSource):
        raise InputError("a log at an address cannot be written to; name a file with --out")
    signer = environment_signer("witness") or _signer(folder, key_name)
    witness = note_key(name, "witness", signer.x)
    memory = state or folder / f"{_slug(name)}.state.json"
    data = _witness(source, signer, name, memory, parse_vkey(vkey) if vkey is not None else None)
    if out is not None:
        write_files(out.parent, {out.name: data})
        accept = f"ragassay log accept {out.name} --witness VKEY"
        click.echo(f"wrote {out}; give it back to the owner of the log, who runs `{accept}` with this key")
    elif isinstance(source, FolderSource):
        LogFolder(source.path).accept(data, [witness])
        click.echo(f"cosigned {source.name}{_renewed(source.path)}")
    click.echo(f"witness  {witness.vkey()}")


def cosign_folder(log: Path, signer: Signer, name: str, memory: Path) -> NoteKey:
    """Cosign the log in a folder of this machine as a witness that remembers what it saw in the file `memory`.

    Returns the witness's key. Raises `VerifyError` LOG_FORK where the log shrank or was rewritten since.
    """
    witness = note_key(name, "witness", signer.x)
    LogFolder(log).accept(_witness(FolderSource(log), signer, name, memory, None), [witness])
    return witness


def _signer(folder: Path, name: str) -> Signer:
    if not key_path(folder, name).exists():
        option = "" if name == "witness" else f" --name {name}"
        raise InputError(
            f"there is no key {name!r} in {folder} to sign as a witness with; "
            f"`ragassay keys init --kind witness{option}` makes one, and --dir names another folder"
        )
    return signer_named(folder, name)


def _witness(source: LogSource, signer: Signer, name: str, memory: Path, given: NoteKey | None) -> bytes:
    """Return the cosigned checkpoint; what it says is remembered, on the disk, before it is returned."""
    with locked(memory.with_name(f".{memory.name}.lock")):
        held = read_file(memory, MAX_STATE_BYTES)
        state = decode_state(held) if held is not None else WitnessState()
        signed = read_checkpoint(source)
        key = find_key(state, signed, source, given)
        now = int(time.time())
        after = observe(state, signed, key, tree_of(source, signed.size), now)
        write_files(memory.parent, {memory.name: encode_state(after)})
        return add_cosignature(signed.data, signer, name, now)


def find_key(state: WitnessState, signed: SignedCheckpoint, source: LogSource, given: NoteKey | None) -> NoteKey:
    """Return the key that has to have signed the log: remembered, given, or of a folder seen for the first time."""
    key = log_key(state, signed.origin, given)
    if key is None and isinstance(source, FolderSource):
        key = read_vkey(source)
    if key is None:
        raise InputError(f"the log at {source.name} is not known to this witness yet; give its key with --vkey")
    return key


def _renewed(log: Path) -> str:
    """Renew the proofs of the workspace that the log belongs to, if it does; return what to say of it."""
    workspace = log.resolve().parent
    if log.resolve().name != "log" or not (workspace / "runs").is_dir():
        return ""
    return f" and {renewed(workspace, 'its runs')}"


def renewed(workspace: Path, beside: str, quorum: int = 1) -> str:
    """Renew the proofs beside the runs of a workspace and beside those that are public; return what was done as a line.

    `beside` is what the runs are called in it.
    """
    from ragassay.run.proofs import renew_proofs
    from ragassay.run.workspace import Workspace

    count = renew_proofs(Workspace(workspace), quorum=quorum)
    said = f"renewed {count} {'proof' if count == 1 else 'proofs'} beside {beside}"
    return f"{said}{_renewed_public(workspace, quorum)}"


def _renewed_public(workspace: Path, quorum: int) -> str:
    """Renew the proofs of what was published; the public board holds copies, so it has to be written again."""
    if not (workspace / "public").is_dir():
        return ""
    from ragassay.publish.store import renew_public_proofs
    from ragassay.run.workspace import Workspace

    space = Workspace(workspace)
    count = renew_public_proofs(workspace, LogFolder(space.log, seen=space.log_seen), quorum=quorum)
    if not count:
        return ""
    return f" and {count} beside the public ones; `ragassay board --public` writes the public board with them"


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "witness"
