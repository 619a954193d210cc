"""Which questions the answering model answers without retrieval, from the runs of the control. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragassay.estimate import question_means
from ragassay.estimate.saturation import KNOWN_FROM
from ragassay.estimate.units import NOTHING
from ragassay.manifest.statement import RunDocument
from ragassay.site.group import current_versions, groups
from ragassay.site.numbers import decimal6, plural, shown
from ragassay.site.questionrecord import ClosedBook, ControlScore
from ragassay.site.window import REPEATABLE_MODELS, RowRuns, row_runs


def closed_book(row: RowRuns, least: float = KNOWN_FROM) -> ClosedBook | None:
    """Return what one control row shows; None where it was not measured here.

    A question counts as known from a mean of `least` over the passes of the window that scored it. A pass without a
    score is in no mean; a question without any scored pass is `unscored`, and neither known nor not.
    """
    first = row.shown
    if first is None or first.config is None:
        return None
    means = question_means(row.scores().passes)
    ids = [question.id for question in first.benchmark.questions]
    known = [one for one in ids if (mean := means.get(one)) is not None and mean >= least - NOTHING]
    return ClosedBook(
        row=row.name,
        key=row.key,
        model=str(first.config.measure.answer.get("id", "unknown")),
        judge=first.predicate.judge.id,
        reader=first.config.measure.answer.get("kind") in REPEATABLE_MODELS,
        least=decimal6(least),
        questions=len(ids),
        runs=tuple(document.predicate.run_id for document in row.window),
        known=tuple(_score(row, one, means) for one in known),
        unscored=tuple(one for one in ids if means.get(one) is None),
    )


def _score(row: RowRuns, identity: str, means: Mapping[str, float | None]) -> ControlScore:
    outputs = [next(output for output in document.outputs if output.id == identity) for document in row.window]
    mean = means[identity]
    assert mean is not None
    return ControlScore(
        id=identity,
        mean=decimal6(mean),
        passes=tuple(output.score for output in outputs),
        abstained=sum(output.status == "abstained" for output in outputs),
        refused=sum(output.status == "refused" for output in outputs),
    )


def control_of(rows: Sequence[RowRuns]) -> RowRuns | None:
    """Return the control of a table that stands, None where there is none."""
    return next(iter(controls_of(rows)), None)


def controls_of(rows: Sequence[RowRuns]) -> list[RowRuns]:
    """Return every control of a table that stands."""
    return [row for row in rows if row.role == "control" and row.standing != "superseded"]


def closed_books(documents: Sequence[RunDocument], benchmark: str, least: float) -> list[ClosedBook]:
    """Return what the controls on the question set of digest `benchmark` show, one for each row, model and judge.

    The set counts as the current one, whatever was run last.
    """
    own = [document for document in documents if document.predicate.benchmark.digest.sha256 == benchmark]
    found: dict[tuple[object, ...], ClosedBook] = {}
    for group in groups(own, None):
        p = group.latest.predicate
        for row in controls_of(row_runs(group, None, current_versions(own, None), {}, main=False)):
            if (book := closed_book(row, least)) is not None:
                found.setdefault((row.name, str(p.model), p.judge.id, str(p.judge.digest), p.metric.id), book)
    return list(found.values())


def closed_book_warnings(book: ClosedBook | None) -> list[str]:
    """Return what must be said of the questions of a table: those that its control answers, those it left open."""
    if book is None or book.reader:
        return []
    said = []
    if book.known:
        of = f"{len(book.known)} of {plural(book.questions, 'question')} ({shown(book.least)} or more)"
        said.append(f"the control answers {of}, which therefore do not test retrieval: {named(book.known)}")
    if book.unscored:
        said.append(
            f"whether the model knows {len(book.unscored)} of {plural(book.questions, 'question')} is not known: the "
            "control has no score there"
        )
    return said


def named(known: Sequence[ControlScore], most: int = 8) -> str:
    """Name questions with the mean of the control, and how many more there are."""
    names = [f"{one.id} ({shown(one.mean)})" for one in known[:most]]
    rest = len(known) - most
    return ", ".join(names) + (f" and {rest} more" if rest > 0 else "")
