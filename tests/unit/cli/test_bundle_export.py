"""`ragassay export bundle`, from the outside."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ragassay.cli.export import command
from ragassay.errors import InputError, RagassayError, VerifyError
from ragassay.manifest.bundle import read_bundle
from ragassay.testing.signed_run import RUN_ID, signed_run

RUN = signed_run()


def export(*arguments: str | Path) -> Result:
    """Call the verb in this process."""
    return CliRunner().invoke(command, ["bundle", *(str(argument) for argument in arguments)])


def failure(*arguments: str | Path) -> RagassayError:
    """Return the error with which the verb ends."""
    error = export(*arguments).exception
    assert isinstance(error, RagassayError)
    return error


@pytest.fixture(autouse=True)
def run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with one run, in the current folder."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / ".ragassay" / "runs" / RUN_ID
    folder.mkdir(parents=True)
    for name, content in RUN.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize("run", [RUN_ID, RUN_ID[:6], f".ragassay/runs/{RUN_ID}"])
def test_a_run_becomes_one_file(tmp_path: Path, run: str) -> None:
    """By id, by the first characters of it or by folder; the file is called by the id, and says what it holds."""
    result = export(run)
    assert result.exit_code == 0
    data = (tmp_path / f"{RUN_ID}.zip").read_bytes()
    assert read_bundle(data).files == RUN
    first, *lines = result.output.splitlines()
    assert first == f"wrote {RUN_ID}.zip, {len(data):,} bytes"
    assert [line.split() for line in lines] == [[f"{len(content):,}", name] for name, content in RUN.items()]


def test_a_workspace_elsewhere(tmp_path: Path, run_folder: Path) -> None:
    """--workspace names where the id is looked up, --out where the bundle goes."""
    (tmp_path / ".ragassay").rename(tmp_path / "elsewhere")
    assert export(RUN_ID, "--workspace", "elsewhere", "--out", "a.zip").exit_code == 0
    assert read_bundle((tmp_path / "a.zip").read_bytes()).files == RUN


def test_nothing_else_in_the_folder_is_packed(tmp_path: Path, run_folder: Path) -> None:
    """A key or a note that lies there is left out, and that is said."""
    (run_folder / "run.pem").write_text("secret")
    (run_folder / "notes\x1b.txt").write_text("secret")
    result = export(RUN_ID)
    assert result.exit_code == 0
    assert "left out, as it is no file of a run: notes[U+001B].txt, run.pem" in result.output
    assert read_bundle((tmp_path / f"{RUN_ID}.zip").read_bytes()).files == RUN


def test_json_tells_the_same(run_folder: Path) -> None:
    """--json prints path, size, files and what was left out."""
    (run_folder / "notes.txt").write_text("x")
    document = json.loads(export(RUN_ID, "--json").output)
    assert document["path"] == f"{RUN_ID}.zip"
    assert document["bytes"] == Path(document["path"]).stat().st_size
    assert document["files"] == [{"name": name, "bytes": len(content)} for name, content in RUN.items()]
    assert document["leftOut"] == ["notes.txt"]


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    """Without --force nothing is replaced; with it the whole file is, and no temporary one is left."""
    out = tmp_path / "a.zip"
    out.write_bytes(b"mine")
    error = failure(RUN_ID, "--out", out)
    assert isinstance(error, InputError)
    assert "--force" in str(error)
    assert out.read_bytes() == b"mine"
    assert export(RUN_ID, "--out", out, "--force").exit_code == 0
    assert read_bundle(out.read_bytes()).files == RUN
    assert sorted(path.name for path in tmp_path.iterdir()) == [".ragassay", "a.zip"]


def test_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    """A bundle depends on nothing but the files."""
    for name in ("a.zip", "b.zip"):
        export(RUN_ID, "--out", name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


@pytest.mark.parametrize("out", [".", "absent/a.zip"])
def test_a_place_that_cannot_be_written_is_a_wrong_input(out: str) -> None:
    """A folder and a missing folder are named."""
    error = failure(RUN_ID, "--out", out)
    assert isinstance(error, InputError)
    assert "--out" in str(error)


def test_a_run_that_is_refused_is_not_exported(tmp_path: Path, run_folder: Path) -> None:
    """A changed file, a missing one or a link: exit code 1 with the reasons, and no bundle."""
    (run_folder / "outputs.jsonl").write_bytes(RUN["outputs.jsonl"][:-1])
    error = failure(RUN_ID)
    assert isinstance(error, VerifyError)
    assert "OUTPUTS_DIGEST: " in str(error)
    (run_folder / "outputs.jsonl").unlink()
    assert re.search(r"refused by `ragassay verify` and not exported:\n  - FILE_MISSING: ", str(failure(RUN_ID)))
    (run_folder / "outputs.jsonl").symlink_to(tmp_path / "elsewhere")
    assert "BUNDLE_LINK: " in str(failure(RUN_ID))
    assert not list(tmp_path.glob("*.zip"))


def test_what_names_no_run_is_a_wrong_input(tmp_path: Path) -> None:
    """Nothing, too little, too much, a pattern, a folder without a run, and two runs that begin alike."""
    (tmp_path / ".ragassay" / "runs" / f"{RUN_ID[:31]}0").mkdir()
    (tmp_path / "empty").mkdir()
    for run, words in (
        ("abcdef", "holds no run abcdef"),
        (RUN_ID[:5], "neither a run folder nor 6 to 32 characters"),
        ("*" * 6, "neither a run folder"),
        ("../../..", "neither a run folder"),
        ("empty", "neither a run folder"),
        (RUN_ID[:30], "begins 2 run ids"),
    ):
        error = failure(run)
        assert isinstance(error, InputError)
        assert words in str(error)
    assert export(RUN_ID).exit_code == 0


def test_a_sigstore_bundle_is_written_beside(tmp_path: Path) -> None:
    """`export sigstore-bundle` writes the manifest's envelope in that form, and names the key to check it with."""
    folder = tmp_path / "run"
    folder.mkdir()
    for name, data in RUN.items():
        (folder / name).write_bytes(data)
    out = tmp_path / "run.sigstore.json"
    done = CliRunner().invoke(command, ["sigstore-bundle", str(folder), "--out", str(out), "--json"])
    assert done.exit_code == 0
    found = json.loads(out.read_bytes())
    assert found["dsseEnvelope"] == json.loads(RUN["run.dsse.json"])
    assert json.loads(done.output)["hint"] == found["verificationMaterial"]["publicKey"]["hint"]
