"""What counts as read: what this server sent to this reader in this form, and of which the end was on the screen."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import calibration_lab
import review_lab as lab

from ragassay.publish.reached import PagesFile
from ragassay.publish.signoffs import ReviewFile
from ragassay.site.safe import visible
from ragassay.web.review_pages import PAGE
from ragassay.web.review_shown import MOST, Shown


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Two rows of two equal passes of three questions: six outputs to read."""
    lab.write(tmp_path)
    return tmp_path


def test_the_state_lists_runs_and_outputs(workspace: Path) -> None:
    """Each run with its outputs, equal passes on the same ones, rows one after the other."""
    state = lab.open_review(workspace).state()
    assert [row["name"] for row in state["rows"]] == ["bm25", "no-retrieval"]
    assert [[run["units"] for run in row["runs"]] for row in state["rows"]] == [[[0, 1, 2]] * 2, [[3, 4, 5]] * 2]
    assert [unit["item"] for unit in state["units"]] == ["q-001", "q-002", "q-003"] * 2
    assert state["seen"] == []
    assert (state["at"], state["refused"]) == (None, [])
    assert [(unit["findings"], unit["open"]) for unit in state["units"]] == [(0, 0), (1, 1), *[(0, 0)] * 4]
    assert state["scan"] == {
        "running": False, "problem": None, "findings": 1, "open": 1, "more": {},
        "notDetected": state["scan"]["notDetected"],
    }  # fmt: skip


def test_what_was_sent_and_reached_is_read(workspace: Path) -> None:
    """It is on the disk when the page is told, for this reader alone."""
    ann = lab.open_review(workspace)
    key = ann.state()["units"][0]["key"]
    form = ann.unit(key)["form"]
    assert ann.sends("seen", unit=key, page=0, form=form).json == {"unit": key, "read": True, "missing": []}
    assert ReviewFile(workspace).seen("ann") == [key]
    assert ann.state()["seen"] == [key]
    ben = lab.Reader(ann.app, _session(ann), "ben")
    assert ben.state()["seen"] == []


def _session(reader: lab.Reader) -> Any:
    return reader.app._session  # type: ignore[attr-defined]


@pytest.mark.parametrize("defect", ["never sent", "another reader", "another form", "another page", "no such unit"])
def test_what_was_not_sent_is_refused(workspace: Path, defect: str) -> None:
    """409, and nothing is stored."""
    ann = lab.open_review(workspace)
    key = ann.state()["units"][0]["key"]
    sent = {"unit": key, "page": 0, "form": "0" * 64}
    if defect == "another reader":
        sent["form"] = lab.Reader(ann.app, _session(ann), "ben").unit(key)["form"]
    elif defect != "never sent":
        sent["form"] = ann.unit(key)["form"]
    changes: dict[str, dict[str, Any]] = {
        "another form": {"form": "1" * 64},
        "another page": {"page": 1},
        "no such unit": {"unit": "2" * 64},
    }
    assert ann.sends("seen", **{**sent, **changes.get(defect, {})}).status == 409
    assert ReviewFile(workspace).seen("ann") == []


def test_a_head_request_shows_nothing(workspace: Path) -> None:
    """Its reply has no text, so nothing of it can have been read."""
    ann = lab.open_review(workspace)
    key = ann.state()["units"][0]["key"]
    form = lab.Reader(ann.app, _session(ann), "ben").unit(key)["form"]
    headers = {"host": calibration_lab.HOST, "cookie": ann.cookie}
    assert calibration_lab.ask(ann.app, f"/review/unit/{key}?reader=ann", method="HEAD", headers=headers).status == 200
    assert ann.sends("seen", unit=key, page=0, form=form).status == 409


def test_after_a_restart_it_must_be_shown_again(workspace: Path) -> None:
    """What was sent by another server counts for nothing; what was stored stands, and so does the place."""
    ann = lab.open_review(workspace)
    first, second = (unit["key"] for unit in ann.state()["units"][:2])
    ann.reads(first)
    form = ann.unit(second)["form"]
    assert ann.sends("place", unit=second).status == 200
    again = lab.open_review(workspace)
    assert (again.state()["seen"], again.state()["at"]) == ([first], second)
    assert again.sends("seen", unit=second, page=0, form=form).status == 409
    again.reads(second)
    assert again.state()["seen"] == [first, second]


