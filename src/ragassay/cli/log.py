"""`ragassay log`: read, audit, cosign and correct the log in which runs are announced and published."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import click

from ragassay.cli.log_lines import audit_json, audit_lines, show_json, show_lines, utc
from ragassay.cli.log_source import open_log, read_checkpoint, read_view, read_vkey
from ragassay.cli.log_witness import cosign, renewed
from ragassay.cli.verb_group import VerbGroup
from ragassay.errors import InputError, VerifyError
from ragassay.manifest import LogFolder, NoteKey, load_public_key, parse_vkey
from ragassay.manifest.files import REGISTRY
from ragassay.manifest.log_disk import read_file, write_files
from ragassay.manifest.note import MAX_NOTE_BYTES
from ragassay.manifest.registry_file import load_registry
from ragassay.manifest.statement import SignerRef
from ragassay.site.safe import one_line
from ragassay.verify.audit import Accept, audit

DEFAULT_LOG = ".ragassay/log"

log_argument = click.argument("log", metavar="[LOG]", default=DEFAULT_LOG)
workspace_option = click.option(
    "--workspace",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".ragassay"),
    show_default=True,
    help="The folder of runs, keys and log.",
)
vkey_option = click.option("--vkey", help="The key that has to have signed the log.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("log", cls=VerbGroup)
def command() -> None:
    """Read, audit and cosign the log of announcements and runs.

    LOG is the folder of a log or the http(s) address under which its files are served; default: .ragassay/log.
    """


@command.command("show")
@log_argument
@json_option
def show(log: str, as_json: bool) -> None:
    """Print origin, size, root, key and the witnesses that saw it."""
    source = open_log(log)
    signed, key = read_checkpoint(source), read_vkey(source)
    seen = LogFolder(Path(log)).witnessed() if (Path(log) / "witnessed").is_dir() else []
    holds = key is not None and signed.signed_by(key)
    if as_json:
        click.echo(json.dumps(show_json(signed, key, holds, seen), indent=2, ensure_ascii=True))
    else:
        click.echo("\n".join(show_lines(signed, key, holds, seen)))


@command.command("audit")
@log_argument
@click.option(
    "--key", "keys", multiple=True, type=click.Path(path_type=Path), help="Only statements by this key count."
)
@vkey_option
@json_option
@click.pass_context
def audit_(ctx: click.Context, log: str, keys: tuple[Path, ...], vkey: str | None, as_json: bool) -> None:
    """Print how every announced pass ended: published, void, or missing.

    Exit code 1 when a pass is missing or something in the log is not sound.
    """
    source = open_log(log)
    pinned = parse_vkey(vkey) if vkey is not None else None
    key = pinned or read_vkey(source)
    view = read_view(source)
    if key is not None and not view.checkpoint.signed_by(key):
        raise VerifyError(f"the log at {source.name} is not signed by {key.vkey()}", code="LOG_INCLUSION")
    found = audit(view, accept=_accept(keys), same_key=not keys)
    trust = "pinned" if pinned else "its own word" if key else "unknown"
    if as_json:
        click.echo(json.dumps(audit_json(found, view.checkpoint, trust), indent=2, ensure_ascii=True))
    else:
        click.echo("\n".join(audit_lines(found, view.checkpoint, trust, pinned_signers=bool(keys))))
    ctx.exit(0 if found.ok else 1)


def _accept(paths: tuple[Path, ...]) -> Accept:
    keys = [load_public_key(path) for path in paths]
    if not keys:
        return _anyone

    def accept(signer: SignerRef, signed_by: Callable[[bytes], bool]) -> bool:
        return any(key.kid == signer.kid and signed_by(key.x) for key in keys)

    return accept


def _anyone(*_: object) -> bool:
    """Take every signer at its word: that the signature is by the key it names was checked."""
    return True


@command.command("accept")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--witness", "witnesses", multiple=True, required=True, help="The key of a witness that you trust.")
@click.option("--quorum", default=1, show_default=True, type=click.IntRange(1), help="Witnesses that a proof asks for.")
@workspace_option
def accept(file: Path, witnesses: tuple[str, ...], quorum: int, workspace: Path) -> None:
    """Take back a checkpoint that a witness cosigned, and renew the proofs beside the runs.

    FILE is what `ragassay log cosign --out` wrote. Exit code 1 when it is not of this log or no named witness signed.
    """
    data = read_file(file, MAX_NOTE_BYTES)
    if data is None:
        raise InputError(f"{file} is no file")
    times = LogFolder(workspace / "log").accept(data, [witness_key(text) for text in witnesses])
    for key, seen in times.items():
        click.echo(f"{key.name} saw it at {utc(seen)}")
    click.echo(renewed(workspace, f"the runs of {workspace}", quorum))


@command.command("void")
@click.argument("run_id")
@click.option("--reason", required=True, help="Why the pass will not be finished, or the run no longer counts.")
@workspace_option
def void(run_id: str, reason: str, workspace: Path) -> None:
    """Void a planned pass that will not be finished, or a signed run."""
    from ragassay.cli.passphrase import log_signer, run_signer
    from ragassay.run.voiding import void_pass
    from ragassay.run.workspace import Workspace

    space = Workspace(workspace)
    if not LogFolder(space.log).exists and not space.log_seen.exists():
        raise InputError(f"there is no log in {space.log}; what was never announced needs no voiding")
    done = void_pass(space, run_id, reason, run_signer(space.keys), log_signer(space.keys))
    what = "the signed run" if done.signed else "the unfinished pass"
    click.echo(f"voided {what} {done.k} of {done.of} of row {done.row!r}; the log says so for good")


@command.command("policy")
@click.option("--witness", "witnesses", multiple=True, help="The key of a witness that you trust.")
@click.option("--quorum", type=click.IntRange(1), help="How many of them have to have seen a run. Default: all.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write it to this file.")
@workspace_option
def policy(witnesses: tuple[str, ...], quorum: int | None, out: Path | None, workspace: Path) -> None:
    """Print the policy that pins the run keys, the log and the witnesses of this workspace.

    Whoever has it gives it to `ragassay verify --policy`.
    """
    from ragassay.verify.policy_file import write_policy

    keys = [load_public_key(path) for path in sorted((workspace / "keys").glob("*.pub.json"))]
    revoked = _revoked(workspace.absolute().parent / REGISTRY)
    for key in keys:
        if key.kid in revoked:
            click.echo(f"left out, as the key registry revoked it: {one_line(key.name)} {key.kid}", err=True)
    runs = [key for key in keys if key.kind in (None, "run") and key.kid not in revoked]
    if not runs:
        raise InputError(f"there is no run key in {workspace / 'keys'}; `ragassay keys init` makes one")
    given = [witness_key(text) for text in witnesses]
    log = parse_vkey(LogFolder(workspace / "log").vkey) if given else None
    data = write_policy(keys=runs, log=log, witnesses=given, quorum=quorum)
    if not given:
        click.echo("no --witness: the policy pins the run keys and asks for no log", err=True)
    if out is None:
        click.echo(data.decode(), nl=False)
    else:
        write_files(out.parent, {out.name: data})
        click.echo(f"wrote {out}")


def _revoked(registry: Path) -> set[str]:
    """Return the fingerprints that the key registry beside the workspace revoked; none where there is no registry."""
    if not registry.exists():
        return set()
    return {record.kid for record in load_registry(registry).registry.keys if record.status == "revoked"}


def witness_key(text: str) -> NoteKey:
    """Read the key of a witness; raises `InputError` for that of a log."""
    key = parse_vkey(text)
    if key.kind != "witness":
        raise InputError(f"{key.name!r} is the key of a log; a witness's key is printed by `ragassay log cosign`")
    return key


command.add_command(cosign)
