"""What became of each page: the same, changed, moved, lost or gained, and the counts add up."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdf_file import pdf_file
from ragassay import canon
from ragassay.cli import root
from ragassay.corpus.diff import ChangedPage, CorpusDiff, MovedPage, diff
from ragassay.records import Page

LONG = " ".join(f"word{n} of the page" for n in range(60))


def page(id_: str, text: str) -> Page:
    """Return a page of this text."""
    digest = canon.sha256(text.encode())
    return Page(id=id_, title=id_, text=text, format="text", sha256=digest, source_sha256=digest)


def compared(old: dict[str, str], new: dict[str, str]) -> CorpusDiff:
    """Return the difference of two documentations, id → text; the counts add up."""
    found = diff(*([page(id_, text) for id_, text in texts.items()] for texts in (old, new)))
    assert found.old == len(old) == found.same + len(found.changed) + len(found.moved) + len(found.lost)
    assert found.new == len(new) == found.same + len(found.changed) + len(found.moved) + len(found.gained)
    return found


def test_equal_documentations_do_not_differ() -> None:
    """Only texts and ids count."""
    assert compared({"a": "x", "b": ""}, {"b": "", "a": "x"}).same == 2


def test_lost_gained_and_changed() -> None:
    """A page that is gone, one that is new, and one whose words changed."""
    found = compared({"a": "old page", "b": "one two three"}, {"b": "one 2 three four", "c": "other words"})
    assert (found.lost, found.gained) == (("a",), ("c",))
    assert found.changed == (ChangedPage(page="b", added=2, removed=1, same_percent=22),)


def test_a_page_under_another_id_moved() -> None:
    """With the same text, or with small edits; with large ones it is lost and gained."""
    found = compared({"a": LONG}, {"b": LONG})
    assert found.moved == (MovedPage(old="a", new="b", added=0, removed=0, same_percent=100),)
    found = compared({"a": LONG}, {"b": LONG + " and an end"})
    assert [(one.old, one.new, one.added, one.removed) for one in found.moved] == [("a", "b", 3, 0)]
    found = compared({"a": LONG}, {"b": LONG[:300] + " and quite another page that goes on for long" * 9})
    assert (found.moved, found.lost, found.gained) == ((), ("a",), ("b",))


def test_a_page_that_moved_while_another_took_its_id() -> None:
    """The old text under its new id is one move, the page under the old id is new."""
    found = compared({"index": LONG}, {"intro": LONG, "index": "welcome"})
    assert [(one.old, one.new) for one in found.moved] == [("index", "intro")]
    assert found.gained == ("index",)


def test_each_page_moves_once_to_the_most_alike() -> None:
    """Of several candidates the most alike are matched first; equal texts are matched in order."""
    near, far = LONG + " x", LONG + " x y z w v u"
    found = compared({"a": LONG, "b": far + " end"}, {"c": near, "d": far})
    assert [(one.old, one.new) for one in found.moved] == [("a", "c"), ("b", "d")]
    found = compared({"a": "x", "b": "x", "c": "x"}, {"d": "x", "e": "x"})
    assert [(one.old, one.new) for one in found.moved] == [("a", "d"), ("b", "e")]
    assert found.lost == ("c",)


def test_empty_pages_never_move() -> None:
    """No text says nothing about which page it was."""
    found = compared({"a": ""}, {"b": ""})
    assert (found.moved, found.lost, found.gained) == ((), ("a",), ("b",))


def test_order_and_white_space_are_changes_without_words() -> None:
    """The words are the same, and how much of their order is too is told."""
    found = compared({"a": "one two", "b": "x  y"}, {"a": "two one", "b": "x y"})
    assert [(one.added, one.removed, one.same_percent) for one in found.changed] == [(0, 0, 0), (0, 0, 100)]


texts = st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from(["x", "y", "z"]), max_size=4).map(" ".join))


@given(texts, texts)
def test_counts_add_up_whatever_changed(old: dict[str, str], new: dict[str, str]) -> None:
    """Every page is in one list on each side, and no list has a page that is not there."""
    found = compared(old, new)
    assert {*found.lost, *(one.old for one in found.moved), *(one.page for one in found.changed)} <= old.keys()
    assert {*found.gained, *(one.new for one in found.moved), *(one.page for one in found.changed)} <= new.keys()


def folder(path: Path, **files: str) -> Path:
    """Write pages."""
    path.mkdir()
    for name, text in files.items():
        (path / f"{name}.md").write_text(text, encoding="utf-8")
    return path


def questions(path: Path, **evidence: str) -> Path:
    """Write a question file; the page of each is `<its name>.md`."""
    samples = [
        {"id": f"q-{name}", "page": f"{name}.md", "input": f"What is {name}?", "target": "That.", "evidence": text}
        for name, text in evidence.items()
    ]
    path.write_text(json.dumps({"name": "set", "samples": samples}), encoding="utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *args: str | Path) -> tuple[int, str]:
    """Run the verb and return its exit code and what it printed."""
    code: int = root.main(["corpus", *map(str, args)], standalone_mode=False)
    return code, capsys.readouterr().out


def test_the_verb_says_which_questions_rot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1 with each rotten question, its old words, the nearest passage and the words that changed."""
    old = folder(tmp_path / "old", a="The limit is 16 bytes a page.", b="Ports are numbers.", c="Stays here.")
    new = folder(tmp_path / "new", a="The limit is 32 bytes a page.", d="Ports are numbers.", c="Stays here.")
    file = questions(tmp_path / "q.json", a="The limit is 16 bytes", b="Ports are numbers.", c="Stays here.")
    code, out = run(capsys, "diff", old, new, "--questions", file)
    assert code == 1
    assert out.splitlines() == [
        "pages     3 before, 3 now: 1 the same",
        "changed   1",
        "  a.md: 1 word added, 1 removed, 75 % the same",
        "moved     1",
        "  b.md -> d.md: the same text",
        "lost      0",
        "gained    0",
        "questions 3: 1 stand, 1 on another page, 1 gone",
        "  gone  q-a  (a.md)",
        "      was    The limit is 16 bytes",
        "      now    The limit is 32 bytes",
        "             a.md [0, 21), 80 % the same",
        '             "16" -> "32"',
        "  moved  q-b  (b.md)",
        "      now at d.md [0, 18)",
        "2 of 3 rot",
    ]


