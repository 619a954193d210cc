"""Deciding and signing off: refused with every missing id, bound to what was shown, gone when that changes."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import review_lab as lab

from ragassay.errors import InputError
from ragassay.publish.decisions import DecisionFile
from ragassay.publish.detect.hit import Hit, NotScanned
from ragassay.publish.reading import touching, up_for_publishing
from ragassay.publish.signoffs import ReviewFile
from ragassay.site.record import BoardPlan
from ragassay.site.runs import load_runs


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Two rows of two equal passes; one answer of bm25 holds an address."""
    lab.write(tmp_path)
    return tmp_path


def finding(ann: lab.Reader) -> Any:
    """Return the one finding."""
    (found,) = ann.get("/review/findings").json["findings"]
    return found


def runs(ann: lab.Reader, row: str) -> list[Any]:
    """Return the runs of a row as the page shows them."""
    return next(one["runs"] for one in ann.state()["rows"] if one["name"] == row)


def test_early_is_refused_with_every_missing_id(workspace: Path) -> None:
    """Unread outputs and undecided findings are named, run by run, and nothing is stored."""
    ann = lab.open_review(workspace)
    first = ann.state()["units"][0]["key"]
    ann.reads(first)
    names = [run["run"] for run in runs(ann, "bm25")]
    reply = ann.signs(*names)
    assert reply.status == 409
    assert [one["run"] for one in reply.json["refused"]] == names
    for one in reply.json["refused"]:
        assert [it["item"] for it in one["unread"]] == ["q-002", "q-003"]
        assert one["undecided"] == [{"finding": finding(ann)["id"], "kind": "email", "text": lab.MAIL}]
        assert one["why"] == []
    assert ReviewFile(workspace).sign_offs() == []


def test_read_and_decided_it_is_signed(workspace: Path) -> None:
    """The lines hold, for the gate as for the page."""
    ann = lab.open_review(workspace)
    ann.reads_all()
    assert ann.sends("decide", finding=finding(ann)["id"], action="redact").status == 200
    assert len(ann.signs().json["signed"]) == 4
    assert {run["signed"][0]["reader"] for row in ann.state()["rows"] for run in row["runs"]} == {"ann"}
    decisions = DecisionFile(workspace).decisions()
    file = ReviewFile(workspace)
    for run in load_runs(workspace):
        here = touching(run.id, _findings(ann, workspace), decisions)
        assert [line.reader for line in file.sign_offs_that_hold(run, here)] == ["ann"]


def _findings(ann: lab.Reader, workspace: Path) -> Any:
    from ragassay.publish.scan import scan
    from ragassay.publish.texts import public_texts

    return scan((text for run in load_runs(workspace) for text in public_texts(run)), [lab.Mails()]).findings


def test_a_row_without_findings_needs_no_decision(workspace: Path) -> None:
    """Only what touches a run stands in its way."""
    ann = lab.open_review(workspace)
    ann.reads_all()
    assert ann.signs(*(run["run"] for run in runs(ann, "no-retrieval"))).status == 200
    assert ann.signs(*(run["run"] for run in runs(ann, "bm25"))).status == 409


def test_a_changed_decision_ends_what_it_touches(workspace: Path) -> None:
    """The runs with the finding are signed no longer, and the page says why; the others are."""
    ann = lab.open_review(workspace)
    ann.reads_all()
    identity = finding(ann)["id"]
    ann.sends("decide", finding=identity, action="redact")
    ann.signs()
    assert ann.sends("decide", finding=identity, action="allow", reason="it is ours").status == 200
    assert [run["signed"] for run in runs(ann, "bm25")] == [[], []]
    assert runs(ann, "bm25")[0]["lapsed"] == [{"reader": "ann", "why": "a decision that touches it has changed"}]
    assert [len(run["signed"]) for run in runs(ann, "no-retrieval")] == [1, 1]
    assert ann.signs().status == 200
    assert [len(run["signed"]) for run in runs(ann, "bm25")] == [1, 1]


def test_reading_that_is_taken_back_ends_it(workspace: Path) -> None:
    """And says so."""
    ann = lab.open_review(workspace)
    ann.reads_all()
    ann.sends("decide", finding=finding(ann)["id"], action="withhold")
    ann.signs()
    ann.sends("unread", unit=ann.state()["units"][0]["key"])
    assert runs(ann, "bm25")[0]["lapsed"][0]["why"] == "the reader took back the reading of an output"


def test_one_reader_does_not_read_for_another(workspace: Path) -> None:
    """What ann read ben has not."""
    ann = lab.open_review(workspace)
    ann.reads_all()
    ann.sends("decide", finding=finding(ann)["id"], action="redact")
    ben = lab.open_review(workspace, name="ben")
    reply = ben.signs()
    assert (reply.status, len(reply.json["refused"][0]["unread"])) == (409, 3)


