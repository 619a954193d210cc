"""The main job from the command line: a folder and a question file become a signed, verified board."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

RAGASSAY = [sys.executable, "-m", "ragassay"]


def _ragassay(folder: Path, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    result = subprocess.run([*RAGASSAY, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == code, result.stdout + result.stderr
    return result


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A folder of three pages and a file of three questions."""
    docs = tmp_path / "docs"
    docs.mkdir()
    facts = {"install": ("installs", "12 MB"), "verify": ("weighs", "1.5 kg"), "quota": ("allows", "30 requests")}
    samples = []
    for page, (verb, value) in facts.items():
        evidence = f"The {page} step {verb} {value}."
        (docs / f"{page}.md").write_text(f"# {page}\n\nSome words first. {evidence}\n", encoding="utf-8")
        claim = {"text": f"It is {value}.", "central": True, "must": [[value]]}
        samples.append(
            {
                "id": page,
                "page": f"{page}.md",
                "input": f"What does the {page} step have, in figures?",
                "target": value,
                "evidence": evidence,
                "claims": [claim],
            }
        )
    (tmp_path / "questions.json").write_text(json.dumps({"samples": samples}), encoding="utf-8")
    return tmp_path


def test_init_run_verify_board_compare(job: Path) -> None:
    """init, run, verify, board and compare, each with its exit code and its files."""
    said = _ragassay(job, "init").stdout
    assert "ragassay run" in said
    assert (job / ".ragassay" / "keys" / "run.pem").stat().st_mode & 0o777 == 0o600
    assert "nothing was asked" in _ragassay(job, "run", "--dry-run").stdout
    assert not (job / ".ragassay" / "runs").exists()
    rows = ("--row", "no-retrieval", "--row", "oracle", "--row", "bm25")
    printed = " ".join(_ragassay(job, "run", *rows).stdout.split())
    assert "local preview, not published" in printed
    assert "the control is at .00" in printed
    assert "extractive reader" in printed
    assert len(list((job / ".ragassay" / "runs").iterdir())) == 9
    key = str(job / ".ragassay" / "keys" / "run.pub.json")
    assert "9 of 9 runs verified" in _ragassay(job, "verify", ".ragassay/runs", "--key", key).stdout
    assert "9 of 9 runs verified" in _ragassay(job, "verify", ".").stdout
    report = json.loads(_ragassay(job, "verify", ".ragassay/runs", "--json", "--strict", code=1).stdout)
    assert not report["ok"]
    board = json.loads(_ragassay(job, "board", "--json").stdout)
    assert board == json.loads((job / "board.json").read_text(encoding="utf-8"))
    assert (job / "site" / "index.html").exists()
    assert "bm25" in _ragassay(job, "compare", "bm25", "no-retrieval").stdout


def test_a_second_run_makes_new_passes(job: Path) -> None:
    """A finished board that is run again asks everything again: nothing is reused."""
    _ragassay(job, "init")
    _ragassay(job, "run", "--row", "bm25")
    _ragassay(job, "run", "--row", "bm25")
    assert len(list((job / ".ragassay" / "runs").iterdir())) == 6


def test_a_changed_byte_is_seen(job: Path) -> None:
    """One edited answer makes verify say no with a reason code and the board leave the run out, both with exit 1."""
    _ragassay(job, "init")
    _ragassay(job, "run", "--row", "bm25")
    outputs = next((job / ".ragassay" / "runs").glob("*/outputs.jsonl"))
    outputs.write_bytes(outputs.read_bytes().replace(b"12 MB", b"13 MB"))
    assert "OUTPUTS_DIGEST" in _ragassay(job, "verify", ".ragassay/runs", code=1).stdout
    assert "could not be verified" in " ".join(_ragassay(job, "board", code=1).stdout.split())


def test_init_writes_an_llm_judge_where_literals_are_missing(job: Path) -> None:
    """A set without literals gets a language model as judge, and run names the variable that must be set."""
    (job / "questions.json").unlink()
    (job / "questions.csv").write_text("input,target\nHow heavy is the verify step?,1.5 kg\n", encoding="utf-8")
    said = _ragassay(job, "init").stdout
    assert "JUDGE_KEY" in said
    assert 'kind = "oracle"' not in (job / "board.toml").read_text(encoding="utf-8")
    assert "judge.model.base_url is still the example" in _ragassay(job, "run", code=2).stderr
    text = (job / "board.toml").read_text(encoding="utf-8").replace("https://llm.acme.example", "http://127.0.0.1:9")
    (job / "board.toml").write_text(text, encoding="utf-8")
    assert "export JUDGE_KEY" in _ragassay(job, "run", code=2).stderr


def test_init_overwrites_nothing(job: Path) -> None:
    """A board file that is there stays, and so does the key."""
    _ragassay(job, "init")
    before = (job / ".ragassay" / "keys" / "run.pem").read_bytes()
    assert "--force" in _ragassay(job, "init", code=2).stderr
    _ragassay(job, "init", "--force")
    assert (job / ".ragassay" / "keys" / "run.pem").read_bytes() == before


def test_no_key_is_an_error_that_names_the_remedy(job: Path) -> None:
    """Without a run key, run says how to make one and asks nothing."""
    _ragassay(job, "init")
    shutil.rmtree(job / ".ragassay" / "keys")
    assert "ragassay keys init" in _ragassay(job, "run", code=2).stderr


def test_a_workspace_that_cannot_be_written(job: Path) -> None:
    """A workspace under a file is a clear error with exit code 2."""
    _ragassay(job, "init")
    (job / "blocked").write_text("", encoding="utf-8")
    said = _ragassay(job, "run", "--workspace", "blocked/space", code=2).stderr
    assert "blocked" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("arguments", [["frobnicate"], ["run", "--frobnicate"], ["verify"], ["run", "absent.toml"]])
def test_wrong_usage_is_exit_code_2(job: Path, arguments: list[str]) -> None:
    """A wrong verb, option or file ends with 2 and without a traceback."""
    assert "Traceback" not in _ragassay(job, *arguments, code=2).stderr


def test_help_is_quick() -> None:
    """`--help` takes under 200 ms of CPU and loads nothing heavy."""
    code = "import resource, subprocess, sys; subprocess.run([sys.executable, '-m', 'ragassay', '--help'], check=True, "
    code += (
        "stdout=subprocess.DEVNULL); u = resource.getrusage(resource.RUSAGE_CHILDREN); print(u.ru_utime + u.ru_stime)"
    )
    took = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    ]
    assert min(took) < 0.2


def test_a_dry_run_needs_no_key(job: Path) -> None:
    """A board with a paid model is estimated without its key, with calls, tokens and money."""
    _ragassay(job, "init")
    board = (job / "board.toml").read_text(encoding="utf-8")
    model = 'kind = "openai"\nid = "m"\nbase_url = "http://127.0.0.1:9/v1"\nkey_env = "ACME_ANSWER_KEY"\n'
    model += 'price = { input_usd_per_mtok = "1", output_usd_per_mtok = "2" }\n'
    (job / "board.toml").write_text(board.replace('kind = "reader"\n', model, 1), encoding="utf-8")
    said = json.loads(_ragassay(job, "run", "--dry-run", "--json", "--row", "bm25").stdout)
    assert said["answerCalls"] == 9
    assert said["costMicrousd"] > 0
    assert "ACME_ANSWER_KEY" in _ragassay(job, "run", code=2).stderr