def test_a_long_output_has_pages_and_each_must_be_reached(tmp_path: Path) -> None:
    """A megabyte of answer is shown whole; only after the last missing page it is read, in whatever order."""
    long = "".join(f"{n} \x1b\u202e<b>" for n in range(100_000))
    lab.write(tmp_path, questions=1, passes=1, rows=("bm25",), text=lambda *_: long, grade="omits")
    ann = lab.open_review(tmp_path)
    (unit,) = ann.state()["units"]
    pages = [ann.unit(unit["key"], page) for page in range(ann.unit(unit["key"])["pages"])]
    assert len(pages) > len(long) // PAGE > 4
    blocks = [block for page in pages for block in page["blocks"] if block["part"] == "answer"]
    assert "".join(piece["t"] for block in blocks for piece in block["segments"]) == visible(long)
    assert [block["continues"] for block in blocks] == [False] + [True] * (len(blocks) - 1)
    order = [*range(1, len(pages)), 0]
    for page in order[:-1]:
        reply = ann.sends("seen", unit=unit["key"], page=page, form=pages[page]["form"]).json
        assert reply["read"] is False
    assert reply["missing"] == [0]
    assert ReviewFile(tmp_path).seen("ann") == []
    assert ann.sends("seen", unit=unit["key"], page=0, form=pages[0]["form"]).json["read"] is True
    assert ReviewFile(tmp_path).seen("ann") == [unit["key"]]


@pytest.mark.parametrize("page", ["1", "-1", "x", "", "²", "9999999", "1e3", "0x0"])
def test_a_page_that_there_is_none_of(workspace: Path, page: str) -> None:
    """404, not an error of ours."""
    ann = lab.open_review(workspace)
    key = ann.state()["units"][0]["key"]
    path = f"/review/unit/{key}?reader=ann&page={page.encode().decode('latin-1')}"
    assert ann.get(path).status == 404


def test_reading_can_be_taken_back(workspace: Path) -> None:
    """It stands no more, and must be shown again before it counts."""
    ann = lab.open_review(workspace)
    key = ann.state()["units"][0]["key"]
    ann.reads(key)
    form = ann.unit(key)["form"]
    assert ann.sends("unread", unit=key).json == {"unit": key, "read": False}
    assert ann.state()["seen"] == []
    assert ann.sends("seen", unit=key, page=0, form=form).status == 409
    ann.reads(key)
    assert ann.state()["seen"] == [key]


def test_new_runs_are_there_when_the_page_is_loaded_again(workspace: Path) -> None:
    """A run that was added is listed, one that was damaged is refused with its reason; what was read stands."""
    ann = lab.open_review(workspace)
    ann.reads_all()
    lab.write(workspace, rows=("dense",), passes=1)
    state = ann.state()
    assert [row["name"] for row in state["rows"]] == ["bm25", "dense", "no-retrieval"]
    assert (len(state["seen"]), len(state["units"])) == (6, 9)
    broken = workspace / "runs" / state["rows"][0]["runs"][0]["run"] / "outputs.jsonl"
    broken.write_bytes(broken.read_bytes().replace(b"Option 1", b"Option 9"))
    state = ann.state()
    assert [one["run"] for one in state["refused"]] == [broken.parent.name]
    assert "SUBJECT" in state["refused"][0]["reason"] or "DIGEST" in state["refused"][0]["reason"]
    assert len(state["rows"][0]["runs"]) == 1


def test_a_place_must_be_an_output(workspace: Path) -> None:
    """What is not there is no place."""
    ann = lab.open_review(workspace)
    assert ann.sends("place", unit="0" * 64).status == 409
    assert not (workspace / "review").exists()


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"[]", b"{}", b'{"reader":"ann"}', b"\xff\xfe", b'{"reader":1,"unit":2,"page":3,"form":4}',
     b'{"reader":"ann","unit":"u","page":0,"form":"f","more":1}', b"NaN", b"[" * 9000,
     b'{"reader":"a","unit":"\\ud800"}'],
)  # fmt: skip
@pytest.mark.parametrize("path", ["seen", "unread", "place", "decide", "sign"])
def test_what_cannot_be_read_is_refused(workspace: Path, path: str, body: bytes) -> None:
    """A body of any other form is 422, never an error of ours, and stores nothing."""
    ann = lab.open_review(workspace)
    headers = {
        "host": calibration_lab.HOST,
        "cookie": ann.cookie,
        "origin": f"http://{calibration_lab.HOST}",
        "content-type": "application/json",
    }
    reply = calibration_lab.ask(ann.app, f"/review/{path}", method="POST", headers=headers, body=body)
    assert reply.status in (409, 422), reply.body
    assert not (workspace / "review").exists()


