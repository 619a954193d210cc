"""What the page's addresses send and take: one answer, nothing of rows and verdicts, and only a rater's own ratings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import calibration_lab as lab
import msgspec
import pytest

from ragassay.site.calibration.ledger import Ledger
from ragassay.site.calibration.ratings import latest

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202eevil\u200b<img src=x onerror=alert(2)>"
ITEMS = [lab.item(n, {"secret-row": [25 * (n % 5)]}) for n in range(1, 6)]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """An empty file of ratings."""
    return Ledger(tmp_path)


@pytest.fixture
def visitor(ledger: Ledger) -> lab.Visitor:
    """A browser with the page open."""
    return lab.Visitor(*lab.open_app(ledger, ITEMS))


def rate(visitor: lab.Visitor, item: Any, rater: str = "ann", **what: Any) -> lab.Reply:
    """Rate an answer as the page does."""
    return visitor.post("/calibrate/rate", {"rater": rater, "item": item.key, **what})


def test_a_rating_is_stored_before_it_is_confirmed(visitor: lab.Visitor, ledger: Ledger) -> None:
    """The reply says what the file holds."""
    reply = rate(visitor, ITEMS[0], level=75)
    (line,) = ledger.ratings()
    assert reply.json == {
        "ratings": {ITEMS[0].key: {"level": 75, "reason": None}},
        "last": {"item": ITEMS[0].key, "rating": line.id},
    }
    assert (line.rater, line.question, line.level, line.answer) == ("ann", "q-001", 75, ITEMS[0].answer)


def test_another_rater_sees_nothing_of_it(visitor: lab.Visitor) -> None:
    """Each rater's state holds that rater's ratings alone, over the same answers in another order."""
    rate(visitor, ITEMS[0], level=75)
    ann, ben = (visitor.get(f"/calibrate/state?rater={name}").json for name in ("ann", "ben"))
    assert (len(ann["ratings"]), ben["ratings"], ben["last"]) == (1, {}, None)
    assert sorted(ann["items"]) == sorted(ben["items"]) == sorted(item.key for item in ITEMS)


def test_nothing_that_is_sent_names_row_verdict_or_score(visitor: lab.Visitor) -> None:
    """A rater can look at every byte that the page gets and stays blind."""
    sent = [visitor.get(f"/calibrate/item/{item.key}") for item in ITEMS]
    sent += [visitor.get("/calibrate/state?rater=ann"), visitor.get("/calibrate/rubric")]
    assert {reply.status for reply in sent} == {200}
    text = b"".join(reply.body for reply in sent)
    assert b"secret-row" not in text
    assert b"score" not in text
    assert b"SUPPORTS" not in text
    members = {"key", "question", "reference", "claims", "evidence", "answer", "cut"}
    assert all(set(reply.json) == members for reply in sent[:5])


def test_a_hostile_answer_is_sent_as_visible_text(ledger: Ledger) -> None:
    """Controls and reordering characters are written out; markup stays text in a JSON string."""
    item = lab.item(1, {"a": [0]}, HOSTILE)
    visitor = lab.Visitor(*lab.open_app(ledger, [item]))
    reply = visitor.get(f"/calibrate/item/{item.key}")
    assert reply.headers["content-type"] == "application/json"
    shown = reply.json["answer"]
    assert "[U+001B][31m[U+202E]evil[U+200B]<img" in shown
    assert not {"\x1b", "\u202e", "\u200b"} & set(shown)


def test_a_long_answer_is_cut_and_it_is_said(ledger: Ledger) -> None:
    """What is shown ends where a judge's view does."""
    item = lab.item(1, {"a": [0]}, "x" * 100_001)
    sent = lab.Visitor(*lab.open_app(ledger, [item])).get(f"/calibrate/item/{item.key}").json
    assert (len(sent["answer"]), sent["cut"]) == (100_000, 100_001)


def test_claims_that_nobody_split_are_not_shown(ledger: Ledger) -> None:
    """The one claim of such a question is the reference, which stands there already."""
    item = msgspec.structs.replace(ITEMS[0], question=msgspec.structs.replace(ITEMS[0].question, unsplit=True))
    sent = lab.Visitor(*lab.open_app(ledger, [item])).get(f"/calibrate/item/{item.key}").json
    assert sent["claims"] == []


