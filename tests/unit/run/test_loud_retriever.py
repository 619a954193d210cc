"""A board's own retriever that prints: the standard output of a verb is ragassay's alone, whatever writes there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("langchain_core", reason="pip install 'ragassay[langchain]'")

from run_lab import Lab

from ragassay.cli.key_making import ensure_key

LOUD = """
import os
import subprocess
import sys

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

EARLY = sys.stdout

def loud(when):
    print("printed", when)
    print("early", when, file=EARLY)
    print("dunder", when, file=sys.__stdout__)
    os.write(1, b"written " + when.encode() + b"\\n")
    subprocess.run([sys.executable, "-c", f"print('child {when}')"], check=True)

class Searching(RunnableLambda):
    def close(self):
        loud("closing")

def make(documents):
    loud("building")
    def search(question):
        loud("searching")
        return documents[:1]
    return Searching(search)
"""


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Make a board whose retriever writes to the standard output in every way."""
    lab = Lab(tmp_path, questions=1)
    (tmp_path / "loud_board.py").write_text(LOUD, encoding="utf-8")
    lab.write(stack='{ kind = "langchain", retriever = "loud_board:make" }')
    lab.space.prepare()
    for role in ("run", "log"):
        ensure_key(lab.space.keys, role)
    return lab


def said(lab: Lab, *verb: str) -> tuple[str, str]:
    """Run a verb over the board in a process of its own; return what it wrote to both streams."""
    command = [sys.executable, "-m", "ragassay", *verb, str(lab.folder / "board.toml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize("verb", [("run",), ("index",), ("stacks", "check")])
def test_json_stays_json(lab: Lab, verb: tuple[str, ...]) -> None:
    """Prints, writes to the file itself, children, in building, searching and closing: all stand beside."""
    out, beside = said(lab, *verb, "--json")
    assert json.loads(out)
    for when in ("building", *(["searching"] if verb != ("index",) else []), "closing"):
        for how in ("printed", "early", "dunder", "written", "child"):
            assert f"{how} {when}" in beside, (how, when)


def test_lines_of_ours_stay_on_the_standard_output(lab: Lab) -> None:
    """`ragassay index` says each row as it is built, while others' prints go aside."""
    out, _ = said(lab, "index")
    assert "row" in out
    assert "printed" not in out
