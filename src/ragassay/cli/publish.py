"""`ragassay publish`: from finished runs to public ones, through a gate that says every reason against each."""

from __future__ import annotations

import bisect
import getpass
import json
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click
import msgspec

from ragassay.cli.board import PUBLIC_SITE, Places, build_public, find_places, plan_of
from ragassay.cli.passphrase import log_signer, run_signer
from ragassay.cli.publish_done import decided_lines, filled_lines, passed_line, released_lines
from ragassay.cli.publish_lines import look_json, look_lines
from ragassay.errors import InputError, first_of
from ragassay.manifest.files import BESIDE, REGISTRY
from ragassay.manifest.log_disk import read_file
from ragassay.publish.decisions import DecisionFile, decided
from ragassay.publish.detect import detectors
from ragassay.publish.fill import fill_from
from ragassay.publish.redact import Keys
from ragassay.publish.release import Look, Wanted, look, release
from ragassay.publish.store import publishing
from ragassay.records.publication import Action, Decision, Finding
from ragassay.run.workspace import Workspace

MAX_DECISIONS_BYTES = 16 << 20
MOST_PROBLEMS = 50
"""How many problems of a file of decisions are printed."""


class Wish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a file of decisions: what is done with a finding, and why."""

    finding: str
    action: Action
    reason: str = ""


class Asked(NamedTuple):
    """What the command line asks for beside the choice of runs."""

    decisions: tuple[Wish, ...]
    by: str
    check: bool
    as_json: bool


@click.command("publish")
@click.argument("path", metavar="[BOARD]", default=".", type=click.Path(path_type=Path))
@click.option("--workspace", type=click.Path(path_type=Path), help="Default: .ragassay beside the board file.")
@click.option("--site", type=click.Path(path_type=Path), help="Default: public-site beside the board file.")
@click.option("--row", "rows", multiple=True, metavar="NAME", help="Only the runs of this row; repeatable.")
@click.option("--run", "runs", multiple=True, metavar="RUN", help="Only this run, by its id or the start of one.")
@click.option("--check", is_flag=True, help="Say what would be refused, and publish nothing.")
@click.option("--allow", multiple=True, metavar="ID", help="Decide: publish what was found as it is; takes --reason.")
@click.option("--redact", multiple=True, metavar="ID", help="Decide: replace the found words.")
@click.option("--withhold", multiple=True, metavar="ID", help="Decide: leave the whole text out.")
@click.option("--reason", default="", help="Why; kept with each decision of this command.")
@click.option("--by", help="Who decides. Default: the name of the login.")
@click.option("--decide", type=click.Path(path_type=Path), help="A file of decisions, one JSON object a line.")
@click.option("--names-model", type=click.Path(path_type=Path), help="A folder with a spaCy model, to find names.")
@click.option("--fill-from-earlier", "fill", multiple=True, metavar="RUN", help="Fill the --run from this pass.")
@click.option("--json", "as_json", is_flag=True, help="Print what the gate says as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    path: Path,
    workspace: Path | None,
    site: Path | None,
    rows: tuple[str, ...],
    runs: tuple[str, ...],
    check: bool,
    allow: tuple[str, ...],
    redact: tuple[str, ...],
    withhold: tuple[str, ...],
    reason: str,
    by: str | None,
    decide: Path | None,
    names_model: Path | None,
    fill: tuple[str, ...],
    as_json: bool,
) -> None:
    """Publish the runs that the board counts: eligible and announced, scanned, every finding decided, read by a person.

    Every reason against each run is said at once, and nothing is published unless all of them pass. BOARD is a board
    file, the folder that holds one, or a .ragassay folder; default: the current folder. With decisions, nothing is
    published either: they are stored, and what is left is said. Exit code 1 where a run is refused.
    """
    wishes = _wishes(allow, redact, withhold, reason, decide)
    places = find_places(path, workspace)
    space = Workspace(places.workspace)
    if fill:
        _refuse_beside_fill(rows, wishes, runs)
        ctx.exit(_fill(places, space, runs[0], fill, dry=check, as_json=as_json))
    asked = Asked(wishes, who(by) if wishes else "", check, as_json)
    wanted = Wanted(rows=rows, runs=runs)
    ctx.exit(_publish(places, space, wanted, asked, names_model, site or places.folder / PUBLIC_SITE))


def _publish(
    places: Places, space: Workspace, wanted: Wanted, asked: Asked, names_model: Path | None, site: Path
) -> int:
    plan = plan_of(places.board_file, space.root) if places.board_file else None
    found = detectors(spacy_model=names_model)
    keys = keys_of(places, space)

    def looked() -> Look:
        return look(space, plan, wanted, found, now=int(time.time()), registry=keys.registry)

    if asked.decisions:
        _decide(space, looked(), asked)
    if asked.check or asked.decisions:
        return _report(looked(), asked)
    with publishing(space.root):
        seen = looked()
        if not seen.passes:
            return _report(seen, asked)
        done = release(space, seen, keys, now=int(time.time()))
    build_public(places, site)
    if asked.as_json:
        click.echo(json.dumps(look_json(seen, done, site), indent=1))
    else:
        click.echo("\n".join(released_lines(done, seen, site)))
    return 0


def _report(seen: Look, asked: Asked) -> int:
    if asked.as_json:
        click.echo(json.dumps(look_json(seen, None, None), indent=1))
    else:
        click.echo("\n".join(look_lines(seen)))
        if seen.passes:
            click.echo(passed_line(seen))
    return 0 if seen.passes else 1


def keys_of(places: Places, space: Workspace) -> Keys:
    """Return the keys of a workspace, each asked for once, and only where something is to be signed."""
    folder = places.folder
    return Keys(
        run=cache(lambda: run_signer(space.keys)),
        log=cache(lambda: log_signer(space.keys)),
        registry=read_file(folder / REGISTRY, BESIDE[REGISTRY]),
    )


def _fill(places: Places, space: Workspace, target: str, sources: Sequence[str], *, dry: bool, as_json: bool) -> int:
    filled = fill_from(space, target, sources, keys_of(places, space), dry=dry)
    if as_json:
        click.echo(json.dumps(msgspec.to_builtins(filled), indent=1))
    else:
        click.echo("\n".join(filled_lines(filled, dry=dry)))
    return 0


def _refuse_beside_fill(rows: Sequence[str], wishes: Sequence[Wish], runs: Sequence[str]) -> None:
    if len(runs) != 1:
        raise click.UsageError("--fill-from-earlier fills one run: name it with --run")
    if rows or wishes:
        raise click.UsageError("--fill-from-earlier does not go with --row or with decisions: it publishes nothing")


def _wishes(
    allow: Sequence[str], redact: Sequence[str], withhold: Sequence[str], reason: str, file: Path | None
) -> tuple[Wish, ...]:
    named: dict[Action, Sequence[str]] = {"allow": allow, "redact": redact, "withhold": withhold}
    wishes = [Wish(name, action, reason) for action, names in named.items() for name in names]
    if reason and not wishes:
        raise click.UsageError("--reason is that of a decision: give --allow, --redact or --withhold too")
    return (*wishes, *(_in_file(file) if file is not None else ()))


def _in_file(file: Path) -> list[Wish]:
    data = read_file(file, MAX_DECISIONS_BYTES)
    if data is None:
        raise InputError(f"{file} is no file; give one JSON object a line: finding, action, reason")
    wishes, problems = [], []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            wishes.append(msgspec.json.decode(line, type=Wish))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            problems.append(f"line {number}: {error}")
    if problems:
        raise InputError(f"{file} holds lines that are no decisions", first_of(problems, MOST_PROBLEMS, "lines"))
    return wishes


def who(by: str | None) -> str:
    """Return the name of whoever decides: the one given, or that of the login; raises `InputError` without one."""
    if by is not None:
        return by
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        raise InputError("nobody is logged in by a name; say with --by who decides") from None


def _decide(space: Workspace, seen: Look, asked: Asked) -> None:
    """Store every decision, or none where one of them cannot be carried out.

    What stands in the outputs is decided there: a reason that holds the same words is written anew by that.
    """
    known = {one.id: one for one in (*seen.looked.said, *seen.looked.findings)}
    ordered = sorted(known)
    decisions: list[Decision] = []
    problems: list[str] = []
    for wish in asked.decisions:
        ids = _begin_with(ordered, wish.finding)
        if len(ids) != 1:
            problems.append(f"{len(ids) or 'no'} findings have an id that begins with {wish.finding[:40]!r}")
            continue
        try:
            decisions.append(_decided(known[ids[0]], wish, asked.by))
        except InputError as error:
            problems += [f"{ids[0]}: {problem}" for problem in error.problems or (error.message,)]
    if problems:
        raise InputError("nothing was decided", first_of(problems, MOST_PROBLEMS))
    DecisionFile(space.root).add_all(decisions)
    if not asked.as_json:
        click.echo("\n".join(decided_lines(decisions)))


def _begin_with(ids: Sequence[str], name: str) -> Sequence[str]:
    """Return the id that `name` is, or those of the ordered `ids` that begin with it; none where it is empty."""
    at = bisect.bisect_left(ids, name)
    if ids[at : at + 1] == [name]:
        return [name]
    end = at
    while name and end < len(ids) and ids[end].startswith(name):
        end += 1
    return ids[at:end]


def _decided(finding: Finding, wish: Wish, by: str) -> Decision:
    return decided(finding, wish.action, reason=wish.reason, by=by, at=int(time.time()))