@pytest.mark.parametrize("member", ["manifest", "decisions"])
def test_what_the_page_did_not_show_is_not_signed(workspace: Path, member: str) -> None:
    """A run or decisions that changed since it was shown: refused, with the reason."""
    ann = lab.open_review(workspace)
    ann.reads_all()
    ann.sends("decide", finding=finding(ann)["id"], action="redact")
    shown = {name: runs(ann, "bm25")[0][name] for name in ("run", "manifest", "decisions")} | {member: "0" * 64}
    reply = ann.sends("sign", runs=[shown])
    assert reply.status == 409
    assert reply.json["refused"][0]["why"] == ["run or decisions are not what the page showed; load it again"]


def test_a_run_that_cannot_be_verified_is_not_signed(workspace: Path) -> None:
    """It is no longer up, whatever the page showed before."""
    ann = lab.open_review(workspace)
    ann.reads_all()
    ann.sends("decide", finding=finding(ann)["id"], action="redact")
    shown = {name: runs(ann, "bm25")[0][name] for name in ("run", "manifest", "decisions")}
    (workspace / "runs" / shown["run"] / "config.json").write_bytes(b"{}")
    reply = ann.sends("sign", runs=[shown])
    assert reply.json["refused"][0]["why"] == ["it is not up for publishing, or it cannot be verified"]
    assert ann.sends("sign", runs=[]).status == 422


class Slow(lab.Mails):
    """Waits until it may go on."""

    def __init__(self) -> None:
        self.may = threading.Event()

    def find(self, text: str) -> Iterable[Hit]:
        """Wait, then look."""
        assert self.may.wait(10)
        return super().find(text)


def test_nothing_is_signed_before_the_scan_is_done(workspace: Path) -> None:
    """Reading goes on meanwhile."""
    slow = Slow()
    ann = lab.open_review(workspace, detectors=lambda: (slow,))
    state = ann.get("/review/state?reader=ann").json
    assert state["scan"]["running"]
    for unit in state["units"]:
        ann.reads(unit["key"])
    shown = [{n: run[n] for n in ("run", "manifest", "decisions")} for row in state["rows"] for run in row["runs"]]
    assert ann.sends("sign", runs=shown).json["refused"][0]["why"] == ["the scan is not done"]
    slow.may.set()
    ann.state()
    assert ann.signs(*(run["run"] for run in runs(ann, "no-retrieval"))).status == 200