def test_the_verb_without_questions_or_without_rot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A difference alone is no fault, and questions that stand are none."""
    old, new = folder(tmp_path / "old", a="Stays. x"), folder(tmp_path / "new", a="Stays. y", b="New.")
    assert run(capsys, "diff", old, new)[0] == 0
    code, out = run(capsys, "diff", old, new, "--questions", questions(tmp_path / "q.json", a="Stays."))
    assert (code, out.splitlines()[-1]) == (0, "0 of 1 rot: each stands where it stood")


def test_the_verb_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All lists whole, and each question with its state."""
    old, new = folder(tmp_path / "old", a="x gone"), folder(tmp_path / "new", b="y")
    file = questions(tmp_path / "q.json", a="gone")
    code, out = run(capsys, "diff", old, new, "--questions", file, "--json")
    told = json.loads(out)
    assert (code, told["ok"]) == (1, False)
    assert (told["pages"]["lost"], told["pages"]["gained"]) == (["a.md"], ["b.md"])
    assert told["counts"]["page lost"] == 1
    assert [(one["question"], one["state"], one["rotten"]) for one in told["questions"]] == [("q-a", "page lost", True)]


def test_archives_stored_corpora_and_pdf_files_are_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever holds the same pages does not differ; PDF files are pages where they are asked for."""
    monkeypatch.chdir(tmp_path)
    docs = folder(tmp_path / "docs", a="# A", b="# B")
    with tarfile.open("docs.tar", "w") as tar:
        tar.add(docs, "docs")
    assert run(capsys, "build", "docs", "--out", "stored")[0] == 0
    stored = next((tmp_path / "stored").iterdir())
    for source in ("docs.tar", str(stored)):
        assert "2 the same" in run(capsys, "diff", "docs", source)[1]
    (docs / "c.pdf").write_bytes(pdf_file(["text"]))
    _, out = run(capsys, "diff", stored, "docs", "--pdf")
    assert "gained    1\n  c.pdf" in out
    assert "read by blocks/2 before and blocks/2+pdfium/1 now" in out


def test_text_of_others_steers_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Escape characters in words and ids are written out."""
    old, new = folder(tmp_path / "old", a="stop \x1b[31mred now"), folder(tmp_path / "new", a="stop \x1b[32mred now")
    file = questions(tmp_path / "q.json", a="stop \x1b[31mred now")
    code, out = run(capsys, "diff", old, new, "--questions", file)
    assert code == 1
    assert "\x1b" not in out
