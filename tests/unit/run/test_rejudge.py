"""Further judges of stored answers: what they are asked, what is kept, and how it ends as signed files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from judge_lab import PANEL_LITERAL, PANEL_LLM, JudgeLab, literal_lab, model
from run_lab import SIGNER

from ragassay.cli import root
from ragassay.errors import InputError
from ragassay.manifest import MANIFEST
from ragassay.manifest.judgement import JudgementDocument
from ragassay.manifest.judgement_folder import judgement_folders, read_judgement
from ragassay.records import JSON
from ragassay.run.journal import claimed
from ragassay.run.judge_making import make_judges
from ragassay.run.judge_panel import Wanted, store_plan
from ragassay.run.judge_run import JudgementEnded
from ragassay.run.prepared import Options
from ragassay.testing import chat_replies
from ragassay.testing.chat_server import ChatServer
from ragassay.verify import PinnedKey
from ragassay.verify.judgement import verify_judgement


def checked(lab: JudgeLab) -> None:
    """Assert that every judgement of the workspace verifies against its run, by the pinned key."""
    for run in lab.verified():
        for folder in judgement_folders(lab.space.root, run.id):
            report = verify_judgement(
                read_judgement(folder).files, run_files=run.files, policy=PinnedKey(SIGNER.public), now=2**40
            )
            assert report.ok(strict=True), report.findings


def test_a_second_judge_judges_every_answer_of_every_run(tmp_path: Path) -> None:
    """Two rows of two passes are judged as they are stored; what was signed stays byte for byte."""
    lab = literal_lab(tmp_path, 5, passes=2)
    before = lab.run_bytes()
    server = ChatServer(chat_replies.judge)
    ended = lab.judge(server)
    assert [one.held for one in ended] == [None] * 4
    assert server.calls == 4 * 5
    for document in lab.all_documents():
        assert document.predicate.purpose == "panel"
        assert document.predicate.metric.id == "factual-consistency/2-judged-by-judge-2"
        assert [row.score for row in document.rows] == [100] * 5
        assert all(took.judge_attempts == 1 and len(took.judge_replies) == 1 for took in document.replies)
    assert lab.run_bytes() == before
    checked(lab)


def test_what_is_judged_is_not_judged_again(tmp_path: Path) -> None:
    """A second call asks nothing; asked to judge again it makes another judgement, with the next number."""
    lab = literal_lab(tmp_path, 3)
    lab.judge(ChatServer(chat_replies.judge))
    server = ChatServer(chat_replies.judge)
    assert len(lab.judge(server)) == 2, "the server's address has changed, and with it the judge"
    lab.judge(tables=PANEL_LITERAL)
    assert lab.judge(tables=PANEL_LITERAL) == []
    again = lab.judge(tables=PANEL_LITERAL, panel=True, again=True)
    assert [one.n for one in again] == [2, 2]
    checked(lab)


FAULTS = ("429", "500", "200-error", "no-choices", "empty", "no-json", "truncated", "hang-up")


def test_faults_never_become_scores(tmp_path: Path) -> None:
    """Eight kinds of fault in some hundred calls are retried; each score is that of a verdict, each call is counted."""
    lab = literal_lab(tmp_path, 50)
    scripted = {7 + 12 * at: name for at, name in enumerate(FAULTS)}
    server = ChatServer(chat_replies.judge, faults=scripted)
    ended = lab.judge(server)
    assert all(one.held is None for one in ended)
    attempts = sum(took.judge_attempts for document in lab.all_documents() for took in document.replies)
    assert attempts == server.calls == 100 + len(FAULTS)
    assert all(row.score == 100 for document in lab.all_documents() for row in document.rows)
    tokens = [took.judge_usage.input_tokens for document in lab.all_documents() for took in document.replies]
    assert all(tokens)
    checked(lab)


def _garbage_for(name: str) -> Callable[[JSON], str]:
    def reply(body: JSON) -> str:
        text = chat_replies.echo(body)
        return "no verdict" if f"the part {name} weigh" in text else chat_replies.judge(body)

    return reply


def test_invalid_replies_are_asked_for_three_times_and_kept(tmp_path: Path) -> None:
    """No fourth call, no score, every raw reply with why it was refused; nonces differ."""
    lab = literal_lab(tmp_path, 4)
    server = ChatServer(_garbage_for("2"))
    ended = lab.judge(server)
    assert server.calls == 2 * (3 + 3)
    assert all(one.counts and one.counts.unjudged == 1 and one.held is None for one in ended)
    for document in lab.all_documents():
        row, took = document.rows[2], document.replies[2]
        assert (row.status, row.score, row.verdict) == ("judge_failed", None, None)
        assert row.failure is not None
        assert row.failure.kind == "unjudged"
        assert [reply.text for reply in took.judge_replies] == ["no verdict"] * 3
        assert all(reply.problem for reply in took.judge_replies)
        assert len({reply.nonce for reply in took.judge_replies}) == 3
    checked(lab)


def test_a_service_that_is_down_holds_the_judgement_open(tmp_path: Path) -> None:
    """Nothing is signed while a service failed on many items; the next call asks only those again."""
    lab = literal_lab(tmp_path, 6)
    broken = ChatServer(chat_replies.judge, faults=lambda call: "404" if call <= 6 else None)
    ended = lab.judge(broken)
    assert any(one.held and "the judge failed on" in one.held for one in ended)
    assert broken.calls == 12
    healthy = _served_again(broken)
    assert all(one.held is None for one in lab.judge(healthy))
    assert healthy.calls == 6
    assert [row.score for document in lab.all_documents() for row in document.rows] == [100] * 12
    checked(lab)


def test_a_service_that_stays_down_can_be_sealed(tmp_path: Path) -> None:
    """With `seal` items that a service failed on are signed as what they are: unjudged, with the kind of failure."""
    lab = literal_lab(tmp_path, 3)
    lab.judge(ChatServer(chat_replies.judge, faults=lambda _: "400"), panel=True, seal=True)
    for document in lab.all_documents():
        assert document.predicate.score is None
        assert document.predicate.counts.unjudged == 3
        assert {row.failure.kind for row in document.rows if row.failure} == {"bad_request"}
    checked(lab)


def test_questions_without_an_answer_are_not_judged(tmp_path: Path) -> None:
    """Where the run has no answer there is nothing to judge, and the reason stands in the row."""
    lab = JudgeLab(tmp_path, 4)
    faults = ChatServer(chat_replies.counter(), faults=lambda call: "400" if call in (1, 5) else None)
    lab.with_server(faults, options=Options(seal=True), answer="limits = { concurrency = 1 }")
    lab.judge(tables=PANEL_LITERAL, panel=True)
    rows = [row for document in lab.all_documents() for row in document.rows]
    left = [row for row in rows if row.status == "not_judged"]
    assert len(left) == 2
    assert {row.failure.kind for row in left if row.failure} == {"no_answer"}
    assert all(row.score is None for row in left)
    checked(lab)


def test_claims_without_literals_are_not_judged_literally(tmp_path: Path) -> None:
    """In a panel the literal judge leaves out what it cannot read; it does not fail and does not score."""
    lab = JudgeLab(tmp_path, 4)
    for sample in lab.samples[:2]:
        del sample["claims"][0]["must"]
    server = ChatServer(chat_replies.judge)
    lab.with_server(server, judge=f'kind = "llm"\nmodel = {model("{url}")}')
    lab.judge(tables=PANEL_LITERAL, panel=True)
    for document in lab.all_documents():
        assert [row.status for row in document.rows] == ["not_judged"] * 2 + ["judged"] * 2
        assert {row.failure.kind for row in document.rows if row.failure} == {"no_literals"}
    checked(lab)


def _llm_lab(tmp_path: Path, questions: int, server: ChatServer) -> JudgeLab:
    lab = JudgeLab(tmp_path, questions)
    lab.with_server(server, judge=f'kind = "llm"\nmodel = {model("{url}")}')
    return lab


def _served_again(server: ChatServer, reply: Callable[[JSON], str] = chat_replies.judge) -> ChatServer:
    return ChatServer(reply, port=int(server.base_url.rsplit(":", 1)[1].split("/")[0]))


def test_a_fifth_of_the_answers_and_the_whole_control_are_asked_again(tmp_path: Path) -> None:
    """By default the run's own model judge is asked again about 20 % of each row, and about all of the control."""
    first = ChatServer(chat_replies.judge)
    lab = _llm_lab(tmp_path, 10, first)
    again = _served_again(first)

    async def work() -> None:
        async with again:
            await lab.judge_async(reask=True)

    asyncio.run(work())
    drawn = {
        document.predicate.row.name: [row.status for row in document.rows].count("judged")
        for document in lab.all_documents()
    }
    assert drawn == {"no-retrieval": 10, "row": 2}
    assert again.calls == 12
    for document in lab.all_documents():
        assert document.predicate.purpose == "reask"
        left = [row.failure.kind for row in document.rows if row.failure]
        assert set(left) <= {"not_drawn"}
    checked(lab)