@pytest.mark.parametrize(
    "what",
    [{}, {"level": 75, "reason": "other"}, {"level": 74}, {"level": 0.75}, {"level": "75"}, {"level": True},
     {"level": None, "reason": "because"}, {"level": 75, "score": 1}, {"level": 75, "rater": ""},
     {"level": 75, "rater": "a\u202eb"}, {"level": 75, "rater": 7}, {"level": 75, "item": None}],
)  # fmt: skip
def test_what_is_no_rating_is_refused_and_not_stored(
    visitor: lab.Visitor, ledger: Ledger, what: dict[str, Any]
) -> None:
    """Neither a level between the five nor both or none of level and reason, nor a member that is not known."""
    sent = {"rater": "ann", "item": ITEMS[0].key, **what}
    assert visitor.post("/calibrate/rate", sent).status == 422
    assert not ledger.path.exists()


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff", b'{"rater":"ann"}'])
def test_a_body_that_is_no_request_is_refused(visitor: lab.Visitor, body: bytes) -> None:
    """Whatever the bytes are."""
    headers = {
        "host": lab.HOST,
        "cookie": visitor.cookie,
        "origin": f"http://{lab.HOST}",
        "content-type": "application/json",
    }
    reply = lab.ask(visitor.app, "/calibrate/rate", method="POST", headers=headers, body=body)
    assert reply.status == 422


def test_only_answers_of_the_sample_are_shown_and_rated(visitor: lab.Visitor, ledger: Ledger) -> None:
    """The rest of the workspace is out of reach."""
    other = lab.item(9, {"a": [0]})
    assert visitor.get(f"/calibrate/item/{other.key}").status == 404
    assert visitor.get("/calibrate/item/..%2f..").status == 404
    assert rate(visitor, other, level=50).status == 404
    assert not ledger.path.exists()


def test_undo_takes_the_last_rating_back_also_after_a_reload(visitor: lab.Visitor, ledger: Ledger) -> None:
    """The server says which rating was the last, so a page that was loaded again can take it back."""
    rate(visitor, ITEMS[0], level=75)
    rate(visitor, ITEMS[1], level=0)
    last = visitor.get("/calibrate/state?rater=ann").json["last"]
    assert last["item"] == ITEMS[1].key
    reply = visitor.post("/calibrate/undo", {"rater": "ann", **last})
    assert list(reply.json["ratings"]) == [ITEMS[0].key]
    assert reply.json["last"]["item"] == ITEMS[0].key
    assert [r.question for r in latest(ledger.ratings())] == ["q-001"]


def test_nobody_takes_back_the_rating_of_another(visitor: lab.Visitor, ledger: Ledger) -> None:
    """A rating's id under another name is refused, and the rating stands."""
    last = rate(visitor, ITEMS[0], level=75).json["last"]
    assert visitor.post("/calibrate/undo", {"rater": "ben", **last}).status == 409
    assert len(latest(ledger.ratings())) == 1


def test_cannot_say_is_sent_as_no_level(visitor: lab.Visitor) -> None:
    """The page gets back a reason and no number."""
    given = rate(visitor, ITEMS[0], reason="not competent").json["ratings"]
    assert given == {ITEMS[0].key: {"level": None, "reason": "not competent"}}


def test_a_file_that_cannot_be_written_is_told(visitor: lab.Visitor, ledger: Ledger) -> None:
    """The page hears that nothing was stored, and why."""
    ledger.path.parent.write_bytes(b"a file where the folder should be")
    reply = rate(visitor, ITEMS[0], level=75)
    assert reply.status == 422
    assert "cannot be" in reply.json["problem"]


def test_the_pages_files_name_no_other_place() -> None:
    """Markup, style and script load nothing from elsewhere and write no markup from text."""
    folder = Path(__file__).resolve().parents[3] / "src" / "ragassay" / "web"
    for path in sorted(folder.glob("*.*")):
        if path.suffix in {".html", ".css", ".js"}:
            text = path.read_text(encoding="utf-8")
            for forbidden in ("http:", "https:", "innerHTML", "outerHTML", "insertAdjacent", "eval(", "style="):
                assert forbidden not in text, (path.name, forbidden)


def test_the_keys_of_the_rubric_rise_with_the_levels(visitor: lab.Visitor) -> None:
    """Key 1 is the lowest level and 5 the highest."""
    levels = visitor.get("/calibrate/rubric").json["levels"]
    assert [(one["key"], one["level"]) for one in levels] == [("1", 0), ("2", 25), ("3", 50), ("4", 75), ("5", 100)]
    assert json.dumps(levels)
