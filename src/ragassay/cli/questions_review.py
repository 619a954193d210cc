"""`ragassay questions review`: people accept, edit and reject drafted questions on a local page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import click

from ragassay.cli.question_sources import corpus_of, corpus_option, file_argument, json_option, of_board
from ragassay.errors import PluginError
from ragassay.site.safe import one_line

if TYPE_CHECKING:
    from ragassay.web.question_desk import Documentation, QuestionDesk


@click.command("review")
@file_argument
@corpus_option
@click.option("--reviewer", metavar="NAME", help="The name to begin with; otherwise the page asks for it.")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Of 127.0.0.1; default: a free one.")
@click.option("--list", "only_list", is_flag=True, help="Print what is decided of each question; serve no page.")
@json_option
def review(file: Path, source: Path | None, reviewer: str | None, port: int, only_list: bool, as_json: bool) -> int:
    """Let people accept, edit or reject the questions of FILE on a local page; FILE may be a board (.toml).

    Decisions stand in a file beside FILE, which is not changed: `ragassay questions freeze` applies them. With --list
    or --json the exit code is 1 while a question is not reviewed.
    """
    file, source = of_board(file, source)
    if only_list or as_json:
        from ragassay.cli.questions_review_list import print_list

        return print_list(file, as_json=as_json)
    _serve(file, source, reviewer, port)
    return 0


def _serve(file: Path, source: Path | None, reviewer: str | None, port: int) -> None:
    try:
        from ragassay.web.app import create_app
        from ragassay.web.guard import Session
        from ragassay.web.question_asks import reviewer_name
        from ragassay.web.question_desk import Documents, QuestionDesk
        from ragassay.web.questions import questions_page
        from ragassay.web.server import listening, serve
    except ImportError as error:
        if (error.name or "ragassay").partition(".")[0] == "ragassay":
            raise
        raise PluginError(f"the page needs {error.name}: pip install 'ragassay[run,web]'") from error
    name = reviewer_name(reviewer) if reviewer is not None else None
    documents = None if source is None else Documents(source, _reading(source))
    desk = QuestionDesk(file, documents)
    with listening(port) as listener:
        session = Session(listener.getsockname()[1])
        page = questions_page(desk, reviewer=name)
        for line in _opening(desk, session.address):
            click.echo(line, err=True)
        stopped = Event()
        Thread(target=desk.look_ahead, args=(stopped,), daemon=True).start()
        serve(create_app([page], session), listener)
        stopped.set()
    click.echo("", err=True)


def _reading(source: Path) -> Callable[[], Documentation]:
    """Return what reads the documentation, in any thread as the command line says."""
    from ragassay.web.question_desk import Documentation

    context = click.get_current_context()

    def read() -> Documentation:
        with context.scope(cleanup=False):
            corpus = corpus_of(source)
        return Documentation({page.id: page for page in corpus.pages}, corpus.source.get("addresses", {}))

    return read


def _opening(desk: QuestionDesk, address: str) -> Sequence[str]:
    """Return what is said when the page opens."""
    from ragassay.run.question_sets.review_list import OPEN, review_list
    from ragassay.site.numbers import plural

    states = [one.state for one in review_list(desk.file).rows]
    carried = states.count("carried")
    done = sum(state not in OPEN for state in states)
    over = [f"{plural(carried, 'review carries', 'reviews carry')} over from the frozen version; --list names them."]
    where = [] if desk.now().documentation else ["! no --corpus: no passage is shown and no evidence is looked up."]
    return [
        f"{done} of {len(states)} questions are reviewed; decisions stand in {one_line(desk.book.path.name)}.",
        *(over if carried else []),
        *where,
        "Open this address in a browser of this machine. Each decision is stored at once; Ctrl-C ends the page.",
        "",
        f"  {address}",
        "",
    ]
