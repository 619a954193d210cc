"""Runs as the data sets of tools that judge answers: one file per run, of the questions whose texts are all there.

A question without an answer has no row there: an empty text would be judged as if it were one. It is named, with the
reason, in the notes beside the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

from ragassay.export.about import about, left_out_json, write_about
from ragassay.export.item import ExportedItem
from ragassay.export.source import RunSource, VerifiedRun
from ragassay.export.trec import file_stem
from ragassay.export.trec_lines import escaped
from ragassay.records import Record, to_json

Writer = Callable[[BinaryIO, Iterator[ExportedItem]], None]
"""Writes the items that it is given, all of which have an answer and every text."""
NOTES = "notes.tsv"


class AnsweredRun(Record, frozen=True):
    """One run as it was written: `questions` are the rows of the file and those of the notes together."""

    run: str
    row: str
    pass_k: int
    files: tuple[str, ...]
    questions: int
    rows: int
    left_out: dict[str, int]
    """How many questions have no row, by their reason."""


def write_answered(source: RunSource, folder: Path, kind: str, suffix: str, write: Writer) -> tuple[AnsweredRun, ...]:
    """Write every run into `folder`, one item at a time, and return what was written.

    A run in which no question has an answer with all its texts is listed in `source.left_out`.
    """
    written = []
    for run in source:
        made = _write_run(run, folder, suffix, write)
        if made.rows:
            written.append(made)
            continue
        for name in made.files:
            (folder / name).unlink()
        source.drop(run, "NO_ANSWERS", f"no question has its answer and texts: {_said(made.left_out)}")
    source.require_some()
    written.sort(key=lambda one: (one.row, one.pass_k, one.run))
    found = about(kind, runs=[to_json(one) for one in written])
    write_about(folder, {**found, "leftOut": left_out_json(source.left_out)})
    return tuple(written)


def _said(counts: dict[str, int]) -> str:
    return ", ".join(f"{reason} ({count:,})" for reason, count in counts.items())


def _write_run(run: VerifiedRun, folder: Path, suffix: str, write: Writer) -> AnsweredRun:
    names = (f"{file_stem(run)}{suffix}", f"{file_stem(run)}.{NOTES}")
    counts: Counter[str] = Counter()
    with (folder / names[0]).open("wb") as file, (folder / names[1]).open("w", encoding="utf-8", newline="\n") as notes:
        notes.write("question\twhy\n")
        write(file, _whole(run, notes, counts))
    rows = counts.pop("")
    return AnsweredRun(
        run=run.facts.run,
        row=run.facts.row,
        pass_k=run.facts.pass_k,
        files=names,
        questions=rows + sum(counts.values()),
        rows=rows,
        left_out=dict(counts.most_common()),
    )


def _whole(run: VerifiedRun, notes: TextIO, counts: Counter[str]) -> Iterator[ExportedItem]:
    """Yield the items that have an answer and every text; note the others with the reason."""
    counts[""] = 0
    for item in run.items():
        reason = reason_left_out(item)
        counts[reason or ""] += 1
        if reason is None:
            yield item
        else:
            notes.write(f"{escaped(item.question.id)}\t{reason}\n")


def reason_left_out(item: ExportedItem) -> str | None:
    """Return why an item has no row, None where it has one."""
    if item.failure is not None and item.answer is None:
        return f"{item.status}: {escaped(item.failure.kind)}"
    if "answer" in item.withheld:
        return "the answer is withheld, or words of it"
    if item.answer is None:
        return f"{item.status}: there is no answer"
    if item.texts is None or any(field.startswith("chunks/") for field in item.withheld):
        return "a delivered text is withheld, or words of it"
    return None
