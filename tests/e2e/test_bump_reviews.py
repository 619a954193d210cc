"""Reviews from version to version: what carries over, what lapses, and that no way round the bump keeps a name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from frozen_lab import question, review, small_set
from frozen_shell import Shell
from ragassay.question.reviews import encode_line
from ragassay.records import to_json
from ragassay.web.question_desk import QuestionDesk
from ragassay.web.question_view import view_json, view_of

FROZEN = "acme-1.0.0.json"
WITH = ("questions", "bump", FROZEN, "--with", "acme.json", "--corpus", "docs")
LIST = ("questions", "review", "acme.json", "--list")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """A shell with a frozen set of which q-0, q-1 and q-2 are reviewed, and its copy, in which q-1 is reworded."""
    shell = Shell(tmp_path, monkeypatch, capsys)
    decide(shell, "questions", *map(question, range(3)))
    shell.freeze()
    shell.json("questions", "bump", FROZEN)
    edit(shell, 1, target="1,001 grams.")
    return shell


def decide(shell: Shell, stem: str, *asked: Any) -> None:
    """Write a review file that accepts these questions."""
    lines = b"".join(encode_line(review(one, at=1_700_000_000)) + b"\n" for one in asked)
    (shell.folder / f"{stem}.review.jsonl").write_bytes(lines)


def edit(shell: Shell, n: int, **changes: Any) -> None:
    """Change members of a question of the copy."""
    value = shell.read("acme.json")
    value["samples"][n].update(changes)
    shell.write("acme.json", value)


def files(shell: Shell) -> set[str]:
    """Return all files of the folder."""
    return {str(path.relative_to(shell.folder)) for path in shell.folder.rglob("*")}


def states(shell: Shell, name: str) -> list[str]:
    """Return the states that `review --list` gives to the questions of a file."""
    out = shell.type("questions", "review", name, "--json")[1]
    return [one["state"] for one in json.loads(out)["reviews"]]


def test_a_dry_run_says_what_moved_and_which_reviews_lapse_without_a_key(shell: Shell) -> None:
    """Nothing is written, no key is asked for, and the real bump then says the same."""
    before = files(shell)
    code, out = shell.type(*WITH, "--dry-run", "--keys", "nowhere")
    assert code == 0, shell.error
    assert "would be  acme 2.0.0: 4 questions; nothing is written, nothing signed" in out
    assert "since 1.0.0 (major):" in out
    assert "  target      1: q-1" in out
    assert "  carry over  2: q-0, q-2" in out
    assert "  lapse       1: q-1" in out
    assert "  unreviewed  2: q-1, q-3" in out
    dry = shell.json(*WITH, "--dry-run", "--keys", "nowhere")
    assert files(shell) == before
    assert (dry["carried"], dry["lapsed"], dry["unreviewed"]) == (["q-0", "q-2"], ["q-1"], ["q-1", "q-3"])
    digest = next(line.split()[1] for line in out.splitlines() if line.startswith("digest"))
    said = shell.json(*WITH)
    assert (said["moved"], said["unreviewed"]) == (dry["moved"], dry["unreviewed"])
    assert (said["benchmark"]["version"], said["benchmark"]["digest"]["sha256"]) == (dry["version"], digest)


def test_a_dry_run_says_every_reason_against_and_what_moved_all_the_same(shell: Shell) -> None:
    """Its exit code is that of the real one, and its reasons are those."""
    edit(shell, 2, evidence=["Nowhere."])
    assert shell.type(*WITH)[0] == 2
    meant = shell.error
    code, out = shell.type(*WITH, "--dry-run")
    assert (code, shell.error) == (2, meant)
    assert "no waiver helps" in meant
    assert "  lapse       2: q-1, q-2" in out
    assert "digest" not in out
    assert shell.type(*WITH, "--dry-run", "--json")[0] == 2
    assert shell.type("questions", "bump", FROZEN, "--dry-run")[0] == 2
    assert "goes with --with" in shell.error
    (shell.folder / "acme-2.0.0.json").write_text("{}")
    edit(shell, 2, evidence=list(question(2).evidence))
    assert shell.type(*WITH, "--dry-run")[0] == 2
    assert "acme-2.0.0.json exists" in shell.error


def test_a_copy_that_nobody_edited_would_change_nothing(shell: Shell) -> None:
    """That is the reason against it; every review would carry over, though the copy names no reviewer."""
    edit(shell, 1, target=question(1).target)
    assert [one["provenance"]["reviewedBy"] for one in shell.read("acme.json")["samples"]] == [None] * 4
    code, out = shell.type(*WITH, "--dry-run")
    assert code == 2
    assert "nothing differs from version 1.0.0" in shell.error
    assert "since 1.0.0 (nothing differs):" in out
    assert "  carry over  3: q-0, q-1, q-2" in out


def test_a_new_review_of_an_edited_question_counts_and_neither_carries_nor_lapses(shell: Shell) -> None:
    """A decision beside the copy about its words is a review of its own."""
    decide(shell, "acme", question(1, target="1,001 grams."))
    said = shell.json(*WITH, "--dry-run")
    assert (said["carried"], said["lapsed"], said["unreviewed"]) == (["q-0", "q-2"], [], ["q-3"])
    assert states(shell, "acme.json") == ["carried", "accepted", "carried", "unreviewed"]


@pytest.mark.parametrize("more", [(), ("--version", "1.0.1"), ("--version", "2.0.0", "--out", "other")])
def test_freezing_a_copy_is_refused_and_bump_is_named(shell: Shell, more: tuple[str, ...]) -> None:
    """Whatever version is said and wherever it would be written: a bump alone knows which reviews hold."""
    assert shell.type("questions", "freeze", "acme.json", "--corpus", "docs", *more)[0] == 2
    assert f"`questions bump {FROZEN} --with acme.json --corpus SOURCE` freezes it" in shell.error
    value = shell.read("acme.json")
    (shell.folder / "away").mkdir()
    shell.write("away/acme.json", value)
    assert shell.type("questions", "freeze", "away/acme.json", "--corpus", "docs", *more)[0] == 2
    assert "`questions bump FROZEN --with away/acme.json" in shell.error


@pytest.mark.parametrize("version", ["1.0.0", "0.9.0", "1.0.1", "2.0.0"])
def test_a_second_first_version_is_refused_and_bump_is_named(shell: Shell, version: str) -> None:
    """Lower, equal or higher, in its folder or another: what stands frozen beside the file has a next version."""
    shell.write("acme.json", {**shell.read("acme.json"), "version": "0.1.0"})
    for more in ((), ("--out", "other")):
        assert shell.type("questions", "freeze", "acme.json", "--corpus", "docs", "--version", version, *more)[0] == 2
        assert "frozen already, as acme-1.0.0.json" in shell.error
        assert f"`questions bump {FROZEN} --with acme.json --corpus SOURCE` makes the next" in shell.error


def test_the_list_of_a_copy_says_what_carries_over_and_what_is_to_be_reviewed(shell: Shell) -> None:
    """By the words, from the manifest of the version before; without that it says that it does not know."""
    code, out = shell.type(*LIST)
    assert code == 1
    assert out.splitlines() == [
        "  carried     q-0  B. Reader",
        "  unreviewed  q-1  B. Reader reviewed other words",
        "  carried     q-2  B. Reader",
        "  unreviewed  q-3",
        "4 questions: 0 accepted, 0 edited, 0 rejected, 2 unreviewed, 0 stale, 2 carried",
    ]
    decide(shell, "acme", question(1, target="1,001 grams."), question(3))
    assert shell.type(*LIST)[0] == 0
    (shell.folder / FROZEN).rename(shell.folder / "kept.json")
    (shell.folder / "acme-1.0.0.items.dsse.json").unlink()
    code, out = shell.type(*LIST)
    assert code == 1
    assert "which reviews carry" in out
    assert "2 accepted, 0 edited, 0 rejected, 2 unreviewed, 0 stale" in out


def test_the_list_of_a_frozen_set_says_what_its_manifest_says(shell: Shell) -> None:
    """Reviewer and time are those that were signed; a decision beside it changes nothing, and is named."""
    code, out = shell.type("questions", "review", FROZEN, "--list")
    assert code == 1
    assert out.splitlines()[0] == "  reviewed    q-0  B. Reader"
    assert out.splitlines()[-1].endswith("1 unreviewed, 0 stale, 3 reviewed")
    told = json.loads(shell.type("questions", "review", FROZEN, "--json")[1])
    assert (told["ok"], told["of"]) == (False, FROZEN)
    assert (told["reviews"][0]["reviewer"], told["reviews"][0]["at"]) == ("B. Reader", 1_700_000_000)
    decide(shell, "acme-1.0.0", question(3))
    code, out = shell.type("questions", "review", FROZEN, "--list")
    assert code == 1
    assert "! 1 decision stands beside this frozen set, after it was signed, and nothing follows from it" in out
    decide(shell, "acme", question(1, target="1,001 grams."), question(3))
    shell.json(*WITH)
    assert states(shell, "acme-2.0.0.json") == ["reviewed"] * 4
    assert shell.type("questions", "review", "acme-2.0.0.json", "--list")[0] == 0


def test_two_sets_with_one_file_name_are_told_apart(shell: Shell) -> None:
    """The message says whose file is in the way, not that there is a version of this set; elsewhere it is frozen."""
    shell.write("other.json", to_json(small_set(name="acme!")))
    freeze = ("questions", "freeze", "other.json", "--corpus", "docs", "--version")
    for version in ("1.0.0", "3.0.0"):
        assert shell.type(*freeze, version)[0] == 2
        assert f"{FROZEN} is another set, 'acme': its name and 'acme!' give the same file name, acme" in shell.error
        assert "bump" not in shell.error
    shell.json(*freeze, "1.0.0", "--out", "apart")
    assert shell.type(*WITH, "--out", "apart")[0] == 2
    assert "is another set, 'acme!'" in shell.error
    assert shell.type("questions", "bump", "apart/acme-1.0.0.json", "--with", "acme.json", "--corpus", "docs")[0] == 2
    assert "is the set 'acme', and the frozen one is 'acme!'" in shell.error


def test_the_page_says_what_carries_over_as_the_list_does(shell: Shell) -> None:
    """Of each question the page has the state of `review --list`; a decision beside the copy goes before."""
    desk = QuestionDesk(shell.folder / "acme.json")

    def shown() -> list[str]:
        given = desk.now(surely=True)
        return [given.listed(one).state for one in given.benchmark.questions]

    assert shown() == states(shell, "acme.json") == ["carried", "unreviewed", "carried", "unreviewed"]
    given = desk.now()
    told = view_json(view_of(desk, given, given.questions["q-0"]), given)
    assert (told["state"], told["carriedBy"], told["decision"]) == ("carried", "B. Reader", None)
    decide(shell, "acme", question(0), question(1, target="1,001 grams."))
    assert shown() == states(shell, "acme.json") == ["accepted", "accepted", "carried", "unreviewed"]
