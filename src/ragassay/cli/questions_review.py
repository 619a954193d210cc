"""`ragassay questions review`: people accept, edit and reject drafted questions on a local page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import click

from ragassay.cli.question_sources import (
    about,
    corpus_of,
    corpus_option,
    file_argument,
    json_option,
    of_board,
    print_json,
)
from ragassay.errors import PluginError
from ragassay.question import ReviewLine, load_reviews
from ragassay.question.printable import plural
from ragassay.question.reviews import ReviewState, line_digest, reviews_beside, standing, state_of
from ragassay.site.safe import fitted, one_line

if TYPE_CHECKING:
    from ragassay.web.question_desk import Documentation, QuestionDesk

STATES: tuple[ReviewState, ...] = ("accepted", "edited", "rejected", "unreviewed", "stale")
ID_WIDTH = 24


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
        return _list(file, as_json=as_json)
    _serve(file, source, reviewer, port)
    return 0


def _list(file: Path, *, as_json: bool) -> int:
    from ragassay.run.frozen import load_set

    read, _ = load_set(file)
    stands = standing(load_reviews(reviews_beside(file)))
    rows = [(one.id, state_of(one, line), line) for one in read.benchmark.questions for line in [stands.get(one.id)]]
    counts = Counter(state for _, state, _ in rows)
    known = {name for name, _, _ in rows}
    unknown = [name for name in stands if name not in known]
    if as_json:
        told = [_value(name, state, line) for name, state, line in rows]
        counted = {state: counts[state] for state in STATES}
        print_json({**about(read), "ok": _done(counts), "counts": counted, "reviews": told, "unknown": unknown})
    else:
        for line in _lines(rows, counts, unknown):
            click.echo(line)
    return int(not _done(counts))


def _done(counts: Counter[ReviewState]) -> bool:
    return not counts["unreviewed"] + counts["stale"]


def _value(name: str, state: ReviewState, line: ReviewLine | None) -> dict[str, Any]:
    told: dict[str, Any] = {"question": name, "state": state}
    if line is None:
        return {**told, "reviewer": None, "at": None, "byAuthor": None, "reason": None, "line": None}
    by = {"reviewer": line.reviewer, "at": line.at, "byAuthor": line.by_author}
    return {**told, **by, "reason": line.reason, "line": line_digest(line)}


def _lines(
    rows: Sequence[tuple[str, ReviewState, ReviewLine | None]], counts: Counter[ReviewState], unknown: Sequence[str]
) -> Iterator[str]:
    width = min(ID_WIDTH, max(len(one_line(name)) for name, _, _ in rows))
    for name, state, line in rows:
        yield f"  {state:<10}  {fitted(name, width) if len(name) <= width else one_line(name)}  {_by(line)}".rstrip()
    if unknown:
        names = ", ".join(map(one_line, unknown))
        yield f"! decisions stand about questions that the file does not hold: {names}"
    yield f"{plural(len(rows), 'question')}: {', '.join(f'{counts[state]} {state}' for state in STATES)}"


def _by(line: ReviewLine | None) -> str:
    if line is None:
        return ""
    own = ", the author" if line.by_author else ""
    return f"{one_line(line.reviewer)}{own}" + ("" if line.reason is None else f": {one_line(line.reason)}")


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
    given = desk.now()
    states = [state_of(question, given.stands.get(question.id)) for question in given.benchmark.questions]
    done = sum(state not in ("unreviewed", "stale") for state in states)
    where = [] if given.documentation else ["! no --corpus: no passage is shown and no evidence is looked up."]
    return [
        f"{done} of {len(states)} questions are reviewed; decisions stand in {one_line(desk.book.path.name)}.",
        *where,
        "Open this address in a browser of this machine. Each decision is stored at once; Ctrl-C ends the page.",
        "",
        f"  {address}",
        "",
    ]