def test_a_deterministic_judge_is_not_asked_again_by_default(tmp_path: Path) -> None:
    """`literal` says the same a second time: nothing is drawn unless the board names a share."""
    lab = literal_lab(tmp_path, 5)
    assert lab.judge(reask=True) == []


def test_a_run_of_another_judge_is_not_asked_again(tmp_path: Path) -> None:
    """A reask is by the judge of the run: where the board's own is another by now, that is said and nothing done."""
    lab = literal_lab(tmp_path, 3)
    path = tmp_path / "board.toml"
    table = 'kind = "llm"\nmodel = ' + model("http://127.0.0.1:9/v1")
    path.write_text(path.read_text(encoding="utf-8").replace('[judge]\nkind = "literal"', f"[judge]\n{table}"))
    judges = make_judges(lab.board(), {})
    jobs = lab.jobs(Wanted(own=judges.own, reask="20%"))
    assert jobs.jobs == []
    assert len(jobs.left_out) == 2
    assert "literal/1, is not the one" in jobs.left_out[0]


def test_null_rows_score_zero_with_the_literal_judge(tmp_path: Path) -> None:
    """Three texts in place of every answer of one run, the empty one settled without a reply; each scores 0."""
    lab = literal_lab(tmp_path, 4, passes=2)
    ended = lab.judge(null_rows=True)
    assert [one.null_row for one in ended] == ["empty", "constant", "injection"]
    assert {one.row for one in ended} == {"no-retrieval"}
    assert all(one.score is not None and one.score.num == 0 and one.score.den == 400 for one in ended)
    empty = next(one for one in lab.all_documents() if one.predicate.null_row == "empty")
    assert all(not took.judge_replies for took in empty.replies)
    assert empty.predicate.shown == ""
    assert lab.judge(null_rows=True) == []
    checked(lab)


