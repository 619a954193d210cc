"""Passes end in scores or in counted classes of missing, are resumed, and never reuse an answer."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from run_lab import Lab, register

from ragassay.cli.board import build, find_places
from ragassay.errors import InputError
from ragassay.manifest import decode_run, read_run
from ragassay.plugins.judges.literal import LiteralJudge
from ragassay.records import Hit, JudgeItem, Outcome, Question, RawVerdict, Secret
from ragassay.run.passes import WARM_UP, PassRun
from ragassay.run.prepared import Options
from ragassay.testing import chat_replies
from ragassay.testing.chat_server import ChatServer
from ragassay.verify import Unpinned, verify

LLM_JUDGE = 'kind = "llm"\nmodel = { kind = "openai", id = "j", base_url = "{url}", limits = { concurrency = 4 } }'


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Ten questions on ten pages."""
    return Lab(tmp_path)


def _answer_or_judge(body: dict[str, Any]) -> str:
    return chat_replies.judge(body) if "response_format" in body else "It weighs something."


def test_a_board_runs_and_every_run_verifies(lab: Lab) -> None:
    """Reader and literal judge: the control scores 0, the stack 1, and each signed run is verified."""
    lab.write(head="passes = 3")
    ended = lab.run()
    assert {key for key, end in ended.items() if end.held is None} == {
        (row, k) for row in ("no-retrieval", "row") for k in (1, 2, 3)
    }
    for (row, _), end in ended.items():
        files = read_run(lab.space.runs / end.run_id).files
        report = verify(files, policy=Unpinned(), now=int(time.time()))
        assert report.ok(strict=False), report.findings
        score = decode_run(files).predicate.score
        assert score is not None
        assert score.num == (1000 if row == "row" else 0)


def test_passes_ask_the_model_again(lab: Lab) -> None:
    """Three passes against a counting model are three calls and three answers for every question (CASES 7)."""
    server = ChatServer(chat_replies.counter())
    ended = lab.with_server(server, head="passes = 3")
    answers = [row.answer for end in ended.values() for row in lab.outputs(end).values()]
    assert server.calls == len(answers) == len(set(answers)) == 2 * 3 * 10


@pytest.mark.parametrize("fault", ["429", "500", "200-error", "empty", "content-filter", "truncated", "hang-up"])
def test_a_fault_is_never_an_answer(lab: Lab, fault: str) -> None:
    """The second call's reply is used after each fault, and both attempts are counted (CASES 8)."""
    server = ChatServer(chat_replies.counter(), faults={1: fault})
    ended = lab.with_server(server, answer="limits = { concurrency = 1 }")
    rows = {(name, row.id): row for (name, _), end in ended.items() for row in lab.outputs(end).values()}
    assert all(row.answer is not None and row.answer.startswith("answer ") for row in rows.values())
    attempts = [row.answer_attempts for end in ended.values() for row in lab.telemetry(end).values()]
    assert sorted(attempts) == [1] * 19 + [2]


def test_an_answer_that_explains_an_error_is_an_answer(lab: Lab) -> None:
    """A fluent text about HTTP 429 is taken as it is (CASES 8)."""
    server = ChatServer(lambda body: "HTTP 429 means: error, too many requests; rate limit exceeded.")
    ended = lab.with_server(server)
    assert all(not end.missing for end in ended.values())
    assert server.calls == 20


def test_a_budget_spent_on_thinking_is_a_failure_with_its_reason(lab: Lab) -> None:
    """Null content with finish `length` is `answer_failed`, kind `length`, after one call each (CASES 16)."""
    server = ChatServer(chat_replies.counter(), faults=lambda call: "null-length")
    ended = lab.with_server(server, options=Options(seal=True))
    rows = lab.outputs(ended["row", 1])
    assert {row.status for row in rows.values()} == {"answer_failed"}
    assert {row.failure.kind for row in rows.values() if row.failure} == {"length"}
    assert {row.score for row in rows.values()} == {None}
    assert server.calls == 20


