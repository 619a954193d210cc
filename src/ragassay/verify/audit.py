"""What a whole log says of everything that was announced in it: each planned pass is published, void or missing. Pure.

Every entry of the log stands in exactly one place of the `Audit`, so nothing that was logged drops out of sight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeAlias

from ragassay.errors import VerifyError, legible
from ragassay.manifest.announce import SignedIntent, SignedVoid
from ragassay.manifest.redaction_statement import SignedRedaction
from ragassay.manifest.statement import IntentPredicate, RunPredicate, SignerRef
from ragassay.manifest.tiles import LogView
from ragassay.records import Record, Score
from ragassay.verify.log_entries import LoggedRun, LoggedStatement, read_entry

Accept: TypeAlias = Callable[[SignerRef, Callable[[bytes], bool]], bool]
"""Whether one trusts who signed: the signer as the statement names it, and a check of the signature by key bytes."""

PassState: TypeAlias = Literal["published", "void", "missing"]

ANNOUNCED = ("row", "benchmark", "config", "corpus", "stack", "model", "judge", "metric")
"""What a run must have exactly as it was announced."""


class PlannedPass(Record, frozen=True):
    """How one announced pass ended: `run` and `void` are indexes in the log; a voided run is void, not published."""

    k: int
    run_id: str
    state: PassState
    run: int | None = None
    score: Score | None = None
    void: int | None = None
    reason: str | None = None


class AnnouncedRow(Record, frozen=True):
    """One announcement, its place in the log, and how each of its passes ended; `fills` are runs that fill others."""

    index: int
    row: str
    benchmark: str
    kid: str
    created: int
    passes: tuple[PlannedPass, ...]
    fills: tuple[int, ...] = ()

    def count(self, state: PassState) -> int:
        """Return the number of passes that ended so."""
        return sum(one.state == state for one in self.passes)


class RunEntry(Record, frozen=True):
    """A run that the log holds, with the reason where it was voided."""

    index: int
    run_id: str
    row: str
    k: int
    of: int
    kid: str
    score: Score | None
    reason: str | None = None


class RedactedRun(Record, frozen=True):
    """A redaction that the log holds: of which run, itself an entry, and how many texts of how many rows it keeps."""

    index: int
    run: int
    run_id: str
    row: str
    k: int
    of: int
    kid: str
    texts: int
    rows: int


class Problem(Record, frozen=True):
    """An entry that does not hold what it claims, by reason code."""

    index: int
    code: str
    message: str


class Foreign(Record, frozen=True):
    """A sound entry by a signer whom one does not trust: it counts for nothing."""

    index: int
    kid: str


class Audit(Record, frozen=True):
    """The whole log, entry by entry.

    `unannounced` are runs without an announcement, `voided` those that no longer count, `problems` entries that are
    not sound, `foreign` entries by other signers, `repeated` entries that say what an earlier one said already;
    `redactions` withhold texts from what is published of runs, whose scores stay what they are.
    """

    origin: str
    size: int
    rows: tuple[AnnouncedRow, ...]
    unannounced: tuple[RunEntry, ...]
    voided: tuple[RunEntry, ...]
    problems: tuple[Problem, ...]
    foreign: tuple[Foreign, ...]
    repeated: tuple[int, ...]
    redactions: tuple[RedactedRun, ...] = ()

    @property
    def missing(self) -> int:
        """The number of announced passes that are neither published nor void."""
        return sum(row.count("missing") for row in self.rows)

    @property
    def ok(self) -> bool:
        """Whether every announced pass ended in the log and every entry is sound."""
        return not self.missing and not self.problems


def audit(view: LogView, *, accept: Accept, same_key: bool = False) -> Audit:
    """Return what the log says of every announcement in it.

    Only statements by signers that `accept` takes count. With `same_key`, as where nobody is pinned, a run or voiding
    counts only for an announcement by the same key. Who signed the log's checkpoint is the caller's to check.
    """
    return _Auditor(view, accept, same_key).result()


class _Auditor:
    def __init__(self, view: LogView, accept: Accept, same_key: bool) -> None:
        self._view = view
        self._same_key = same_key
        self._problems: list[Problem] = []
        self._foreign: list[Foreign] = []
        self._repeated: list[int] = []
        self.intents: dict[str, tuple[int, SignedIntent]] = {}
        self.runs: dict[int, LoggedRun] = {}
        self.voids: dict[int, SignedVoid] = {}
        self.redactions: dict[int, SignedRedaction] = {}
        for index, statement in self._read(accept):
            if isinstance(statement, SignedIntent):
                self.intents[statement.digest] = (index, statement)
            elif isinstance(statement, LoggedRun):
                self.runs[index] = statement
            elif isinstance(statement, SignedRedaction):
                self.redactions[index] = statement
            else:
                self.voids[index] = statement

    def _read(self, accept: Accept) -> Iterator[tuple[int, LoggedStatement]]:
        seen: set[bytes] = set()
        for index, data in enumerate(self._view.entries):
            if data in seen:
                self._repeated.append(index)
                continue
            seen.add(data)
            try:
                statement = read_entry(data)
            except VerifyError as error:
                self._problem(index, error.code, legible(error))
                continue
            signer = statement.predicate.signer
            if accept(signer, statement.signed_by):
                yield index, statement
            else:
                self._foreign.append(Foreign(index=index, kid=signer.kid))

    def _problem(self, index: int, code: str, message: str) -> None:
        self._problems.append(Problem(index=index, code=code, message=message))

    def result(self) -> Audit:
        unannounced = [index for index, run in self.runs.items() if run.predicate.intent is None]
        covered = self._covered()
        run_voids, plan_voids = self._voidings()
        redactions = tuple(self._redactions())
        rows = tuple(
            self._row(index, intent, covered.get(digest, []), run_voids, plan_voids)
            for digest, (index, intent) in self.intents.items()
        )
        return Audit(
            origin=self._view.checkpoint.origin,
            size=self._view.checkpoint.size,
            rows=rows,
            unannounced=tuple(self._entry(index, run_voids) for index in unannounced),
            voided=tuple(self._entry(index, run_voids) for index in self.runs if index in run_voids),
            problems=tuple(sorted(self._problems, key=lambda problem: problem.index)),
            foreign=tuple(self._foreign),
            repeated=tuple(sorted(self._repeated)),
            redactions=redactions,
        )

    def _covered(self) -> dict[str, list[int]]:
        """Return the runs of each announcement by its digest; one that it does not cover is a problem."""
        covered: dict[str, list[int]] = {}
        planned: set[tuple[str, str]] = set()
        for index, run in self.runs.items():
            ref = run.predicate.intent
            if ref is None:
                continue
            fault = self._fault(index, run)
            key = (ref.digest.sha256, run.predicate.run_id)
            if fault is None and key in planned:
                fault = ("PASS_OUT_OF_PLAN", "the log holds another manifest of the same run before this one")
            if fault is None:
                planned.add(key)
                covered.setdefault(ref.digest.sha256, []).append(index)
            else:
                self._problem(index, *fault)
        return covered

    def _fault(self, index: int, run: LoggedRun) -> tuple[str, str] | None:
        """Return why a run that names an announcement is not one that it announced, or None."""
        predicate, ref = run.predicate, run.predicate.intent
        found = self.intents.get(ref.digest.sha256) if ref is not None else None
        if ref is None or found is None:
            return "INTENT_MISMATCH", "the run names an announcement that the log does not hold, or not by this signer"
        place, intent = found
        if (ref.log, ref.index) != (self._view.checkpoint.origin, place):
            return "INTENT_MISMATCH", f"the run names entry {ref.index} of {ref.log!r}; its announcement is {place}"
        if not self._counts_for(predicate.signer, intent.predicate.signer):
            return "INTENT_MISMATCH", "the run is signed by another key than its announcement"
        if index < place:
            return "INTENT_AFTER_RUN", f"the run was logged before its announcement, which is entry {place}"
        if predicate.window is not None and intent.predicate.created > predicate.window.start:
            return "INTENT_AFTER_RUN", "the announcement was made after the first answer"
        return _deviation(predicate, intent.predicate)

    def _counts_for(self, signer: SignerRef, announcer: SignerRef) -> bool:
        return not self._same_key or signer.kid == announcer.kid

    def _voidings(self) -> tuple[dict[int, int], dict[tuple[str, str], int]]:
        """Return the first voiding of each run, by its index, and of each planned pass, by announcement and run id."""
        by_digest = {run.digest: index for index, run in self.runs.items()}
        runs: dict[int, int] = {}
        plans: dict[tuple[str, str], int] = {}
        for index, void in self.voids.items():
            named = void.predicate
            if named.run is not None:
                place = by_digest.get(named.run.sha256)
                if place is None or not self._voids_run(void, self.runs[place]):
                    self._problem(index, "INTENT_MISMATCH", "it voids a run that the log does not hold as it says")
                elif runs.setdefault(place, index) != index:
                    self._repeated.append(index)
            elif named.intent is None or not self._voids_pass(void, self.intents.get(named.intent.sha256)):
                self._problem(index, "INTENT_MISMATCH", "it voids a pass that no announcement in the log plans")
            elif plans.setdefault((named.intent.sha256, named.run_id), index) != index:
                self._repeated.append(index)
        return runs, plans

    def _redactions(self) -> Iterator[RedactedRun]:
        """Yield what is withheld from runs of this log; a redaction of anything else is a problem."""
        by_digest = {run.digest: index for index, run in self.runs.items()}
        for index, redaction in self.redactions.items():
            said = redaction.predicate
            place = by_digest.get(said.of.sha256)
            if place is None or not self._redacts(redaction, self.runs[place]):
                self._problem(index, "REDACTION_MISMATCH", "it is of a run that the log does not hold as it says")
                continue
            yield RedactedRun(
                index=index,
                run=place,
                run_id=said.run_id,
                row=said.row.name,
                k=said.pass_.k,
                of=said.pass_.of,
                kid=said.signer.kid,
                texts=said.withheld.texts,
                rows=said.withheld.rows,
            )

    def _redacts(self, redaction: SignedRedaction, run: LoggedRun) -> bool:
        said, of = redaction.predicate, run.predicate
        same = (said.run_id, said.row, said.pass_) == (of.run_id, of.row, of.pass_)
        return same and of.lines is not None and self._counts_for(said.signer, of.signer)

    def _voids_run(self, void: SignedVoid, run: LoggedRun) -> bool:
        same = void.predicate.run_id == run.predicate.run_id and void.predicate.pass_ == run.predicate.pass_
        return same and self._counts_for(void.predicate.signer, run.predicate.signer)

    def _voids_pass(self, void: SignedVoid, found: tuple[int, SignedIntent] | None) -> bool:
        if found is None or not self._counts_for(void.predicate.signer, found[1].predicate.signer):
            return False
        runs, k = found[1].predicate.runs, void.predicate.pass_.k
        return void.predicate.pass_.of == len(runs) and runs[k - 1] == void.predicate.run_id

    def _row(
        self,
        index: int,
        intent: SignedIntent,
        covered: Sequence[int],
        run_voids: dict[int, int],
        plan_voids: dict[tuple[str, str], int],
    ) -> AnnouncedRow:
        by_id = {self.runs[run].predicate.run_id: run for run in covered}
        passes = []
        for k, run_id in enumerate(intent.predicate.runs, 1):
            run = by_id.get(run_id)
            void = plan_voids.get((intent.digest, run_id), run_voids.get(run) if run is not None else None)
            state: PassState = "void" if void is not None else "missing" if run is None else "published"
            score = self.runs[run].predicate.score if run is not None else None
            reason = self.voids[void].predicate.reason if void is not None else None
            passes.append(PlannedPass(k=k, run_id=run_id, state=state, run=run, score=score, void=void, reason=reason))
        return AnnouncedRow(
            index=index,
            row=intent.predicate.row.name,
            benchmark=f"{intent.predicate.benchmark.id} {intent.predicate.benchmark.version}",
            kid=intent.predicate.signer.kid,
            created=intent.predicate.created,
            passes=tuple(passes),
            fills=tuple(run for run in covered if self.runs[run].predicate.run_id not in intent.predicate.runs),
        )

    def _entry(self, index: int, run_voids: dict[int, int]) -> RunEntry:
        run = self.runs[index].predicate
        return RunEntry(
            index=index,
            run_id=run.run_id,
            row=run.row.name,
            k=run.pass_.k,
            of=run.pass_.of,
            kid=run.signer.kid,
            score=run.score,
            reason=self.voids[run_voids[index]].predicate.reason if index in run_voids else None,
        )


def _deviation(run: RunPredicate, intent: IntentPredicate) -> tuple[str, str] | None:
    different = [name for name in ANNOUNCED if getattr(run, name) != getattr(intent, name)]
    if different:
        return "INTENT_MISMATCH", f"the run has another {', '.join(different)} than was announced"
    planned = intent.runs
    if run.pass_.of != len(planned):
        return "PASS_OUT_OF_PLAN", f"it is pass {run.pass_.k} of {run.pass_.of}; {len(planned)} were announced"
    if planned[run.pass_.k - 1] == run.run_id:
        return None
    if run.run_id in planned or not run.counts.filled:
        return "PASS_OUT_OF_PLAN", f"pass {run.pass_.k} was announced as run {planned[run.pass_.k - 1]}"
    return None
