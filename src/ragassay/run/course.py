"""How far one pass is: a byte for each question, the states of those under way, where the records of the others stand.

A question that has ended leaves memory: its records are in the journal, and the pass is signed from there. So what a
run holds in memory does not grow with the questions that it has asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from ragassay import __version__
from ragassay.records import Benchmark, Profile, Question, Status
from ragassay.run.journal import Entry
from ragassay.run.state import ItemState, may_recover, outcome_of

NEW, BEGUN, FAILED, ENDED = range(4)
"""Not asked; some of its steps are journaled; a service failed and may have recovered; nothing is left to do."""

Stored: TypeAlias = Callable[[Sequence[int]], Iterable[Entry]]
"""Reads the records that were journaled at these places."""


class Order:
    """The questions of a set by their ids and places, shared by all passes over them."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.questions = benchmark.questions
        self.at: Mapping[str, int] = {question.id: at for at, question in enumerate(benchmark.questions)}


class Course:
    """Where each question of a pass stands; takes journal entries one by one, those of a resumed journal first.

    Without `stored` nothing can be read again, so every state stays in `states`.
    """

    def __init__(self, order: Order, profile: Profile, stored: Stored | None = None) -> None:
        self.states: dict[str, ItemState] = {}
        self._order = order
        self._profile = profile
        self._stored = stored
        self._stages = bytearray(len(order.questions))
        self._places: dict[str, list[int]] = {}
        self._failed: dict[str, Status] = {}

    def to_ask(self) -> list[Question]:
        """Return the questions that have not ended, or whose failure a service may have overcome."""
        return [q for q, stage in zip(self._order.questions, self._stages, strict=True) if stage != ENDED]

    def count(self) -> Counter[int]:
        """Return how many questions stand where."""
        return Counter(self._stages)

    def failure(self, question: str) -> Status | None:
        """Return where a question failed that may be asked again."""
        return self._failed.get(question)

    @property
    def left(self) -> int:
        """How many questions are left to ask."""
        return len(self._stages) - self._stages.count(ENDED)

    def open(self, question: str) -> ItemState:
        """Return the state of a question that is asked now, read again from its records where it was begun before."""
        state = self.states.get(question)
        if state is None:
            state = self.states[question] = ItemState()
            if self._stored is not None and (places := self._places.get(question)):
                for entry in self._stored(places):
                    state.apply(entry)
        return state

    def take(self, entry: Entry, place: int) -> None:
        """Take in what was just journaled at `place`; what is no question's is passed over."""
        if entry.q not in self._order.at:
            return
        self.open(entry.q).apply(entry)
        self._note(entry, place)
        if self._stored is not None and self._stages[self._order.at[entry.q]] in (FAILED, ENDED):
            del self.states[entry.q]

    def resume(self, entries: Iterable[tuple[int, Entry]]) -> Iterator[ItemState]:
        """Take in an earlier journal; yields every state as it stands when it leaves memory, or at the end."""
        for place, entry in entries:
            if entry.event == "ended" and entry.by != __version__:
                continue  # this version reads the reply itself
            self.states.setdefault(entry.q, ItemState()).apply(entry)
            if entry.q not in self._order.at:
                continue  # the search that warmed a row up: it took something, and is no question
            self._note(entry, place)
            if entry.event == "ended":
                yield self.states.pop(entry.q)
        for question, state in list(self.states.items()):
            if (at := self._order.at.get(question)) is not None:
                self._settle(self._order.questions[at], state)
            yield state
        self.states.clear()

    def _note(self, entry: Entry, place: int) -> None:
        """Keep where a question stands after an entry, and the places of its records while it has not ended."""
        failure = entry.failure if entry.event == "failed" else None
        ended = entry.event == "ended" or (failure is not None and not may_recover(failure.kind))
        self._stages[self._order.at[entry.q]] = ENDED if ended else FAILED if failure is not None else BEGUN
        self._failed.pop(entry.q, None)
        if ended:
            self._places.pop(entry.q, None)
            return
        self._places.setdefault(entry.q, []).append(place)
        if failure is not None and entry.status is not None:
            self._failed[entry.q] = entry.status

    def _settle(self, question: Question, state: ItemState) -> None:
        """Find out from its records whether a question has ended of which no record of ours says so."""
        ended = not state.may_ask_again and outcome_of(question, state, self._profile) is not None
        at = self._order.at[question.id]
        if ended:
            self._stages[at] = ENDED
            self._places.pop(question.id, None)
        elif self._stages[at] == ENDED:
            self._stages[at] = BEGUN
