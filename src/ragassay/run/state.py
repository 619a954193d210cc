"""What a journal says of each question: folded from its entries, and turned into the pass's outcomes.

Everything here is a function of stored bytes, so a resumed pass and an undisturbed one end in the same records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ragassay.judge import InvalidReply, build_item, read_verdict
from ragassay.records import (
    Answer,
    Benchmark,
    Failure,
    Outcome,
    Profile,
    Question,
    RawVerdict,
    Retrieval,
    Spent,
    Status,
    Usage,
)
from ragassay.run.budget import NOTHING, Amount
from ragassay.run.journal import Entry
from ragassay.score import item_hundredths, status_of


class ItemState(msgspec.Struct):
    """One question so far.

    `replies` are the judge's raw replies since the last failure; `earlier` those before, and calls without a reply
    (text None), which are kept for what they took.
    """

    retrieval: Retrieval | None = None
    answer: Answer | None = None
    replies: list[RawVerdict] = msgspec.field(default_factory=list)
    earlier: list[RawVerdict] = msgspec.field(default_factory=list)
    failed: tuple[Status, Failure] | None = None
    spent: Answer | None = None
    lost_searches: Spent = Spent()
    """What the calls inside searches that failed or were stopped took."""
    counted: Amount = NOTHING
    """What the calls inside all of its searches were counted as against the caps."""
    answered_at: int | None = None

    def apply(self, entry: Entry) -> None:
        """Take one journal entry into account."""
        if entry.event == "ended":
            return
        if (counted := _counted(entry)) != NOTHING:
            self.counted = Amount(self.counted.tokens + counted.tokens, self.counted.microusd + counted.microusd)
        if entry.event == "spent":
            self.lost_searches = added(self.lost_searches, entry.search_spent or Spent())
            return
        if entry.event == "failed":
            assert entry.status is not None
            assert entry.failure is not None
            self.failed = (entry.status, entry.failure)
            self.earlier, self.replies = [*self.earlier, *self.replies], []
            self.spent = _sum(self.spent, entry.spent)
            self.lost_searches = added(self.lost_searches, entry.search_spent or Spent())
            self.answered_at = self.answered_at or entry.at // 1000
            return
        self.failed = None
        if entry.event == "retrieved":
            self.retrieval = entry.retrieval
        elif entry.event == "answered":
            self.answer, self.answered_at = entry.answer, entry.at // 1000
        elif entry.raw is not None:
            (self.replies if entry.raw.text is not None else self.earlier).append(entry.raw)

    @property
    def search_spent(self) -> Spent:
        """What the calls inside all of its searches took."""
        return added(self.lost_searches, self.retrieval.spent if self.retrieval else Spent())

    @property
    def may_ask_again(self) -> bool:
        """True for a failure of a service."""
        return self.failed is not None and may_recover(self.failed[1].kind)


def may_recover(kind: str) -> bool:
    """Tell whether asking again may help: a judge that gave no valid reply has used up its attempts."""
    return kind != "unjudged"


def _counted(entry: Entry) -> Amount:
    """Return what an entry says was counted for a search; where it does not say so, what is known of its calls."""
    if entry.search_counted is not None:
        return Amount(*entry.search_counted)
    spent = entry.search_spent or (entry.retrieval.spent if entry.retrieval else None)
    if spent is None:
        return NOTHING
    return Amount((spent.usage.input_tokens or 0) + (spent.usage.output_tokens or 0), spent.cost_microusd or 0)


def replay(entries: Iterable[Entry]) -> dict[str, ItemState]:
    """Return the state of every question that the journal knows."""
    states: dict[str, ItemState] = {}
    for entry in entries:
        states.setdefault(entry.q, ItemState()).apply(entry)
    return states


def in_turn(entries: Iterable[Entry]) -> Iterator[ItemState]:
    """Yield the state of every question that the journal knows, those that have ended as they end."""
    states: dict[str, ItemState] = {}
    for entry in entries:
        if entry.event == "ended":
            if (state := states.pop(entry.q, None)) is not None:
                yield state
        else:
            states.setdefault(entry.q, ItemState()).apply(entry)
    yield from states.values()


def outcome_of(question: Question, state: ItemState | None, profile: Profile) -> Outcome | None:
    """Return how a question ended, or None while it has not."""
    if state is None:
        return None
    answer = _sum(state.answer, state.spent)
    raws = (*state.earlier, *state.replies)
    if state.failed is not None:
        status, failure = state.failed
        return Outcome(
            question=question.id,
            status=status,
            score=None,
            retrieval=state.retrieval,
            answer=answer if state.answer else None,
            spent=None if state.answer else state.spent,
            raw_verdicts=raws,
            failure=failure,
            search_spent=state.search_spent,
            answered_at=state.answered_at,
        )
    if state.retrieval is None or state.answer is None or answer is None or not state.replies:
        return None
    item = build_item(question, state.answer.text, contexts(state.retrieval), profile)
    try:
        verdict = read_verdict(state.replies[-1], item, profile)
    except InvalidReply:
        return None
    return Outcome(
        question=question.id,
        status=status_of(verdict, state.retrieval.state),
        score=item_hundredths(verdict),
        retrieval=state.retrieval,
        answer=answer,
        raw_verdicts=raws,
        verdict=verdict,
        search_spent=state.search_spent,
        answered_at=state.answered_at,
    )


def outcomes_of(benchmark: Benchmark, states: dict[str, ItemState], profile: Profile) -> Sequence[Outcome] | None:
    """Return all outcomes in benchmark order, or None while a question has not ended."""
    outcomes = [outcome_of(question, states.get(question.id), profile) for question in benchmark.questions]
    ended = [outcome for outcome in outcomes if outcome is not None]
    return ended if len(ended) == len(outcomes) else None


def refusals(benchmark: Benchmark, states: dict[str, ItemState], profile: Profile) -> dict[str, list[str]]:
    """Return, by question id, why each raw reply of the judge was refused ('' for the one that was used).

    A question whose only reply was used is left out.
    """
    return {
        question.id: _refusals(question, state, profile)
        for question in benchmark.questions
        if (state := states.get(question.id)) and (state.earlier or len(state.replies) > 1 or state.failed)
    }


def _refusals(question: Question, state: ItemState, profile: Profile) -> list[str]:
    if state.answer is None or state.retrieval is None:
        return []
    item = build_item(question, state.answer.text, contexts(state.retrieval), profile)
    problems = []
    for raw in (*state.earlier, *state.replies):
        try:
            read_verdict(raw, item, profile)
            problems.append("")
        except InvalidReply as error:
            problems.append(str(error))
    return problems


def contexts(retrieval: Retrieval) -> tuple[str, ...]:
    """Return the delivered texts in order."""
    return tuple(chunk.text for chunk in retrieval.delivered)


def added(one: Spent, other: Spent) -> Spent:
    """Return what two searches took together: one without a call adds nothing, one unknown part makes a sum unknown."""
    if not one.attempts or not other.attempts:
        return one if one.attempts else other
    return Spent(
        attempts=one.attempts + other.attempts,
        usage=Usage(
            input_tokens=_known(one.usage.input_tokens, other.usage.input_tokens),
            output_tokens=_known(one.usage.output_tokens, other.usage.output_tokens),
        ),
        cost_microusd=_known(one.cost_microusd, other.cost_microusd),
    )


def _known(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _sum(answer: Answer | None, spent: Answer | None) -> Answer | None:
    if answer is None or spent is None:
        return answer or spent
    return msgspec.structs.replace(
        answer,
        attempts=answer.attempts + spent.attempts,
        latency_ms=answer.latency_ms + spent.latency_ms,
        cost_microusd=_told(answer.cost_microusd, spent.cost_microusd),
        usage=Usage(
            input_tokens=_told(answer.usage.input_tokens, spent.usage.input_tokens),
            output_tokens=_told(answer.usage.output_tokens, spent.usage.output_tokens),
        ),
    )


def _told(figure: int | None, spent: int | None) -> int | None:
    """Add what failed calls took to an answer's own figure: those that brought no reply add nothing."""
    return figure + spent if figure is not None and spent is not None else figure if spent is None else spent
