"""`ragassay verify` and `ragassay keys`, from the outside."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ragassay.cli import root
from ragassay.cli.passphrase import signer_named
from ragassay.site.safe import one_line
from ragassay.testing.signed_run import OpenedRun, public_signer, resigned, signed_run


def run(*arguments: str | Path) -> Result:
    """Call the command line in this process."""
    return CliRunner().invoke(root, [str(argument) for argument in arguments])


def write(folder: Path, files: dict[str, bytes]) -> Path:
    """Write a run folder."""
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """The public key file of the signer of all sample runs."""
    path = tmp_path / "test.pub.json"
    path.write_bytes(public_signer().public.jwk())
    return path


def test_a_good_run_is_accepted(tmp_path: Path, key: Path) -> None:
    """Exit code 0, the score, the fingerprint, and what was not checked."""
    folder = write(tmp_path / "run", signed_run())
    result = run("verify", folder, "--key", key)
    assert result.exit_code == 0
    assert "score 0.5833 (175/300), 3 of 3 scored" in result.output
    assert f"key {public_signer().kid} (test-key-never-trust; the pinned key)" in result.output
    assert "Not checked: announcement (the run names none); " in result.output
    assert "1 of 1 run verified." in result.output


def test_without_a_key_the_signer_is_not_trusted(tmp_path: Path) -> None:
    """The signature is checked, the fingerprint printed, and the code SIGNER_UNPINNED stands there."""
    result = run("verify", write(tmp_path / "run", signed_run()))
    assert result.exit_code == 0
    assert "not the key you trust yet" in result.output
    assert "SIGNER_UNPINNED" in result.output


def test_strict_refuses_what_no_log_witnesses(tmp_path: Path, key: Path) -> None:
    """Under --strict warnings are failures, and the exit code is 1."""
    result = run("verify", write(tmp_path / "run", signed_run()), "--key", key, "--strict")
    assert result.exit_code == 1
    assert "fail  NO_INTENT" in result.output
    assert "0 of 1 run strictly verified." in result.output


def test_one_bad_run_of_a_folder_is_enough(tmp_path: Path) -> None:
    """A folder of runs is checked run by run; hidden folders are none; exit code 1 on any refusal."""
    runs = tmp_path / "runs"
    write(runs / "a", signed_run())
    write(runs / "b", {**signed_run(), "config.json": b"{}"})
    write(runs / ".half-written", {})
    result = run("verify", runs)
    assert result.exit_code == 1
    assert "fail  CONFIG_DIGEST" in result.output
    assert "1 of 2 runs verified." in result.output


def test_a_run_whose_manifest_was_taken_is_refused(tmp_path: Path) -> None:
    """Its folder is not skipped as empty."""
    runs = tmp_path / "runs"
    write(runs / "a", signed_run())
    bad = write(runs / "b", signed_run())
    (bad / "run.dsse.json").unlink()
    result = run("verify", runs)
    assert result.exit_code == 1
    assert "FILE_MISSING" in result.output


def test_runs_stand_by_row_and_pass(tmp_path: Path) -> None:
    """The order is that of rows and passes and not of the random run ids."""
    runs = tmp_path / "runs"
    write(runs / "c", signed_run(row="bm25", pass_k=1))
    write(runs / "b", signed_run(row="dense", pass_k=1))
    write(runs / "a", signed_run(row="bm25", pass_k=2))
    reports = json.loads(run("verify", runs, "--json").output)["runs"]
    assert [(report["row"], report["passK"]) for report in reports] == [("bm25", 1), ("bm25", 2), ("dense", 1)]


def test_json_tells_the_same(tmp_path: Path) -> None:
    """--json prints every report with its findings and whether it is accepted."""
    runs = tmp_path / "runs"
    write(runs / "a", signed_run())
    write(runs / "b", {**signed_run(), "extra": b""})
    result = run("verify", runs, "--json")
    assert result.exit_code == 1
    document = json.loads(result.output)
    assert (document["ok"], document["strict"]) == (False, False)
    assert [entry["ok"] for entry in document["runs"]] == [True, False]
    assert "BUNDLE_NAME" in {finding["code"] for finding in document["runs"][1]["findings"]}
    assert document["runs"][0]["score"] == {"num": 175, "den": 300, "decimal": "0.5833"}


@pytest.mark.parametrize("arguments", [["absent"], ["."], ["--key", "absent.json", "."]])
def test_nothing_to_check_is_a_wrong_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    """A path without runs and a key that is not there end with exit code 2 on the real command line."""
    done = subprocess.run(
        [sys.executable, "-m", "ragassay", "verify", *arguments], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"ragassay: ")


def test_hostile_text_cannot_steer_the_terminal(tmp_path: Path) -> None:
    """Escape sequences and direction marks of a run are printed as their code points."""

    def change(opened: OpenedRun) -> None:
        opened.config["row"] = opened.predicate["row"]["name"] = "\x1b[2Jrow\u202e\u2028"
        opened.outputs[0]["id"] = "\x1b]0;title\x07"

    result = run("verify", write(tmp_path / "run", resigned(signed_run(), change)))
    assert result.exit_code == 1
    assert "[U+001B][2Jrow[U+202E][U+2028]" in result.output
    assert not any(ord(char) < 32 and char != "\n" for char in result.output)
    assert "\u202e" not in result.output


def test_hostile_text_cannot_steer_the_terminal_as_json(tmp_path: Path) -> None:
    """--json is ASCII."""

    def change(opened: OpenedRun) -> None:
        opened.predicate["row"]["name"] = "\x1b[2Jé\u202e"

    result = run("verify", write(tmp_path / "run", resigned(signed_run(), change)), "--json")
    assert result.output.isascii()
    assert "\x1b" not in result.output


def test_plain_keeps_ordinary_text() -> None:
    """Letters of any script and emoji stay as they are."""
    assert one_line("ordinary ünïcødé 漢字 😀 …") == "ordinary ünïcødé 漢字 😀 …"
    assert one_line("a\x00b\u200dc\x9bd\ud800") == "a[U+0000]b[U+200D]c[U+009B]d[U+D800]"


def test_keys_init_makes_one_key_once(tmp_path: Path) -> None:
    """The second call finds the first call's key and prints the same fingerprint; the secret is never printed."""
    folder = tmp_path / "keys"
    first = run("keys", "init", "--dir", folder)
    second = run("keys", "init", "--dir", folder)
    assert first.exit_code == second.exit_code == 0
    kid = signer_named(folder, "run").kid
    assert kid in first.output
    assert kid in second.output
    assert "there is already" in second.output
    secret = (folder / "run.pem").read_text().splitlines()[1]
    assert secret not in first.output + second.output + run("keys", "list", "--dir", folder).output


