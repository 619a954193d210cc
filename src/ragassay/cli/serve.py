"""`ragassay serve`: the local app, with reading and sign-off before publishing, calibration, and the board."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragassay.cli.board import Places, find_places, plan_of
from ragassay.errors import PluginError
from ragassay.site.numbers import plural
from ragassay.site.record import BoardPlan

if TYPE_CHECKING:
    from ragassay.publish.detect import Detector
    from ragassay.web.snapshot import Snapshot


@click.command("serve")
@click.argument("path", metavar="[BOARD]", default=".", type=click.Path(path_type=Path))
@click.option("--workspace", type=click.Path(path_type=Path), help="Default: .ragassay beside the board file.")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Of 127.0.0.1; default: a free one.")
@click.option("--reader", help="The name to begin with; otherwise the page asks for it.")
@click.option("--run", "runs", multiple=True, metavar="RUN", help="Put up this run too, by its id or the start of one.")
@click.option("--names-model", type=click.Path(path_type=Path), help="A folder with a spaCy model, to find names.")
def command(
    path: Path,
    workspace: Path | None,
    port: int,
    reader: str | None,
    runs: tuple[str, ...],
    names_model: Path | None,
) -> None:
    """Open the local app: read outputs and sign runs off before publishing, rate answers, see the board as it would be.

    BOARD is a board file, the folder that holds one, or a .ragassay folder; default: the current folder. The app is
    served on 127.0.0.1 until Ctrl-C. It signs no run and publishes nothing: `ragassay publish` does.
    """
    _serve(find_places(path, workspace), port, reader, runs, names_model)


def _serve(places: Places, port: int, reader: str | None, runs: Sequence[str], names_model: Path | None) -> None:
    try:
        from ragassay.publish.review_lines import reader_name
        from ragassay.site.calibration.ledger import Ledger
        from ragassay.web.app import Link, create_app
        from ragassay.web.calibrate import living_calibrate_page
        from ragassay.web.guard import Session
        from ragassay.web.preview import preview_page
        from ragassay.web.review import review_page
        from ragassay.web.server import listening, serve
        from ragassay.web.sites import drawn_of, sites_of
        from ragassay.web.snapshot import Snapshots
    except ImportError as error:
        if (error.name or "ragassay").partition(".")[0] == "ragassay":
            raise
        raise PluginError(f"the app needs {error.name}: pip install 'ragassay[run,web]'") from error

    def plan() -> BoardPlan | None:
        return plan_of(places.board_file, places.workspace) if places.board_file else None

    def detectors_of() -> Sequence[Detector]:
        from ragassay.publish.detect import detectors

        return detectors(spacy_model=names_model)

    name = reader_name(reader) if reader is not None else None
    snapshots = Snapshots(places.workspace, plan, detectors_of, runs)
    links = (Link("/review", "Review"), Link("/calibrate", "Calibrate"), Link("/board", "Board"))
    pages = (
        review_page(snapshots, reader=name, links=links),
        living_calibrate_page(Ledger(places.workspace), drawn_of(snapshots), rater=name, links=links),
        preview_page(snapshots, sites_of(places.workspace), links=links),
    )
    with listening(port) as listener:
        session = Session(listener.getsockname()[1])
        for line in _opening(snapshots.now(), session.address):
            click.echo(line, err=True)
        serve(create_app(pages, session), listener)
    click.echo("", err=True)


def _opening(snapshot: Snapshot, address: str) -> Sequence[str]:
    """Return what is said when the app opens."""
    runs, rows = len(snapshot.readings), len(snapshot.rows)
    lines = [
        f"{plural(runs, 'run')} of {plural(rows, 'row')} {'is' if runs == 1 else 'are'} up for publishing, "
        f"{plural(len(snapshot.units), 'different output')} to read."
    ]
    if snapshot.refused:
        lines.append(f"! {plural(len(snapshot.refused), 'run')} cannot be published; the page says why.")
    return [
        *lines,
        "Open this address in a browser of this machine. What you do is stored at once; Ctrl-C ends the app.",
        "",
        f"  {address}",
        "",
    ]
