"""What the page for drafted questions sends and takes: decisions on what was shown, and nothing else is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import calibration_lab as lab
import pytest
from question_lab import HOSTILE, Reviewer, desk_on, sample, samples, write_set

from ragassay.canon import sha256
from ragassay.question import load_benchmark, load_reviews, reviewed
from ragassay.question.reviews import encode_line, material, reviews_beside
from ragassay.web.question_desk import QuestionDesk

WHOLE = {"reviewer": "b", "id": "log", "decision": "accept", "material": "", "pageSha256": None, "shown": ""}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A question file with its documentation."""
    return write_set(tmp_path)


@pytest.fixture
def desk(file: Path) -> QuestionDesk:
    """The desk of that file."""
    return desk_on(file)


@pytest.fixture
def ben(desk: QuestionDesk) -> Reviewer:
    """A reviewer who is not the author."""
    return Reviewer(desk)


def test_an_acceptance_says_who_when_and_what_was_seen(ben: Reviewer, file: Path) -> None:
    """The stored line holds the digests of question, page and passage, and the rules shown; the file is as it was."""
    before = file.read_bytes()
    reply = ben.decide(ben.item("port"), "accept")
    assert reply.status == 200
    (line,) = load_reviews(reviews_beside(file))
    question = load_benchmark(file).questions[0]
    page = (file.parent / "docs" / "net.md").read_text(encoding="utf-8")
    assert (line.question, line.decision, line.reviewer, line.by_author) == ("port", "accept", "B. Reader", False)
    assert line.material == material(question)
    assert (line.seen.page, line.seen.page_sha256) == ("net.md", sha256(page.encode()))
    assert line.seen.passage is not None
    assert line.seen.passage.sha256 == sha256(page[line.seen.passage.start : line.seen.passage.end].encode())
    assert list(line.seen.lint) == sorted({one["rule"] for one in ben.item("port")["lint"]})
    assert {one["id"]: one["state"] for one in reply.json["questions"]}["port"] == "accepted"
    assert file.read_bytes() == before
    assert reviewed(load_benchmark(file), [line]).accepted == ("port",)


def test_the_passage_is_marked_and_what_is_hidden_is_written_out(ben: Reviewer) -> None:
    """The pieces join to the page's text, the marked ones to the evidence; nothing that steers is sent."""
    (passage,) = ben.item("port")["passages"]
    assert (passage["state"], passage["folds"], passage["page"]) == ("folded", ["whitespace"], "net.md")
    assert passage["address"] == "https://acme.example/net"
    marked = "".join(piece["text"] for piece in passage["pieces"] if piece["marked"])
    assert marked == "The server listens\non port 8080 by default."
    text = "".join(piece["text"] for piece in passage["pieces"])
    assert "<script>" in text
    assert "[U+001B][31m[U+202E]evil[U+200B]" in text
    assert not {"\x1b", "\u202e", "\u200b"} & set(ben.get("/questions/item?reviewer=b&id=port").body.decode())


def test_an_error_of_the_lint_forbids_acceptance_until_it_is_waived(ben: Reviewer, file: Path) -> None:
    """Evidence that is gone cannot be accepted, only rejected, edited, or waived with a reason that is shown."""
    shown = ben.item("wait")
    assert "evidence-missing" in shown["refusals"][0]
    assert ben.decide(shown, "accept").status == 422
    assert load_reviews(reviews_beside(file)) == []
    file.with_suffix(".waive").write_text("evidence-missing wait  # the page is being rewritten\n", encoding="utf-8")
    assert ben.decide(shown, "accept").status == 409
    shown = ben.item("wait")
    assert [one["waived"] for one in shown["lint"] if one["rule"] == "evidence-missing"] == [
        "the page is being rewritten"
    ]
    assert ben.decide(shown, "accept").status == 200


