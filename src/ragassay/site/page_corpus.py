"""The page of the corpus: what it is, which of its pages the questions ask, which rows delivered from them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ragassay.manifest.statement import RunDocument
from ragassay.records import Question, to_json
from ragassay.site.evidence import delivered_ranks
from ragassay.site.page import Placed, Site
from ragassay.site.record import BoardRow, Table
from ragassay.site.recorded import Parameter, recorded


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One page of the corpus with the questions that ask it.

    `with_evidence` of them have evidence; `delivered` says per row, in the order of the view's rows, for how many of
    those the shown run delivered it and of how many that is known.
    """

    page: str
    questions: tuple[str, ...]
    with_evidence: int
    delivered: tuple[tuple[int, int], ...]


class CorpusView(msgspec.Struct, frozen=True, kw_only=True):
    """The corpus of one table; `recorded` is what its runs say of it, `rows` those that retrieve."""

    table: Table
    pages: int | None
    chunks: int | None
    recorded: tuple[Parameter, ...]
    rows: tuple[BoardRow, ...]
    asked: tuple[Asked, ...]
    nowhere: tuple[str, ...]
    """Questions that name no page."""
    bare: tuple[str, ...]
    """Questions without evidence."""
    question_paths: Mapping[str, str]


def corpus_page(site: Site) -> Iterator[tuple[str, bytes]]:
    """Yield `corpus.html`."""
    path = "corpus.html"
    views = [view for placed in site.tables if (view := corpus_view(placed)) is not None]
    yield path, site.page("corpus.html", path, here=path, views=views)


def corpus_view(placed: Placed) -> CorpusView | None:
    """Return the corpus of a table, None where no run of it is shown."""
    if not placed.shown:
        return None
    questions = placed.shown[0][1].benchmark.questions
    rows = [(row, document) for row, document in placed.shown if row.role == "row" and document.config is not None]
    reached = [_reached(document) for _, document in rows]
    by_page: dict[str, list[Question]] = {}
    for question in questions:
        if question.page is not None:
            by_page.setdefault(question.page, []).append(question)
    ref = next((d.predicate.corpus for _, d in placed.shown if d.predicate.corpus is not None), None)
    config = next((d.config for _, d in placed.shown if d.config is not None and d.config.measure.corpus), None)
    return CorpusView(
        table=placed.table,
        pages=ref.pages if ref else None,
        chunks=ref.chunks if ref else None,
        recorded=recorded(to_json(config.measure.corpus)) if config else (),
        rows=tuple(row for row, _ in rows),
        asked=tuple(_asked(page, by_page[page], reached) for page in sorted(by_page)),
        nowhere=tuple(question.id for question in questions if question.page is None),
        bare=tuple(question.id for question in questions if not question.evidence),
        question_paths=placed.paths.questions,
    )


def _reached(document: RunDocument) -> dict[str, bool | None]:
    """Tell of each question whether its evidence was delivered; None where that is not known."""
    found: dict[str, bool | None] = {}
    for output, question in zip(document.outputs, document.benchmark.questions, strict=True):
        state = delivered_ranks(output, question.evidence).state
        found[output.id] = None if state == "none" else state != "missing"
    return found


def _asked(page: str, questions: Sequence[Question], reached: Sequence[Mapping[str, bool | None]]) -> Asked:
    known = [[row.get(question.id) for question in questions if question.evidence] for row in reached]
    return Asked(
        page=page,
        questions=tuple(question.id for question in questions),
        with_evidence=sum(bool(question.evidence) for question in questions),
        delivered=tuple((sum(one is True for one in row), sum(one is not None for one in row)) for row in known),
    )
