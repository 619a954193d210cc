"""A folder with documentation, questions, keys and a board, in which the verbs of frozen sets are typed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from frozen_lab import page, question, review, small_set
from ragassay.cli import main
from ragassay.question.reviews import encode_line
from ragassay.records import to_json

BOARD = """
name = "acme"
passes = 1
[corpus]
path = "docs"
[benchmark]
file = "acme-1.0.0.json"
[answer]
kind = "reader"
[judge]
kind = "literal"
[[rows]]
name = "no-retrieval"
stack = { kind = "none" }
[[rows]]
name = "bm25"
stack = { kind = "bm25" }
"""


class Shell:
    """A folder with documentation, questions, keys and a board, in which verbs are typed."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._patch, self._capsys = folder, monkeypatch, capsys
        self.error = ""
        monkeypatch.chdir(folder)
        monkeypatch.setenv("RAGASSAY_PASSPHRASE", "six words that nobody ever guesses")
        (folder / "docs").mkdir()
        for n in range(4):
            (folder / "docs" / f"page-{n}.md").write_text(page(n).text)
        self.write("questions.json", to_json(small_set()))
        line = encode_line(review(question(0), at=1_700_000_000))
        (folder / "questions.review.jsonl").write_bytes(line + b"\n")
        (folder / "board.toml").write_text(BOARD)
        assert self.type("keys", "init")[0] == 0

    def type(self, *words: str) -> tuple[int, str]:
        """Run one verb and return its exit code and what it printed."""
        self._patch.setattr(sys, "argv", ["ragassay", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        out, self.error = self._capsys.readouterr()
        return int(ended.value.code or 0), out

    def json(self, *words: str) -> Any:
        """Run a verb that says yes, and return its JSON."""
        code, out = self.type(*words, "--json")
        assert code == 0, self.error
        return json.loads(out)

    def write(self, name: str, value: Any) -> None:
        """Write JSON, also over a file that is read-only."""
        (self.folder / name).unlink(missing_ok=True)
        (self.folder / name).write_text(json.dumps(value))

    def read(self, name: str) -> Any:
        """Return the JSON in a file."""
        return json.loads((self.folder / name).read_text())

    def freeze(self) -> Any:
        """Freeze the question file."""
        return self.json("questions", "freeze", "questions.json", "--corpus", "docs")