def test_a_judge_in_prose_leaves_the_item_unjudged(lab: Lab) -> None:
    """Three attempts, all raw replies kept, no number; the pass is signed with n judged of n asked (CASES 1)."""

    def reply(body: dict[str, Any]) -> str:
        prose = "response_format" in body and "part 3 " in json.dumps(body)
        return "I think that it is fine." if prose else _answer_or_judge(body)

    ended = lab.with_server(ChatServer(reply), judge=LLM_JUDGE)
    end = ended["row", 1]
    assert (end.held, end.missing) == (None, {"judge_failed": 1})
    row, telemetry = lab.outputs(end)["q-003"], lab.telemetry(end)["q-003"]
    assert (row.status, row.score, row.claims) == ("judge_failed", None, ())
    assert [reply.text for reply in telemetry.judge_replies] == ["I think that it is fine."] * 3
    assert all(reply.problem for reply in telemetry.judge_replies)
    counts = decode_run(read_run(lab.space.runs / end.run_id).files).predicate.counts
    assert (counts.asked, counts.scored, counts.unjudged) == (10, 9, 1)


def test_running_again_gives_a_judge_no_more_attempts(lab: Lab) -> None:
    """A held pass asks failed services again and leaves unjudged items as they are."""
    down = True

    def reply(body: dict[str, Any]) -> str:
        return "prose" if "response_format" in body and "part 3 " in json.dumps(body) else _answer_or_judge(body)

    def faults(call: int) -> str | None:
        return "400" if down and call in (1, 2, 3, 4) else None

    first = ChatServer(reply, faults=faults)
    ended = lab.with_server(first, judge=LLM_JUDGE)
    assert any(end.held for end in ended.values())
    down = False
    again = ChatServer(reply)
    # the server moved to another port, which is another base URL: the journal refuses to go on
    with pytest.raises(InputError, match=r"measure\.answer\.describe\.base_url was"):
        lab.with_server(again, judge=LLM_JUDGE)


@pytest.mark.parametrize(
    ("broken", "owns_corpus"),
    [
        (lambda text, k, chunks: 1 / 0, False),
        (lambda text, k, chunks: [Hit(chunk="no such chunk", score=1.0)], False),
        (lambda text, k, chunks: [Hit(chunk="theirs", score=1.0)], True),
        (lambda text, k, chunks: [Hit(chunk=chunks[0].id, score=float("nan"))], False),
        (lambda text, k, chunks: "not hits", False),
    ],
    ids=["raises", "unknown id", "no text", "nan", "no list"],
)
def test_a_broken_stack_is_not_a_weak_one(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, broken: Any, owns_corpus: bool
) -> None:
    """Each breach is a retrieval failure per question; the pass is held and, sealed, has no score (CASES 9)."""
    lab.write(stack=register(monkeypatch, broken, owns_corpus=owns_corpus))
    ended = lab.run()
    assert ended["no-retrieval", 1].held is None
    assert ended["row", 1].missing == {"retrieval_failed": 10}
    assert "10 of 10 questions failed" in (ended["row", 1].held or "")
    assert not (lab.space.runs / ended["row", 1].run_id).exists()
    sealed = lab.run(Options(seal=True))["row", 1]
    document = decode_run(read_run(lab.space.runs / sealed.run_id).files)
    assert sealed.run_id == ended["row", 1].run_id
    assert document.predicate.score is None
    assert document.predicate.counts.retrieval_failed == 10


