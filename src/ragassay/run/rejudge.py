"""One judgement under way: what is put to the judge is asked, journaled before it is read, and becomes signed files.

What a run says is read and never written. A resumed judgement asks nothing again that its journal holds.
"""

from __future__ import annotations

import asyncio
import time

import msgspec

from ragassay.errors import InputError, ModelError, PluginError, legible
from ragassay.judge import InvalidReply, read_verdict
from ragassay.manifest.rows import telemetry_row
from ragassay.plugins.meter import Meter, metering
from ragassay.records import (
    Failure,
    JudgeItem,
    JudgementReplies,
    JudgementRow,
    Outcome,
    OutputVerdict,
    Profile,
    RawVerdict,
    Verdict,
)
from ragassay.run.journal import Entry
from ragassay.run.judge_items import Put
from ragassay.run.passes import Keeper
from ragassay.run.state import ItemState
from ragassay.score import item_hundredths
from ragassay.seams import Judge


class Rejudging:
    """One judge over the items of one run; `states` is what the journal holds of them."""

    def __init__(
        self, puts: list[Put], judge: Judge, profile: Profile, journal: Keeper, states: dict[str, ItemState]
    ) -> None:
        self.puts = puts
        self.states = states
        self._judge = judge
        self._profile = profile
        self._journal = journal

    def to_ask(self) -> list[Put]:
        """Return the items that have not ended, or whose failure a service may have overcome."""
        return [put for put in self.puts if put.item is not None and not self._ended(put)]

    def _ended(self, put: Put) -> bool:
        state = self.states.get(put.id)
        return state is not None and not state.may_ask_again and self._row(put) is not None

    async def ask(self, put: Put) -> JudgementRow:
        """Ask the judge about one item until a reply is valid or its attempts are used up; journal each reply first."""
        assert put.item is not None
        state = self.states.setdefault(put.id, ItemState())
        try:
            fault = await self._replies(put.id, put.item, state)
            failure = None if fault is None else Failure(kind="unjudged", message=fault)
        except ModelError as error:
            if error.kind == "auth":
                raise InputError(f"the judge's model refused the key: {error}") from error
            failure = Failure(kind=error.kind, message=legible(error))
        except (InputError, PluginError, asyncio.CancelledError):
            raise  # judging as a whole cannot go on: nothing is said of this item
        except Exception as error:  # noqa: BLE001 - a fault of the judge's own code is counted, and never a score
            failure = Failure(kind=type(error).__name__, message=legible(error))
        if failure is not None:
            self._record(Entry(event="failed", at=_now_ms(), q=put.id, status="judge_failed", failure=failure))
        row = self._row(put)
        assert row is not None
        return row

    async def _replies(self, name: str, item: JudgeItem, state: ItemState) -> str | None:
        """Return None once a valid reply is kept, or what was wrong with the last of all attempts."""
        fault = "it was never asked"
        for raw in state.replies:
            if (problem := self._problem(raw, item)) is None:
                return None
            fault = problem
        while len(state.replies) < self._judge.attempts:
            with metering() as meter:
                try:
                    raw = await self._judge.grade(item)
                except ModelError:
                    self._keep(name, RawVerdict(nonce="", text=None), meter)
                    raise
            raw = self._keep(name, raw, meter)
            if raw.text is None:
                raise ModelError("the judge gave a reply without text", kind="empty", retryable=True)
            if (problem := self._problem(raw, item)) is None:
                return None
            fault = problem
        return f"no valid reply in {self._judge.attempts} attempts; the last: {fault}"

    def _problem(self, raw: RawVerdict, item: JudgeItem) -> str | None:
        try:
            read_verdict(raw, item, self._profile)
        except InvalidReply as error:
            return str(error)
        return None

    def _keep(self, name: str, raw: RawVerdict, meter: Meter) -> RawVerdict:
        """Journal a reply as it came, before anyone parses it, with what the calls for it took."""
        raw = msgspec.structs.replace(raw, attempts=meter.attempts, cost_microusd=meter.cost_microusd)
        if meter.attempts:
            raw = msgspec.structs.replace(raw, usage=meter.usage, latency_ms=meter.latency_ms)
        self._record(Entry(event="judge_reply", at=_now_ms(), q=name, raw=raw))
        return raw

    def _record(self, entry: Entry) -> None:
        self._journal.append(entry)
        self.states[entry.q].apply(entry)

    def rows(self) -> list[JudgementRow] | None:
        """Return one row per item of the run, in its order, or None while one has not ended."""
        rows = [self._row(put) for put in self.puts]
        ended = [row for row in rows if row is not None]
        return ended if len(ended) == len(rows) else None

    def _row(self, put: Put) -> JudgementRow | None:
        if put.why_not is not None:
            return JudgementRow(
                id=put.id, status="not_judged", claims=(), verdict=None, score=None, failure=put.why_not
            )
        if put.settled is not None:
            return _judged(put.id, put.settled)
        state = self.states.get(put.id)
        if state is None:
            return None
        if state.failed is not None:
            failure = state.failed[1]
            return JudgementRow(id=put.id, status="judge_failed", claims=(), verdict=None, score=None, failure=failure)
        verdict = self._verdict(put, state)
        return None if verdict is None else _judged(put.id, verdict)

    def _verdict(self, put: Put, state: ItemState) -> Verdict | None:
        if put.item is None or not state.replies:
            return None
        try:
            return read_verdict(state.replies[-1], put.item, self._profile)
        except InvalidReply:
            return None

    def replies(self) -> list[JudgementReplies]:
        """Return what the replies to each item took, and each as it came with why it was refused."""
        return [self._taken(put) for put in self.puts]

    def _taken(self, put: Put) -> JudgementReplies:
        state = self.states.get(put.id)
        if state is None or put.item is None:
            return JudgementReplies(id=put.id)
        raws = (*state.earlier, *state.replies)
        verdict = self._verdict(put, state) if state.failed is None else None
        outcome = Outcome(question=put.id, status="judge_failed", score=None, raw_verdicts=raws, verdict=verdict)
        took = telemetry_row(outcome, [self._problem(raw, put.item) or "" for raw in raws])
        return JudgementReplies(
            id=put.id,
            judge_ms=took.judge_ms,
            judge_attempts=took.judge_attempts,
            judge_usage=took.judge_usage,
            judge_cost_microusd=took.judge_cost_microusd,
            judge_replies=took.judge_replies,
            folds=took.folds,
        )

    def why_held(self) -> str | None:
        """Return why this is not signed yet: a service failed on more than one in fifty of the items."""
        put = [one for one in self.puts if one.item is not None]
        failed = [state for one in put if (state := self.states.get(one.id)) is not None and state.may_ask_again]
        if len(failed) <= len(put) // 50 or failed[0].failed is None:
            return None
        failure = failed[0].failed[1]
        return f"the judge failed on {len(failed)} of {len(put)} items ({failure.kind}: {failure.message})"


def _judged(name: str, verdict: Verdict) -> JudgementRow:
    return JudgementRow(
        id=name,
        status="judged",
        claims=verdict.claims,
        verdict=OutputVerdict(
            central_contradicted=verdict.central_contradicted,
            reference_insufficient=verdict.reference_insufficient,
            answer_kind=verdict.answer_kind,
            extra_wrong=verdict.extra_wrong,
            injection_seen=verdict.injection_seen,
        ),
        score=item_hundredths(verdict),
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
