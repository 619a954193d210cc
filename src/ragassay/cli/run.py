"""`ragassay run`: ask every question of every row, sign each pass, show the board."""

from __future__ import annotations

import contextlib
import json
import os
import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import click

from ragassay.cli.aside import printing_aside
from ragassay.cli.board import Places, build_and_write, print_board
from ragassay.cli.interrupts import interruptible
from ragassay.cli.key_values import key_values
from ragassay.cli.models import weights_cache
from ragassay.cli.passphrase import log_signer, run_signer
from ragassay.cli.run_executor import EXECUTORS, Where, build_there, embed_there, on_cluster
from ragassay.errors import InputError, VerifyError, legible
from ragassay.manifest.files import BESIDE, REGISTRY
from ragassay.manifest.log_disk import read_file
from ragassay.manifest.registry import decode_registry
from ragassay.records import Secret, to_json
from ragassay.run.board_file import BoardFile, load_board
from ragassay.run.board_run import Ended, plan_passes, run_passes
from ragassay.run.budget import Budget
from ragassay.run.build import Keys, needed_keys
from ragassay.run.executor import Executor
from ragassay.run.held import held_passes
from ragassay.run.loop import to_end
from ragassay.run.passes import Row
from ragassay.run.plan import PassPlan, orphans
from ragassay.run.prepared import Options, Prepared, build_rows, prepare
from ragassay.run.registration import Registrar
from ragassay.run.status import RunStatus
from ragassay.run.workspace import Workspace
from ragassay.seams import Retriever
from ragassay.site.numbers import listed, plural
from ragassay.site.safe import one_line


@click.command("run")
@click.argument("board_path", metavar="[BOARD]", default="board.toml", type=click.Path(path_type=Path))
@click.option("--workspace", type=click.Path(path_type=Path), help="Default: .ragassay beside the board file.")
@click.option("--site", type=click.Path(path_type=Path), help="Default: site beside the board file.")
@click.option("--row", "rows", multiple=True, help="Run only this row; may be given several times.")
@click.option("--subset", type=int, metavar="N", help="Run N questions: a set of its own, never eligible.")
@click.option("--announce", is_flag=True, help="Announce the passes in the log, and stop before the first answer.")
@click.option("--dry-run", is_flag=True, help="Print calls, tokens and money, and ask nothing.")
@click.option("--over-budget", is_flag=True, help="Run although the estimate is over the cap; the cap still holds.")
@click.option("--new", is_flag=True, help="Give up begun passes and begin new ones.")
@click.option("--seal", is_flag=True, help="Sign passes as they are, even where a service failed.")
@click.option("--allow-missing-evidence", is_flag=True, help="Run although evidence is not in the corpus.")
@click.option("--executor", type=click.Choice(EXECUTORS), default="local", help="Who asks: this process, or a cluster.")
@click.option("--address", metavar="ADDRESS", help="The Ray cluster: auto or HOST:PORT; default: one is started here.")
@click.option("--workers", type=int, metavar="N", help="With --executor ray: how many workers are started in all.")
@click.option("--json", "as_json", is_flag=True, help="Print what was run as JSON.")
def command(
    board_path: Path,
    workspace: Path | None,
    site: Path | None,
    rows: tuple[str, ...],
    subset: int | None,
    announce: bool,
    dry_run: bool,
    over_budget: bool,
    new: bool,
    seal: bool,
    allow_missing_evidence: bool,
    executor: str,
    address: str | None,
    workers: int | None,
    as_json: bool,
) -> int:
    """Run a board: every question of every row, three passes by default, each signed as it ends."""
    board = load_board(board_path)
    space = Workspace(workspace or board.path.parent / ".ragassay")
    options = Options(
        rows=rows,
        subset=subset,
        new=new,
        seal=seal,
        allow_missing_evidence=allow_missing_evidence,
        weights_cache=weights_cache(),
    )
    where = Where(executor, address, workers)
    where.check()
    if dry_run:
        return _dry_run(board, space, options, as_json)
    if announce:
        return _announce(board, space, options, as_json)
    executed = execute(board, space, options, over_budget=over_budget, where=where)
    if as_json:
        click.echo(json.dumps([to_json_ended(end) for end in executed.ended], indent=1))
    return finish(board, space, site or board.path.parent / "site", executed, quiet=as_json)


class Executed(NamedTuple):
    """How each pass ended, and the rows that were not run with the reason."""

    ended: Sequence[Ended]
    left_out: Mapping[str, str]


def _priced(prepared: Prepared) -> Budget | None:
    """Return the budget where a model of the board has a price, so that money is shown."""
    judge = prepared.board.judge.model
    return prepared.budget if prepared.board.answer.price or (judge and judge.price) else None


class Planned(NamedTuple):
    """A board that is about to be asked: every pass is planned and announced."""

    prepared: Prepared
    rows: Sequence[Row]
    plans: Sequence[PassPlan]
    registrar: Registrar
    status: RunStatus
    executor: Executor | None
    """None: this process asks."""


