"""What `ragassay questions fairness` prints: a line per row, the questions named below it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.cells import cell_len

from ragassay.question.printable import plural, printable
from ragassay.records import Fairness
from ragassay.run.fairness import BoardFairness, RowFairness

COLUMNS = ("present", "folded", "absent", "unknowable", "split")
NAMED = ("folded", "absent", "unknowable", "split")
ANOTHER = "searches another corpus"
CHANGED = (
    "every row whose texts are known lacks some, so the documentation has changed under the questions: "
    "`ragassay corpus diff` says what stands there now"
)


def told(found: BoardFairness) -> dict[str, Any]:
    """Return all of it as JSON values."""
    return {
        "benchmark": {
            "name": found.benchmark.name,
            "version": found.benchmark.version,
            "questions": len(found.benchmark.questions),
            "digest": found.benchmark.digest(),
        },
        "corpus": {"digest": found.corpus, "pages": found.pages, "chunks": found.chunks},
        "ok": not found.lacking,
        "rows": [_row_told(found, one) for one in found.rows],
    }


def _row_told(found: BoardFairness, one: RowFairness) -> dict[str, Any]:
    about: dict[str, Any] = {"row": one.row, "stack": one.kind, "texts": one.texts, "why": one.why}
    if one.fairness is None:
        return {**about, "present": None, **dict.fromkeys(NAMED)}
    lists = _lists(found, one.fairness)
    return {**about, "present": len(_present(found, one.fairness)), **{name: list(lists[name]) for name in NAMED}}


def _lists(found: BoardFairness, fairness: Fairness) -> dict[str, Sequence[str]]:
    every = [question.id for question in found.benchmark.questions]
    return {
        "folded": fairness.folded,
        "absent": fairness.absent,
        "unknowable": every if fairness.own_texts else fairness.unknowable,
        "split": fairness.split,
    }


def _present(found: BoardFairness, fairness: Fairness) -> list[str]:
    """Return the questions whose evidence is there character for character."""
    if fairness.own_texts:
        return []
    other = {*fairness.folded, *fairness.absent, *fairness.unknowable}
    return [question.id for question in found.benchmark.questions if question.id not in other]


def lines(found: BoardFairness) -> Iterator[str]:
    """Yield the table, what is not simply there by question, and one sentence at the end."""
    questions = found.benchmark.questions
    of = f"{found.chunks:,} chunks of {plural(found.pages, 'page')}"
    yield f"{plural(len(questions), 'question')} of {printable(found.benchmark.name)}; {of}"
    width = max(3, *(cell_len(printable(one.row)) for one in found.rows))
    yield f"{'row':<{width}}  " + "  ".join(COLUMNS)
    yield from (_row(found, one, width) for one in found.rows)
    yield from (f"{printable(one.row)}: {printable(one.why)}" for one in found.rows if one.why is not None)
    for column in NAMED:
        yield from _questions(found, column)
    yield _sentence(found)


def _row(found: BoardFairness, one: RowFairness, width: int) -> str:
    name = printable(one.row)
    name += " " * (width - cell_len(name))
    if one.fairness is None:
        return f"{name}  searches nothing"
    lists = _lists(found, one.fairness)
    counts = (len(_present(found, one.fairness)), *(len(lists[column]) for column in COLUMNS[1:]))
    figures = "  ".join(f"{count:>{len(column)}}" for count, column in zip(counts, COLUMNS, strict=True))
    return f"{name}  {figures}" + (f"  {ANOTHER}" if one.fairness.absent else "")


def _questions(found: BoardFairness, column: str) -> Iterator[str]:
    """Yield the questions of a column, once for all rows that share them; a reason that stands there names none."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for one in found.rows:
        if one.fairness is not None and not (column == "unknowable" and one.why is not None):
            rows.setdefault(tuple(_lists(found, one.fairness)[column]), []).append(printable(one.row))
    for ids, names in rows.items():
        if ids:
            yield f"{column}, {', '.join(names)}: {', '.join(map(printable, ids))}"


def _sentence(found: BoardFairness) -> str:
    searching = [one for one in found.rows if one.fairness is not None]
    unknown = [one for one in searching if one.texts != "board"]
    if found.lacking:
        absent = {q for one in searching if one.fairness is not None for q in one.fairness.absent}
        lack = "lacks" if len(found.lacking) == 1 else "lack"
        every = f"\n{CHANGED}" if len(found.lacking) == len(searching) - len(unknown) else ""
        return (
            f"{len(found.lacking)} of {plural(len(searching), 'row')} {lack} evidence of "
            f"{plural(len(absent), 'question')}; the board marks such a row: {ANOTHER}{every}"
        )
    if not searching:
        return "no row searches anything"
    said = f"no evidence is absent from the texts of {plural(len(searching) - len(unknown), 'row')}"
    return said + (f"; of {plural(len(unknown), 'row')} it cannot be known" if unknown else "")
