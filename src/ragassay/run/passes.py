"""Passes: every question of every row, interleaved, journaled, resumable; retries and limits are around the path."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from ragassay import __version__
from ragassay.answer import build_messages
from ragassay.errors import InputError, ModelError, PluginError, StackError, legible
from ragassay.judge import InvalidReply, build_item, read_verdict
from ragassay.plugins.meter import Meter, metering
from ragassay.records import (
    Answer,
    Benchmark,
    Chunk,
    Config,
    Failure,
    Outcome,
    Question,
    RawVerdict,
    Retrieval,
    Spent,
    Usage,
    Verdict,
)
from ragassay.retrieve import search
from ragassay.run.budget import Amount, Budget
from ragassay.run.course import Course
from ragassay.run.journal import Entry
from ragassay.run.limits import Endpoint
from ragassay.run.pipeline import Steps, Unjudged, assay
from ragassay.run.search_threads import Late, SearchThreads
from ragassay.run.state import contexts
from ragassay.run.status import RunStatus
from ragassay.seams import Judge, Retriever

STACK_ATTEMPTS = 3
FIRST_PAUSE_S = 1.0
"""Before a search that failed is asked again; each further one is twice as long."""
WARM_UP = "Where does the documentation begin?"


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One row, built: its retriever and its recorded configuration."""

    name: str
    retriever: Retriever
    owns_corpus: bool
    kind: str
    config: Config
    timeout_s: float
    """How long one search may take."""


class Fixed(msgspec.Struct, frozen=True, kw_only=True):
    """What is the same for every row of a board."""

    benchmark: Benchmark
    chunks: Mapping[str, Chunk]
    answering: Endpoint
    judge: Judge
    template: str
    threads: Mapping[str, SearchThreads]
    budget: Budget


class Keeper(Protocol):
    """Where a pass leaves what came of each step: a journal, or nowhere where nothing is to be continued."""

    def append(self, entry: Entry) -> int:
        """Take one record and return its place."""
        ...


class PassRun:
    """One pass of one row: asks a question, journals what came of each step before the next, remembers the rest."""

    def __init__(self, row: Row, k: int, run_id: str, fixed: Fixed, journal: Keeper, course: Course) -> None:
        self.row = row
        self.k = k
        self.run_id = run_id
        self.course = course
        self._fixed = fixed
        self._journal = journal
        self._steps = Steps(retrieve=self._retrieve, answer=self._answer, judge=self._judge)
        self._profile = row.config.measure.scorer
        self._spent: dict[str, Answer] = {}
        self._searches: dict[str, Meter] = {}

    async def ask(self, question: Question) -> Outcome:
        """Walk one question to its end, which is journaled; a failure with what it took."""
        self.course.open(question.id)
        try:
            outcome = await assay(question, self._steps)
        except (InputError, PluginError, asyncio.CancelledError):
            raise  # the run as a whole cannot go on: nothing is said of this question
        except Exception as error:  # noqa: BLE001 - our own fault becomes a counted class, never a score
            failure = Failure(kind=type(error).__name__, message=legible(error))
            outcome = Outcome(question=question.id, status="harness_failed", score=None, failure=failure)
        if outcome.failure is None:
            self.take(Entry(event="ended", at=_now_ms(), q=question.id, status=outcome.status, by=__version__))
        else:
            searches = self._searches.pop(question.id, None)
            self.take(
                Entry(
                    event="failed",
                    at=_now_ms(),
                    q=question.id,
                    status=outcome.status,
                    failure=outcome.failure,
                    spent=self._spent.pop(question.id, None),
                    search_spent=_search_spent(searches) if searches else None,
                    search_counted=_counted(searches) if searches else None,
                )
            )
        return outcome

    def take(self, entry: Entry) -> None:
        """Journal one record and fold it in."""
        self.course.take(entry, self._journal.append(entry))

    async def warm_up(self) -> str | None:
        """Search once for nobody, so that no measured search is the first; return why that failed, if it did.

        What it takes counts against the budget, in a resumed run too, and stands in no record.
        """
        if self.row.kind in ("none", "oracle"):
            return None
        meter = Meter()
        try:
            await self._search_once(WARM_UP, meter)
        except StackError as error:
            return f"the search before the first question failed: {legible(error)}"
        finally:
            self._keep_spent("", meter)
        return None

    def _keep_spent(self, question: str, meter: Meter) -> None:
        """Journal what a search took of which nothing else is journaled, so that the caps hold when it is resumed."""
        if meter.attempts:
            spent = _search_spent(meter)
            self._journal.append(
                Entry(event="spent", at=_now_ms(), q=question, search_spent=spent, search_counted=_counted(meter))
            )

    async def _retrieve(self, question: Question) -> Retrieval:
        if (done := self.course.states[question.id].retrieval) is not None:
            return done
        meter = Meter()
        try:
            retrieval = await self._search(question.input, meter)
        except StackError:
            self._searches[question.id] = meter
            raise
        except BaseException:
            self._keep_spent(question.id, meter)  # the run stops: the question is asked again another time
            raise
        retrieval = msgspec.structs.replace(retrieval, spent=_search_spent(meter))
        self.take(
            Entry(
                event="retrieved",
                at=_now_ms(),
                q=question.id,
                retrieval=retrieval,
                search_counted=_counted(meter) if meter.attempts else None,
            )
        )
        return retrieval

    async def _search(self, text: str, meter: Meter) -> Retrieval:
        for attempt in range(1, STACK_ATTEMPTS + 1):
            try:
                return await self._search_once(text, meter)
            except StackError as error:
                if not error.retryable or attempt == STACK_ATTEMPTS:
                    raise
                await asyncio.sleep(FIRST_PAUSE_S * 2 ** (attempt - 1))
        raise AssertionError("unreachable")

    async def _search_once(self, text: str, meter: Meter) -> Retrieval:
        measure, row = self.row.config.measure, self.row

        def work() -> Retrieval:
            with metering(meter):
                return search(
                    row.retriever,
                    text,
                    chunks=self._fixed.chunks,
                    owns_corpus=row.owns_corpus,
                    top_k=None if row.kind == "oracle" else measure.top_k,
                    threshold=measure.threshold,
                    control=row.kind == "none",
                )

        if row.kind in ("none", "oracle"):
            return work()
        outside = Amount(meter.outside_tokens, meter.outside_microusd)
        try:
            return await self._fixed.threads[row.name].run(work, row.timeout_s)
        except Late:
            meter.lost = True
            raise
        finally:
            self._fixed.budget.spend(
                Amount(meter.outside_tokens - outside.tokens, meter.outside_microusd - outside.microusd)
            )

    async def _answer(self, question: Question, retrieval: Retrieval) -> Answer:
        if (done := self.course.states[question.id].answer) is not None:
            return done
        messages = build_messages(question.input, retrieval.delivered, self._fixed.template)
        with metering() as meter:
            try:
                reply = await self._fixed.answering.complete(messages, {})
            except ModelError as error:
                self._spent[question.id] = _answer("", meter)
                if error.kind == "auth":
                    raise InputError(f"the answering model refused the key: {error}") from error
                raise
        answer = _answer(reply.text or "", meter)
        answer = msgspec.structs.replace(
            answer, finish_reason=reply.finish_reason, request_id=reply.request_id, model=reply.model
        )
        self.take(Entry(event="answered", at=_now_ms(), q=question.id, answer=answer))
        return answer

    async def _judge(self, question: Question, retrieval: Retrieval, answer: Answer) -> Verdict:
        state = self.course.states[question.id]
        item = build_item(question, answer.text, contexts(retrieval), self._profile)
        fault: InvalidReply | None = None
        for raw in state.replies:
            try:
                return read_verdict(raw, item, self._profile)
            except InvalidReply as error:
                fault = error
        judge = self._fixed.judge
        for _ in range(judge.attempts - len(state.replies)):
            with metering() as meter:
                try:
                    raw = await judge.grade(item)
                except ModelError as error:
                    self._keep(question, RawVerdict(nonce="", text=None), meter)
                    if error.kind == "auth":
                        raise InputError(f"the judge's model refused the key: {error}") from error
                    raise
            raw = self._keep(question, raw, meter)
            try:
                return read_verdict(raw, item, self._profile)
            except InvalidReply as error:
                fault = error
        raise Unjudged(f"no valid reply in {judge.attempts} attempts; the last: {fault}")

    def _keep(self, question: Question, raw: RawVerdict, meter: Meter) -> RawVerdict:
        """Journal a judge's reply as it came, before anyone parses it, with what the calls for it took."""
        raw = msgspec.structs.replace(raw, attempts=meter.attempts, cost_microusd=meter.cost_microusd)
        if meter.attempts:
            raw = msgspec.structs.replace(raw, usage=meter.usage, latency_ms=meter.latency_ms)
        self.take(Entry(event="judge_reply", at=_now_ms(), q=question.id, raw=raw))
        return raw


