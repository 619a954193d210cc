"""`ragassay judge`: let further judges, or the same one again, judge the stored answers of signed runs."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from ragassay.cli.board import find_places
from ragassay.cli.interrupts import interruptible
from ragassay.cli.judge_lines import ended_json, ended_lines, forecast_lines, gives_for_nothing, held_lines
from ragassay.cli.key_values import key_values
from ragassay.cli.models import weights_cache
from ragassay.cli.passphrase import run_signer
from ragassay.cli.run import read_registry
from ragassay.errors import InputError, PluginError
from ragassay.manifest import Signer
from ragassay.manifest.judgement_folder import FOLDER
from ragassay.manifest.registry import decode_registry
from ragassay.records import Secret, to_json
from ragassay.run.board_file import BoardFile, load_board, reask_share
from ragassay.run.build import Keys, needed_keys
from ragassay.run.journal import claimed
from ragassay.run.judge_forecast import judge_forecast
from ragassay.run.judge_making import Judges, make_judges
from ragassay.run.judge_panel import Jobs, Wanted, plan_jobs
from ragassay.run.judge_run import JudgementEnded, make_judgements
from ragassay.run.judge_runs import VerifiedRun, choose_runs
from ragassay.run.question_sets.frozen import load_questions
from ragassay.run.status import RunStatus
from ragassay.run.workspace import Workspace
from ragassay.site import load_runs
from ragassay.site.numbers import plural
from ragassay.site.safe import one_line


class Asked(NamedTuple):
    """What the command line asks for."""

    judges: tuple[str, ...]
    runs: tuple[str, ...]
    reask: bool
    null_rows: bool
    again: bool
    seal: bool
    dry_run: bool
    as_json: bool

    @property
    def everything(self) -> bool:
        """True where nothing was named: the whole panel and the board's share of reasks."""
        return not (self.judges or self.reask or self.null_rows)

    @property
    def own(self) -> bool:
        """True where the board's own judge is needed."""
        return self.everything or self.reask or self.null_rows


@click.command("judge")
@click.argument("path", metavar="[BOARD]", default=".", type=click.Path(path_type=Path))
@click.option("--workspace", type=click.Path(path_type=Path), help="Default: .ragassay beside the board file.")
@click.option("--judge", "judges", multiple=True, metavar="NAME", help="Only this judge of the panel; repeatable.")
@click.option("--run", "runs", multiple=True, metavar="RUN", help="Only this run, by its id or the start of one.")
@click.option("--reask", is_flag=True, help="Ask the board's own judge again, about the share that the board names.")
@click.option("--null-rows", is_flag=True, help="Show the board's own judge three texts that must score 0.")
@click.option("--again", is_flag=True, help="Judge once more what was judged already.")
@click.option("--seal", is_flag=True, help="Sign judgements as they are, even where a judge's service failed.")
@click.option("--dry-run", is_flag=True, help="Print calls, tokens and money, and ask nothing.")
@click.option("--verify", "check", is_flag=True, help="Check every judgement of the workspace instead.")
@click.option("--conformance", is_flag=True, help="Run the judges over cases with the right verdicts instead.")
@click.option("--json", "as_json", is_flag=True, help="Print what was judged as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    path: Path,
    workspace: Path | None,
    judges: tuple[str, ...],
    runs: tuple[str, ...],
    reask: bool,
    null_rows: bool,
    again: bool,
    seal: bool,
    dry_run: bool,
    check: bool,
    conformance: bool,
    as_json: bool,
) -> None:
    """Judge the stored answers of signed runs again; the runs stay as they are.

    Without options every judge of the board's [[panel]] judges all runs of its rows, and the board's own judge is
    asked again about a share of them. BOARD is a board file or the folder that holds one; default: the current folder.
    Exit code 1 where a null row does not score 0, 3 where a judgement could not be finished.
    """
    asked = Asked(judges, runs, reask, null_rows, again, seal, dry_run, as_json)
    _refuse_ignored(asked, check=check, conformance=conformance)
    places = find_places(path, workspace)
    if check:
        from ragassay.cli.judge_check import check_all

        ctx.exit(check_all(places.workspace, as_json=as_json))
    if places.board_file is None:
        raise InputError(f"{path} holds no board.toml; a judge is described on a board")
    if conformance:
        ctx.exit(_conformance(places.board_file, asked, places.workspace))
    ctx.exit(_judge(load_board(places.board_file), Workspace(places.workspace), asked))


def _refuse_ignored(asked: Asked, *, check: bool, conformance: bool) -> None:
    """Raise `UsageError` for an option that what is done instead would not heed: nothing is asked by mistake."""
    if not (check or conformance):
        return
    instead = "--verify" if check else "--conformance"
    given = {
        "--conformance": check and conformance,
        "--judge": check and bool(asked.judges),
        "--run": bool(asked.runs),
        "--reask": asked.reask,
        "--null-rows": asked.null_rows,
        "--again": asked.again,
        "--seal": asked.seal,
        "--dry-run": asked.dry_run,
    }
    ignored = [name for name, is_given in given.items() if is_given]
    if ignored:
        raise click.UsageError(f"{instead} does not go with {', '.join(ignored)}")