def test_a_slow_stack_is_a_failure_of_retrieval(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search over its time is recorded, and no other context is put in its place (CASES 9)."""
    monkeypatch.setattr("ragassay.run.passes.STACK_ATTEMPTS", 1)
    lab.write(stack=register(monkeypatch, _sleeping), row="timeout_s = 1")
    end = lab.run()["row", 1]
    assert end.missing == {"retrieval_failed": 10}
    assert "did not answer within 1 s" in (end.held or "")


@pytest.mark.parametrize("blank", [False, True], ids=["nothing", "blank text"])
def test_an_empty_retrieval_is_asked_and_scored(lab: Lab, monkeypatch: pytest.MonkeyPatch, blank: bool) -> None:
    """Nothing found is legal: the model is asked without context and the item has a score (CASES 9)."""
    hits = [Hit(chunk="x", score=1.0, text="")] if blank else []
    lab.write(stack=register(monkeypatch, lambda text, k, chunks: hits, owns_corpus=blank))
    end = lab.run()["row", 1]
    assert (end.held, end.missing) == (None, {})
    rows = lab.outputs(end)
    assert {(row.status, row.score, row.answer) for row in rows.values()} == {("retrieval_empty", 0, "not found")}


def test_a_stack_gets_the_question_and_nothing_else(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evidence, target and claims never reach a stack."""
    seen: list[str] = []

    def search(text: str, k: int, chunks: Any) -> list[Hit]:
        seen.append(text)
        return []

    lab.write(stack=register(monkeypatch, search))
    lab.run()
    assert sorted(seen) == sorted([WARM_UP, *(sample["input"] for sample in lab.samples)])


def test_a_failure_is_asked_again_and_only_it(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A held pass continues: the three failed questions are searched again, the seven others are not."""
    searched: list[str] = []
    down = True

    def search(text: str, k: int, chunks: Any) -> list[Hit]:
        searched.append(text)
        if down and any(f"part {n} " in text for n in (1, 2, 3)):
            raise ConnectionError("connection refused")
        return []

    lab.write(stack=register(monkeypatch, search))
    first = lab.run()["row", 1]
    assert first.missing == {"retrieval_failed": 3}
    down, searched[:] = False, []
    again = lab.run()["row", 1]
    assert (again.run_id, again.held, again.missing) == (first.run_id, None, {})
    assert sorted(searched) == [*(f"How many grams does the part {n} weigh?" for n in (1, 2, 3)), WARM_UP]


def test_resume_after_a_stop_asks_what_is_left(lab: Lab) -> None:
    """A stopped run keeps every answer; sums, order and start are those of one pass (CASES 15)."""
    lab.write(head="passes = 1\nseed = 7")

    class Stopping(type(lab.status)):  # type: ignore[misc]
        def ended(self, row: str, outcome: Any) -> None:
            super().ended(row, outcome)
            self.stop = sum(counters.done for counters in self.rows.values()) >= 8

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("run_lab.RunStatus", Stopping)
        stopped = lab.run()
    assert all(end.held and "not asked yet" in end.held for end in stopped.values())
    ended = lab.run()
    assert {key: end.run_id for key, end in ended.items()} == {key: end.run_id for key, end in stopped.items()}
    assert all(end.held is None for end in ended.values())
    assert any("continues with" in note for note in lab.status.notes)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"row": "top_k = 3"}, "measure.topK was 2 and is now 3"),
        ({"row": 'top_k = 2\nthreshold = "1.5"'}, "measure.threshold was None and is now '1.5'"),
        ({"stack": '{ kind = "bm25", k1 = "1.2" }'}, "measure.stack."),
        ({"head": "passes = 2"}, "passes was 1 and is now 2"),
        ({"answer": 'kind = "reader"\ntemplate = "single-system/1"'}, "measure.answer.template."),
    ],
)
def test_resume_refuses_what_measures_something_else(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, change: dict[str, str], field: str
) -> None:
    """A begun pass is not continued under another measure; the field is named, and --new begins anew (CASES 6)."""
    monkeypatch.setattr("ragassay.run.passes.STACK_ATTEMPTS", 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ragassay.run.passes.search", _down)
        lab.write()
        assert lab.run()["row", 1].held
    lab.write(**change)
    with pytest.raises(InputError) as refused:
        lab.run()
    assert any(field in problem for problem in refused.value.problems)
    assert lab.run(Options(new=True))["row", 1].held is None


def test_resume_refuses_another_corpus_and_other_questions(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page or a question that changed is named by the digest it changes (CASES 6)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ragassay.run.passes.search", _down)
        lab.write()
        assert lab.run()["row", 1].held
    page = lab.folder / "docs" / "page-000.md"
    page.write_text(page.read_text(encoding="utf-8") + "\nMore.\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"measure\.corpus\.digest"):
        lab.run()
    lab.samples[0]["target"] = "1000 grams exactly."
    lab.write()
    with pytest.raises(InputError, match=r"measure\.benchmark\.digest"):
        lab.run()


def _sleeping(text: str, k: int, chunks: Any) -> list[Hit]:
    time.sleep(5)  # nobody waits for it
    return []


def _down(*args: Any, **options: Any) -> Any:
    from ragassay.errors import StackError

    raise StackError("connection refused")


def test_gone_evidence_stops_the_run_unless_allowed(lab: Lab) -> None:
    """Questions whose evidence left the corpus are named before anything is asked (CASES 19)."""
    lab.write()
    (lab.folder / "docs" / "page-004.md").write_text("# Part 4\n\nNothing.\n", encoding="utf-8")
    with pytest.raises(InputError, match="question q-004: its evidence is not in the corpus"):
        lab.run()
    assert lab.run(Options(allow_missing_evidence=True))["row", 1].held is None


def test_the_literal_judge_refuses_claims_without_literals(lab: Lab) -> None:
    """Pre-flight names every question that cannot be judged literally."""
    for n in (2, 5):
        lab.samples[n]["claims"][0].pop("must")
    lab.write()
    with pytest.raises(InputError) as refused:
        lab.run()
    assert [problem.split(":")[0] for problem in refused.value.problems] == ["question q-002", "question q-005"]


def test_no_key_is_written_anywhere(lab: Lab) -> None:
    """A key that a server echoes in an error stands in no file of the workspace (CASES 27)."""
    key = "sk-very-secret-0123456789abcdef"
    server = ChatServer(chat_replies.counter(), faults=lambda call: "200-echo" if call % 2 else "400")
    lab.with_server(
        server,
        answer='key_env = "LAB_KEY"\nlimits = { concurrency = 1 }',
        keys={"LAB_KEY": Secret(key)},
        options=Options(seal=True),
    )
    assert any(key in headers.get("Authorization", "") for headers in server.headers)
    written = lab.everything_written()
    assert "LAB_KEY" in written
    assert key not in written


def test_a_refused_key_stops_the_run(lab: Lab) -> None:
    """An authentication error is no property of a question: the run stops, and nothing is recorded as failed."""
    server = ChatServer(chat_replies.counter(), faults=lambda call: "401-echo")
    with pytest.raises(InputError, match="refused the key"):
        lab.with_server(server)
    assert "answer_failed" not in lab.everything_written()


def test_a_subset_is_a_benchmark_of_its_own(lab: Lab) -> None:
    """A subset has its own name and digest, and the same questions each time."""
    lab.write()
    ended = lab.run(Options(subset=4))
    names = {decode_run(read_run(lab.space.runs / e.run_id).files).benchmark.name for e in ended.values()}
    assert names == {"parts#4"}
    again = lab.run(Options(subset=4))
    ids = [set(lab.outputs(end)) for end in (*ended.values(), *again.values())]
    assert all(one == ids[0] and len(one) == 4 for one in ids)


def test_rows_are_interleaved_question_by_question(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows of a question are begun side by side, pass by pass, in an order that only the seed decides."""
    begun: list[tuple[int, str, str]] = []
    ask = PassRun.ask

    async def noted(run: PassRun, question: Question) -> Outcome:
        begun.append((run.k, question.id, run.row.name))
        return await ask(run, question)

    monkeypatch.setattr(PassRun, "ask", noted)
    lab.write(head="passes = 2\nseed = 3")
    lab.run()
    first = list(begun)
    begun.clear()
    assert all({first[n][2], first[n + 1][2]} == {"no-retrieval", "row"} for n in range(0, 40, 2))
    assert all(first[n][:2] == first[n + 1][:2] for n in range(0, 40, 2))
    assert [k for k, _, _ in first] == [1] * 20 + [2] * 20
    assert [q for _, q, _ in first[:20]] != [q for _, q, _ in first[20:]]
    lab.run(Options(new=True))
    assert begun == first
    begun.clear()
    lab.write(head="passes = 2\nseed = 4")
    lab.run(Options(new=True))
    assert begun != first


def test_the_default_messages_hold_nothing_of_ours(lab: Lab) -> None:
    """Each chunk is its own system message, then the question; the control row is the question alone."""
    server = ChatServer(chat_replies.echo)
    lab.with_server(server)
    roles = {tuple(message["role"] for message in request["messages"]) for request in server.requests}
    assert roles == {("user",), ("system", "system", "user")}
    assert {"temperature" in request for request in server.requests} == {False}
    assert {request["max_tokens"] for request in server.requests} == {16384}


def test_one_writer_a_pass(lab: Lab) -> None:
    """While one run writes a begun pass, a second run of the same board is refused."""
    lab.write()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ragassay.run.passes.search", _down)
        lab.run()

    async def twice() -> None:
        await asyncio.gather(lab.run_async(), lab.run_async())

    with pytest.raises(InputError, match="another process"):
        asyncio.run(twice())


def test_a_board_without_a_signed_run_says_what_is_held(lab: Lab) -> None:
    """When every pass of a first run is held, the board names them and does not say that nothing was run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ragassay.run.passes.search", _down)
        lab.write()
        lab.run()
    board = build(find_places(lab.folder))
    assert board.sentence.startswith("No run is signed yet. ")
    assert "row: pass 1 of 1 is not signed: 0 of 10 questions judged, 10 retrieval_failed" in board.sentence


def test_a_few_failures_are_asked_once_more_before_the_pass_ends(tmp_path: Path) -> None:
    """One question in twenty that a service failed on is asked again in the same run, and its attempts are summed."""
    lab = Lab(tmp_path, questions=20)
    server = ChatServer(chat_replies.counter(), faults={3: "400"})
    ended = lab.with_server(server, answer="limits = { concurrency = 1 }")
    assert all(end.held is None and not end.missing for end in ended.values())
    assert server.calls == 41
    attempts = [row.answer_attempts for end in ended.values() for row in lab.telemetry(end).values()]
    assert sorted(attempts) == [1] * 39 + [2]
    assert {name: (row.done, row.asked) for name, row in lab.status.rows.items()} == {
        "no-retrieval": (20, 20),
        "row": (20, 20),
    }


def test_what_fails_again_is_counted_once(tmp_path: Path) -> None:
    """A question that no retry helps is asked twice and stands once in the counts; within the floor it is signed."""
    lab = Lab(tmp_path, questions=50)

    def refuse(body: dict[str, Any]) -> str:
        return "" if "part 7 " in json.dumps(body) else "fine"

    server = ChatServer(refuse)
    ended = lab.with_server(server, answer="limits = { concurrency = 8 }")
    assert {name: dict(end.missing) for (name, _), end in ended.items()} == {
        "no-retrieval": {"answer_failed": 1},
        "row": {"answer_failed": 1},
    }
    assert all(end.held is None for end in ended.values())
    assert server.calls == 2 * 49 + 2 * 2 * 3


def test_a_judge_that_says_nothing_is_asked_no_more_than_it_may(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge plugin whose replies hold no text ends every item unjudged, after its attempts and with no score."""
    asked = 0

    async def grade(_self: LiteralJudge, _item: JudgeItem) -> RawVerdict:
        nonlocal asked
        asked += 1
        return RawVerdict(nonce="", text=None, attempts=0)

    monkeypatch.setattr(LiteralJudge, "grade", grade)
    lab.write()
    ended = lab.run(Options(seal=True))
    assert asked == LiteralJudge.attempts * lab.questions * len(ended)
    for end in ended.values():
        assert {(row.status, row.score) for row in lab.outputs(end).values()} == {("judge_failed", None)}
