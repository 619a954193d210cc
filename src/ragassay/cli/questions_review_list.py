"""What `questions review --list` prints: what is decided of each question, and who decided it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from ragassay.cli.question_sources import about, print_json
from ragassay.question.reviews import line_digest
from ragassay.run.question_sets.review_list import OPEN, Listed, ListedState, ReviewList, review_list
from ragassay.site.numbers import plural
from ragassay.site.safe import fitted, one_line

STATES: tuple[ListedState, ...] = ("accepted", "edited", "rejected", "unreviewed", "stale")
SIGNED: tuple[ListedState, ...] = ("reviewed", "carried")
"""States that manifests give; printed where there are such questions."""
ID_WIDTH = 24


def print_list(file: Path, *, as_json: bool) -> int:
    """Print what is decided of each question of a file; return 0 where every question is reviewed, else 1."""
    found = review_list(file)
    counts = Counter(row.state for row in found.rows)
    done = not sum(counts[state] for state in OPEN)
    if as_json:
        counted = {state: counts[state] for state in (*STATES, *SIGNED)}
        of = None if found.of is None else str(found.of)
        told = {"ok": done, "of": of, "counts": counted, "reviews": [_value(row) for row in found.rows]}
        print_json({**about(found.read), **told, "unknown": found.unknown, "unheeded": found.unheeded})
    else:
        for line in _lines(found, counts):
            click.echo(line)
    return int(not done)


def _value(row: Listed) -> dict[str, Any]:
    told: dict[str, Any] = {"question": row.question, "state": row.state}
    if (line := row.line) is not None:
        by = {"reviewer": line.reviewer, "at": line.at, "byAuthor": line.by_author}
        return {**told, **by, "reason": line.reason, "line": line_digest(line)}
    reviewer = None if row.item is None else row.item.reviewer
    at = None if row.item is None else row.item.reviewed_at
    own = None if row.item is None or reviewer is None else reviewer == row.item.author
    return {**told, "reviewer": reviewer, "at": at, "byAuthor": own, "reason": None, "line": None}


def _lines(found: ReviewList, counts: Counter[ListedState]) -> Iterator[str]:
    names = [row.question for row in found.rows]
    width = min(ID_WIDTH, max(len(one_line(name)) for name in names))
    for row in found.rows:
        name = row.question
        shown = fitted(name, width) if len(name) <= width else one_line(name)
        yield f"  {row.state:<10}  {shown}  {_by(row)}".rstrip()
    if found.unknown:
        gone = ", ".join(map(one_line, found.unknown))
        yield f"! decisions stand about questions that the file does not hold: {gone}"
    if found.unheeded:
        late = plural(found.unheeded, "decision stands", "decisions stand")
        yield f"! {late} beside this frozen set, after it was signed, and nothing follows from it"
    if found.orphan:
        yield "! this is an editable copy, and what it was made of does not stand frozen beside it: which reviews carry"
        yield "  over is not known here; `questions bump FROZEN --with` it and --dry-run says it"
    told = [*STATES, *(state for state in SIGNED if counts[state])]
    yield f"{plural(len(names), 'question')}: {', '.join(f'{counts[state]} {state}' for state in told)}"


def _by(row: Listed) -> str:
    if row.before is not None:
        return f"{one_line(row.before)} reviewed other words"
    if (line := row.line) is not None:
        own = ", the author" if line.by_author else ""
        return f"{one_line(line.reviewer)}{own}" + ("" if line.reason is None else f": {one_line(line.reason)}")
    if row.item is None or row.item.reviewer is None:
        return ""
    return one_line(row.item.reviewer) + (", the author" if row.item.reviewer == row.item.author else "")
