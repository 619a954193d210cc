"""`ragassay verify`: check runs from their own bytes."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ragassay.cli.sources import Source, open_source
from ragassay.cli.trust import Trust, trust_of
from ragassay.cli.verify_lines import report_lines, summary_lines
from ragassay.errors import InputError
from ragassay.records import to_json
from ragassay.verify import NotMade, Report, verify

if TYPE_CHECKING:
    from ragassay.run.rerun_rows import Rerun

NOT_RERUN = NotMade(check="re-execution", why="not asked for; --rerun does it")


class Checked(msgspec.Struct, frozen=True):
    """One run: what it is called, the report on it, and what came of executing it again where that was asked for."""

    name: str
    report: Report
    rerun: Rerun | None = None


@click.command("verify")
@click.argument("paths", metavar="PATH|ZIP|URL...", nargs=-1, required=True)
@click.option(
    "--key", "keys", multiple=True, type=click.Path(path_type=Path), help="Accept runs signed by this public key file."
)
@click.option("--root", metavar="FINGERPRINT", help="Accept runs by the keys of this root's registry.")
@click.option("--policy", type=click.Path(path_type=Path), help="Accept what this policy file accepts.")
@click.option("--registry", metavar="FILE|URL", help="The key registry, where it does not stand beside the run.")
@click.option(
    "--log", metavar="FOLDER|URL", help="The whole log: finds missing passes, voided runs, rewritten entries."
)
@click.option("--strict", is_flag=True, help="Turn warnings into failures.")
@click.option("--rerun", is_flag=True, help="Execute each accepted run again where all of it is deterministic.")
@click.option(
    "--corpus",
    type=click.Path(path_type=Path),
    help="The corpus for --rerun, where no workspace lends it; the documentation of a question set.",
)
@click.option(
    "--questions", type=click.Path(path_type=Path), help="The question file, where it is not beside its item manifest."
)
@click.option("--json", "as_json", is_flag=True, help="Print the reports as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[str, ...],
    keys: tuple[Path, ...],
    root: str | None,
    policy: Path | None,
    registry: str | None,
    log: str | None,
    strict: bool,
    rerun: bool,
    corpus: Path | None,
    questions: Path | None,
    as_json: bool,
) -> None:
    """Check runs: signature, announcement, log, digests, and every number recomputed.

    PATH is a run folder, a folder of runs such as .ragassay/runs, or the folder of a board; ZIP is a bundle, URL the
    address of one, - a bundle on the standard input. A PATH that ends in .items.dsse.json is a frozen question set.
    Exit code 1 when any run is refused, 3 when --rerun was not possible for one.
    """
    from ragassay.cli.verify_items import item_arguments, verify_items

    if item_arguments(paths, {"--questions": questions, "--rerun": rerun, "--log": log}):
        sets = trust_of(keys=keys, root=root, policy=policy, registry=registry)
        ctx.exit(verify_items(paths, sets, questions=questions, corpus=corpus, strict=strict, as_json=as_json))
    if corpus is not None and not rerun:
        raise InputError("--corpus is what --rerun reads; give both")
    trust = trust_of(keys=keys, root=root, policy=policy, registry=registry, log=log)
    sources = [source for text in paths for source in open_source(text)]
    checked = sorted((_check(source, trust, strict, rerun, corpus) for source in sources), key=_place)
    accepted = all(one.report.ok(strict) for one in checked)
    if as_json:
        runs = [_as_json(one, strict) for one in checked]
        click.echo(json.dumps({"ok": accepted, "strict": strict, "runs": runs}, indent=2, ensure_ascii=True))
    else:
        _print(checked, strict)
    ctx.exit(_code(accepted, [one.rerun for one in checked if one.rerun is not None]))


def _code(accepted: bool, reruns: Sequence[Rerun]) -> int:
    if not reruns:
        return 0 if accepted else 1
    from ragassay.cli.rerun import rerun_code

    return rerun_code(accepted, reruns)


def verify_strictly(paths: Sequence[Path], *, policy: Path, log: Path, rerun: bool) -> int:
    """Check runs strictly by a policy file and the whole log; print what was refused and a summary.

    With `rerun` what can be executed again is. Returns 1 if any was refused or came out different, else 0.
    """
    trust = trust_of(policy=policy, log=str(log))
    checked = [_check(source, trust, True, rerun, None) for path in paths for source in open_source(str(path))]
    for one in checked:
        if not one.report.ok(strict=True):
            click.echo("\n".join(report_lines(one.name, one.report, strict=True)))
    _print_summary(checked, strict=True)
    return 0 if all(one.report.ok(strict=True) for one in checked) else 1


def _check(source: Source, trust: Trust, strict: bool, rerun: bool, corpus: Path | None) -> Checked:
    read = source.files
    report = verify(
        read.files,
        policy=trust.policy,
        now=int(time.time()),
        log=trust.log,
        registry=trust.registry,
        problems=(*read.problems, *trust.problems),
    )
    trust.remember(read.files)
    if not rerun:
        report = msgspec.structs.replace(report, not_made=(*report.not_made, NOT_RERUN))
        return Checked(source.name, report)
    from ragassay.cli.rerun import rerun_report

    place = Path(source.name)
    folder = place if place.is_dir() else None
    report, done = rerun_report(read.files, report, corpus=corpus, folder=folder, strict=strict)
    return Checked(source.name, report, done)


def _place(one: Checked) -> tuple[str, int, str]:
    """Order by row and pass; what cannot be read stands first."""
    return one.report.row or "", one.report.pass_k or 0, one.name


def _as_json(one: Checked, strict: bool) -> dict[str, Any]:
    found = {"path": one.name, "ok": one.report.ok(strict), **to_json(one.report)}
    return found if one.rerun is None else {**found, "rerun": to_json(one.rerun)}


def _print(checked: Sequence[Checked], strict: bool) -> None:
    for one in checked:
        lines = report_lines(one.name, one.report, strict)
        if one.rerun is not None:
            from ragassay.cli.rerun import rerun_lines

            lines += [f"    {line}" for line in rerun_lines(one.rerun)]
        click.echo("\n".join(lines) + "\n")
    _print_summary(checked, strict)


def _print_summary(checked: Sequence[Checked], strict: bool) -> None:
    click.echo("\n".join(summary_lines([one.report for one in checked], strict)))
    reruns = [one.rerun for one in checked if one.rerun is not None]
    if reruns:
        from ragassay.cli.rerun import rerun_summary

        click.echo(rerun_summary(reruns))