def test_an_edit_is_checked_without_being_stored_and_taken_as_it_was_checked(ben: Reviewer, file: Path) -> None:
    """A faulty form is refused with what is wrong; the mended one is stored whole, without a provenance of its own."""
    form = {**ben.item("wait")["form"], "evidence": ["It waits 16 seconds for every client."]}
    checked = ben.check("wait", form)
    assert checked["refusals"]
    assert ben.decide(checked, "edit", "wait", form=form).status == 422
    assert not reviews_beside(file).exists()
    good = {**form, "evidence": ["It waits 16 seconds for a client."]}
    assert ben.decide(checked, "edit", "wait", form=good).status == 409, "it was not this form that was checked"
    assert ben.edit("wait", evidence=good["evidence"]).status == 200
    (line,) = load_reviews(reviews_beside(file))
    assert line.edited is not None
    assert line.edited.evidence == ("It waits 16 seconds for a client.",)
    assert line.edited.provenance is None
    taken = {one.id: one for one in reviewed(load_benchmark(file), [line]).benchmark.questions}["wait"]
    assert taken.provenance is not None
    assert (taken.provenance.author, taken.provenance.reviewed_by) == ("A. Writer", "B. Reader")
    assert ben.item("wait")["edited"]["evidence"] == ["It waits 16 seconds for a client."]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"input": " "}, "input: is blank"),
        ({"claims": [{"text": "x", "central": False, "must": [], "must_not": []}]}, "none is central"),
        ({"claims": [{"text": "x", "central": True, "must": [[]], "must_not": []}]}, "empty list"),
        ({"evidence": ["a b c", "a b c"]}, "stands twice"),
        ({"target": 7}, "target: expected text"),
        ({"provenance": {}}, "unknown key"),
        ({"id": "other"}, "unknown key"),
    ],
)
def test_a_form_that_is_no_question_is_refused(ben: Reviewer, file: Path, changes: Any, problem: str) -> None:
    """Each defect is named as it would be in a file, and nothing is stored."""
    form = {**ben.item("log")["form"], **changes}
    assert problem in " ".join(ben.check("log", form)["problems"])
    reply = ben.decide(ben.item("log"), "edit", form=form)
    assert reply.status == 422
    assert not reviews_beside(file).exists()


def test_an_edit_into_the_words_of_another_question_is_refused(ben: Reviewer, file: Path) -> None:
    """Two questions that ask the same make no set; once the other is rejected they do not."""
    words = samples()[0]["input"]
    assert "port" in ben.check("log", {**ben.item("log")["form"], "input": words})["refusals"][-1]
    assert ben.edit("log", input=words).status == 422
    assert ben.decide(ben.item("port"), "reject", reason="asked elsewhere").status == 200
    assert ben.edit("log", input=words).status == 200
    assert reviewed(load_benchmark(file), load_reviews(reviews_beside(file))).rejected == ("port",)


def test_nothing_changed_is_no_edit(ben: Reviewer) -> None:
    """The form as it stands is accepted, not edited."""
    assert ben.check("log", ben.item("log")["form"])["same"] is True
    assert ben.edit("log").status == 422


def test_a_rejection_needs_a_reason_and_can_be_taken_back(ben: Reviewer, file: Path) -> None:
    """A blank reason is none; undo makes the question unreviewed again, and by its own reviewer alone."""
    shown = ben.item("bare")
    assert {ben.decide(shown, "reject", reason=text).status for text in ("", "  ", "x" * 2001)} == {422}
    assert ben.decide(shown, "reject", reason=" not in the manual ").status == 200
    decision = ben.item("bare")["decision"]
    assert decision["reason"] == "not in the manual"
    assert Reviewer(desk_on(file), "C. Other").undo("bare", decision["line"]).status == 422
    assert ben.undo("bare", decision["line"]).status == 200
    assert ben.states()["bare"] == "unreviewed"
    assert ben.undo("bare", decision["line"]).status == 409
    assert [line.decision for line in load_reviews(reviews_beside(file))] == ["reject", "undo"]


def test_two_reviewers_at_once_notice_each_other(ben: Reviewer, file: Path) -> None:
    """The second decides only after having seen the first one's decision; the same decision twice is written once."""
    other = Reviewer(desk_on(file), "C. Other")
    first, second = ben.item("log"), other.item("log")
    assert ben.decide(first, "accept").status == 200
    assert ben.decide(first, "accept").status == 200, "a reply that was lost is asked for again"
    refused = other.decide(second, "reject", reason="no")
    assert refused.status == 409
    assert other.decide(other.item("log"), "reject", reason="no").status == 200
    assert [line.reviewer for line in load_reviews(reviews_beside(file))] == ["B. Reader", "C. Other"]


