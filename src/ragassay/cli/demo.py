"""`ragassay demo`: run the bundled board, verify every run that it made, show the board."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import ragassay
from ragassay.errors import InputError

if TYPE_CHECKING:
    from ragassay.run.workspace import Workspace

BOARDS = {"reader": "board.toml", "smollm2": "board-smollm2.toml"}
WORKSPACES = {"reader": Path(".ragassay"), "smollm2": Path(".ragassay/smollm2")}
"""A workspace for each model, so that the board that is shown is of that model alone."""


WITNESS = "ragassay.dev/demo-witness"


@click.command("demo")
@click.option("--model", type=click.Choice(sorted(BOARDS)), default="reader", show_default=True)
@click.option("--workspace", type=click.Path(path_type=Path), help="Default: .ragassay, or .ragassay/smollm2.")
@click.option("--site", type=click.Path(path_type=Path), default="site", show_default=True)
def command(model: str, workspace: Path | None, site: Path) -> int:
    """Run the bundled board of real documentation: no key, no server; then verify every run that it made, strictly.

    A second key on this machine plays the witness: it cosigns the log before the first answer and after the last.
    """
    from ragassay.cli.key_making import ensure_key
    from ragassay.cli.models import weights_cache
    from ragassay.cli.run import execute, finish
    from ragassay.cli.verify import verify_strictly
    from ragassay.run.board_file import load_board
    from ragassay.run.prepared import Options
    from ragassay.run.proofs import renew_proofs
    from ragassay.run.workspace import Workspace

    board = load_board(bundled() / BOARDS[model])
    space = Workspace(workspace or WORKSPACES[model])
    space.prepare()
    ensure_key(space.keys, "run")
    ensure_key(space.keys, "log")
    subset = 12 if model == "smollm2" else None
    options = Options(subset=subset, weights_cache=weights_cache())
    executed = execute(board, space, options, announced=lambda _: witness(space))
    policy = witness(space)
    renew_proofs(space)
    signed = [space.runs / end.run_id for end in executed.ended if end.held is None]
    refused = verify_strictly(signed, policy=policy, log=space.log, rerun=model == "reader")
    click.echo()
    return finish(board, space, site, executed, quiet=False) or refused


def witness(space: Workspace) -> Path:
    """Let the witness's key cosign the log, and return the policy file that trusts run key, log and witness."""
    from ragassay.cli.key_making import ensure_key
    from ragassay.cli.log_witness import cosign_folder
    from ragassay.cli.passphrase import environment_signer, run_signer, signer_named
    from ragassay.manifest import LogFolder, parse_vkey
    from ragassay.run.workspace import write_bytes
    from ragassay.verify.policy_file import write_policy

    folder = space.root / "witness"
    made = ensure_key(folder, "witness")
    signer = environment_signer("witness") or signer_named(folder, made.name)
    seen_by = cosign_folder(space.log, signer, WITNESS, folder / "state.json")
    log = parse_vkey(LogFolder(space.log).vkey)
    policy = space.root / "policy.json"
    write_bytes(policy, write_policy(keys=[run_signer(space.keys).public], log=log, witnesses=[seen_by]))
    return policy


def bundled() -> Path:
    """Return the folder of the bundled board: inside the package, or in a checkout beside it."""
    package = Path(ragassay.__file__).parent
    for folder in (package / "bundled", package.parents[1] / "examples" / "bundled"):
        if (folder / "board.toml").is_file():
            return folder
    raise InputError("the bundled board is not part of this installation; install ragassay from its package")
