"""`ragassay spec`: write down how a board was tested, as prose whose numbers are all computed."""

from __future__ import annotations

import secrets
from pathlib import Path

import click

from ragassay.cli.board import find_places, plan_of
from ragassay.errors import InputError

STANDARD_OUTPUT = "-"


@click.command("spec")
@click.argument("path", metavar="[BOARD]", default=".", type=click.Path(path_type=Path))
@click.option("--workspace", type=click.Path(path_type=Path), help="Default: .ragassay beside the board file.")
@click.option("--public", is_flag=True, help="Of the published runs, as strangers get them.")
@click.option("--markdown", metavar="FILE", help="Write the page as Markdown; - prints it, as is done without options.")
@click.option("--html", metavar="FILE", help="Write the page as HTML.")
@click.option(
    "--links", metavar="BASE", default="", help="What its links begin with: the folder or address of the site."
)
@click.pass_context
def command(
    ctx: click.Context,
    path: Path,
    workspace: Path | None,
    public: bool,
    markdown: str | None,
    html: str | None,
    links: str,
) -> None:
    """Print the test specification of a board: what was asked, of what, how it was scored, what can be checked.

    BOARD is a board file, the folder that holds one, or a .ragassay folder; default: the current folder. Exit code 1
    when a run of the workspace could not be verified.
    """
    from ragassay.site.spec import render_html, render_markdown
    from ragassay.site.spec.workspace import specification

    base = _base(links)
    places = find_places(path, workspace)
    plan = plan_of(places.board_file, places.workspace) if places.board_file else None
    board, document = specification(places.workspace, plan, public=public)
    if html is not None:
        _put(html, render_html(document, board, base), "--html")
    if markdown is not None or html is None:
        _put(markdown or STANDARD_OUTPUT, render_markdown(document, base), "--markdown")
    ctx.exit(1 if board.refused else 0)


def _base(links: str) -> str:
    """Return what links begin with, ended by a slash; raises `InputError` for what no link can begin with."""
    if any(character.isspace() or not character.isprintable() for character in links):
        raise InputError("--links holds white space or control characters; give the folder or the address of the site")
    if links.lower().startswith(("javascript:", "data:", "vbscript:")):
        raise InputError("--links is no folder and no address of a site; give one, such as site/ or https://…/board/")
    return links if not links or links.endswith("/") else f"{links}/"


def _put(place: str, data: bytes, option: str) -> None:
    """Print a page, or write its file so that it appears as a whole or not at all."""
    if place == STANDARD_OUTPUT:
        click.echo(data, nl=False)
        return
    path = Path(place)
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file with {option}")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}); name another place with {option}") from error
    finally:
        temporary.unlink(missing_ok=True)