@pytest.mark.parametrize("what", ["question", "gone", "page", "waivers", "broken"])
def test_what_changes_under_the_page_is_noticed(ben: Reviewer, file: Path, what: str) -> None:
    """A decision on what is no longer there is refused, and nothing of what was decided before is lost."""
    ben.decide(ben.item("port"), "accept")
    shown = ben.item("log")
    changed = samples()
    if what == "question":
        changed[2]["target"] = "It is called server.log, always."
    elif what == "gone":
        del changed[2]
    elif what == "page":
        (file.parent / "docs" / "log.md").write_text(
            "# Log\n\nThe Acme log is called server.log now.\n", encoding="utf-8"
        )
    elif what == "waivers":
        file.with_suffix(".waive").write_text("this is no waiver at all\n", encoding="utf-8")
    file.write_text(
        "{" if what == "broken" else json.dumps({"name": "Acme server", "samples": changed}), encoding="utf-8"
    )
    assert ben.decide(shown, "accept").status == (422 if what in ("waivers", "broken") else 409)
    assert [line.question for line in load_reviews(reviews_beside(file))] == ["port"]


def test_a_changed_question_is_stale_until_it_is_decided_again(ben: Reviewer, file: Path) -> None:
    """What was accepted under other words does not count, and the page says who took which decision."""
    ben.decide(ben.item("log"), "accept")
    changed = samples()
    changed[2]["target"] = "The log is called server.log."
    write_set(file.parent, changed)
    shown = ben.item("log")
    assert (shown["state"], shown["decision"]["reviewer"]) == ("stale", "B. Reader")
    assert ben.decide(shown, "accept").status == 200
    assert ben.states()["log"] == "accepted"


def test_an_author_who_reviews_is_told_and_recorded(desk: QuestionDesk, file: Path) -> None:
    """The name in other letters is the same name."""
    ann = Reviewer(desk, "a.  writer")
    shown = ann.item("log")
    assert shown["isAuthor"] is True
    ann.decide(shown, "accept")
    assert load_reviews(reviews_beside(file))[0].by_author is True


def test_without_documentation_the_words_alone_are_decided(file: Path) -> None:
    """The page says that there is none, and the line that nothing of a page was seen."""
    ben = Reviewer(desk_on(file, corpus=False))
    shown = ben.item("wait")
    assert (shown["corpus"], shown["passages"], shown["pageSha256"]) == (False, [], None)
    assert ben.decide(shown, "accept").status == 200
    (line,) = load_reviews(reviews_beside(file))
    assert (line.seen.page, line.seen.page_sha256, line.seen.passage) == (None, None, None)


def test_hidden_characters_stay_where_a_field_is_left_alone(tmp_path: Path) -> None:
    """The form writes them out; an untouched field comes back as it was, a changed one holds what was typed."""
    hidden = "It is called\u200b server.log \u202enow."
    file = write_set(tmp_path, [sample("log", "What is the Acme log called?", hidden, "server.log")])
    ben = Reviewer(desk_on(file, corpus=False))
    form = ben.item("log")["form"]
    assert form["target"] == "It is called[U+200B] server.log [U+202E]now."
    assert ben.edit("log", input="What is the log of Acme called?").status == 200
    assert ben.edit("log", input="What is the log of Acme named?", target=f"{form['target']}!").status == 200
    targets = [line.edited.target for line in load_reviews(reviews_beside(file)) if line.edited]
    assert targets == [hidden, f"{form['target']}!"]


def test_hostile_words_are_sent_as_text(tmp_path: Path) -> None:
    """Whatever stands in question, target, topic, author or file name reaches the page as visible text in JSON."""
    question = sample(
        "<b>id</b>", f"What is {HOSTILE}?", HOSTILE, "evil", topic=HOSTILE, provenance={"author": HOSTILE}
    )
    folder = tmp_path / "docs\u202e<b>"
    folder.mkdir()
    ben = Reviewer(desk_on(write_set(folder, [question])))
    replies = [ben.get("/questions/begin"), ben.get("/questions/state?reviewer=b")]
    replies.append(ben.get("/questions/item?reviewer=b&id=%3Cb%3Eid%3C/b%3E"))
    for reply in replies:
        assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
        text = json.dumps(reply.json, ensure_ascii=False)
        assert not {"\x1b", "\u202e", "\u200b"} & set(text)
    assert "[U+202E]evil" in replies[2].json["form"]["target"]


