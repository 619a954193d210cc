"""Records of Every Eval Ever go into a folder as its datastore has them, a question at a time."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

from ragassay.errors import InputError
from ragassay.export.about import about, left_out_json, write_about
from ragassay.export.answered import NOTES
from ragassay.export.every_eval_ever import Identity, Publisher, aggregate, identity, line, why_not
from ragassay.export.item import ExportedItem
from ragassay.export.source import RunSource, VerifiedRun
from ragassay.export.trec import file_stem
from ragassay.export.trec_lines import escaped
from ragassay.records import JSON, Record, to_json

STUB = "STUB"


class RecordedRun(Record, frozen=True):
    """One run as it was written; `questions` are the lines and those of the notes together."""

    run: str
    row: str
    pass_k: int
    file: str
    score: float
    questions: int
    lines: int
    left_out: dict[str, int]


def write_records(source: RunSource, folder: Path, publisher: Publisher) -> tuple[RecordedRun, ...]:
    """Write the records of every run, and return what was written; a run that cannot have any is left out.

    Raises `InputError` where one model id is given for runs of several models.
    """
    written = []
    models: set[str | None] = set()
    for run in source:
        if (why := why_not(run)) is not None:
            source.drop(run, *why, refused=why[0] == STUB)
        elif isinstance(names := identity(run, publisher), str):
            source.drop(run, "NO_DEVELOPER", names)
        else:
            models.add(run.facts.model)
            if publisher.model and len(models) > 1:
                named = ", ".join(sorted(map(str, models)))
                raise InputError(f"--model-id names one model, and the runs have {named}; export them apart with --row")
            written.append(_write(run, names, folder, publisher))
    source.require_some()
    written.sort(key=lambda one: (one.row, one.pass_k, one.run))
    found = about("every-eval-ever", runs=[to_json(one) for one in written])
    write_about(folder, {**found, "leftOut": left_out_json(source.left_out)})
    return tuple(written)


def _write(run: VerifiedRun, names: Identity, folder: Path, publisher: Publisher) -> RecordedRun:
    place = folder / names.folder
    place.mkdir(parents=True, exist_ok=True)
    path = f"{names.folder}/{names.uuid}_samples.jsonl"
    lines, checksum, counts = _samples(run, names, folder, path)
    samples: JSON | None = {
        "format": "jsonl",
        "file_path": path,
        "hash_algorithm": "sha256",
        "checksum": checksum,
        "total_rows": lines,
    }
    if lines == 0:
        (folder / path).unlink()
        samples = None
    record = aggregate(run, names, publisher, samples)
    (place / f"{names.uuid}.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    assert run.facts.score is not None
    return RecordedRun(
        run=run.facts.run,
        row=run.facts.row,
        pass_k=run.facts.pass_k,
        file=f"{names.folder}/{names.uuid}.json",
        score=run.facts.score.num / run.facts.score.den,
        questions=lines + sum(counts.values()),
        lines=lines,
        left_out=dict(counts.most_common()),
    )


def _samples(run: VerifiedRun, names: Identity, folder: Path, path: str) -> tuple[int, str, Counter[str]]:
    """Write the lines and the notes; every character beyond ASCII is escaped, as some readers split at U+2028."""
    counts: Counter[str] = Counter()
    digest = hashlib.sha256()
    lines = 0
    notes_path = folder / f"{file_stem(run)}.{NOTES}"
    with (folder / path).open("wb") as file, notes_path.open("w", encoding="utf-8", newline="\n") as notes:
        notes.write("question\twhy\n")
        for item in run.items():
            reason = _reason(item)
            if reason is not None:
                counts[reason] += 1
                notes.write(f"{escaped(item.question.id)}\t{reason}\n")
                continue
            data = json.dumps(line(item, names)).encode("ascii") + b"\n"
            file.write(data)
            digest.update(data)
            lines += 1
    return lines, digest.hexdigest(), counts


def _reason(item: ExportedItem) -> str | None:
    if item.score is None:
        return f"{item.status}: {escaped(item.failure.kind)}" if item.failure else item.status
    if "answer" in item.withheld or item.answer is None:
        return "the answer is withheld, or words of it"
    return None
