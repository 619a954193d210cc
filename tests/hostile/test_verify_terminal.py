"""What a run or a file name says of itself cannot write, hide or forge a line of the terminal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ragassay.cli.verify_lines import MAX_MESSAGE, MAX_NAME, report_lines, summary_lines
from ragassay.site.safe import shortened
from ragassay.testing.logged_run import NOW, OURS, Story, tell
from ragassay.testing.signed_run import OpenedRun
from ragassay.verify import PinnedKey, verify

FORGED = "\x1b[2J\u202e\n ok  every run\r\x07\u2800\u3164\u034f" + "A" * 5000


def _name_everything(run: OpenedRun) -> None:
    run.config["row"] = run.predicate["row"]["name"] = run.benchmark["name"] = FORGED
    run.predicate["benchmark"]["id"] = run.predicate["metric"]["id"] = run.outputs[0]["id"] = FORGED


def _sign_as_anyone(run: OpenedRun) -> None:
    run.predicate["signer"]["name"] = run.predicate["intent"]["log"] = FORGED


def test_a_long_and_steering_text_in_every_name() -> None:
    """Each line stays one line, short, and of characters that show."""
    files = tell(Story(change=_name_everything, claim=_sign_as_anyone)).files
    report = verify(files, policy=PinnedKey(OURS.public), now=NOW)
    assert report.row == FORGED
    lines = [*report_lines(FORGED[:200], report, True), *summary_lines([report], True)]
    for line in lines:
        assert not set(line) & set("\x1b\u202e\n\r\x07\u2800\u3164\u034f")
        assert len(line) < 4 * MAX_NAME + MAX_MESSAGE + 200


@pytest.mark.parametrize("text", ["", "a", "a" * 10, "a" * 11, " a\n" * 30, "\x1b" * 10])
def test_a_text_is_cut_visibly(text: str) -> None:
    """At most as many characters as asked for, and … where there were more."""
    found = shortened(text, 10)
    assert len(found) <= 11
    assert found.endswith("…") is (len(found) == 11)


def test_an_escape_in_a_file_name_that_is_complained_of(tmp_path: Path) -> None:
    """An error that names a file from elsewhere writes its control characters out."""
    (tmp_path / "\x1b[31mrun").write_text("x", encoding="utf-8")
    on_a_terminal = "import sys; from ragassay.cli import main; sys.stderr.isatty = lambda: True; main()"
    command = [sys.executable, "-c", on_a_terminal, "verify", "\x1b[31mrun"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "[U+001B][31mrun" in done.stderr
    assert "\x1b" not in done.stderr
