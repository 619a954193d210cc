"""What `questions import` prints: what was seen, what became of it, what is lacking and what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.question.foreign.joined import MAX_EVIDENCE
from ragassay.question.printable import plural
from ragassay.site.safe import one_line

if TYPE_CHECKING:
    from ragassay.run.question_sets.import_read import ImportOptions
    from ragassay.run.question_sets.import_report import Imported

SHOWN = 12
"""How many reasons are printed; the record has all."""
_LACKS = {
    "target": "have no reference answer: they stand on the worksheet",
    "evidence": "have no evidence, or not all of it: reach and the oracle are unknown for them, or too low",
    "claims": "have their whole answer as one claim, which nobody split or reviewed",
}


def found(report: Imported) -> dict[str, Any]:
    """Return a report as plain values."""
    places = {name: _path(getattr(report, name)) for name in ("questions", "worksheet", "record", "corpus")}
    return {
        "files": places,
        "queries": report.queries,
        "documents": report.documents,
        "judgements": report.judgements,
        "lacks": report.lacks,
        "leftOut": report.left_out,
        "notTaken": report.not_taken,
        "splitsNotRead": list(report.splits_not_read),
    }


def lines(report: Imported, options: ImportOptions) -> Iterator[str]:
    """Yield a report as lines."""
    q, d, j = report.queries, report.documents, report.judgements
    queries = f"{q['questions']:,} questions, {q['worksheet']:,} on the worksheet, {q['leftOut']:,} left out"
    yield f"queries     {q['seen']:,} seen: {queries}"
    if j["seen"]:
        judged = f"{j['relevant']:,} relevant, {j['notRelevant']:,} not relevant, {j['leftOut']:,} left out"
        yield f"judgements  {j['seen']:,} seen: {judged}"
    if d["seen"]:
        what = "pages" if report.corpus else "read"
        yield f"documents   {d['seen']:,} seen: {d['pages']:,} {what}, {d['leftOut']:,} left out"
    yield from _counted("left out", report.left_out)
    for what, count in report.lacks.items():
        yield f"lacking     {count:,} {_LACKS[what]}"
    yield from _counted("not taken", report.not_taken)
    if report.splits_not_read:
        yield f"not read    qrels of {one_line(', '.join(report.splits_not_read))}; --split reads them"
    for path, written in report.files().items():
        yield f"{'wrote' if written else 'there already:'} {one_line(str(path))}"
    yield from _next(report, options)


def _counted(label: str, counts: Mapping[str, int]) -> Iterator[str]:
    for reason, count in list(counts.items())[:SHOWN]:
        yield f"{label:<11} {count:,}  {one_line(reason)}"
    if len(counts) > SHOWN:
        yield f"{label:<11} {plural(len(counts) - SHOWN, 'further reason')}"


def _next(report: Imported, options: ImportOptions) -> Iterator[str]:
    out, corpus = _typed(options.out), _typed(options.corpus)
    steps = []
    if report.worksheet is not None:
        again = " ".join(_again(options, options.answers or report.worksheet))
        steps.append(f"fill in `target` on the worksheet, then: ragassay questions import {again}")
        if options.corpus:
            steps.append(f"or let questions with answers be proposed: ragassay questions draft {corpus} --out new.json")
    if report.questions is not None:
        on = f"{out} --corpus {corpus}" if options.corpus else f"{out} --corpus YOUR-DOCUMENTATION"
        steps.append(f"ragassay questions lint {on}")
        steps.append(f"ragassay claims freeze {out} --by-hand")
    yield from ("go on with", *(f"  {step}" for step in steps))


def _again(options: ImportOptions, answers: Path) -> Iterator[str]:
    """Yield the words of the same import with answers."""
    yield options.form
    yield _typed(options.source)
    single: dict[str, Path | str | None] = {
        "--out": options.out,
        "--corpus": options.corpus,
        "--field": options.field,
        "--name": options.name,
    }
    lists: dict[str, tuple[Path | str, ...]] = {
        "--qrels": options.qrels,
        "--documents": options.documents,
        "--split": options.split,
    }
    flags = {"--any-context": options.any_context, "--skip-faulty": options.skip_faulty}
    yield from (f"{name} {_typed(value)}" for name, value in single.items() if value is not None)
    yield from (f"{name} {_typed(value)}" for name, values in lists.items() for value in values)
    yield from (name for name, wanted in flags.items() if wanted)
    if options.answer_field:
        yield f"--answer-field {_typed(options.answer_field)}"
    if options.encoding != "utf-8":
        yield f"--encoding {options.encoding}"
    if options.max_evidence != MAX_EVIDENCE:
        yield f"--max-evidence {options.max_evidence}"
    if options.out.exists():
        yield "--force"
    yield f"--answers {_typed(answers)}"


def _typed(path: Path | str | None) -> str:
    return shlex.quote(one_line(str(path)))


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path)
