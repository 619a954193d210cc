"""Limitations of the questions: unreviewed, unsplit, without evidence, known beforehand, saturated, missing. Pure."""

from __future__ import annotations

from ragassay.site.numbers import plural, shown
from ragassay.site.record import BoardRow
from ragassay.site.spec.counted import of_all, some, verb
from ragassay.site.spec.document import Paragraph, Said, series, under_title
from ragassay.site.spec.ground import Ground

CEILING, FLOOR = "every stack answers it", "no stack answers it"
CLASSES = (
    ("unjudged", "unjudged"),
    ("answer_failed", "without an answer"),
    ("retrieval_failed", "not retrieved because the stack failed"),
    ("harness_failed", "lost by this program"),
)


def unreviewed(ground: Ground) -> Paragraph | None:
    """Say that questions name no reviewer."""
    asked = ground.benchmark.questions if ground.benchmark else ()
    bare = sum(question.provenance is None or question.provenance.reviewed_by is None for question in asked)
    if not bare:
        return None
    which = "No reviewer is named." if bare == len(asked) else "Not every question names a reviewer."
    return under_title(
        which,
        f"{of_all(bare, len(asked), 'question', 'names', 'name')} no reviewer; a wrong or one-sided reference would "
        "stand against every row that answers better than it.",
    )


def derived(ground: Ground) -> Paragraph | None:
    """Say that questions were derived from a system under test."""
    asked = ground.benchmark.questions if ground.benchmark else ()
    own = [q.id for q in asked if q.provenance is not None and q.provenance.derived_from_system]
    if not own:
        return None
    ids: list[Said] = [ground.of_question(one) for one in own]
    return under_title(
        "Questions come from a system under test.",
        (
            f"{of_all(len(own), len(asked), 'question', 'does', 'do')}: ",
            some(ids),
            ". What that system can do, they ask for.",
        ),
    )


def unsplit(ground: Ground) -> Paragraph | None:
    """Say that references were not split into claims."""
    asked = ground.benchmark.questions if ground.benchmark else ()
    count = sum(question.unsplit for question in asked)
    if not count or not ground.configs:
        return None
    return under_title(
        "References stand unsplit.",
        f"{of_all(count, len(asked), 'reference', 'is', 'are')} one claim as a whole, so an answer that gets half of "
        "it gets nothing or all.",
    )


def bare(ground: Ground) -> Paragraph | None:
    """Say that questions have no evidence, so that nothing is known of their retrieval."""
    asked = ground.benchmark.questions if ground.benchmark else ()
    count = sum(not question.evidence for question in asked)
    if not count or not ground.configs:
        return None
    title = "Evidence is not known for every question." if count < len(asked) else "No evidence is known."
    carry = of_all(count, len(asked), "question", "has", "have")
    return under_title(
        title,
        f"{carry} none: whether {verb(count, 'its passage was', 'their passages were')} retrieved cannot be said, and "
        f"the ceiling says nothing of {verb(count, 'it', 'them')}.",
    )


def known_beforehand(ground: Ground) -> Paragraph | None:
    """Say which questions the control answers, with its score on each, and on which it has none."""
    book = ground.table.closed_book
    if book is None or book.reader or not (book.known or book.unscored):
        return None
    ids: list[Said] = [(ground.of_question(one.id), f" {shown(one.mean)}") for one in book.known]
    count = len(book.known)
    return under_title(
        "Some answers were known beforehand." if count else "What was known beforehand is not known of every question.",
        (
            f"The control, without any retrieval, gets {shown(book.least)} or more on {count} of "
            f"{plural(ground.n, 'question')} (",
            series(ids),
            f"): {verb(count, 'it does', 'they do')} not test retrieval.",
        )
        if count
        else None,
        f"On {len(book.unscored)} of {plural(ground.n, 'question')} it has no score, so nobody knows."
        if book.unscored
        else None,
    )


def saturated(ground: Ground) -> Paragraph | None:
    """Say how many questions separate no rows because all stacks answer them, or none does."""
    if len(ground.stacks) < 2:
        return None
    right, wrong = _flagged(ground, CEILING), _flagged(ground, FLOOR)
    idle = len(right) + len(wrong)
    if not idle:
        return None
    parts = [f"every stack answers {len(right)}"] if right else []
    parts += [f"none answers {len(wrong)}"] if wrong else []
    some_do = f"Of {plural(ground.n, 'question')} {' and '.join(parts)}"
    left = ground.n - idle
    rest = (
        f"the ranking hangs on the other {left}."
        if left > 1
        else "the ranking hangs on one question."
        if left == 1
        else "nothing is left to rank by."
    )
    return under_title(
        "Many questions separate nothing." if 2 * idle >= ground.n else "Some questions separate nothing.",
        f"{_all_alike(ground.n, right, wrong) or some_do}, so {rest}",
        _ceiling(ground, wrong),
    )


def _all_alike(n: int, right: list[str], wrong: list[str]) -> str | None:
    """Say that one thing holds for every question, where it does."""
    if len(right) == n:
        return f"Every stack answers all of {plural(n, 'question')}"
    return f"No stack answers any of {plural(n, 'question')}" if len(wrong) == n else None


def _ceiling(ground: Ground, wrong: list[str]) -> Said:
    """Say how many of the questions that no stack answers are out of reach even with the evidence at hand."""
    oracle = ground.end("oracle")
    if oracle is None or not wrong:
        return None
    cells = {
        line.id: next((c.mean for c in line.cells if c.row == oracle.key), None) for line in ground.table.questions
    }
    lost = sum((mean := cells.get(identity)) is not None and float(mean) == 0.0 for identity in wrong)
    if not lost:
        return None
    return (
        f"For {lost} of the {len(wrong)} that none answers, the ceiling fails too: there model or judge is at fault, "
        "and no retrieval could have helped."
    )


def _flagged(ground: Ground, flag: str) -> list[str]:
    flagged = {line.id for line in ground.table.questions if flag in line.flags}
    return [
        question.id for question in (ground.benchmark.questions if ground.benchmark else ()) if question.id in flagged
    ]


def missing(ground: Ground) -> Paragraph | None:
    """Say what has no score, by class and row."""
    rows = [row for row in ground.rows if row.missing.total]
    if not rows:
        return None
    said: list[Said] = [
        ("; " if place else "", f"{row.name}: ", ground.of_run(_classes(row), row)) for place, row in enumerate(rows)
    ]
    return under_title(
        "Items are missing.",
        (*said, "."),
        "A missing item is no 0; the other passes of its question stand for it where there are any.",
    )


def _classes(row: BoardRow) -> str:
    parts = [f"{count} {words}" for name, words in CLASSES if (count := getattr(row.missing, name))]
    return f"{', '.join(parts)} of {row.missing.asked}"


FOUND = (unreviewed, derived, unsplit, bare, known_beforehand, saturated, missing)
