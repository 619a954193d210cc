"""`ragassay unpublish`: take a public run back, for good and for everybody to see."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click
import msgspec

from ragassay.cli.board import PUBLIC_SITE, build_public, find_places, plan_of
from ragassay.cli.publish import keys_of, who
from ragassay.cli.publish_done import reason_lines, taken_back_lines
from ragassay.errors import InputError
from ragassay.publish.deciding import decided
from ragassay.publish.detect import detectors
from ragassay.publish.withdraw import ReasonNotDecided, take_back
from ragassay.records.publication import Decision, Finding
from ragassay.run.workspace import Workspace
from ragassay.site.publications import PUBLIC


@click.command("unpublish")
@click.argument("run", metavar="RUN")
@click.argument("path", metavar="[BOARD]", default=".", type=click.Path(path_type=Path))
@click.option("--reason", required=True, help="Why, for everybody to read.")
@click.option("--allow", multiple=True, metavar="ID", help="Allow what the scan found in the reason; takes --because.")
@click.option("--because", default="", help="Why that may stand there; kept with the decision.")
@click.option("--by", help="Who decides. Default: the name of the login.")
@click.option("--names-model", type=click.Path(path_type=Path), help="A folder with a spaCy model, to find names.")
@click.option("--workspace", type=click.Path(path_type=Path), help="Default: .ragassay beside the board file.")
@click.option("--site", type=click.Path(path_type=Path), help="Default: public-site beside the board file.")
@click.option("--json", "as_json", is_flag=True, help="Print what was withdrawn as JSON.")
def command(
    run: str,
    path: Path,
    reason: str,
    allow: tuple[str, ...],
    because: str,
    by: str | None,
    names_model: Path | None,
    workspace: Path | None,
    site: Path | None,
    as_json: bool,
) -> int:
    """Void a public run in the log with a reason, and build the public board without its texts.

    It stays in the log and on the board as void; nothing is deleted. The reason is scanned like everything that becomes
    public: what is found in it is written otherwise, or allowed. RUN is its id, or the beginning of it; BOARD is a
    board file, the folder that holds one, or a .ragassay folder; default: the current folder.
    """
    places = find_places(path, workspace)
    space = Workspace(places.workspace)
    if not (space.root / PUBLIC).is_dir():
        raise InputError(f"{space.root} has published nothing")
    plan = plan_of(places.board_file, space.root) if places.board_file else None
    if because and not allow:
        raise click.UsageError("--because says why something is allowed: give --allow too")
    now = int(time.time())

    def allowed(finding: Finding) -> Decision | None:
        if not any(name and finding.id.startswith(name) for name in allow):
            return None
        return decided(finding, "allow", reason=because, by=who(by), at=now)

    try:
        done = take_back(
            space,
            run,
            reason,
            keys_of(places, space),
            plan,
            now=now,
            detectors=detectors(spacy_model=names_model),
            allowed=allowed,
        )
    except ReasonNotDecided as error:
        raise InputError(error.message, reason_lines(error.findings)) from error
    folder = site or places.folder / PUBLIC_SITE
    build_public(places, folder)
    if as_json:
        click.echo(json.dumps({**msgspec.to_builtins(done), "site": str(folder)}, indent=1))
    else:
        click.echo("\n".join(taken_back_lines(done)))
        click.echo(
            f"public board: {folder / 'index.html'}\nupload the folder {folder} anew: its texts are not in it any more"
        )
    return 0
