"""`ragassay calibrate`: people rate stored answers on a local page, and judges are held against what they said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from ragassay.cli.board import find_places, plan_of
from ragassay.cli.calibrate_lines import report_lines
from ragassay.errors import PluginError
from ragassay.manifest.log_disk import write_files
from ragassay.records.calibration import CalibrationReport, CalibrationSample
from ragassay.site.calibration import Material, load_material, load_ratings, prepare_sample, write_report
from ragassay.site.calibration.export import export_lines
from ragassay.site.calibration.ledger import Ledger
from ragassay.site.calibration.ratings import rater_name

MAX_SAMPLE = 10_000


@click.command("calibrate")
@click.argument("path", metavar="[BOARD]", default=".", type=click.Path(path_type=Path))
@click.option("--workspace", type=click.Path(path_type=Path), help="Default: .ragassay beside the board file.")
@click.option("--sample", type=click.IntRange(1, MAX_SAMPLE), help="How many answers; default: as before, or 100.")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="Draws another sample of the same size.")
@click.option("--rater", help="The name to begin with; otherwise the page asks for it.")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Of 127.0.0.1; default: a free one.")
@click.option("--report", "only_report", is_flag=True, help="Print how judges and people agree; serve no page.")
@click.option("--export", "target", type=click.Path(path_type=Path), help="Write the ratings as JSONL; serve no page.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(
    path: Path,
    workspace: Path | None,
    sample: int | None,
    seed: int | None,
    rater: str | None,
    port: int,
    only_report: bool,
    target: Path | None,
    as_json: bool,
) -> None:
    """Let people rate stored answers, blind to rows and verdicts, and print how far the judges agree with them.

    BOARD is a board file, the folder that holds one, or a .ragassay folder; default: the current folder. The page is
    served on 127.0.0.1 until Ctrl-C; then the report is printed and stored for the board.
    """
    places = find_places(path, workspace)
    name = rater_name(rater) if rater is not None else None
    plan = plan_of(places.board_file, places.workspace) if places.board_file else None
    material = load_material(places.workspace, plan)
    if material.outdated:
        click.echo("! no run answers the board's questions as they are now; these are of an earlier version", err=True)
    if target is not None:
        _export(material, places.workspace, target)
    if not only_report and target is None:
        _serve(material, places.workspace, sample, seed, name, port)
    if only_report or target is None:
        _print(write_report(places.workspace, material), as_json=as_json)


def _print(report: CalibrationReport, *, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(report), indent=2).decode())
    else:
        click.echo("\n".join(report_lines(report)))


def _export(material: Material, workspace: Path, target: Path) -> None:
    found, _ = load_ratings(workspace, material)
    lines = export_lines(found, material)
    write_files(target.parent, {target.name: b"".join(lines)})
    click.echo(f"{len(lines)} ratings written to {target}", err=True)


def _serve(
    material: Material, workspace: Path, size: int | None, seed: int | None, rater: str | None, port: int
) -> None:
    try:
        from ragassay.web.app import create_app
        from ragassay.web.calibrate import calibrate_page
        from ragassay.web.guard import Session
        from ragassay.web.server import listening, serve
    except ImportError as error:
        if (error.name or "ragassay").partition(".")[0] == "ragassay":
            raise
        raise PluginError(f"the page needs {error.name}: pip install 'ragassay[web]'") from error
    sample, drawn = prepare_sample(workspace, material, size, seed)
    items = [material.pool.items[key] for key in sample.items if key in material.pool.items]
    with listening(port) as listener:
        session = Session(listener.getsockname()[1])
        page = calibrate_page(Ledger(workspace), items, seed=sample.seed, rater=rater)
        for line in _opening(material, sample, len(items), drawn, session.address):
            click.echo(line, err=True)
        serve(create_app([page], session), listener)
    click.echo("", err=True)


def _opening(material: Material, sample: CalibrationSample, there: int, drawn: bool, address: str) -> Sequence[str]:
    """Return what is said when the page opens."""
    pool = material.pool
    how = f"drawn just now with seed {sample.seed}" if drawn else "the sample that was drawn before"
    lines = [f"{there} of {len(pool.items)} different answers to rate, {how}."]
    if len(sample.items) < sample.size:
        lines.append(f"{sample.size} were asked for, and there are no more that the judge gave a score.")
    if there < len(sample.items):
        gone = len(sample.items) - there
        lines.append(f"! {gone} of the sample are in no run any more; --seed draws another sample.")
    if pool.unjudged:
        lines.append(f"! {pool.unjudged} answers that the judge gave no score are not drawn.")
    return [
        *lines,
        "Open this address in a browser of this machine. Ratings are stored one by one; Ctrl-C ends the page.",
        "",
        f"  {address}",
        "",
    ]
