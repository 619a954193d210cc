"""The first steps of somebody who has set no passphrase: what is written, what is said, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _ragassay(folder: Path, *arguments: str, passphrase: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAGASSAY_")}
    if passphrase is not None:
        environment["RAGASSAY_PASSPHRASE"] = passphrase
    return subprocess.run(
        [sys.executable, "-m", "ragassay", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A folder of one page and a file of one question."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "port.md").write_text("# Port\n\nThe service listens on port 8080.\n", encoding="utf-8")
    claim = {"text": "It is port 8080.", "central": True, "must": [["8080"]]}
    sample = {"id": "port", "page": "port.md", "input": "On which port?", "target": "8080", "claims": [claim]}
    (tmp_path / "questions.json").write_text(json.dumps({"samples": [sample]}), encoding="utf-8")
    return tmp_path


def test_init_without_a_passphrase_writes_the_board_and_names_the_next_command(job: Path) -> None:
    """The board is there, no key is, the command that makes it works once the variable is set, and init says so."""
    done = _ragassay(job, "init")
    assert done.returncode == 0, done.stderr
    assert (job / "board.toml").exists()
    assert not list((job / ".ragassay" / "keys").glob("*.pem"))
    assert "set RAGASSAY_PASSPHRASE and type: ragassay keys init" in done.stdout
    assert _ragassay(job, "run").returncode == 2
    assert _ragassay(job, "keys", "init", passphrase="p").returncode == 0
    (job / ".ragassay" / "keys" / "log.pem").rename(job / "log.pem")
    assert "log key:       not made yet" in _ragassay(job, "init", "--force").stdout
    (job / "log.pem").rename(job / ".ragassay" / "keys" / "log.pem")
    again = _ragassay(job, "init", "--force")
    kid = json.loads((job / ".ragassay" / "keys" / "run.pub.json").read_text())["kid"]
    assert f"run key:       {kid}" in again.stdout


def test_init_with_a_passphrase_makes_both_keys(job: Path) -> None:
    """Run key and log key are there, encrypted."""
    assert _ragassay(job, "init", passphrase="p").returncode == 0
    keys = sorted((job / ".ragassay" / "keys").glob("*.pem"))
    assert [path.name for path in keys] == ["log.pem", "run.pem"]
    assert all(path.read_text().startswith("-----BEGIN ENCRYPTED PRIVATE KEY-----") for path in keys)


@pytest.mark.parametrize("passphrase", [None, ""], ids=["unset", "empty"])
def test_the_demo_without_a_passphrase_says_what_to_set(tmp_path: Path, passphrase: str | None) -> None:
    """Exit code 2, the variable's name, and neither a key nor a run."""
    done = _ragassay(tmp_path, "demo", passphrase=passphrase)
    assert done.returncode == 2
    assert "RAGASSAY_PASSPHRASE" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.rglob("*.pem"))


def test_make_demo_sets_a_passphrase_that_yours_replaces(tmp_path: Path) -> None:
    """The recipe has the public passphrase of the demo, unless there is one already; no other target has it."""
    makefile = tmp_path / "Makefile"
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    setting = [line for line in lines if "RAGASSAY_PASSPHRASE" in line and not line.startswith("#")]
    assert len(setting) == 1
    recipe = '\n\t@echo "[$$RAGASSAY_PASSPHRASE]"\n'
    makefile.write_text(f"{setting[0]}\ndemo:{recipe}other:{recipe}", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "RAGASSAY_PASSPHRASE"}

    def made(target: str, **more: str) -> str:
        command = ["make", "-s", "-f", str(makefile), target]
        return subprocess.run(command, env={**environment, **more}, capture_output=True, text=True, check=True).stdout

    assert made("demo") == "[demo only: everybody knows this passphrase]\n"
    assert made("demo", RAGASSAY_PASSPHRASE="my own") == "[my own]\n"
    assert made("other") == "[]\n"