def interleaved(passes: Iterable[PassRun], seed: int) -> Iterator[tuple[PassRun, Question]]:
    """Yield the work in seeded order: pass by pass, question by question, all rows of a question side by side.

    Drift of a provider so hits all rows alike.
    """
    by_k: dict[int, list[PassRun]] = {}
    for run in passes:
        by_k.setdefault(run.k, []).append(run)
    for k in sorted(by_k):
        runs = sorted(by_k[k], key=lambda run: run.row.name)
        wanted = {run.run_id: {q.id: q for q in run.course.to_ask()} for run in runs}
        ids = sorted({q for questions in wanted.values() for q in questions})
        order = random.Random(f"{seed}/{k}")
        order.shuffle(ids)
        for question in ids:
            order.shuffle(runs)
            for run in runs:
                if question in wanted[run.run_id]:
                    yield run, wanted[run.run_id][question]


async def traverse(passes: Sequence[PassRun], *, seed: int, workers: int, status: RunStatus) -> None:
    """Ask everything that is left to ask; returns early, with nothing half recorded, when `status.stop` is set."""
    work = interleaved(passes, seed)

    async def worker() -> None:
        for run, question in work:
            if status.stop:
                return
            outcome = await run.ask(question)
            status.ended(run.row.name, outcome)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(worker())
    except BaseExceptionGroup as faults:
        raise _first(faults) from None


def _first(faults: BaseExceptionGroup) -> BaseException:
    """Return one fault of several workers: they all stop for the same reason."""
    fault: BaseException = faults
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    return fault


def _answer(text: str, meter: Meter) -> Answer:
    return Answer(
        text=text,
        finish_reason=None,
        usage=Usage(input_tokens=meter.input_tokens, output_tokens=meter.output_tokens),
        latency_ms=meter.latency_ms,
        attempts=meter.attempts,
        cost_microusd=meter.cost_microusd,
    )


def _search_spent(meter: Meter) -> Spent:
    """Return what the calls inside a search took; unknown where one went on when nobody waited for it any more."""
    if meter.lost:
        return Spent(attempts=meter.attempts)
    return Spent(attempts=meter.attempts, usage=meter.usage, cost_microusd=meter.cost_microusd)


def _counted(meter: Meter) -> tuple[int, int]:
    return meter.counted_tokens, meter.counted_microusd


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
