"""What publish prints: each reason once with its runs and questions, hostile texts harmless, everything in the JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "publish"))

from gate_lab import finding, looked, told

from ragassay.cli.publish import command
from ragassay.cli.publish_done import released_lines, taken_back_lines
from ragassay.cli.publish_lines import look_json, look_lines
from ragassay.publish.chosen import Uncounted
from ragassay.publish.gate import Refusal, Verdict
from ragassay.publish.release import Look, Released
from ragassay.publish.scan import scan
from ragassay.publish.withdraw import Lost, TakenBack
from ragassay.site.loaded import LoadedRun
from ragassay.site.publications import PublicRuns, Withdrawal

HOSTILE = "a\x1b[2J\u202eb\nc"


def look_of(*verdicts: Verdict, **changes: Any) -> Look:
    """Return a look at nothing but these verdicts."""
    public = PublicRuns(runs=(), publications={}, withdrawn={})
    fields: dict[str, Any] = {
        "chosen": (),
        "public": public,
        "scan": scan([], []),
        "said": scan([], []),
        "looked": looked(),
        "later": {},
        "left_out": {},
        "broken": (),
        "uncounted": (),
    }
    return Look(**{**fields, "verdicts": verdicts, **changes})


def refused(row: str, k: int, *items: str, code: str = "RETRIEVAL_FAILED") -> Verdict:
    """Return a verdict with one refusal."""
    refusal = Refusal(code=code, text="the stack was down", items=items)
    return Verdict(run=f"{k}" * 31 + row[0], row=row, pass_k=k, of=3, refusals=(refusal,))


def test_a_reason_that_several_runs_share_is_said_once() -> None:
    """Three passes with the same refusal are one entry that names them, by row and pass in their order."""
    fine = Verdict(run="9" * 32, row="bm25", pass_k=3, of=3, refusals=())
    lines = look_lines(look_of(refused("bm25", 2), refused("bm25", 1), fine, refused("dense", 1), refused("dense", 2)))
    assert [line for line in lines if "RETRIEVAL_FAILED" in line] == [
        "  RETRIEVAL_FAILED  bm25 pass 1 (11111111), 2 (22222222); dense (all 2 passes)"
    ]
    lines = look_lines(look_of(refused("bm25", 2), refused("bm25", 1), refused("dense", 1)))
    assert "  RETRIEVAL_FAILED  all 3 runs" in lines


def test_what_is_left_to_do_comes_last_and_says_what_to_type() -> None:
    """Reasons that the publisher sees to stand after the others, deciding before reading, and then what to type."""
    one = refused("bm25", 1, code="not-signed-off")
    two = Refusal(code="undecided", text="findings of the scan that are not decided: 1")
    both = Verdict(run="2" * 32, row="bm25", pass_k=2, of=3, refusals=(*one.refusals, two))
    lines = look_lines(look_of(one, both))
    assert [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "][-2:] == [
        "undecided",
        "not-signed-off",
    ]
    assert lines[-1].startswith("next: decide the findings")
    assert look_lines(look_of(one))[-1] == "next: `ragassay serve` to read and sign off, then `ragassay publish`"
    assert "next" not in look_lines(look_of(refused("bm25", 1), both))[-1]


def test_many_questions_are_cut_and_counted_and_the_json_has_all() -> None:
    """Twenty questions are printed and the rest counted; nothing is lost in the JSON."""
    items = [f"q-{n:03}" for n in range(25)]
    look = look_of(refused("bm25", 1, *items))
    assert any("q-019, and 5 more (--json lists all)" in line for line in look_lines(look))
    found = json.loads(json.dumps(look_json(look, None, None)))
    assert found["runs"][0]["refusals"][0]["items"] == items
    assert found["ok"] is False


@pytest.mark.parametrize("place", ["row", "item", "text"])
def test_nothing_steers_a_terminal(place: str) -> None:
    """Escapes and direction marks in names, ids and found texts are written out; a line stays one line."""
    run = told()
    verdict = refused(HOSTILE if place == "row" else "bm25", 1, HOSTILE if place == "item" else "q-1")
    found = finding("email", HOSTILE if place == "text" else "x@y.org", run.id, "q-001")
    lines = look_lines(look_of(verdict, chosen=(run,), looked=looked(run, findings=(found,))))
    assert not any(mark in line for line in lines for mark in ("\x1b", "\u202e", "\n"))
    assert any("[U+202E]" in line for line in lines)


def test_passes_that_do_not_count_are_named() -> None:
    """A finished pass that is not published, for the board does not count it, is never passed over in silence."""
    lost = [Uncounted(run=f"{k}" * 32, row="bm25", pass_k=k, reason="2 of 10 retrievals failed") for k in (1, 2)]
    look = look_of(refused("bm25", 3), uncounted=tuple(lost))
    said = "! not published, for it is not counted: bm25 pass 1 (11111111), 2 (22222222): 2 of 10 retrievals failed"
    assert said in look_lines(look)
    assert said in released_lines(Released(runs=(), judgements={}), look, None)
    assert set(look_json(look, None, None)["notCounted"]) == {"1" * 32, "2" * 32}


def test_runs_that_fail_verification_are_named_though_nobody_chose_them() -> None:
    """They are in no window, so nothing would say that they are there; equal reasons are one line."""
    broken = tuple(LoadedRun(id=f"{k}" * 32, files={}, checks=(), refused="LOG_FORK: put back") for k in (1, 2))
    look = look_of(broken=broken)
    assert "x 2 runs not verified, so not chosen (11111111, 22222222): LOG_FORK: put back" in look_lines(look)
    public = PublicRuns(runs=broken[:1], publications={}, withdrawn={})
    said = "x 1 run public and damaged, so left out of the public board (11111111): LOG_FORK: put back"
    assert said in look_lines(look_of(public=public))
    assert said in released_lines(Released(runs=(), judgements={}), look_of(public=public), None)
    assert look_json(look, None, None)["notVerified"] == {one.id: "LOG_FORK: put back" for one in broken}


def test_nothing_chosen_is_said() -> None:
    """An empty workspace is not published in silence."""
    assert any("nothing to publish" in line for line in look_lines(look_of()))
    assert not look_of().passes


def test_what_was_published_says_what_to_upload() -> None:
    """The folder to upload is named; a second time it is said that nothing is new."""
    said = "\n".join(released_lines(Released(runs=("1" * 32,), judgements={}), look_of(), Path("public-site")))
    assert "published 1 run" in said
    assert "upload the folder public-site" in said
    assert "nothing new" in released_lines(Released(runs=(), judgements={}), look_of(), None)[0]


def test_rows_that_lose_their_window_are_named() -> None:
    """A row without a counted run left has no number, and that is said."""
    withdrawal = Withdrawal(run="1" * 32, at=1, reason=HOSTILE, void="2" * 64)
    lost = (Lost(row="bm25", before=1, after=0), Lost(row="dense", before=3, after=2))
    lines = taken_back_lines(TakenBack(withdrawal=withdrawal, row="bm25", pass_k=1, lost=lost, earlier=False))
    assert "! row bm25: no counted run left, and no number" in lines
    assert "! row dense: 2 of 3 counted runs left" in lines
    assert not any("\x1b" in line for line in lines)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--fill-from-earlier", "aa"), "name it with --run"),
        (("--fill-from-earlier", "aa", "--run", "a", "--run", "b"), "name it with --run"),
        (("--fill-from-earlier", "aa", "--run", "b", "--row", "bm25"), "does not go with --row"),
        (("--fill-from-earlier", "aa", "--run", "b", "--allow", "c"), "or with decisions"),
        (("--reason", "why"), "--reason is that of a decision"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    """Options that would be ignored end with 2 before anything is read or written."""
    (tmp_path / ".ragassay").mkdir()
    done = CliRunner().invoke(command, [str(tmp_path), *words], standalone_mode=False)
    assert isinstance(done.exception, click.UsageError)
    assert said in str(done.exception)
    assert list((tmp_path / ".ragassay").iterdir()) == []
