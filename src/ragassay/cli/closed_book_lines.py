"""What `ragassay questions closed-book` prints: per model the questions that it knows, with each pass. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from ragassay.question.printable import printable
from ragassay.records import Benchmark, to_json
from ragassay.site.numbers import plural, shown
from ragassay.site.questionrecord import ClosedBook, ControlScore

READER = "the extractive reader quotes what was retrieved and knows nothing by itself, so its control proves nothing"


def nothing(books: Sequence[ClosedBook], benchmark: str) -> str:
    """Say that there is nothing to go by."""
    if books:
        return f"no language model has answered {benchmark} without retrieval: {READER}"
    return f"there is no verified control run on this version of {benchmark}"


def advice(books: Sequence[ClosedBook]) -> list[str]:
    """Say what to do about it."""
    if books:
        return ["name a language model in [answer], and run the row of kind none again"]
    return ['give the board a row with stack = { kind = "none" }, and run it: ragassay run --row NAME']


def told(books: Sequence[ClosedBook], benchmark: Benchmark) -> dict[str, Any]:
    """Return all of it as JSON values."""
    return {
        "benchmark": {"name": benchmark.name, "version": benchmark.version, "digest": benchmark.digest()},
        "ok": not any(book.known for book in books if not book.reader),
        "models": [to_json(book) for book in books],
    }


def lines(books: Sequence[ClosedBook]) -> Iterator[str]:
    """Yield each model with the questions that it knows, and those of which its control says nothing."""
    for book in books:
        head = f"{printable(book.model)}, judged by {printable(book.judge)}, row {printable(book.row)}"
        if book.reader:
            yield f"{head}: {READER}"
            continue
        of = f"{len(book.known)} of {plural(book.questions, 'question')}"
        yield f"{head}, {plural(len(book.runs), 'pass', 'passes')}: {of} known ({shown(book.least)} or more)"
        yield from (f"  {_question(one)}" for one in book.known)
        if book.unscored:
            ids = ", ".join(map(printable, book.unscored))
            yield f"  no score in any pass, so neither known nor not known ({len(book.unscored)}): {ids}"


def _question(one: ControlScore) -> str:
    passes = " ".join("no score" if score is None else shown(Decimal(score) / 100, 2) for score in one.passes)
    declined = [f"{count} {what}" for count, what in ((one.abstained, "abstained"), (one.refused, "refused")) if count]
    return f"{printable(one.id)}  {shown(one.mean)}  passes: {passes}" + (
        f"  ({', '.join(declined)})" if declined else ""
    )