def test_keys_list_names_every_key(tmp_path: Path) -> None:
    """Each key stands with its fingerprint, also as JSON; an empty folder says what to do."""
    folder = tmp_path / "keys"
    assert "ragassay keys init" in run("keys", "list", "--dir", folder).output
    run("keys", "init", "--dir", folder, "--name", "prod-1")
    run("keys", "init", "--dir", folder, "--name", "prod-2")
    listed = json.loads(run("keys", "list", "--dir", folder, "--json").output)
    assert [entry["name"] for entry in listed] == ["log", "prod-1", "prod-2"]
    assert listed[1]["kid"] == signer_named(folder, "prod-1").kid
    made = json.loads(run("keys", "init", "--dir", folder, "--name", "prod-1", "--json").output)
    assert [(one["made"], one["kid"]) for one in made] == [(False, listed[1]["kid"])]


def test_a_run_of_a_made_key_verifies_with_its_public_file(tmp_path: Path) -> None:
    """The whole way: make a key, sign with it, verify with the file beside it, and refuse another's."""
    run("keys", "init", "--dir", tmp_path / "keys")
    signer = signer_named(tmp_path / "keys", "run")
    folder = write(tmp_path / "run", signed_run(signer=signer))
    public = tmp_path / "keys" / "run.pub.json"
    assert run("verify", folder, "--key", public).exit_code == 0
    other = write(tmp_path / "other", signed_run())
    refused = run("verify", other, "--key", public)
    assert refused.exit_code == 1
    assert "fail  KEY_UNKNOWN" in refused.output


BASE_ONLY = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"numpy", "scipy", "aiohttp", "uvloop", "bm25s", "onnxruntime", "tokenizers",
                                  "lxml", "jinja2", "qdrant_edge", "markdown_it"}:
            raise ImportError(name + " belongs to an extra")
sys.meta_path.insert(0, Refuse())
from ragassay.cli import main
main()
"""


def test_verify_needs_the_base_install_only(tmp_path: Path) -> None:
    """With every package of the extras refused, a run is verified and a key is made."""
    folder = write(tmp_path / "run", signed_run())
    for arguments in (["verify", str(folder)], ["keys", "init", "--dir", str(tmp_path / "keys")]):
        done = subprocess.run([sys.executable, "-c", BASE_ONLY, *arguments], capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
