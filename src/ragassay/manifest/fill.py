"""A run is filled: items that it has no score for are taken over from other passes of its announcement. Pure.

The result is a new run that says of each such item where it comes from. The run that was filled stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from ragassay import __version__, canon
from ragassay.errors import InputError, first_of
from ragassay.manifest.build import figures_of, lines_of, sign_statement, verdicts_of, window_of
from ragassay.manifest.decode import decode_run
from ragassay.manifest.encoding import content_digest, encode_rows
from ragassay.manifest.files import MANIFEST, OUTPUTS, RUN_PROOF, TELEMETRY, is_redacted
from ragassay.manifest.sign import Signer
from ragassay.manifest.statement import (
    Digest,
    DigestOf,
    Evaluator,
    PassRef,
    RunDocument,
    RunPredicate,
    RunProvenance,
)
from ragassay.records import OutputRow, Source, TelemetryRow
from ragassay.score import count, run_score

SHARED = ("row", "benchmark", "config", "corpus", "stack", "model", "judge", "metric", "intent")
"""What a pass that gives items must have in common with the one that is filled."""
MOST_NAMED = 20


class Filled(msgspec.Struct, frozen=True, kw_only=True):
    """A filled run: its files, signed, and by question id the run and pass that it was filled from."""

    run_id: str
    files: Mapping[str, bytes]
    taken: Mapping[str, Source]


def needs_filling(row: OutputRow) -> bool:
    """Tell whether an item has no score, or its retrieval failed."""
    return row.score is None or row.retrieval == "failed"


def filled_run(
    original: Mapping[str, bytes],
    sources: Sequence[Mapping[str, bytes]],
    *,
    signer: Signer,
    registry_version: int | None = None,
) -> Filled:
    """Return `original` with every item that it has no score for taken from the first of `sources` that has one.

    All are files of verified runs. The id of the new run follows from what it is made of, so that the same fill is made
    once. Raises `InputError` where a source is no other pass of the same announcement, naming what differs; where any
    of them was itself filled, or lacks texts that its publisher withholds; where nothing is to be filled; and where
    items are left that no source has.
    """
    base, given = decode_run(original), [decode_run(files) for files in sources]
    problems = [
        *_public(zip([original, *sources], [base, *given], strict=True)),
        *_unfit(base),
        *(problem for source in given for problem in _unlike(base, source)),
    ]
    if problems:
        raise InputError(f"{_called(base.predicate)} cannot be filled so", problems)
    wanted = [row.id for row in base.outputs if needs_filling(row)]
    if not wanted:
        raise InputError(f"{_called(base.predicate)} has a score for every question: there is nothing to fill")
    found = _found(wanted, given)
    if left := [name for name in wanted if name not in found]:
        raise InputError(
            f"{len(left)} of the {len(wanted)} questions that {_called(base.predicate)} has no score for have none in "
            "the passes that were named either; name a further pass, or run the row anew. They are",
            first_of(left, MOST_NAMED),
        )
    return _signed(original, base, found, _identity(original, sources), signer, registry_version)


def _public(runs: Iterable[tuple[Mapping[str, bytes], RunDocument]]) -> Iterator[str]:
    for files, run in runs:
        if is_redacted(files):
            yield f"texts of {_called(run.predicate)} are withheld in this copy; take the run as it was signed"


def _unfit(base: RunDocument) -> Iterator[str]:
    predicate = base.predicate
    if predicate.provenance.source_kind != "measured":
        yield f"it is {predicate.provenance.source_kind}, and holds no answers"
    if predicate.intent is None:
        yield "it was never announced, and a filled run belongs to the announcement of its pass"
    if predicate.counts.filled:
        yield "it was filled already, and a fill is not filled again: name the run that was measured"


def _unlike(base: RunDocument, source: RunDocument) -> Iterator[str]:
    name = _called(source.predicate)
    if source.predicate.run_id == base.predicate.run_id:
        yield f"{name} is the run itself"
        return
    if source.predicate.counts.filled:
        yield f"{name} was itself filled, and only what was measured is taken over: name the run that it was taken from"
    different = [one for one in SHARED if getattr(source.predicate, one) != getattr(base.predicate, one)]
    if different:
        words = ["announcement" if one == "intent" else one for one in different]
        yield f"{name} has another {', '.join(words)}"


def _called(predicate: RunPredicate) -> str:
    return f"pass {predicate.pass_.k} of {predicate.row.name!r} (run {predicate.run_id})"


def _found(wanted: Sequence[str], sources: Sequence[RunDocument]) -> dict[str, tuple[OutputRow, TelemetryRow]]:
    found: dict[str, tuple[OutputRow, TelemetryRow]] = {}
    for source in sources:
        for row, took in zip(source.outputs, source.telemetry, strict=True):
            if row.id in wanted and row.id not in found and not needs_filling(row):
                found[row.id] = (row, took)
    return found


def _identity(original: Mapping[str, bytes], sources: Sequence[Mapping[str, bytes]]) -> str:
    digests = [canon.sha256(files[MANIFEST]) for files in (original, *sources)]
    return canon.digest({"fills": digests[0], "from": digests[1:]})[:32]


def _signed(
    original: Mapping[str, bytes],
    base: RunDocument,
    found: Mapping[str, tuple[OutputRow, TelemetryRow]],
    run_id: str,
    signer: Signer,
    registry_version: int | None,
) -> Filled:
    k = base.predicate.pass_.k
    rows, telemetry = [], []
    taken: dict[str, Source] = {}
    for own, own_telemetry in zip(base.outputs, base.telemetry, strict=True):
        row, took = found.get(own.id, (own, own_telemetry))
        fill = Source(run=row.run, pass_=row.pass_) if own.id in found else None
        if fill is not None:
            taken[own.id] = fill
        rows.append(msgspec.structs.replace(row, run=run_id, pass_=k, fill=fill))
        telemetry.append(took)
    outputs, took_lines = encode_rows(rows), encode_rows(telemetry)
    predicate = _predicate(base.predicate, run_id, rows, telemetry, outputs, took_lines, signer, registry_version)
    kept = {name: data for name, data in original.items() if name not in (MANIFEST, RUN_PROOF)}
    files = {**kept, OUTPUTS: outputs, TELEMETRY: took_lines}
    files[MANIFEST] = sign_statement(predicate, canon.sha256(outputs), signer)
    return Filled(run_id=run_id, files=files, taken=taken)


def _predicate(
    base: RunPredicate,
    run_id: str,
    rows: Sequence[OutputRow],
    telemetry: Sequence[TelemetryRow],
    outputs: bytes,
    took: bytes,
    signer: Signer,
    registry_version: int | None,
) -> RunPredicate:
    """Return what the new run claims: all that was held fixed as it was, all that follows from its rows anew."""
    provenance = RunProvenance(
        source_kind=base.provenance.source_kind,
        model_invoked=base.provenance.model_invoked,
        evaluator=Evaluator(name="ragassay", version=__version__),
        upstream_ref=base.provenance.upstream_ref,
    )
    return msgspec.structs.replace(
        base,
        run_id=run_id,
        pass_=PassRef(k=base.pass_.k, of=base.pass_.of),
        provenance=provenance,
        telemetry=DigestOf(digest=Digest(sha256=canon.sha256(took))),
        content=Digest(sha256=content_digest(rows)),
        score=run_score(row.score for row in rows),
        counts=count(rows),
        window=window_of(telemetry),
        signer=signer.ref(registry_version),
        verdicts=verdicts_of(rows),
        lines=lines_of(outputs),
        figures=figures_of(telemetry, took),
    )
