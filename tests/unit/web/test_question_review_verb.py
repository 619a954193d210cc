"""`ragassay questions review`: what is decided, printed without a browser; and the review file under a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from question_lab import Reviewer, desk_on, samples, write_set

from ragassay.cli import main
from ragassay.question import load_reviews
from ragassay.question.reviews import reviews_beside

BOARD = """
name = "b"
[corpus]
path = "docs"
[benchmark]
file = "set.json"
[answer]
kind = "reader"
[judge]
kind = "literal"
[[rows]]
name = "no-retrieval"
stack = { kind = "none" }
"""
Capture = pytest.CaptureFixture[str]


def said(capsys: Capture, *arguments: str) -> tuple[int, str]:
    """Run the verb and return its exit code and all that it printed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["ragassay", "questions", "review", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
    assert isinstance(ended.value.code, int)
    printed = capsys.readouterr()
    return ended.value.code, printed.out + printed.err


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A question file with two decisions."""
    file = write_set(tmp_path)
    ben = Reviewer(desk_on(file))
    ben.decide(ben.item("port"), "accept")
    ben.decide(ben.item("bare"), "reject", reason="nowhere in the manual")
    return file


def test_the_list_says_who_decided_what(file: Path, capsys: Capture) -> None:
    """One line a question in the file's order, and the counts; the exit code is 1 while one is open."""
    code, text = said(capsys, str(file), "--list")
    assert code == 1
    assert text.splitlines() == [
        "  accepted    port  B. Reader",
        "  unreviewed  wait",
        "  unreviewed  log",
        "  rejected    bare  B. Reader: nowhere in the manual",
        "4 questions: 1 accepted, 0 edited, 1 rejected, 2 unreviewed, 0 stale",
    ]


def test_json_says_it_too_and_a_whole_review_is_zero(file: Path, capsys: Capture) -> None:
    """`--json` alone is enough; stale is not reviewed, and decisions about questions that are gone are named."""
    ben = Reviewer(desk_on(file))
    ben.decide(ben.item("log"), "accept")
    ben.edit("wait", evidence=["It waits 16 seconds for a client."])
    code, text = said(capsys, str(file), "--json")
    told = json.loads(text)
    assert (code, told["ok"]) == (0, True)
    assert told["counts"] == {
        "accepted": 2,
        "edited": 1,
        "rejected": 1,
        "unreviewed": 0,
        "stale": 0,
        "reviewed": 0,
        "carried": 0,
    }
    assert [one["state"] for one in told["reviews"]] == ["accepted", "edited", "accepted", "rejected"]
    changed = samples()[:3]
    changed[0]["target"] = "8080."
    write_set(file.parent, changed)
    code, text = said(capsys, str(file), "--json")
    told = json.loads(text)
    assert (code, told["counts"]["stale"], told["unknown"]) == (1, 1, ["bare"])


def test_a_board_stands_for_its_question_file(file: Path, capsys: Capture) -> None:
    """In place of FILE a board names it."""
    board = file.parent / "board.toml"
    board.write_text(BOARD, encoding="utf-8")
    code, text = said(capsys, str(board), "--list")
    assert code == 1
    assert "4 questions: 1 accepted" in text


def test_hostile_names_do_nothing_in_a_terminal(tmp_path: Path, capsys: Capture) -> None:
    """What steers a terminal is written out, in ids that may hold such letters and in reasons."""
    questions = samples()
    questions[0]["id"] = "a\u3164b"
    file = write_set(tmp_path, questions)
    ben = Reviewer(desk_on(file))
    ben.decide(ben.item("log"), "reject", reason="\x1b[2J\u202eno")
    _, output = said(capsys, str(file), "--list")
    assert "a[U+3164]b" in output
    assert "[U+001B][2J[U+202E]no" in output
    assert not {"\x1b", "\u202e", "\u3164"} & set(output)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--reviewer", " "], "name"),
        (["--reviewer", "a\u202e"], "cannot be seen"),
        (["--corpus", "nowhere"], "nowhere"),
    ],
)
def test_wrong_input_is_named(file: Path, capsys: Capture, arguments: list[str], words: str) -> None:
    """No page opens for it, and the exit code is 2."""
    code, text = said(capsys, str(file), *arguments)
    assert code == 2
    assert words in text


def test_a_broken_review_file_is_named(file: Path, capsys: Capture) -> None:
    """Nothing is passed over."""
    path = reviews_beside(file)
    path.write_bytes(path.read_bytes() + b"{}\n")
    code, text = said(capsys, str(file), "--list")
    assert code == 2
    assert "line 3" in text


WRITES = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from question_lab import Reviewer, desk_on
ben = Reviewer(desk_on(Path(sys.argv[1])), "C. Other")
while True:
    shown = ben.item("log")
    assert ben.decide(shown, "reject", reason="no").status == 200
    print("stored", flush=True)
    assert ben.undo("log", ben.item("log")["decision"]["line"]).status == 200
    print("stored", flush=True)
"""


def test_a_kill_loses_nothing_that_was_said_to_be_stored(file: Path) -> None:
    """Killed in the middle of writing: every decision that was confirmed is there, and the file can be read."""
    paths = [path for path in sys.path if path]
    before = len(load_reviews(reviews_beside(file)))
    with subprocess.Popen(
        [sys.executable, "-c", WRITES, str(file), *paths], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        for _ in range(3):
            assert child.stdout.readline() == "stored\n"
        time.sleep(0.05)
        os.kill(child.pid, signal.SIGKILL)
        confirmed = 3 + len(child.stdout.read().splitlines())
    after = len(load_reviews(reviews_beside(file))) - before
    assert confirmed <= after <= confirmed + 1
