"""`ragassay claims`: propose claims for questions, review them, freeze and hash them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import msgspec

from ragassay.cli.verb_group import VerbGroup
from ragassay.errors import InputError
from ragassay.question import load_file
from ragassay.records import Benchmark
from ragassay.run.question_sets.claims_files import ReviewFile, places_beside

_questions = click.argument("questions", type=click.Path(path_type=Path), metavar="QUESTIONS")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `claims freeze`."""

    model: str | None
    board: Path | None
    by_hand: bool
    only: tuple[str, ...]
    again: bool
    review: bool
    accept: tuple[str, ...]
    reject: tuple[str, ...]
    reviewer: str | None
    out: Path | None
    version: str | None
    force: bool
    as_json: bool


@click.group(cls=VerbGroup)
def command() -> None:
    """Propose claims for questions, review them, freeze and hash them."""


@command.command("hash")
@_questions
@_json
def hash_(questions: Path, as_json: bool) -> int:
    """Print the hash of each question's claims, and the one over all; a question without claims of its own has none."""
    from ragassay.cli.claims_out import print_hashes
    from ragassay.question.freeze import claims_hashes

    benchmark = load_file(questions).benchmark
    each, whole = claims_hashes(benchmark.questions)
    unsplit = [question.id for question in benchmark.questions if question.unsplit]
    if as_json:
        click.echo(json.dumps({"claims": each, "claimsHash": whole, "unsplit": unsplit}, ensure_ascii=False, indent=1))
        return 0
    print_hashes(each, whole)
    if unsplit:
        click.echo(f"{len(unsplit)} of {len(benchmark.questions)} questions have no claims of their own")
    return 0


@command.command("freeze")
@_questions
@click.option("--model", metavar="TABLE", help="Ask this model, written as in a board: '{ kind = \"openai\", … }'.")
@click.option("--board", type=click.Path(path_type=Path), help="Ask the model that judges on this board.")
@click.option("--by-hand", is_flag=True, help="Write a worksheet per question, and read what was filled in.")
@click.option("--question", "only", multiple=True, metavar="ID", help="Propose for this question; repeatable.")
@click.option("--again", is_flag=True, help="Ask anew where a proposal was rejected or no reply was valid.")
@click.option("--review", is_flag=True, help="Show each undecided proposal and decide; without a terminal, print it.")
@click.option("--accept", multiple=True, metavar="all|ID", help="Accept every sound proposal, or this one; repeatable.")
@click.option("--reject", multiple=True, metavar="ID", help="Reject this proposal; repeatable.")
@click.option("--reviewer", metavar="NAME", help="Who decides; written into the question file.")
@click.option("--out", type=click.Path(path_type=Path), help="The frozen question file [default: named by version].")
@click.option("--version", metavar="TEXT", help="Its version [default: the last number raised by one].")
@click.option("--force", is_flag=True, help="Replace the file that --out names.")
@_json
def freeze(questions: Path, **options: Any) -> int:
    """Propose claims for each question, take what a person accepts, and write it as a new question file.

    Exit code 1 when a question got no sound proposal, 3 when the model's service gave no reply.
    """
    from ragassay.cli.claims_decide import decide
    from ragassay.cli.claims_out import print_report, write_frozen
    from ragassay.cli.claims_propose import propose
    from ragassay.run.question_sets.claims_replies import ReplyFile

    given = Given(**options)
    _check_usage(given)
    read = load_file(questions)
    places = places_beside(questions)
    version, out = _target(questions, read.benchmark, given)
    with ReplyFile.held(places.replies) as kept:
        file = ReviewFile(places.review, read.benchmark.questions)
        report: dict[str, Any] = {"stale": file.stale}
        code = propose(read.benchmark, file, kept, places, given, report)
        code = max(code, decide(read.benchmark, file, given, report))
        if out is not None:
            write_frozen(read.benchmark, file, version, out, report, force=given.force)
        print_report(read.benchmark, questions, file, given, report)
    return code


def _check_usage(given: Given) -> None:
    from ragassay.cli.claims_review import is_terminal

    if sum((given.model is not None, given.board is not None, given.by_hand)) > 1:
        raise click.UsageError("give one of --model, --board and --by-hand")
    if (given.accept or given.reject) and not given.reviewer:
        raise click.UsageError("say who decides with --reviewer NAME")
    if given.again and not (given.model or given.board):
        raise click.UsageError("--again asks a model: give --model or --board")
    if given.review and not given.reviewer and is_terminal():
        raise click.UsageError("say who decides with --reviewer NAME")
    if given.review and given.as_json:
        raise click.UsageError("--review is for people; leave --json out")


def _target(questions: Path, benchmark: Benchmark, given: Given) -> tuple[str, Path | None]:
    """Return the version and path of the frozen file, None where none is to be written; refuses one that is there."""
    if not (given.accept or given.out):
        return "", None
    from ragassay.question.freeze import next_version

    version = given.version or next_version(benchmark.version)
    if given.out is None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,60}", version):
        raise InputError(f"no file can be named after the version {version[:40]!r}; name one with --out")
    stem = questions.stem.removesuffix(f"-{benchmark.version}")
    out = given.out or questions.with_name(f"{stem}-{version}.json")
    if out.exists() and not given.force:
        raise InputError(f"{out} is there already; name another with --out, or replace it with --force")
    return version, out