@contextlib.contextmanager
def planned(
    board: BoardFile,
    space: Workspace,
    options: Options,
    agreed: Callable[[Prepared, Sequence[Row]], object],
    where: Where = Where(),  # noqa: B008 - a frozen value
) -> Iterator[Planned]:
    """Prepare the board and announce its passes in the log; the rows' stacks are open until the block ends.

    `agreed` is called before anything is announced, and raises where the run is not to begin. Workers on a cluster have
    built the rows before that too.
    """
    from ragassay.cli.progress import Building

    registrar = Registrar(space, run_signer(space.keys), log_signer(space.keys), read_registry(board))
    keys = read_keys(board, options.rows)
    building = Building()
    prepared = prepare(board, space, keys, options, building)
    for name, reason in prepared.ready.left_out.items():
        click.echo(f"row {name!r} is left out: {reason}", err=True)
    status = RunStatus()
    with printing_aside(), contextlib.ExitStack() as stack:
        executor = stack.enter_context(on_cluster(where, board, options))
        embed_there(executor, prepared, space, building)
        built = build_rows(prepared, space, options, building, status)
        for row in built:
            stack.callback(_close, row.name, row.retriever)
        agreed(prepared, built)
        build_there(executor, prepared, built, space, building)
        if options.new:
            for name, note in held_passes(space).items():
                click.echo(f"given up: {one_line(name)}: {note}", err=True)
        plans = plan_passes(built, prepared.benchmark, space, registrar, options)
        status.notes += registrar.signed_by_others(plans)
        status.notes += orphans(space, {row.name for row in board.rows})
        yield Planned(prepared, built, plans, registrar, status, executor)


def execute(
    board: BoardFile,
    space: Workspace,
    options: Options,
    *,
    over_budget: bool = False,
    announced: Callable[[Registrar], object] = lambda _: None,
    where: Where = Where(),  # noqa: B008 - a frozen value
) -> Executed:
    """Run the board and return how each pass ended; the caller prints the board.

    Nothing is announced or asked where the estimate is over the board's cap, unless `over_budget`.
    `announced` is called when every pass is announced in the log and nothing has been asked yet.
    """
    from ragassay.cli.progress import shown, summary_of
    from ragassay.cli.spending import agree, limits_said

    def agreed(prepared: Prepared, rows: Sequence[Row]) -> None:
        agree(prepared, rows, space, options, over_budget=over_budget)

    with planned(board, space, options, agreed, where) as plan:
        announced(plan.registrar)
        _warn_unseen(plan, space)
        _allow_open_files(len(plan.plans))
        status, prepared = plan.status, plan.prepared
        try:
            with shown(status, summary_of(prepared.endpoints, _priced(prepared), unit="questions")):
                ended = to_end(_interruptible(plan, space, options))
                return Executed(ended, prepared.ready.left_out)
        finally:
            for note in (*prepared.ready.notes, *status.notes, *limits_said(prepared)):
                click.echo(note, err=True)
            if status.stop and status.left:
                click.echo("stopped; what was asked is kept: run the same command again to continue", err=True)


def _warn_unseen(plan: Planned, space: Workspace) -> None:
    """Say before the first answer which announcements a witness has yet to see, where the policy asks for one."""
    if (space.root / "policy.json").exists() and (rows := plan.registrar.unseen(plan.plans)):
        click.echo(
            f"no witness has seen the announcement of {listed([one_line(row) for row in rows])} yet: the runs will be "
            "UNTIMED for good. Ctrl-C, let one cosign the log (`ragassay log cosign`), and run again",
            err=True,
        )


def _announce(board: BoardFile, space: Workspace, options: Options, as_json: bool) -> int:
    """Announce the passes and say what a witness has to see before they are asked."""
    with planned(board, space, options, lambda *_: None) as plan:
        checkpoint = plan.registrar.log.checkpoint()
    rows = sorted({one.row for one in plan.plans})
    if as_json:
        found = {"rows": rows, "passes": len(plan.plans), "log": checkpoint.origin, "size": checkpoint.size}
        click.echo(json.dumps(found, indent=1))
        return 0
    click.echo(
        f"announced {plural(len(plan.plans), 'pass', 'passes')} of {plural(len(rows), 'row')} in {_near(space.log)}: "
        f"{plural(checkpoint.size, 'entry', 'entries')}\n"
        "nothing was asked; let a witness cosign the log (`ragassay log cosign`), then run the same command without "
        "--announce"
    )
    return 0


def _close(name: str, retriever: Retriever) -> None:
    try:
        retriever.close()
    except Exception as error:  # noqa: BLE001 - everything was asked and is kept: an outside stack's end is only told
        click.echo(f"row {one_line(name)}: its stack could not be closed: {one_line(legible(error))}", err=True)


