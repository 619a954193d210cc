"""Verified runs one at a time, and of each its items in the order of the questions: what every export is written from.

One run is in memory at once, however many there are. A run that fails verification is never among them: it is listed,
with the reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ragassay.errors import InputError, VerifyError, first_of
from ragassay.export.item import ExportedChunk, ExportedItem, RunFacts
from ragassay.manifest import RunDocument, RunFiles, read_run
from ragassay.manifest.decode import read_rows
from ragassay.manifest.files import WITHHELD, is_redacted
from ragassay.manifest.statement import RunPredicate, WithheldRow
from ragassay.manifest.withheld_texts import GONE
from ragassay.records import Benchmark, Config, OutputRow, Question, TelemetryRow
from ragassay.site.loaded import LoadedRun
from ragassay.site.runs import Trust, loaded_run, run_folders, trust_of
from ragassay.site.subset import is_subset


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """One run that is asked for: what to call it, how to get its files, and whose it has to be, where that is known."""

    name: str
    read: Callable[[], RunFiles]
    run_id: str | None = None


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """One run that is not exported, and why; `refused` where its verification failed, else it was not asked for."""

    name: str
    code: str
    reason: str
    refused: bool


class VerifiedRun:
    """One verified run; its questions and items can be read until the next run is taken."""

    def __init__(
        self,
        facts: RunFacts,
        held: list[RunDocument],
        withheld: Mapping[str, frozenset[str]],
        files: Mapping[str, bytes],
    ) -> None:
        self.facts = facts
        self._held = held
        self._files = files
        self._withheld = withheld

    @property
    def _document(self) -> RunDocument:
        if not self._held:
            raise RuntimeError(f"run {self.facts.run} is over: its items are read before the next run is taken")
        return self._held[0]

    def end(self) -> None:
        """Let go of the run: the next one is taken."""
        self._held.clear()
        self._files = {}

    @property
    def files(self) -> Mapping[str, bytes]:
        """The files of the run as they were verified; none once the next run is taken."""
        return self._files

    @property
    def predicate(self) -> RunPredicate:
        """What the run claims, as it was signed."""
        return self._document.predicate

    @property
    def config(self) -> Config | None:
        """What was measured, and under which circumstances; None in a republished run that does not say."""
        return self._document.config

    @property
    def benchmark(self) -> Benchmark:
        """The question set that was asked."""
        return self._document.benchmark

    def items(self) -> Iterator[ExportedItem]:
        """Yield what became of each question, in the order of the questions; as often as wanted."""
        document = self._document
        questions, telemetry = document.benchmark.questions, document.telemetry
        for at, (question, row) in enumerate(zip(questions, document.outputs, strict=True)):
            took = telemetry[at] if telemetry else None
            yield exported_item(self.facts, at, question, row, took, self._withheld.get(row.id, frozenset()))


class RunSource:
    """The runs that are asked for, each verified when its turn comes; afterwards `left_out` and `exported` are whole.

    `rows` keeps the rows of these names alone. A run that its log takes back is left out, unless `voided` is true.
    """

    def __init__(self, given: Sequence[Given], trust: Trust, *, rows: Sequence[str] = (), voided: bool = False) -> None:
        self.left_out: list[LeftOut] = []
        self.exported = 0
        self._given, self._trust, self._rows, self._voided = given, trust, frozenset(rows), voided

    @property
    def refused(self) -> int:
        """How many runs failed verification so far."""
        return sum(one.refused for one in self.left_out)

    def _leave_out(self, name: str, code: str, reason: str, *, refused: bool = False) -> None:
        self.left_out.append(LeftOut(name=name, code=code, reason=reason, refused=refused))

    def drop(self, run: VerifiedRun, code: str, reason: str, *, refused: bool = False) -> None:
        """List the run at hand as not exported after all: a format has no place for what it holds, or refuses it."""
        self.exported -= 1
        name = f"{run.facts.row}, pass {run.facts.pass_k}, run {run.facts.run}"
        self._leave_out(name, code, reason, refused=refused)

    def require_some(self) -> None:
        """Raise where no run was exported: `VerifyError` if one was refused, else `InputError`, with the reasons."""
        if self.exported:
            return
        reasons = [f"{one.name}: {one.code}: {one.reason}" for one in self.left_out]
        told = first_of(reasons, 20, "runs")
        refused = next((one for one in self.left_out if one.refused), None)
        if refused is not None:
            raise VerifyError("\n".join(["no run was exported:", *(f"  - {line}" for line in told)]), code=refused.code)
        raise InputError("no run was exported; choose others", told)

    def __iter__(self) -> Iterator[VerifiedRun]:
        """Yield each run that may be exported, once; raises `InputError` where a source cannot be read at all."""
        seen: set[str] = set()
        for given in self._given:
            held: list[RunDocument] = []
            run = self._open(given, seen, held)
            if run is None:
                continue
            seen.add(run.facts.run)
            self.exported += 1
            yield run
            run.end()

    def _open(self, given: Given, seen: set[str], held: list[RunDocument]) -> VerifiedRun | None:
        try:
            read = given.read()
        except InputError as error:
            self._leave_out(given.name, "BUNDLE_DAMAGED", str(error), refused=True)
            return None
        loaded = loaded_run(read, self._trust, name=given.name, wanted=given.run_id)
        document = loaded.document or (loaded.voided.document if loaded.voided else None)
        if document is None:
            code = loaded.codes[0] if loaded.codes else "BUNDLE_DAMAGED"
            self._leave_out(given.name, code, (loaded.refused or "").removeprefix(f"{code}: "), refused=True)
            return None
        facts = facts_of(document, loaded)
        if (why := self._not_wanted(facts, seen)) is not None:
            self._leave_out(given.name, *why)
            return None
        try:
            withheld = withheld_fields(read.files)
        except VerifyError as error:
            self._leave_out(given.name, error.code, str(error), refused=True)
            return None
        held.append(document)
        return VerifiedRun(facts, held, withheld, read.files)

    def _not_wanted(self, facts: RunFacts, seen: set[str]) -> tuple[str, str] | None:
        if facts.run in seen:
            return "GIVEN_TWICE", f"run {facts.run} is exported already"
        if self._rows and facts.row not in self._rows:
            return "OTHER_ROW", f"it is of row {facts.row}"
        if facts.voided is not None and not self._voided:
            return "RUN_VOIDED", facts.voided
        return None


def workspace_runs(workspace: Path) -> list[Given]:
    """Return every run of a workspace (the `.ragassay` folder) in the order of their ids; raises `InputError`."""
    return [folder_run(folder, run_id=folder.name) for folder in run_folders(workspace / "runs")]


def folder_run(folder: Path, *, run_id: str | None = None) -> Given:
    """Return the run of one folder."""
    return Given(name=str(folder), read=lambda: read_run(folder), run_id=run_id)


def workspace_trust(workspace: Path, now: int | None = None) -> Trust:
    """Return what runs are checked against: the keys, policy and log of a workspace, where it has any."""
    return trust_of(workspace, int(time.time()) if now is None else now)


def withheld_fields(files: Mapping[str, bytes]) -> dict[str, frozenset[str]]:
    """Return the fields that are withheld, or of which words were cut, by question; raises `VerifyError`."""
    if not is_redacted(files) or WITHHELD not in files:
        return {}
    rows = read_rows(files[WITHHELD], WITHHELD, WithheldRow)
    return {row.id: frozenset(text.field for text in row.texts) for row in rows}


def facts_of(document: RunDocument, loaded: LoadedRun) -> RunFacts:
    """Return what is true of a run as a whole."""
    p, config = document.predicate, document.config
    corpus = p.corpus.digest if p.corpus else None
    return RunFacts(
        run=p.run_id,
        row=p.row.name,
        row_key=p.row.key,
        pass_k=p.pass_.k,
        passes=p.pass_.of,
        kind=p.provenance.source_kind,
        harness=p.provenance.evaluator.version,
        upstream=p.provenance.upstream_ref,
        benchmark=p.benchmark.id,
        benchmark_version=p.benchmark.version,
        benchmark_digest=p.benchmark.digest.sha256,
        subset=is_subset(p.benchmark.id),
        corpus=corpus.sha256 if corpus else None,
        stack=str(config.measure.stack.get("kind")) if config else None,
        top_k=config.measure.top_k if config else None,
        model=p.model.id if p.model else None,
        judge=p.judge.id,
        metric=p.metric.id,
        counts=p.counts,
        score=p.score,
        started=p.window.start if p.window else None,
        ended=p.window.end if p.window else None,
        signer=p.signer.kid,
        redacted=is_redacted(loaded.files),
        voided=loaded.voided.reason if loaded.voided else None,
        warnings=tuple(dict.fromkeys(check.code for check in loaded.checks if check.severity == "warn")),
    )


def exported_item(
    facts: RunFacts,
    at: int,
    question: Question,
    row: OutputRow,
    took: TelemetryRow | None,
    withheld: frozenset[str],
) -> ExportedItem:
    """Return one item; an answer that is withheld whole is None, and never the words that stand in its place."""
    gone = "answer" in withheld and row.answer == GONE
    return ExportedItem(
        run=facts.run,
        row=facts.row,
        pass_k=facts.pass_k,
        at=at,
        question=question,
        status=row.status,
        retrieval=row.retrieval,
        hundredths=row.score,
        claims=row.claims,
        verdict=row.verdict,
        chunks=_chunks(row, took),
        answer=None if gone else row.answer,
        judge=facts.judge if row.judge is not None else None,
        failure=row.failure,
        fill=row.fill,
        took=took,
        withheld=tuple(sorted(withheld)),
    )


def _chunks(row: OutputRow, took: TelemetryRow | None) -> tuple[ExportedChunk, ...]:
    scores: Sequence[str | None] = took.retrieval_scores if took is not None else [None] * len(row.chunks)
    return tuple(
        ExportedChunk(
            id=chunk.id,
            page=chunk.page,
            rank=chunk.rank,
            score=score,
            text=chunk.text,
            sha256=chunk.sha256,
            start=chunk.start,
            end=chunk.end,
        )
        for chunk, score in zip(row.chunks, scores, strict=True)
    )
