"""Freezing, bumping and splitting that is killed, interrupted or hindered: nothing half-written counts later."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from frozen_lab import freeze_into, page, small_set
from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.manifest.files import REGISTRY
from ragassay.records import to_json
from ragassay.run.question_sets.frozen import items_kept, keep_items, load_set
from ragassay.run.question_sets.frozen_write import READ_ONLY, SECRET, write_together
from ragassay.run.workspace import Workspace

KILLED = """
import os, sys
from ragassay.cli import main
place, left = os.link, int(sys.argv.pop(1))
def link(*given):
    global left
    if left == 0:
        os._exit(9)
    left -= 1
    place(*given)
os.link = link
main()
"""
FREEZE = ("questions", "freeze", "questions.json", "--corpus", "docs")
SPLIT = ("questions", "split", "questions.json", "--held-out", "50%")


class Folder:
    """A folder with documentation, questions and keys, in which verbs are typed or killed."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.path, self._patch, self._capsys = path, monkeypatch, capsys
        monkeypatch.chdir(path)
        monkeypatch.setenv("RAGASSAY_PASSPHRASE", "six words that nobody ever guesses")
        (path / "docs").mkdir()
        for n in range(4):
            (path / "docs" / f"page-{n}.md").write_text(page(n).text)
        (path / "questions.json").write_text(json.dumps(to_json(small_set())))
        assert self.type("keys", "init")[0] == 0

    def type(self, *words: str) -> tuple[int, str]:
        """Run one verb and return its exit code and all that it printed."""
        self._patch.setattr(sys, "argv", ["ragassay", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        found = self._capsys.readouterr()
        return int(ended.value.code or 0), found.out + found.err

    def kill(self, after: int, *words: str) -> None:
        """Run one verb in a process that dies once it has placed so many files."""
        done = subprocess.run([sys.executable, "-c", KILLED, str(after), *words], capture_output=True, timeout=60)
        assert done.returncode == 9, done.stderr

    def names(self) -> set[str]:
        """Return the files of the set that are there under their names."""
        return {one.name for one in self.path.glob("acme*")}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Folder:
    """A folder of its own."""
    return Folder(tmp_path, monkeypatch, capsys)


def test_a_killed_freeze_leaves_no_set_that_looks_unfrozen(folder: Folder) -> None:
    """The manifest comes first; alone it is no set, the next freeze says so, and without it freezing is as before."""
    folder.kill(0, *FREEZE)
    assert folder.names() == set()
    folder.kill(1, *FREEZE)
    assert folder.names() == {"acme-1.0.0.items.dsse.json"}
    code, said = folder.type(*FREEZE)
    assert code == 2
    assert "stands there without its question file" in said
    assert folder.type("verify", "acme-1.0.0.items.dsse.json")[0] == 1
    (folder.path / "acme-1.0.0.items.dsse.json").unlink()
    assert folder.type(*FREEZE)[0] == 0
    assert folder.type("verify", "acme-1.0.0.items.dsse.json")[0] == 0


def test_a_killed_split_never_leaves_a_commitment_without_its_salt(folder: Folder) -> None:
    """The salt is there before anything else, and the next split takes it."""
    folder.kill(1, *SPLIT)
    assert folder.names() == {"acme-held-out.salt"}
    secret = (folder.path / "acme-held-out.salt").read_bytes()
    folder.kill(3, *SPLIT, "--out", "other")
    assert {one.name for one in (folder.path / "other").glob("acme*")} == {
        "acme-held-out.salt",
        "acme-public.json",
        "acme-held-out.json",
    }
    assert folder.type(*SPLIT)[0] == 0
    assert (folder.path / "acme-held-out.salt").read_bytes() == secret


def test_what_belongs_to_the_owner_alone_does_so_under_every_umask(folder: Folder) -> None:
    """Secret files are never readable by others, not even what a kill leaves of them; an open salt is not used."""
    before = os.umask(0)
    try:
        folder.kill(2, *SPLIT, "--out", "killed")
        assert folder.type(*SPLIT)[0] == 0
    finally:
        os.umask(before)
    left = [one for one in (folder.path / "killed").iterdir() if "public" not in one.name]
    secret = [one for one in left if "commitment" not in one.name]
    assert len(secret) >= 3
    assert {one.stat().st_mode & 0o077 for one in secret} == {0}
    salt = folder.path / "acme-held-out.salt"
    salt.chmod(0o640)
    code, said = folder.type(*SPLIT, "--out", "again", "--salt-file", str(salt))
    assert code == 2
    assert "can be read by others" in said
    assert not (folder.path / "again").exists()


def test_a_stopped_write_takes_back_what_it_placed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C between two files, and a disk that is full, leave neither of them nor any other file."""
    place, given = os.link, [KeyboardInterrupt(), OSError(28, "No space left on device")]

    def fails(error: BaseException) -> Iterator[Any]:
        yield place
        while True:
            yield error

    for error, raised in zip(given, (KeyboardInterrupt, InputError), strict=True):
        steps = fails(error)

        def link(*paths: Any, steps: Iterator[Any] = steps) -> None:
            step = next(steps)
            if isinstance(step, BaseException):
                raise step
            step(*paths)

        monkeypatch.setattr(os, "link", link)
        with pytest.raises(raised):
            write_together({tmp_path / "a": (b"1", READ_ONLY), tmp_path / "b": (b"2", SECRET)})
        assert list(tmp_path.iterdir()) == []


def test_one_version_is_signed_once(folder: Folder) -> None:
    """A frozen file is not frozen again elsewhere: two manifests of one version would contradict each other."""
    assert folder.type(*FREEZE)[0] == 0
    code, said = folder.type("questions", "freeze", "acme-1.0.0.json", "--corpus", "docs", "--out", "elsewhere")
    assert code == 2
    assert "frozen already, as version 1.0.0" in said
    assert not (folder.path / "elsewhere").exists()


def test_an_altered_frozen_file_is_not_reviewed(folder: Folder) -> None:
    """A review of words that the manifest does not sign would be of nothing."""
    assert folder.type(*FREEZE)[0] == 0
    path = folder.path / "acme-1.0.0.json"
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data.replace(b"grams", b"drams"))
    code, said = folder.type("questions", "review", "acme-1.0.0.json", "--list")
    assert code == 2
    assert "ragassay questions bump" in said


def test_a_set_stripped_of_its_manifest_is_not_run_under_its_old_name(folder: Folder) -> None:
    """The workspace remembers; a dry run refuses too, and a board of other runs says that they are not these."""
    assert folder.type(*FREEZE)[0] == 0
    board = 'name = "acme"\npasses = 1\n[corpus]\npath = "docs"\n[benchmark]\nfile = "acme-1.0.0.json"\n'
    board += '[answer]\nkind = "reader"\n[judge]\nkind = "literal"\n[[rows]]\nname = "no-retrieval"\n'
    board += 'stack = { kind = "none" }\n[[rows]]\nname = "bm25"\nstack = { kind = "bm25" }\n'
    (folder.path / "board.toml").write_text(board)
    assert folder.type("run")[0] == 0
    path = folder.path / "acme-1.0.0.json"
    data = path.read_bytes()
    (folder.path / "acme-1.0.0.items.dsse.json").unlink()
    path.unlink()
    path.write_bytes(data.replace(b"How many grams does the anvil", b"How many grams may the anvil"))
    for words in (("run",), ("run", "--dry-run")):
        code, said = folder.type(*words)
        assert (code, "calls itself acme 1.0.0" in said) == (2, True), said
    kept = next((folder.path / ".ragassay" / "items").iterdir())
    away = kept.rename(folder.path / kept.name)
    assert folder.type("run")[0] == 0
    away.rename(kept)
    said = " ".join(folder.type("board")[1].split())
    assert "not the questions that were frozen under this name and version" in said
    assert "No run names a signed item manifest, so the set is not frozen." in " ".join(folder.type("spec")[1].split())


def test_json_holds_nothing_that_steers_a_terminal(folder: Folder) -> None:
    """A path with control and bidirectional characters stands in JSON as escapes, and reads back as it was."""
    out = "o\x9b31m\u202e\U000e0041"
    code, said = folder.type(*SPLIT, "--out", out, "--json")
    assert code == 0
    assert not set(said) & set("\x9b\u202e\U000e0041")
    assert json.loads(said)["public"] == f"{out}/acme-public.json"
    code, said = folder.type(*SPLIT, "--out", f"{out}2")
    assert (code, set(said) & set("\x9b\u202e\U000e0041")) == (0, set())


@pytest.mark.parametrize("words", [FREEZE, SPLIT])
def test_a_key_of_another_kind_signs_no_set(folder: Folder, words: tuple[str, ...]) -> None:
    """The key of a log or a root may sign no question set: nobody could pin it for that."""
    code, said = folder.type(*words, "--key", "log")
    assert (code, "signed by run keys" in said, folder.names()) == (2, True, set())


@pytest.mark.parametrize("beside", ["acme-1.0.0.json", "keys.json"])
def test_a_pipe_beside_a_manifest_is_not_waited_for(folder: Folder, beside: str) -> None:
    """Whoever sends a folder may put a pipe there, which nothing ever writes to."""
    assert folder.type(*FREEZE)[0] == 0
    place = folder.path / (REGISTRY if beside == "keys.json" else beside)
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    code, said = folder.type("verify", "acme-1.0.0.items.dsse.json")
    assert (code, "is no plain file" in said) == (2, True)


def test_a_damaged_copy_of_a_manifest_in_the_workspace_is_replaced(tmp_path: Path) -> None:
    """A run keeps the bytes that it names, whatever stood under their name."""
    found = load_set(freeze_into(tmp_path))[1]
    assert found is not None
    workspace = Workspace(tmp_path / ".ragassay")
    kept = items_kept(workspace.root, keep_items(workspace, found))
    kept.write_bytes(b"{}")
    assert keep_items(workspace, found) == found.signed.digest
    assert kept.read_bytes() == found.signed.data
