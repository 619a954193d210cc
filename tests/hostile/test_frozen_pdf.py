"""A set whose evidence stands in PDF files is looked up, frozen, verified and bumped over those files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from frozen_lab import WORDS, page, question, small_set
from pdf_file import pdf_file
from ragassay.cli import main
from ragassay.records import to_json

BOARD = """
name = "acme"
passes = 1
control_waiver = "a test of PDF files"
[corpus]
path = "docs"
pdf = true
[benchmark]
file = "questions.json"
[answer]
kind = "reader"
[judge]
kind = "literal"
[[rows]]
name = "bm25"
stack = { kind = "bm25" }
"""


def test_every_verb_reads_the_pdf_files_that_the_set_was_frozen_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Fairness as the board says; verify and bump as the manifest says, though they are given the folder alone."""
    pytest.importorskip("pypdfium2")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGASSAY_PASSPHRASE", "six words that nobody ever guesses")

    def type_(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["ragassay", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        found = capsys.readouterr()
        return int(ended.value.code or 0), found.out + found.err

    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page-0.md").write_text(page(0).text)
    said = f"The {WORDS[1]}\n\nThe {WORDS[1]} of Acme weighs 1001 grams."
    (tmp_path / "docs" / "page-1.pdf").write_bytes(pdf_file([said], title=WORDS[1]))
    asked = small_set(question(0), question(1, page="page-1.pdf"))
    (tmp_path / "questions.json").write_text(json.dumps(to_json(asked)))
    (tmp_path / "board.toml").write_text(BOARD)
    assert type_("keys", "init")[0] == 0
    code, out = type_("questions", "fairness", "--json")
    assert (code, json.loads(out)["rows"][0]["absent"]) == (0, [])
    code, out = type_("questions", "freeze", "board.toml")
    assert code == 0, out
    code, out = type_("verify", "acme-1.0.0.items.dsse.json", "--corpus", "docs")
    assert code == 0, out
    changed = to_json(small_set(question(0, topic="weights"), question(1, page="page-1.pdf")))
    (tmp_path / "acme.json").write_text(json.dumps(changed))
    code, out = type_("questions", "bump", "acme-1.0.0.json", "--with", "acme.json", "--corpus", "docs")
    assert code == 0, out
    assert "pages of the documentation changed" not in out