@pytest.mark.parametrize("name", ["", "%20", "x" * 41, "a%E2%80%AEb", "a%00b"])
def test_a_name_that_is_none_is_refused(workspace: Path, name: str) -> None:
    """Nothing is sent under it."""
    ann = lab.open_review(workspace)
    key = ann.state()["units"][0]["key"]
    assert ann.get(f"/review/state?reader={name}").status in (403, 422)
    assert ann.get(f"/review/unit/{key}?reader={name}").status in (403, 422)


@pytest.mark.parametrize(
    "changes", [{"origin": "https://evil.example"}, {"cookie": ""}, {"sec_fetch_site": "cross-site"}]
)
@pytest.mark.parametrize("path", ["seen", "unread", "place", "decide", "sign"])
def test_nothing_is_taken_from_elsewhere(workspace: Path, path: str, changes: dict[str, str]) -> None:
    """Another origin or no session: 403, and nothing is stored."""
    ann = lab.open_review(workspace)
    key = ann.state()["units"][0]["key"]
    sent = {"reader": "ann", "unit": key, "page": 0, "form": ann.unit(key)["form"]}
    assert ann.post(f"/review/{path}", sent, **changes).status == 403
    assert not (workspace / "review").exists()


def test_lines_that_cannot_be_read_stop_the_page(workspace: Path) -> None:
    """It names the line, and signs and marks nothing."""
    ann = lab.open_review(workspace)
    key = ann.state()["units"][0]["key"]
    ann.reads(key)
    path = workspace / "review" / "seen.jsonl"
    path.write_bytes(b"{}\n" + path.read_bytes())
    reply = ann.get("/review/state?reader=ann")
    assert (reply.status, "line 1" in reply.json["problem"]) == (422, True)


def test_only_so_many_are_remembered() -> None:
    """The oldest that was sent is forgotten."""
    shown = Shown()
    shown.sent("ann", "u0", 0, "f")
    assert shown.was_sent("ann", "u0", 0, "f")
    for number in range(1, MOST + 1):
        shown.sent("ann", f"u{number}", 0, "f")
    assert not shown.was_sent("ann", "u0", 0, "f")
    assert shown.was_sent("ann", f"u{MOST}", 0, "f")


def test_only_the_form_that_was_sent_last_counts() -> None:
    """Neither the earlier form nor another page or reader."""
    shown = Shown()
    shown.sent("ann", "u", 0, "f")
    shown.sent("ann", "u", 0, "g")
    assert [shown.was_sent("ann", "u", 0, form) for form in ("f", "g")] == [False, True]
    assert not shown.was_sent("ann", "u", 1, "g")
    assert not shown.was_sent("ben", "u", 0, "g")
    shown.forget("ann", "u")
    assert not shown.was_sent("ann", "u", 0, "g")


def test_a_long_output_is_gone_on_with_after_a_restart(tmp_path: Path) -> None:
    """Pages that were reached stand; the next server sends the first that is missing, and takes no page unsent."""
    long = "".join(f"{n} what is said of it\n" for n in range(15_000))
    lab.write(tmp_path, questions=1, passes=1, rows=("bm25",), text=lambda *_: long, grade="omits")
    ann = lab.open_review(tmp_path)
    key = ann.state()["units"][0]["key"]
    pages = ann.unit(key)["pages"]
    forms = [ann.unit(key, page)["form"] for page in range(pages)]
    assert pages > 2
    for page in (0, 2):
        assert ann.sends("seen", unit=key, page=page, form=forms[page]).json["read"] is False
    again = lab.open_review(tmp_path)
    first = again.get(f"/review/unit/{key}?reader=ann").json
    assert (first["page"], first["form"]) == (1, forms[1])
    assert again.get(f"/review/unit/{key}?reader=ben").json["page"] == 0
    missing = [page for page in range(pages) if page not in (0, 2)]
    assert again.sends("seen", unit=key, page=missing[-1], form=forms[missing[-1]]).status in (
        (409,) if missing[1:] else (200,)
    )
    for page in missing:
        form = again.unit(key, page)["form"]
        reply = again.sends("seen", unit=key, page=page, form=form).json
    assert reply == {"unit": key, "read": True, "missing": []}
    assert ReviewFile(tmp_path).seen("ann") == [key]
    assert again.sends("unread", unit=key).status == 200
    assert again.get(f"/review/unit/{key}?reader=ann").json["page"] == 0
    assert PagesFile(tmp_path).reached("ann", key) == {}


def test_while_a_scan_goes_on_the_page_asks_in_a_few_bytes(workspace: Path) -> None:
    """The reply does not grow with the workspace; once the scan is done it says so."""
    ann = lab.open_review(workspace)
    ann.state()
    reply = ann.get("/review/scan")
    assert (reply.json, len(reply.body) < 100) == ({"running": False}, True)
