"""From a question file to a board over a frozen set: freeze, run, show, bump, split, and every refusal on the way."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

import pytest

from frozen_lab import small_set
from frozen_shell import Shell
from ragassay.records import to_json

FROZEN, ITEMS = "acme-1.0.0.json", "acme-1.0.0.items.dsse.json"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """A shell in a folder of its own."""
    return Shell(tmp_path, monkeypatch, capsys)


def test_freezing_writes_two_read_only_files_and_names_what_nobody_reviewed(shell: Shell) -> None:
    """Both files are there, cannot be written, verify strictly under the key, and are never written again."""
    said = shell.freeze()
    assert said["unreviewed"] == ["q-1", "q-2", "q-3"]
    assert [stat.S_IMODE((shell.folder / name).stat().st_mode) for name in (FROZEN, ITEMS)] == [0o444, 0o444]
    code, out = shell.type("verify", ITEMS, "--key", ".ragassay/keys/run.pub.json", "--corpus", "docs", "--strict")
    assert code == 0, out
    assert "4 questions, 1 reviewed, 3 not" in out
    before = (shell.folder / ITEMS).read_bytes()
    assert shell.type("questions", "freeze", "questions.json", "--corpus", "docs")[0] == 2
    assert "frozen already" in shell.error
    assert (shell.folder / ITEMS).read_bytes() == before


def test_every_reason_against_freezing_is_printed_and_nothing_is_written(shell: Shell) -> None:
    """A version, an author, a derivation and lost evidence are missing at once."""
    spoilt = to_json(small_set(version="0"))
    spoilt["samples"][0]["provenance"] = None
    spoilt["samples"][1]["evidence"] = ["Nowhere."]
    shell.write("questions.json", spoilt)
    assert shell.type("questions", "freeze", "questions.json", "--corpus", "docs")[0] == 2
    for word in ("MAJOR.MINOR.PATCH", "--author", "--not-derived", "no waiver helps"):
        assert word in shell.error
    assert list(shell.folder.glob("acme*")) == []
    assert shell.type("questions", "freeze", "questions.json")[0] == 2


def test_a_run_names_the_item_manifest_and_the_board_shows_it(shell: Shell) -> None:
    """The signed configuration holds its SHA-256, the workspace and the site its bytes, board and spec its words."""
    digest = shell.freeze()["itemsSha256"]
    code, _ = shell.type("run")
    assert code == 0, shell.error
    configs = [json.loads(path.read_bytes()) for path in shell.folder.glob(".ragassay/runs/*/config.json")]
    assert [config["circumstance"]["itemManifest"] for config in configs] == [digest] * 2
    kept = shell.folder / ".ragassay" / "items" / f"{digest}.dsse.json"
    assert kept.read_bytes() == (shell.folder / ITEMS).read_bytes()
    served = shell.folder / "site" / "benchmarks" / "acme" / "1.0.0.items.dsse.json"
    assert served.read_bytes() == kept.read_bytes()
    assert 'href="benchmarks/acme/1.0.0.items.dsse.json"' in (shell.folder / "site" / "index.html").read_text()
    board = " ".join(shell.type("board")[1].split())
    assert "1 of 4 questions reviewed; declared: no item was derived" in board
    spec = shell.type("spec")[1]
    assert "frozen as version 1.0.0 on" in spec
    run = next(shell.folder.glob(".ragassay/runs/*"))
    beside = ("--questions", str(run / "benchmark.json"))
    assert shell.type("verify", str(served), *beside)[0] == 0
    shutil.copy(kept.with_name(kept.name), shell.folder / "mine")
    kept.write_bytes(b"{}")
    assert "not kept in the workspace" in " ".join(shell.type("board")[1].split())
    assert "not kept in the workspace" in shell.type("spec")[1]


def test_a_part_of_a_frozen_set_names_no_manifest(shell: Shell) -> None:
    """A subset is another set, which nobody froze."""
    shell.freeze()
    assert shell.type("run", "--subset", "2")[0] == 0, shell.error
    configs = [json.loads(path.read_bytes()) for path in shell.folder.glob(".ragassay/runs/*/config.json")]
    assert {config["circumstance"]["itemManifest"] for config in configs} == {None}


@pytest.mark.parametrize("name", [FROZEN, ITEMS])
def test_an_altered_frozen_set_is_refused_by_everything_that_runs_on_it(shell: Shell, name: str) -> None:
    """One changed byte in either file, and the message says which verb makes the next version."""
    shell.freeze()
    path = shell.folder / name
    data = path.read_bytes().replace(b"grams", b"drams").replace(b'"keyid":"', b'"keyid":"x')
    path.unlink()
    path.write_bytes(data)
    for words in (
        ("run",),
        ("board",),
        ("questions", "check", FROZEN, "--corpus", "docs"),
        ("questions", "check", "board.toml"),
        ("questions", "bump", FROZEN),
        ("stacks", "check"),
        ("init", "--force", "--docs", "docs", "--questions", FROZEN),
    ):
        (shell.folder / ".ragassay" / "runs").mkdir(exist_ok=True)
        assert shell.type(*words)[0] == 2, words
        assert "ragassay questions bump" in shell.error, words
    assert shell.type("verify", ITEMS)[0] == 1


def test_the_next_version_says_what_moved_and_links_the_one_before(shell: Shell) -> None:
    """A copy is edited and frozen: reviews of the same words stand, superseded rows are named, the chain verifies."""
    shell.freeze()
    assert shell.type("run")[0] == 0, shell.error
    copy = shell.json("questions", "bump", FROZEN)
    assert copy["version"] == "1.0.1-draft"
    with_it = ("questions", "bump", FROZEN, "--with", "acme.json", "--corpus", "docs")
    assert shell.type(*with_it)[0] == 2
    assert "nothing differs" in shell.error
    edited = shell.read("acme.json")
    edited["samples"][1]["claims"][0]["must"] = [["1001", "1,001"]]
    edited["samples"][2]["topic"] = "weights"
    shell.write("acme.json", edited)
    assert shell.type(*with_it, "--version", "1.0.1")[0] == 2
    assert "asks for 1.1.0" in shell.error
    said = shell.json(*with_it)
    assert said["benchmark"]["version"] == "1.1.0"
    assert said["moved"]["counts"] == {"unchanged": 2, "claims": 1, "topic": 1, "added": 0, "retired": 0}
    assert said["superseded"] == {"bm25": 1, "no-retrieval": 1}
    assert said["unreviewed"] == ["q-1", "q-2", "q-3"]
    assert said["previous"]["version"] == "1.0.0"
    code, out = shell.type("verify", "acme-1.1.0.items.dsse.json")
    assert code == 0
    assert "after 1.0.0" in out
    assert "the version before" not in out
    assert shell.type("questions", "bump", FROZEN)[0] == 2
    assert "acme.json exists" in shell.error
    assert shell.type(*with_it)[0] == 2
    assert "frozen already" in shell.error
    assert shell.type("questions", "bump", "questions.json")[0] == 2
    assert "not frozen" in shell.error


def test_a_half_is_held_out_and_shown_later(shell: Shell) -> None:
    """Public half, secret half, salt and commitment; a reveal as a whole, of one question, and of a changed one."""
    said = shell.json("questions", "split", "questions.json", "--held-out", "50%", "--out", "sets")
    assert (said["publicQuestions"], said["heldOutQuestions"]) == (2, 2)
    modes = {
        name: stat.S_IMODE(Path(said[name]).stat().st_mode) for name in ("public", "heldOut", "commitment", "salt")
    }
    assert modes == {"public": 0o444, "heldOut": 0o600, "commitment": 0o444, "salt": 0o600}
    check = ("questions", "split", "--check", said["commitment"])
    assert shell.json(*check, "--revealed", said["heldOut"], "--salt", said["salt"])["whole"] is True
    first = shell.read(said["heldOut"])["samples"][0]["id"]
    one = shell.json("questions", "split", said["heldOut"], "--reveal", first)
    found = shell.json(*check, "--revealed", one["revealed"], "--salt", one["salts"])
    assert (found["held"], found["complete"]) == ([first], False)
    changed = shell.read(said["heldOut"])
    changed["samples"][0]["target"] = "9 tons."
    shell.write("changed.json", changed)
    code, out = shell.type(*check, "--revealed", "changed.json", "--salt", said["salt"])
    assert code == 1
    assert f"CHANGED     1: {first}" in out
    assert shell.type(*check, "--revealed", said["public"], "--salt", said["salt"])[0] == 1
    again = shell.json(
        "questions", "split", "questions.json", "--held-out", "50%", "--out", "again", "--salt-file", said["salt"]
    )
    assert Path(again["public"]).read_bytes() == Path(said["public"]).read_bytes()
    assert shell.type("questions", "split", "questions.json", "--held-out", "50%", "--out", "sets")[0] == 2
    assert shell.json("questions", "freeze", said["public"], "--corpus", "docs")["benchmark"]["items"] == 2


def test_wrong_usage(shell: Shell) -> None:
    """What does not go together is told, and nothing is done."""
    shell.freeze()
    for words in (
        ("questions", "split"),
        ("questions", "split", "questions.json"),
        ("questions", "split", "--check", "x"),
        ("questions", "split", "questions.json", "--held-out", "50%", "--revealed", "x"),
        ("questions", "split", "questions.json", "--reveal", "q-0", "--held-out", "50%"),
        ("questions", "split", "questions.json", "--reveal", "q-0"),
        ("questions", "bump", FROZEN, "--with", "questions.json"),
        ("verify", ITEMS, "--rerun"),
        ("verify", ITEMS, ".ragassay/runs"),
        ("verify", ".ragassay", "--questions", FROZEN),
        ("verify", "none.items.dsse.json"),
        ("verify", ITEMS, "--questions", "none.json"),
    ):
        assert shell.type(*words)[0] == 2, words
