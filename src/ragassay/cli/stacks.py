"""`ragassay stacks`: list the kinds of stacks, describe one, and check that those of a board work."""

from __future__ import annotations

import os
from pathlib import Path

import click
import msgspec

from ragassay import plugins
from ragassay.cli import stack_lines
from ragassay.cli.aside import printing_aside
from ragassay.cli.models import weights_cache
from ragassay.cli.verb_group import VerbGroup
from ragassay.errors import InputError
from ragassay.plugins.declared import declared

_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(cls=VerbGroup)
def command() -> None:
    """List the kinds of retrieval stacks, describe one, and check that those of a board work."""


@command.command("list", short_help="List every kind, built-in or from an installed package.")
@_json_option
def list_(as_json: bool) -> int:
    """List every kind of stack, where it comes from and what it needs; nothing of a stack is imported."""
    found = list(declared("stacks"))
    if as_json:
        click.echo(msgspec.json.encode(found).decode())
    else:
        for line in stack_lines.kinds(found):
            click.echo(line)
    return 0


@command.command("describe", short_help="Print one kind's parameters, and where its page is.")
@click.argument("kind")
@_json_option
def describe(kind: str, as_json: bool) -> int:
    """Print the parameters of KIND with their defaults, as its class says them, and the address of its page."""
    from ragassay.plugins.parameters_of import parameters_of

    plugin = plugins.load("stacks", kind)
    about = next(one for one in declared("stacks") if one.kind == kind)
    about = msgspec.structs.replace(
        about,
        owns_corpus=getattr(plugin, "owns_corpus", None),
        deterministic=plugins.is_deterministic("stacks", kind),
        wire_form_only=getattr(plugin, "wire_form_only", False),
    )
    told = {
        **msgspec.to_builtins(about),
        "summary": stack_lines.summary(plugin.__doc__),
        "parts": dict(getattr(plugin, "default_parts", {})),
        "parameters": msgspec.to_builtins(parameters_of(plugin)),
    }
    if as_json:
        click.echo(msgspec.json.encode(told).decode())
    else:
        for line in stack_lines.described(told):
            click.echo(line)
    return 0


@command.command("check", short_help="Build the stacks of a board, and ask each one question.")
@click.argument("board_path", metavar="[BOARD]", default="board.toml", type=click.Path(path_type=Path))
@click.option("--row", "rows", multiple=True, metavar="NAME", help="Check only this row; may be given several times.")
@click.option("--workspace", type=click.Path(path_type=Path), help="Default: .ragassay beside the board file.")
@_json_option
def check(board_path: Path, rows: tuple[str, ...], workspace: Path | None, as_json: bool) -> int:
    """Build each row's stack over BOARD's corpus, count what it holds, ask it one question; 3 if a service failed."""
    from ragassay.cli.progress import Building
    from ragassay.records import Secret
    from ragassay.run.board_file import load_board
    from ragassay.run.build import needed_keys
    from ragassay.run.stack_check import check_stacks
    from ragassay.run.workspace import Workspace

    board = load_board(board_path)
    wanted = needed_keys([], [row.stack for row in board.rows if not rows or row.name in rows])
    if unset := [name for name in wanted if not os.environ.get(name)]:
        raise InputError(
            f"{board.path.name} names keys that are not set",
            [f"export {name}=… (its value is never written anywhere)" for name in unset],
        )
    with printing_aside():
        checked = check_stacks(
            board,
            Workspace(workspace or board.path.parent / ".ragassay"),
            rows=rows,
            keys={name: Secret(os.environ[name]) for name in wanted},
            weights_cache=weights_cache(),
            report=Building(),
        )
    if as_json:
        click.echo(msgspec.json.encode(checked).decode())
    else:
        for line in stack_lines.checked(checked):
            click.echo(line)
    return checked.exit_code


@command.command("check-http", short_help="Ask a retrieval service of your own whether it keeps the contract.")
@click.argument("url")
@click.option("--key-env", metavar="NAME", help="The environment variable that holds the service's key.")
@click.option("--key-header", metavar="NAME", help="The header that carries the key [default: Authorization].")
@click.option("--question", "questions", multiple=True, metavar="TEXT", help="Ask this besides; may be repeated.")
@_json_option
def check_http(url: str, key_env: str | None, key_header: str | None, questions: tuple[str, ...], as_json: bool) -> int:
    """Ask the service at URL what the stack `http` needs of it, and say all that is wrong; 1 if anything is."""
    from ragassay.plugins.stacks.http.check import check_service
    from ragassay.records import Secret

    params = {name: value for name, value in (("key_env", key_env), ("key_header", key_header)) if value is not None}
    if key_env and not os.environ.get(key_env):
        plugins.load("stacks", "http")(url=url, **params)
        raise InputError(f"the variable {key_env} is not set", [f"export {key_env}=… (its value is never printed)"])
    key = Secret(os.environ[key_env]) if key_env else None
    problems = check_service(url, key=key, params=params, questions=questions)
    if as_json:
        click.echo(msgspec.json.encode({"problems": problems}).decode())
    else:
        for line in stack_lines.service(problems):
            click.echo(line)
    return 1 if problems else 0