def _allow_open_files(journals: int) -> None:
    """Raise this process's limit of open files where many passes, each with its journal, need it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = journals + 512
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


async def _interruptible(plan: Planned, space: Workspace, options: Options) -> list[Ended]:
    with interruptible(plan.status):
        return await run_passes(
            plan.prepared,
            plan.rows,
            plan.plans,
            space,
            registrar=plan.registrar,
            options=options,
            status=plan.status,
            executor=plan.executor,
        )


def read_keys(board: BoardFile, rows: Sequence[str] = ()) -> Keys:
    """Return the keys of the board, of its `rows` alone where some are named.

    Raises `InputError` naming every variable that is not set.
    """
    _refuse_examples(board)
    stacks = [row.stack for row in board.rows if not rows or row.name in rows]
    wanted = needed_keys([board.answer, board.judge.model], stacks)
    unset = [name for name in wanted if not os.environ.get(name)]
    if unset:
        raise InputError(
            f"{board.path.name} names keys that are not set",
            [f"export {name}=… (its value is never written anywhere)" for name in unset],
        )
    return key_values(wanted)


def read_registry(board: BoardFile) -> bytes | None:
    """Return the key registry beside the board file, None where there is none; raises `InputError` for any other."""
    path = board.path.parent / REGISTRY
    data = read_file(path, BESIDE[REGISTRY])
    if data is None and path.is_symlink():
        raise InputError(f"{path} is a link to nothing; restore the key registry, or remove the link")
    try:
        if data is not None:
            decode_registry(data)
    except VerifyError as error:
        raise InputError(
            f"{path} is no key registry: {error}; restore it, or move it away to sign without one"
        ) from error
    return data


def _refuse_examples(board: BoardFile) -> None:
    """Raise `InputError` where an address is still the one that `init` wrote as an example."""
    tables = {"answer": board.answer, "judge.model": board.judge.model}
    left = [
        f"{name}.base_url is still the example {table.base_url}; write your endpoint's address and its model's id"
        for name, table in tables.items()
        if table and table.base_url and (urlsplit(table.base_url).hostname or "").endswith(".acme.example")
    ]
    if left:
        raise InputError(f"{board.path.name} is not finished", left)


def _uncounted(rows: Sequence[str]) -> str:
    """Return the line that names the rows whose searches ask models of their own; empty where there are none."""
    return f"besides: what the searches of {', '.join(rows)} ask for themselves is not counted\n" if rows else ""


def _dry_run(board: BoardFile, space: Workspace, options: Options, as_json: bool) -> int:
    from ragassay.cli.progress import Building
    from ragassay.run.expectation import CHARACTERS_PER_TOKEN, OUTPUT_TOKENS_PER_CALL
    from ragassay.run.forecast import forecast

    unkeyed = {name: Secret("nothing-is-asked") for name in needed_keys([board.answer, board.judge.model])}
    found = forecast(prepare(board, space, unkeyed, options, Building()))
    if as_json:
        click.echo(json.dumps(to_json(found), indent=1))
        return 0
    cost = "unknown (no price)" if found.cost_microusd is None else f"{found.cost_microusd / 1e6:.4f} USD"
    click.echo(
        f"{found.rows} rows x {found.questions} questions x {found.passes} passes\n"
        f"calls:  {found.answer_calls} to the answering model, {found.judge_calls} to the judge's model\n"
        f"tokens: about {found.input_tokens} in and {found.output_tokens} out "
        f"({CHARACTERS_PER_TOKEN} characters a token, {OUTPUT_TOKENS_PER_CALL} tokens a reply)\n"
        f"money:  {cost}\n" + _uncounted(found.uncounted_rows) + "nothing was asked"
    )
    return 0


def finish(board: BoardFile, space: Workspace, site: Path, executed: Executed, *, quiet: bool) -> int:
    """Write the board, print it and what stays open; return 3 when a pass does."""
    places = Places(board.path.parent, board.path, space.root)
    built = build_and_write(places, site, executed.left_out)
    if not quiet:
        print_board(built, whole=False)
    held = [end for end in executed.ended if end.held is not None]
    for end in held:
        click.echo(f"not signed: {one_line(end.row)} pass {end.k}: {one_line(end.held or '')}", err=True)
    if held:
        click.echo(
            "`ragassay run` asks again only what failed or is left; with --seal it signs what has ended as it is",
            err=True,
        )
        return 3
    if not quiet:
        click.echo(f"pages:  {_near(site / 'index.html')}\nverify: {_verify_command(space)}")
        if board.panel:
            names = listed([one_line(one.name) for one in board.panel])
            click.echo(f"judge:  ragassay judge (lets the panel judge these answers: {names})")
    return 0


def _near(path: Path) -> Path:
    """Return the path as it is called from the current folder, where it lies in it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _verify_command(space: Workspace) -> str:
    """Return the command that checks the runs, by the workspace's policy where it has one."""
    policy = space.root / "policy.json"
    by = f" --strict --policy {_near(policy)}" if policy.exists() else ""
    return f"ragassay verify{by} {_near(space.runs)}"


def to_json_ended(ended: Ended) -> dict[str, Any]:
    """Return one pass's end as JSON."""
    return {
        "row": ended.row,
        "pass": ended.k,
        "run": ended.run_id,
        "held": ended.held,
        "missing": dict(ended.missing),
    }