def _conformance(board: Path, asked: Asked, workspace: Path) -> int:
    from ragassay.cli.judge_conformance import conformance_command

    if len(asked.judges) > 1:
        raise InputError("--conformance takes one --judge, or none for all of them")
    named = asked.judges[0] if asked.judges else None
    return conformance_command(board, judge=named, workspace=workspace, as_json=asked.as_json)


def _judge(board: BoardFile, space: Workspace, asked: Asked) -> int:
    keys = _keys(board, asked)
    judges = make_judges(
        board,
        keys,
        names=asked.judges,
        own=asked.own,
        panel=asked.everything or bool(asked.judges),
        weights_cache=weights_cache(),
    )
    wanted = Wanted(
        panel=judges.panel,
        own=judges.own,
        reask=reask_share(board.judge, judges.own.judge) if judges.own and (asked.everything or asked.reask) else None,
        null_rows=asked.null_rows,
        again=asked.again,
    )
    if asked.reask and wanted.reask == "0%":
        raise InputError("the board asks its judge again about 0% of the answers; write reask = '20%' in [judge]")
    if asked.dry_run:
        return _dry_run(_planned(board, space, asked, wanted), asked)
    space.prepare()
    with claimed(space.root / FOLDER / ".lock"):
        jobs = _planned(board, space, asked, wanted)
        ended = _made(board, space, judges, jobs, asked) if jobs.jobs else []
    return _finish(jobs, ended, asked)


def _keys(board: BoardFile, asked: Asked) -> Keys:
    """Return the keys of the judges that are asked; a dry run needs none."""
    panel = [one.judge for one in board.panel if asked.everything or one.name in asked.judges]
    wanted = needed_keys([table.model for table in [*panel, *([board.judge] if asked.own else [])]])
    if asked.dry_run:
        return {name: Secret("nothing-is-asked") for name in wanted}
    if unset := [name for name in wanted if not os.environ.get(name)]:
        raise InputError(
            f"{board.path.name} names keys that are not set",
            [f"export {name}=… (its value is never written anywhere)" for name in unset],
        )
    return key_values(wanted)


def _planned(board: BoardFile, space: Workspace, asked: Asked, wanted: Wanted) -> Jobs:
    """Return what is to be judged; what is left out is said at once."""
    loaded = [
        VerifiedRun(id=run.id, files=run.files, document=run.document, refused=run.refused)
        for run in load_runs(space.root)
    ]
    chosen, left_out = choose_runs(board, load_questions(board.benchmark).digest(), loaded, asked.runs)
    jobs = plan_jobs(space, chosen, wanted, only_named=bool(asked.runs))
    for line in (*left_out, *jobs.left_out):
        click.echo(one_line(line), err=True)
    if not chosen:
        raise InputError(f"{space.root} holds no run that can be judged; `ragassay run` makes them")
    return jobs


def _dry_run(jobs: Jobs, asked: Asked) -> int:
    found = judge_forecast(jobs.jobs)
    if asked.as_json:
        click.echo(json.dumps({"judges": [to_json(one) for one in found], "there": jobs.there}, indent=1))
    else:
        click.echo("\n".join(forecast_lines(found, jobs.there)))
    return 0


def _made(board: BoardFile, space: Workspace, judges: Judges, jobs: Jobs, asked: Asked) -> list[JudgementEnded]:
    from ragassay.cli.progress import shown, summary_of

    signer, registry = run_signer(space.keys), read_registry(board)
    version = decode_registry(registry).registry.version if registry is not None else None
    status = RunStatus()
    try:
        budget = judges.budget if judges.endpoints else None
        with shown(status, summary_of(judges.endpoints, budget, unit="items")):
            status.begin()
            return asyncio.run(_interruptible(jobs, space, judges, signer, version, board.seed, asked.seal, status))
    finally:
        for note in status.notes:
            click.echo(one_line(note), err=True)
        if status.stop and status.left:
            click.echo("stopped; what was judged is kept: run the same command again to continue", err=True)


async def _interruptible(
    jobs: Jobs,
    space: Workspace,
    judges: Judges,
    signer: Signer,
    version: int | None,
    seed: int,
    seal: bool,
    status: RunStatus,
) -> list[JudgementEnded]:
    with interruptible(status):
        return await make_judgements(
            jobs.jobs, space, judges, signer=signer, registry_version=version, seed=seed, seal=seal, status=status
        )


def _finish(jobs: Jobs, ended: Sequence[JudgementEnded], asked: Asked) -> int:
    if asked.as_json:
        click.echo(json.dumps([ended_json(one) for one in ended], indent=1, ensure_ascii=True))
    else:
        signed = sum(one.held is None for one in ended)
        lines = [*ended_lines(ended), f"{plural(signed, 'judgement')} signed, {jobs.there} there already"]
        if not (jobs.jobs or jobs.there or jobs.left_out):
            lines.append("the board names no [[panel]] and asks its judge again about nothing; --null-rows asks it")
        click.echo("\n".join(lines))
    for line in held_lines(ended):
        click.echo(line, err=True)
    if any(one.held is not None for one in ended):
        return PluginError.exit_code
    return 1 if any(gives_for_nothing(one.null_row, one.score) for one in ended) else 0