def test_a_torn_last_line_is_cut_off_and_another_wrong_line_stops_the_page(ben: Reviewer, file: Path) -> None:
    """What a kill leaves is no decision; what somebody broke is named with its number and nothing is added to it."""
    ben.decide(ben.item("log"), "accept")
    path = reviews_beside(file)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:40])
    assert ben.states()["log"] == "accepted"
    assert ben.decide(ben.item("port"), "accept").status == 200
    assert path.read_bytes().startswith(whole)
    assert len(load_reviews(path)) == 2
    path.write_bytes(b"{}\n" + whole)
    reply = ben.get("/questions/state?reviewer=b")
    assert reply.status == 422
    assert "line 1" in reply.json["problem"]
    assert path.read_bytes() == b"{}\n" + whole


def test_each_line_is_in_canonical_form(ben: Reviewer, file: Path) -> None:
    """What is written is what is read, byte for byte."""
    ben.decide(ben.item("log"), "accept")
    ben.edit("wait", evidence=["It waits 16 seconds for a client."])
    path = reviews_beside(file)
    assert path.read_bytes() == b"".join(encode_line(line) + b"\n" for line in load_reviews(path))


@pytest.mark.parametrize(
    "sent",
    [{}, {"reviewer": "b"}, {**WHOLE, "reviewer": ""}, {**WHOLE, "decision": "undo"}, {**WHOLE, "more": 1},
     {**WHOLE, "reach": 701}, {**WHOLE, "id": 7}],
)  # fmt: skip
def test_what_is_no_decision_is_refused(ben: Reviewer, file: Path, sent: Any) -> None:
    """Unknown, missing and ill-typed members store nothing."""
    assert ben.post("/questions/decide", sent).status == 422
    assert not reviews_beside(file).exists()


def test_the_guard_stands_before_every_route(ben: Reviewer, desk: QuestionDesk, file: Path) -> None:
    """Without the cookie, from another origin or as a form nothing is shown or stored."""
    shown = ben.item("log")
    sent = {
        "reviewer": "b",
        "id": "log",
        "decision": "accept",
        **{k: shown[k] for k in ("material", "pageSha256", "shown")},
    }
    assert ben.post("/questions/decide", sent, origin="https://evil.example").status == 403
    assert ben.post("/questions/decide", sent, cookie="").status == 403
    assert ben.post("/questions/decide", sent, content_type="text/plain").status == 415
    for path in (
        "/questions",
        "/questions/state?reviewer=b",
        "/questions/item?reviewer=b&id=log",
        "/app.js",
        "/questions/questions.js",
    ):
        assert lab.ask(ben.app, path, headers={"host": lab.HOST}).status == 403
    page = ben.get("/questions")
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert not reviews_beside(file).exists()


def test_two_thousand_questions_and_a_page_of_sixteen_mebibytes(tmp_path: Path) -> None:
    """The list, one question and a decision are there in seconds, and the passage is a small part of the page."""
    import time

    line = "Nothing of this kind of thing is ever said about it here, or anywhere else at all.\n"
    page = line * ((16 << 20) // len(line) - 1) + "The Acme limit is 4242 things.\n"
    questions = [
        sample(f"q{n}", f"Which limit number {n} does Acme have?", f"It is {n} things.", str(n)) for n in range(1999)
    ]
    own = sample("limit", "What is the Acme limit?", "It is 4242 things.", "4242", page="big.md",
                 evidence="The Acme limit is 4242 things.")  # fmt: skip
    ben = Reviewer(desk_on(write_set(tmp_path, [*questions, own], {"big.md": page})))
    assert len(ben.states()) == 2000
    begun = time.monotonic()
    shown = ben.item("limit")
    assert ben.decide(shown, "accept").status == 200
    assert ben.states()["limit"] == "accepted"
    assert time.monotonic() - begun < 15
    assert sum(len(piece["text"]) for piece in shown["passages"][0]["pieces"]) < 2500


def test_what_is_looked_at_ahead_is_counted(desk: QuestionDesk, ben: Reviewer) -> None:
    """Before a question was looked at its findings are not known, which is not none."""
    from threading import Event

    before = {one["id"]: one["errors"] for one in ben.get("/questions/state?reviewer=b").json["questions"]}
    desk.look_ahead(Event())
    after = {one["id"]: one["errors"] for one in ben.get("/questions/state?reviewer=b").json["questions"]}
    assert set(before.values()) == {None}
    assert (after["wait"], after["port"]) == (1, 0)
