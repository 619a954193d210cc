"""How far a pass is: what leaves memory, what is read again from the journal, and whose word on an end is taken."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ragassay import __version__
from ragassay.records import Answer, Benchmark, Claim, Failure, Question, RawVerdict, Retrieval, Spent, Usage
from ragassay.run.course import BEGUN, ENDED, FAILED, NEW, Course, Order
from ragassay.run.journal import Entry, GroupWriter, Journal
from ragassay.run.state import in_turn

QUESTIONS = Benchmark(
    name="set",
    version="1",
    questions=tuple(
        Question(id=f"q{n}", input="How much?", target="Ten.", claims=(Claim(id=1, text="Ten.", central=True),))
        for n in range(4)
    ),
)
ANSWER = Answer(
    text="Ten.", finish_reason="stop", usage=Usage(input_tokens=3, output_tokens=1), latency_ms=1, attempts=1
)
VERDICT = RawVerdict(
    nonce="ab" * 16,
    text=msgspec.json.encode(
        {
            "claims": [{"id": 1, "quote": "Ten", "reason": "said", "verdict": "SUPPORTS"}],
            "answer_kind": "answer",
            "extra_wrong": False,
            "injection_seen": False,
            "nonce": "ab" * 16,
        }
    ).decode(),
)


def steps(question: str, *, ended_by: str | None = __version__) -> list[Entry]:
    """Return what is journaled of a question that was answered and judged."""
    entries = [
        Entry(event="retrieved", at=1, q=question, retrieval=Retrieval(state="off", delivered=(), latency_ms=0)),
        Entry(event="answered", at=2, q=question, answer=ANSWER),
        Entry(event="judge_reply", at=3, q=question, raw=VERDICT),
    ]
    return [*entries, Entry(event="ended", at=4, q=question, status="ok", by=ended_by)] if ended_by else entries


def failed(question: str, kind: str = "timeout") -> Entry:
    """Return the record of a judge that did not answer."""
    return Entry(event="failed", at=5, q=question, status="judge_failed", failure=Failure(kind=kind, message="no"))


def test_what_has_ended_or_failed_leaves_memory(tmp_path: Path) -> None:
    """Only questions under way hold a state; one that failed is read again from the journal when it is asked again."""
    with GroupWriter() as writer:
        journal = Journal(tmp_path / "journal.jsonl", writer)
        course = Course(Order(QUESTIONS), "factual-consistency/2", journal.at)
        for entry in [*steps("q0"), *steps("q1")[:2], failed("q1"), failed("q2", "unjudged"), *steps("q3")[:1]]:
            course.take(entry, journal.append(entry))
        assert list(course.states) == ["q3"]
        assert [question.id for question in course.to_ask()] == ["q1", "q3"]
        assert course.left == 2
        assert course.failure("q1") == "judge_failed"
        assert course.failure("q0") is None
        again = course.open("q1")
        assert again.answer == ANSWER
        assert again.failed is not None
        assert again.retrieval is not None
        journal.close()


def test_a_resumed_pass_knows_what_is_left(tmp_path: Path) -> None:
    """Every state comes by once, for what it took; what is begun goes on from its records."""
    with GroupWriter() as writer:
        journal = Journal(tmp_path / "journal.jsonl", writer)
        warm = Entry(event="spent", at=0, q="", search_spent=Spent(attempts=1), search_counted=(7, 0))
        for entry in [warm, *steps("q0"), *steps("q1")[:2], failed("q1"), *steps("q2", ended_by=None)]:
            journal.append(entry)
        journal.close()
        journal = Journal(tmp_path / "journal.jsonl", writer)
        course = Course(Order(QUESTIONS), "factual-consistency/2", journal.at)
        seen = list(course.resume(journal.placed()))
        assert len(seen) == 4
        assert sum(state.counted.tokens for state in seen) == 7
        assert not course.states
        assert course.count() == {ENDED: 2, FAILED: 1, NEW: 1}
        assert course.open("q1").answer == ANSWER
        journal.close()


def test_another_versions_word_that_a_question_ended_is_not_taken() -> None:
    """Its replies are read again, and decide."""
    entries = [*steps("q0", ended_by="0.0.1"), *steps("q1", ended_by="0.0.1")]
    entries[6] = msgspec.structs.replace(entries[6], raw=RawVerdict(nonce="x", text="no verdict"))
    course = Course(Order(QUESTIONS), "factual-consistency/2", lambda places: (entries[at] for at in places))
    assert len(list(course.resume(enumerate(entries)))) == 2
    assert course.count() == {ENDED: 1, BEGUN: 1, NEW: 2}
    assert [raw.text for raw in course.open("q1").replies] == ["no verdict"]


def test_states_come_by_in_turn() -> None:
    """A state that has ended is yielded when it has, the others at the end."""
    found = list(in_turn([*steps("q0")[:2], *steps("q1"), failed("q0")]))
    assert [state.failed is not None for state in found] == [False, True]