class Counting(Slow):
    """Keeps what it looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.looked_at: list[str] = []

    def find(self, text: str) -> Iterable[Hit]:
        """Note the text, then wait and look."""
        self.looked_at.append(text)
        return super().find(text)


def test_a_scan_of_what_is_no_longer_there_ends(workspace: Path) -> None:
    """When the workspace changes meanwhile the new scan begins and the old one looks at nothing more."""
    slow = Counting()
    ann = lab.open_review(workspace, detectors=lambda: (slow,))
    assert ann.get("/review/scan").json == {"running": True}
    first = _scans()
    lab.write(workspace, rows=("hybrid",), passes=1)
    assert ann.get("/review/scan").json == {"running": True}
    slow.may.set()
    for thread in first:
        thread.join(10)
        assert not thread.is_alive()
    assert len(ann.state()["rows"]) == 3
    assert len(slow.looked_at) == len(set(slow.looked_at)) + 1


def _scans() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "scan"]


def _no_extra() -> Any:
    raise NotScanned("the scan needs the extra `pii`: pip install 'ragassay[pii]'")


class Broken(lab.Mails):
    """Has a bug."""

    def find(self, text: str) -> Iterable[Hit]:
        """Break."""
        raise ZeroDivisionError("of ours")


class Many(lab.Mails):
    """Finds more than can be listed."""

    def find(self, text: str) -> Iterable[Hit]:
        """Yield every character of a long text."""
        yield from (Hit(kind="email", start=n, end=n + 9, detector="m") for n in range(max(0, len(text) - 9)))


@pytest.mark.parametrize(
    ("detectors", "why"),
    [
        (_no_extra, "nothing was scanned: the scan needs the extra `pii`"),
        (lambda: (Broken(),), "nothing was scanned: the scan broke off"),
        (lambda: (Many(),), "the scan found more than can be listed and decided"),
    ],
)
def test_without_a_whole_scan_nothing_is_signed(tmp_path: Path, detectors: Any, why: str) -> None:
    """The page says what to install, or what is wrong; reading is possible."""
    long = "".join(chr(0x4E00 + n) for n in range(3000))
    lab.write(tmp_path, passes=1, questions=1, rows=("bm25",), text=lambda *_: long)
    ann = lab.open_review(tmp_path, detectors=detectors)
    ann.reads_all()
    reply = ann.signs()
    assert reply.status == 409
    assert reply.json["refused"][0]["why"][0].startswith(why)
    assert ReviewFile(tmp_path).sign_offs() == []


def test_decisions_are_checked(workspace: Path) -> None:
    """Allowing takes a reason; an unknown finding or action is refused; nothing of it is stored."""
    ann = lab.open_review(workspace)
    identity = (ann.state(), finding(ann)["id"])[1]
    assert ann.sends("decide", finding=identity, action="allow").status == 422
    assert ann.sends("decide", finding=identity, action="allow", reason=" ").status == 422
    assert ann.sends("decide", finding=identity, action="publish", reason="x").status == 422
    assert ann.sends("decide", finding="0" * 16, action="redact").status == 409
    assert not (workspace / "review").exists()
    reply = ann.sends("decide", finding=identity, action="allow", reason="it is \u202eours").json
    assert reply["decision"] == {"action": "allow", "reason": "it is [U+202E]ours", "by": "ann"}
    assert not reply["open"]


def test_a_finding_says_where_it_stands_and_what_may_be_done(workspace: Path) -> None:
    """With its surroundings, its places and the output that can be opened."""
    ann = lab.open_review(workspace)
    state = ann.state()
    found = finding(ann)
    assert (found["before"][-4:], found["text"], found["after"]) == ("Ask ", lab.MAIL, ".")
    assert found["runs"] == 2
    assert found["unit"] == state["units"][1]["key"]
    assert found["possible"] == ["allow", "redact", "withhold"]
    (here,) = ann.unit(found["unit"])["findings"]
    assert here["where"] == ["answer"]


def test_what_the_board_file_says_is_scanned_too(workspace: Path) -> None:
    """Words of it are a finding outside the outputs that can only be allowed, and stand in no run's way here."""
    plan = BoardPlan(name="A board by adam@private.example", control_waiver="asked eve@private.example")
    ann = lab.open_review(workspace, plan=plan)
    ann.state()
    found = {one["text"]: one for one in ann.get("/review/findings").json["findings"]}
    assert found["adam@private.example"]["unit"] is None
    assert found["adam@private.example"]["where"] == ["board.toml, name"]
    assert found["adam@private.example"]["fixed"] == ["board.toml, name"]
    assert [one["possible"] for one in found.values()] == [["allow"], ["allow"]]
    assert ann.sends("decide", finding=found[lab.MAIL]["id"], action="redact").status == 422
    assert ann.sends("decide", finding=found[lab.MAIL]["id"], action="allow", reason="ours").status == 200
    ann.state()


def test_surroundings_that_are_cut_say_so(workspace: Path) -> None:
    """An ellipsis stands where the text goes on, and none where it begins or ends."""
    plan = BoardPlan(name=f"{'word ' * 20}adam@private.example", control_waiver=None)
    ann = lab.open_review(workspace, plan=plan)
    ann.state()
    one = next(one for one in ann.get("/review/findings").json["findings"] if one["text"] == "adam@private.example")
    assert (one["before"], one["after"]) == ("…" + "word " * 8, "")


def test_a_run_that_is_named_is_up_too(tmp_path: Path) -> None:
    """One that the main table does not count can be read and signed when it is asked for."""
    ids = lab.write(tmp_path, passes=7, rows=("bm25",))
    windowed = {run["run"] for row in lab.open_review(tmp_path).state()["rows"] for run in row["runs"]}
    assert len(windowed) == 5
    left_out = sorted(set(ids) - windowed)
    state = lab.open_review(tmp_path, named=left_out[:1]).state()
    assert [len(row["runs"]) for row in state["rows"]] == [5, 1]
    assert state["rows"][1]["reason"] == "not counted by the board's main table; named with --run"
    runs = load_runs(tmp_path)
    with pytest.raises(InputError, match="cannot be told"):
        up_for_publishing(runs, None, ("nothing",))


def test_two_servers_at_once_lose_nothing(workspace: Path) -> None:
    """Two tabs on two programs read halves; together everything is read, and one of them signs."""
    one, other = lab.open_review(workspace), lab.open_review(workspace)
    keys = [unit["key"] for unit in one.state()["units"]]
    threads = [threading.Thread(target=lambda r=r, k=k: [r.reads(key) for key in k])
               for r, k in ((one, keys[::2]), (other, keys[1::2]), (one, keys[:2]), (other, keys[2:4]))]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.state()["seen"]) == sorted(keys)
    lines = (workspace / "review" / "seen.jsonl").read_bytes().splitlines()
    assert len(lines) == len(keys)
    other.sends("decide", finding=finding(other)["id"], action="redact")
    assert one.signs().status == 200