def test_a_judge_that_obeys_the_injection_is_seen(tmp_path: Path) -> None:
    """Its marks for nothing are signed as they are, and not hidden."""
    first = ChatServer(chat_replies.judge)
    lab = _llm_lab(tmp_path, 3, first)
    again = _served_again(first)

    async def work() -> list[JudgementEnded]:
        async with again:
            return await lab.judge_async(null_rows=True)

    ended = {one.null_row: one for one in asyncio.run(work())}
    assert again.calls == 6, "the empty text is settled by code"
    scores = {name: one.score.decimal for name, one in ended.items() if one.score}
    assert scores == {"empty": "0.0000", "constant": "1.0000", "injection": "1.0000"}
    checked(lab)


def test_a_run_that_fails_verification_is_not_judged(tmp_path: Path) -> None:
    """What was changed after signing is left out, and that is said."""
    lab = literal_lab(tmp_path, 3)
    run = sorted(lab.space.runs.iterdir())[0]
    path = run / "outputs.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"score":', b'"score": ', 1))
    lab.add_panel(PANEL_LITERAL)
    jobs = lab.jobs(Wanted(panel=make_judges(lab.board(), {}).panel))
    assert len(jobs.jobs) == 1
    assert any("failed verification" in line for line in jobs.left_out)


def test_runs_of_another_profile_are_left_out(tmp_path: Path) -> None:
    """A board judges by one profile; a run of the other is named and not judged."""
    lab = literal_lab(tmp_path, 3)
    path = tmp_path / "board.toml"
    text = path.read_text(encoding="utf-8").replace("[benchmark]\n", '[benchmark]\nscorer = "factual-consistency/1"\n')
    text = text.replace(
        '[judge]\nkind = "literal"', "[judge]\n" + 'kind = "llm"\nmodel = ' + model("http://127.0.0.1:9/v1")
    )
    path.write_text(text, encoding="utf-8")
    lab.add_panel(PANEL_LLM.replace("{model}", model("http://127.0.0.1:9/v1")))
    jobs = lab.jobs(Wanted(panel=make_judges(lab.board(), {}).panel))
    assert jobs.jobs == []
    assert all("the board's scorer is factual-consistency/1" in line for line in jobs.left_out)


