"""`ragassay questions draft`: from a corpus to proposed questions, by a model or by hand."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ragassay.errors import InputError

if TYPE_CHECKING:
    from ragassay.run.board_file import BoardFile
    from ragassay.run.question_sets.drafting import Drafter


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `questions draft`."""

    count: int | None
    seed: int | None
    by_hand: bool
    board: Path | None
    model: str | None
    avoid: tuple[Path, ...]
    topic: tuple[str, ...]
    author: str | None
    name: str | None
    out: Path
    again: bool
    as_json: bool


@click.command("draft")
@click.argument("corpus", type=click.Path(path_type=Path), metavar="CORPUS|BOARD")
@click.option("-n", "--count", type=click.IntRange(1, 10_000), help="Questions in all [default: 60].")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="Draws pages and passages [default: 0].")
@click.option("--by-hand", is_flag=True, help="Write a worksheet per passage, and read what was filled in.")
@click.option("--board", type=click.Path(path_type=Path), help="Ask the model that judges on this board.")
@click.option("--model", metavar="TABLE", help="Ask this model, written as in a board: '{ kind = \"openai\", … }'.")
@click.option(
    "--avoid",
    type=click.Path(path_type=Path),
    metavar="FILE",
    multiple=True,
    help="Pick no page that this question file uses; repeatable.",
)
@click.option("--topic", metavar="START=NAME", multiple=True, help="The topic where a page's id begins so; repeatable.")
@click.option("--author", metavar="NAME", help="Who drafts; written into each question.")
@click.option("--name", metavar="TEXT", help="The name of the set [default: that of the board, else of the file].")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("questions.json"), show_default=True, help="The file."
)
@click.option("--again", is_flag=True, help="Go on with a draft that has its file: append what it lacks.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def draft(corpus: Path, **options: Any) -> int:
    """Pick pages and passages of a corpus by a seed, and have a question proposed for each.

    Without --by-hand, --board and --model only the plan is written. Exit code 1 when a place got no question, 3 when
    the model's service gave no reply.
    """
    from ragassay.cli.question_sources import pages_of
    from ragassay.cli.questions_draft_out import print_report
    from ragassay.run.question_sets.draft_begun import DraftOptions
    from ragassay.run.question_sets.draft_set import About
    from ragassay.run.question_sets.drafting import Draft

    given = Given(**options)
    topics = _topics(given)
    board = _board(corpus, given)
    about = About(author=given.author, created=datetime.datetime.now(datetime.UTC).date().isoformat(), topics=topics)
    drafter = _drafter(given, board)
    wanted = {name: getattr(given, name) for name in DraftOptions.__struct_fields__}
    with Draft.opened(pages_of(corpus), DraftOptions(**wanted), board) as drafting:
        code = drafting.go_on(about, drafter, by_hand=given.by_hand)
    print_report(drafting.report, drafting.asked, given, corpus)
    return code


def _drafter(given: Given, board: BoardFile | None) -> Drafter | None:
    """Return the model to be asked, under the board's budget where a board is known; None where none is named."""
    from ragassay.cli.asked_model import source_of
    from ragassay.cli.progress import Building
    from ragassay.run.question_sets.drafting import Drafter

    if given.model is None and given.board is None:
        return None
    source = source_of(given.model, given.board)
    if board is not None:
        source = msgspec.structs.replace(source, max_microusd=board.max_microusd, max_tokens=board.max_tokens)
    return Drafter(table=source.table, params=source.params, opened=source.endpoint, report=Building())


def _board(corpus: Path, given: Given) -> BoardFile | None:
    """Return the board that is known: the one in place of the corpus, else the one whose judge is asked.

    One in place of the corpus that has no models and rows yet names nothing but the corpus.
    """
    from ragassay.cli.corpus_named import is_begun, is_board
    from ragassay.run.board_file import load_board

    path = corpus if is_board(corpus) and not is_begun(corpus) else given.board
    return None if path is None else load_board(path)


def _topics(given: Given) -> dict[str, str]:
    from ragassay.question.written import name_problem

    if sum((given.model is not None, given.board is not None, given.by_hand)) > 1:
        raise click.UsageError("give one of --by-hand, --board and --model")
    if given.out.suffix != ".json":
        raise click.UsageError("--out names a .json file")
    named = {"--author": given.author, "--name": given.name}
    problems = [f"{option}: {problem}" for option, name in named.items() if name and (problem := name_problem(name))]
    topics = {}
    for text in given.topic:
        start, sign, name = text.partition("=")
        if not sign or (problem := name_problem(name)):
            problems.append(f"--topic {text[:60]!r}: {problem if sign else 'write START=NAME, such as guides/=guides'}")
        topics[start] = name
    if problems:
        raise InputError("these names cannot be used", problems)
    return topics
