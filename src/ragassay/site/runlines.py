"""The runs of a row as its board lists them: what the log shows of each, how it was published, which are void. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragassay.manifest.files import WITHHELD
from ragassay.manifest.redaction_statement import decode_withheld
from ragassay.manifest.statement import RunDocument
from ragassay.site.group import ended, role_of, table_key
from ragassay.site.loaded import LoadedRun, Voided, Withdrawn
from ragassay.site.numbers import ratio
from ragassay.site.record import BoardRow, RunLine, Table
from ragassay.site.standrecord import (
    Attestation,
    Omitted,
    Published,
    PublishedBoard,
    ReadBy,
    TakenBack,
    VoidedRun,
)

ATTESTATIONS: tuple[Attestation, ...] = ("unannounced", "announced", "witnessed")
"""The weakest first."""
UNSEEN = frozenset({"SIGNER_UNPINNED", "UNTIMED", "UNWITNESSED"})


def attestation(run: LoadedRun) -> Attestation:
    """Return how far the log shows a run, by what the verifier noted."""
    codes = {check.code for check in run.checks}
    if "NO_INTENT" in codes:
        return "unannounced"
    return "announced" if codes & UNSEEN else "witnessed"


def published(run: LoadedRun) -> Published | None:
    """Return how a run was published, None where it was not."""
    found = run.publication
    if found is None:
        return None
    return Published(
        at=found.at,
        signer=found.signer,
        readers=tuple(ReadBy(reader=one.reader, at=one.at, items=one.items) for one in found.sign_offs),
        detectors=found.scan.detectors,
        not_detected=found.scan.not_detected,
        texts=found.scan.texts,
        findings=found.scan.findings,
        allowed=found.scan.allowed,
        redacted=found.scan.redacted,
        withheld=found.scan.withheld,
        texts_withheld=texts_withheld(run),
        left_out=tuple(Omitted(judgement=one.judgement, reason=one.reason) for one in found.left_out),
    )


def texts_withheld(run: LoadedRun) -> int:
    """Return how many texts of a verified run its publisher withheld or shortened."""
    data = run.files.get(WITHHELD)
    return 0 if data is None else sum(len(row.texts) for row in decode_withheld(data))


def published_board(runs: Iterable[LoadedRun]) -> PublishedBoard:
    """Return what was published over all runs of a public board that can be drawn."""
    found = [(run, run.publication) for run in runs if run.publication is not None and run.document is not None]
    times = [publication.at for _, publication in found]
    return PublishedBoard(
        runs=len(found),
        first=min(times, default=None),
        last=max(times, default=None),
        signers=_once(publication.signer for _, publication in found),
        readers=_once(one.reader for _, publication in found for one in publication.sign_offs),
        not_detected=_once(what for _, publication in found for what in publication.scan.not_detected),
        texts_withheld=sum(texts_withheld(run) for run, _ in found),
    )


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def with_evidence(line: BoardRow, documents: Sequence[RunDocument], loaded: Mapping[str, LoadedRun]) -> BoardRow:
    """Return a row whose runs say how far the log shows them, how they were published, and what was filled.

    `loaded` holds the runs by id.
    """
    filled = {document.predicate.run_id: document.predicate.counts.filled for document in documents}
    runs = tuple(
        msgspec.structs.replace(
            run,
            attested=attestation(loaded[run.id]),
            published=published(loaded[run.id]),
            filled=filled[run.id],
        )
        for run in line.runs
    )
    seen = [run.attested for run in runs if run.in_window and run.attested is not None]
    weakest = min(seen, key=ATTESTATIONS.index, default=None)
    return msgspec.structs.replace(line, runs=runs, attested=weakest)


def voided_runs(runs: Iterable[LoadedRun], withdrawn: Sequence[Withdrawn]) -> tuple[VoidedRun, ...]:
    """Return every run that is void, oldest first, and every publication that was withdrawn."""
    gone = {one.publication.run: one for one in withdrawn}
    found = [_voided(run.voided, withdrawn=run.id in gone) for run in runs if run.voided is not None]
    held = {one.id for one in found}
    found += [_withdrawn(one) for run, one in gone.items() if run not in held]
    return tuple(sorted(found, key=lambda one: (one.ended, one.id)))


def _voided(found: Voided, *, withdrawn: bool) -> VoidedRun:
    p = found.document.predicate
    return VoidedRun(
        id=p.run_id,
        row=p.row.name,
        key=p.row.key,
        stack=p.stack.name if p.stack else "unknown",
        table=table_key(p),
        pass_k=p.pass_.k,
        ended=ended(found.document),
        score=ratio(p.score) if p.score else None,
        taken_back=TakenBack(reason=found.reason, at=found.at, withdrawn=withdrawn),
    )


def _withdrawn(found: Withdrawn) -> VoidedRun:
    """Return a withdrawn publication of which no more is left than that it was there."""
    one = found.publication
    return VoidedRun(
        id=one.run,
        row=one.row,
        key=found.key,
        stack=None,
        table=None,
        pass_k=one.pass_,
        ended=0,
        score=None,
        taken_back=TakenBack(reason=found.reason, at=found.at, withdrawn=True),
    )


def run_line(found: VoidedRun) -> RunLine:
    """Return a void run as a line of its row."""
    return RunLine(
        id=found.id,
        pass_k=found.pass_k,
        ended=found.ended,
        score=found.score,
        in_window=False,
        shown=False,
        why_not=f"voided: {found.taken_back.reason}",
        taken_back=found.taken_back,
    )


def with_voided(line: BoardRow, voided: Sequence[VoidedRun]) -> BoardRow:
    """Return a row with its void runs among its runs, in the order of time."""
    own = [run_line(one) for one in voided if belongs(one, line)]
    if not own:
        return line
    return msgspec.structs.replace(line, runs=tuple(sorted((*line.runs, *own), key=lambda run: (run.ended, run.id))))


def belongs(one: VoidedRun, line: BoardRow) -> bool:
    """Tell whether a void run is of a row: by its key, or by its name where nothing says which key it had."""
    return one.key == line.key if one.key is not None else one.row == line.name and line.standing != "superseded"


def with_void_rows(tables: Sequence[Table], keys: Sequence[str], voided: Sequence[VoidedRun]) -> tuple[Table, ...]:
    """Return the tables with a row for each row key of which nothing but void runs is left.

    `keys` are the tables' `table_key`s; a run stands in the first table that it might have stood in, or else in the
    first. A row of the board file that was not run since is this row.
    """
    found = [list[VoidedRun]() for _ in tables]
    for one in voided:
        if tables and not any(belongs(one, row) for table in tables for row in table.rows if row.standing != "not_run"):
            found[next((index for index, key in enumerate(keys) if key == one.table), 0)].append(one)
    return tuple(_with_rows(table, own) for table, own in zip(tables, found, strict=True))


def _with_rows(table: Table, left: Sequence[VoidedRun]) -> Table:
    rows: dict[tuple[str, str | None], list[VoidedRun]] = {}
    for one in left:
        rows.setdefault((one.row, one.key), []).append(one)
    names = {one.row for one in left}
    kept = [row for row in table.rows if row.standing != "not_run" or row.name not in names]
    return msgspec.structs.replace(table, rows=(*kept, *(_void_row(own) for own in rows.values()))) if rows else table


def _void_row(own: Sequence[VoidedRun]) -> BoardRow:
    last = own[-1]
    kind = last.stack or "unknown"
    reason = f"voided: {last.taken_back.reason}"
    return BoardRow(
        name=last.row,
        key=last.key or "",
        measure="",
        role=role_of(kind),
        stack=kind,
        standing="voided",
        reason=reason,
        runs=tuple(run_line(one) for one in own),
        warnings=(reason,),
    )