def test_two_judges_that_are_one_are_refused(tmp_path: Path) -> None:
    """A judgement names its judge by what it is: the same judge under two names would be judged once."""
    lab = literal_lab(tmp_path, 2)
    lab.add_panel(PANEL_LITERAL + PANEL_LITERAL.replace("by literals", "again"))
    with pytest.raises(InputError, match="one and the same"):
        lab.jobs(Wanted(panel=make_judges(lab.board(), {}).panel))


def test_a_budget_holds_for_further_judges(tmp_path: Path) -> None:
    """Judging stops when the money is spent, keeps what was judged, and needs a price for every model."""
    lab = literal_lab(tmp_path, 6)
    path = tmp_path / "board.toml"
    path.write_text('budget = { max_usd = "0.000001" }\n' + path.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(InputError, match="needs a price for the model of 'second'"):
        lab.judge(ChatServer(chat_replies.judge))
    price = 'price = { input_usd_per_mtok = "1", output_usd_per_mtok = "1" }, limits = { concurrency = 1 }'
    server = ChatServer(chat_replies.judge)
    with pytest.raises(InputError, match="budget"):
        lab.judge(server, PANEL_LLM.replace("{model}", model("http://127.0.0.1:9/v1", price)))
    assert lab.all_documents() == []


def test_one_process_judges_at_a_time(tmp_path: Path) -> None:
    """The workspace's judgements have one writer; the second is told and waits for nothing."""
    lab = literal_lab(tmp_path, 2)
    lab.add_panel(PANEL_LITERAL)
    with claimed(lab.space.root / "judgements" / ".lock"):
        result = CliRunner().invoke(root, ["judge", str(tmp_path)])
    assert isinstance(result.exception, InputError)
    assert "being written by another process" in str(result.exception)


def test_a_tampered_judgement_counts_for_nothing_and_is_made_anew(tmp_path: Path) -> None:
    """A judgement that fails verification is named and left as it is, and another is made under the next number."""
    lab = literal_lab(tmp_path, 3)
    lab.judge(tables=PANEL_LITERAL, panel=True)
    folder = next(iter(sorted((lab.space.root / "judgements").glob("*/*-panel-1"))))
    path = folder / "verdicts.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"score":0', b'"score":1').replace(b'"score":100', b'"score":99'))
    jobs = lab.jobs(Wanted(panel=make_judges(lab.board(), {}).panel))
    assert [(job.run.id, job.plan.n) for job in jobs.jobs] == [(folder.parent.name, 2)]
    assert any("does not count: OUTPUTS_DIGEST" in line for line in jobs.left_out)


def test_a_judgement_names_the_bytes_of_its_run(tmp_path: Path) -> None:
    """`of` is the digest of the run's envelope, and the judge is described whole."""
    lab = literal_lab(tmp_path, 2)
    lab.judge(tables=PANEL_LITERAL, panel=True)
    for run in lab.verified():
        document: JudgementDocument = lab.documents(run.id)[0]
        assert document.predicate.of.sha256 == run.of
        assert document.judge["describe"]["kind"] == "literal"
        assert run.files[MANIFEST]


def test_a_begun_reask_keeps_the_share_that_it_began_with(tmp_path: Path) -> None:
    """Whoever raises the share later continues what was begun; nothing that was drawn is dropped."""
    lab = literal_lab(tmp_path, 5)
    judges = make_judges(lab.board(), {})
    first = lab.jobs(Wanted(own=judges.own, reask="40%")).jobs
    for job in first:
        store_plan(lab.space, job)
    then = lab.jobs(Wanted(own=judges.own, reask="100%")).jobs
    assert [(job.begun, job.plan.share, job.plan.n) for job in then] == [(True, "40%", 1)] * 2
    assert json.loads(msgspec.json.encode(then[0].plan))["share"] == "40%"
