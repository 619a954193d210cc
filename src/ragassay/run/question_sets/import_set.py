"""A question set of another tool becomes a question file, a worksheet for what it lacks, and a corpus folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ragassay.errors import InputError, first_of
from ragassay.manifest.log_disk import read_file
from ragassay.question import parse_file
from ragassay.question.foreign.answers import Answer, read_answers, unknown_answers, worksheet
from ragassay.question.foreign.joined import Joined, Rules, joined, relevant
from ragassay.question.foreign.seen import Seen
from ragassay.question.parse import MAX_PROBLEMS
from ragassay.question.printable import plural, printable
from ragassay.question.tree import MAX_BYTES
from ragassay.records import Benchmark
from ragassay.run.question_sets.draft_folder import question_bytes
from ragassay.run.question_sets.import_pages import pages
from ragassay.run.question_sets.import_read import ORIGINS, ImportOptions, ReadSource, read_source
from ragassay.run.question_sets.import_report import Imported, imported, record_bytes
from ragassay.run.workspace import write_bytes


def import_set(options: ImportOptions) -> Imported:
    """Import a question set; nothing is written where the source has a fault, unless faulty lines are to be left out.

    Raises `InputError` with every fault, or where something that would be written is there already.
    """
    places = _places(options)
    answers = _answers(options.answers)
    kept = tuple(path for path in (options.corpus, places.worksheet) if path is not None and path.exists())
    seen = Seen()
    with pages(options.corpus, seen) as taken:
        read = read_source(options, seen, taken)
        _refuse_faults(options, seen)
        if options.answers and (unknown := unknown_answers(answers, [query.id for query in read.queries])):
            shown = first_of([*map(printable, unknown)], MAX_PROBLEMS)
            raise InputError(f"{options.answers} cannot be used; nothing was written", shown)
        judged = {query: relevant(found) for query, found in (read.judged or {}).items()}
        rules = Rules(
            origin=ORIGINS[options.form],
            max_evidence=options.max_evidence,
            any_context=options.any_context,
            judged=read.judged is not None,
            documents=read.documents,
            context_pages=options.form == "ragas" and options.corpus is not None,
        )
        made = list(joined(read.queries, judged, read.kept, answers, rules))
        files = _files(options, places, made, seen, read)
    for path, data in files.items():
        write_bytes(path, data)
    return imported(
        made,
        seen,
        read,
        questions=places.questions if places.questions in files else None,
        worksheet=places.worksheet,
        record=places.record,
        corpus=options.corpus,
        kept=kept,
    )


class _Places(msgspec.Struct, frozen=True):
    questions: Path
    worksheet: Path
    record: Path


def _places(options: ImportOptions) -> _Places:
    """Return where the files go; raises `InputError` where one is there that is not ours to replace."""
    out = options.out
    if out.exists() and not options.force:
        raise InputError(f"{out} is there already; --force replaces it, or name another --out")
    if out.exists() and not out.is_file():
        raise InputError(f"{out} is no plain file and is not replaced; name another --out")
    sheet = out.with_name(f"{out.stem}.worksheet.csv")
    if sheet.exists() and options.answers is None:
        what = "is there already, and may be filled in"
        raise InputError(f"{sheet} {what}: take it in with --answers, move it away, or name another --out")
    return _Places(out, sheet, out.with_name(f"{out.stem}.import.jsonl"))


def _answers(path: Path | None) -> dict[str, Answer]:
    if path is None:
        return {}
    data = read_file(path, MAX_BYTES)
    if data is None:
        raise InputError(f"{path} does not exist; --answers takes a filled worksheet, or JSONL with id and target")
    answers, problems = read_answers(data, path.suffix.lower())
    if problems:
        raise InputError(
            f"{path} cannot be used; nothing was written", first_of([*map(printable, problems)], MAX_PROBLEMS)
        )
    return answers


def _refuse_faults(options: ImportOptions, seen: Seen) -> None:
    faults = seen.faults()
    if faults and not options.skip_faulty:
        what = "nothing was written: mend it, or leave what is faulty out with --skip-faulty"
        problems = first_of([*map(printable, faults)], MAX_PROBLEMS, "faults")
        raise InputError(f"{options.source} has {plural(len(faults), 'fault')}; {what}", problems)


def _files(
    options: ImportOptions, places: _Places, made: list[Joined], seen: Seen, read: ReadSource
) -> dict[Path, bytes]:
    """Return the bytes of each file, the question file last; raises `InputError` where it could not be read back."""
    files: dict[Path, bytes] = {places.record: record_bytes(made, seen, read)}
    rows = [one.row for one in made if one.row is not None]
    if rows and not places.worksheet.exists():
        files[places.worksheet] = worksheet(rows)
    questions = tuple(one.question for one in made if one.question is not None)
    if questions:
        name = options.name or printable(options.source.resolve().stem)
        corpus: dict[str, Any] = {"importedFrom": ORIGINS[options.form], "documents": read.pages.count}
        data = question_bytes(Benchmark(name=name, questions=questions, corpus=corpus))
        _refuse_unreadable(places.questions, data)
        files[places.questions] = data
    if not made:
        left = [printable(f"{one.place}: {one.reason}") for one in seen.left_out]
        what = f"{options.source} holds no query that can be used; nothing was written"
        raise InputError(what, first_of(left, MAX_PROBLEMS, "things left out"))
    return files


def _refuse_unreadable(path: Path, data: bytes) -> None:
    try:
        parse_file(data, name=path.stem, suffix=".json")
    except InputError as error:
        what = f"{path} would be no question file, and nothing was written; a lower --max-evidence makes it smaller"
        raise InputError(what, error.problems) from error
