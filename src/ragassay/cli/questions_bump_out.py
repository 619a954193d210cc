"""What `questions bump` prints: what moved, which reviews carry over, and what freezing would say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ragassay.cli.question_sources import print_json
from ragassay.cli.questions_freeze import declared_lines
from ragassay.question.printable import plural, printable
from ragassay.records import to_json

if TYPE_CHECKING:
    from ragassay.question.moved import Moved
    from ragassay.run.question_sets.frozen import FrozenSet
    from ragassay.run.question_sets.next_set import NextSet

MAX_SHOWN = 30
"""How many questions of one change are printed; the rest is counted."""


def print_dry(new: NextSet, frozen: FrozenSet, rows: Mapping[str, int], *, as_json: bool) -> None:
    """Print what freezing would say but for the reasons against it, which come as they do when it is meant."""
    if as_json:
        about = {"name": new.checked.benchmark.name, "version": new.version, "of": frozen.predicate.benchmark.version}
        reviews = {"carried": new.carried, "lapsed": new.lapsed, "unreviewed": new.unreviewed}
        told = {**about, "moved": moved_json(new.moved), **reviews, "superseded": rows, "problems": new.problems}
        print_json({"ok": not new.problems, **told})
        return
    lines = (*_would_be(new), *moved_lines(new.moved, frozen), *_review_lines(new, frozen), *row_lines(rows))
    for line in lines:
        click.echo(line)


def _would_be(new: NextSet) -> Iterator[str]:
    from ragassay.manifest.item_set import declared, pages_digest
    from ragassay.run.question_sets.freeze_set import item_refs

    found = new.checked
    benchmark = msgspec.structs.replace(found.benchmark, version=new.version)
    count = plural(len(benchmark.questions), "question")
    yield f"would be  {printable(benchmark.name)} {printable(new.version)}: {count}; nothing is written, nothing signed"
    if not new.problems:
        yield f"digest    {benchmark.digest()}"
        yield f"itemSet   {benchmark.item_set_digest()}"
    yield f"corpus    {plural(len(found.docs.pages), 'page')}, {pages_digest(found.docs.pages)}"
    standing = [one for one in found.lint if one.waived is None]
    errors, warnings = sum(one.fails for one in standing), sum(one.severity == "warning" for one in standing)
    waived = len(found.lint) - len(standing)
    yield f"lint      {plural(errors, 'error')}, {plural(warnings, 'warning')}, {waived} waived"
    if not new.problems:
        yield from declared_lines(declared(item_refs(found), by_signer=len(found.applied.by_signer)))
    if found.applied.dropped:
        yield f"dropped   {len(found.applied.dropped)} rejected: {', '.join(map(printable, found.applied.dropped))}"


def _review_lines(new: NextSet, frozen: FrozenSet) -> Iterator[str]:
    yield f"reviews of {frozen.predicate.benchmark.version}:"
    yield from _named("carry over", new.carried) if new.carried else ["  carry over  0"]
    yield from _named("lapse", new.lapsed) if new.lapsed else ["  lapse       0"]
    yield "to be reviewed:"
    yield from _named("unreviewed", new.unreviewed) if new.unreviewed else ["  unreviewed  0"]


def moved_json(change: Moved) -> dict[str, Any]:
    """Return what moved, with the counts."""
    return {**to_json(change), "counts": change.counts()}


def moved_lines(change: Moved, frozen: FrozenSet) -> Iterator[str]:
    """Yield what moved since a frozen version, and which number that raises."""
    from ragassay.question.moved import CHANGES

    yield f"since {frozen.predicate.benchmark.version} ({change.part or 'nothing differs'}):"
    yield f"  unchanged   {change.counts()['unchanged']}"
    for one in CHANGES:
        yield from _named(one, [move.id for move in change.kept if one in move.changes])
    yield from _named("retired", change.retired)
    yield from _named("added", change.added)
    said = {"order": "the questions stand in another order", "head": "the scorer or the set's own words on its corpus"}
    for name, what in {**said, "corpus": "pages of the documentation changed, came or went"}.items():
        if getattr(change, name):
            yield f"  {name:<11} {what}"


def _named(name: str, ids: Sequence[str]) -> Iterator[str]:
    if ids:
        more = f", and {len(ids) - MAX_SHOWN} more" if len(ids) > MAX_SHOWN else ""
        yield f"  {name:<11} {len(ids)}: {', '.join(map(printable, ids[:MAX_SHOWN]))}{more}"


def row_lines(rows: Mapping[str, int]) -> Iterator[str]:
    """Yield the rows that runs of the old version measured."""
    if rows:
        yield "superseded once the board names the new file; their runs stay, in a table of the old version:"
    for row, count in rows.items():
        yield f"  {printable(row)}: {plural(count, 'run')}"
