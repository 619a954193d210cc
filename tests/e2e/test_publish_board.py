"""From finished passes to a public board by the command line, as the how-to page says, and back again for one run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ragassay.publish.decisions import DecisionFile
from ragassay.publish.detect import detectors
from ragassay.publish.reading import reading_of, touching
from ragassay.publish.scan import scan
from ragassay.publish.signoffs import ReviewFile
from ragassay.publish.texts import public_texts
from ragassay.site import load_runs

RAGASSAY = [sys.executable, "-m", "ragassay"]
MAIL = "jane.roe@acme-mail.org"


def _ragassay(folder: Path, *arguments: str, code: int = 0) -> str:
    result = subprocess.run([*RAGASSAY, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


def _json(folder: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    result = subprocess.run([*RAGASSAY, *arguments, "--json"], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == code, result.stdout + result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A board of control, oracle and BM25 over three pages that was run; each page holds an address of a person."""
    docs = tmp_path / "docs"
    docs.mkdir()
    samples = []
    for page, value in {"install": "12 MB", "verify": "1.5 kg", "quota": "30 requests"}.items():
        evidence = f"The {page} step takes {value}."
        (docs / f"{page}.md").write_text(f"# {page}\n\nFirst words. {evidence} Ask {MAIL} why.\n", encoding="utf-8")
        claim = {"text": f"It is {value}.", "central": True, "must": [[value]]}
        asked = f"What does the {page} step take, in figures?"
        samples.append(
            {"id": page, "page": f"{page}.md", "input": asked, "target": value, "evidence": evidence, "claims": [claim]}
        )
    (tmp_path / "questions.json").write_text(json.dumps({"samples": samples}), encoding="utf-8")
    _ragassay(tmp_path, "init")
    board = tmp_path / "board.toml"
    text = board.read_text(encoding="utf-8")
    board.write_text(text[: text.index('name = "dense"')].rstrip().removesuffix("[[rows]]"), encoding="utf-8")
    _ragassay(tmp_path, "run")
    return tmp_path


def _sign_off(workspace: Path) -> None:
    """Read and sign off every run as the review page does."""
    runs, file = load_runs(workspace), ReviewFile(workspace)
    found = scan([text for run in runs for text in public_texts(run)], detectors())
    decisions = DecisionFile(workspace).decisions()
    for run in runs:
        reading = reading_of(run)
        assert reading is not None
        for unit in dict.fromkeys(reading.units):
            file.mark("Ann", unit)
        file.sign(reading, "Ann", touching(run.id, found.findings, decisions))


def test_from_finished_passes_to_a_public_board_and_back(job: Path) -> None:
    """Check, decide, sign off, publish; every bundle is verified; one run is taken back and its texts are gone."""
    before = _json(job, "publish", "--check", code=1)
    assert {one["code"] for run in before["runs"] for one in run["refusals"]} == {"undecided", "not-signed-off"}
    (finding,) = before["undecided"]
    assert (finding["kind"], finding["text"]) == ("email", MAIL)
    said = _ragassay(job, "publish", code=1)
    assert finding["id"] in said
    assert list((job / ".ragassay" / "public").glob("*/run")) == []
    _ragassay(job, "publish", "--redact", finding["id"], "--reason", "a private address", "--by", "Ann", code=1)
    _sign_off(job / ".ragassay")
    assert "nothing is refused" in _ragassay(job, "publish", "--check")
    assert "published 9 runs" in _ragassay(job, "publish")

    site, key = job / "public-site", str(job / ".ragassay" / "keys" / "run.pub.json")
    assert not [path for path in site.rglob("*") if path.is_file() and MAIL.encode() in path.read_bytes()]
    bundles = sorted(str(path) for path in (job / ".ragassay" / "public").glob("*/run"))
    assert len(bundles) == 9
    log = str(job / ".ragassay" / "log")
    assert "9 of 9 runs verified" in _ragassay(job, "verify", *bundles, "--key", key, "--log", log)
    assert "9 of 9 runs verified" in _ragassay(job, "verify", str(site / "runs"), "--key", key)
    board = json.loads((site / "board.json").read_text(encoding="utf-8"))
    assert board["scope"] == "public"
    assert {row["name"]: row["passes"] for row in board["tables"][0]["rows"]} == {
        "bm25": 3,
        "no-retrieval": 3,
        "oracle": 3,
    }
    assert "nothing new: 9 runs public already" in _ragassay(job, "publish")

    gone = next(run["run"] for run in before["runs"] if run["row"] == "bm25")
    said = _ragassay(job, "unpublish", gone, "--reason", "it names a person")
    assert "row bm25: 2 of 3 counted runs left" in said
    after = _json(job, "board", "--public")
    line = next(row for row in after["tables"][0]["rows"] if row["name"] == "bm25")
    voided = next(run for run in line["runs"] if run["id"] == gone)
    assert "it names a person" in json.dumps(voided)
    assert line["passes"] == 2
    assert not (site / "runs" / gone).exists()
    assert not (site / "runs" / f"{gone}.zip").exists()
    assert "it names a person" in _ragassay(job, "log", "audit", log)


def test_naming_less_publishes_less(job: Path) -> None:
    """Only the control is published when only its row is named; the rest stays private."""
    (finding,) = _json(job, "publish", "--check", code=1)["undecided"]
    file = job / "decisions.jsonl"
    file.write_text(json.dumps({"finding": finding["id"], "action": "redact", "reason": "private"}), encoding="utf-8")
    _ragassay(job, "publish", "--decide", str(file), code=1)
    _sign_off(job / ".ragassay")
    found = _json(job, "publish", "--row", "no-retrieval")
    assert len(found["published"]) == 3
    assert {run["row"] for run in found["runs"]} == {"no-retrieval"}
    rows = json.loads((job / "public-site" / "board.json").read_text(encoding="utf-8"))["tables"][0]["rows"]
    assert {row["name"]: row["standing"] for row in rows}["bm25"] == "not_run"


def test_wrong_usage_is_said_before_anything_is_done(job: Path) -> None:
    """Unknown rows, runs and findings, a reason for nothing, a fill of nothing: exit 2, and nothing is public."""
    assert "no row 'bm52'" in _ragassay(job, "publish", "--row", "bm52", code=2)
    assert "id that begins with 'zz'" in _ragassay(job, "publish", "--run", "zz", code=2)
    assert "findings have an id" in _ragassay(job, "publish", "--redact", "zz", code=2)
    assert "--reason is that of a decision" in _ragassay(job, "publish", "--reason", "why", code=2)
    assert "name it with --run" in _ragassay(job, "publish", "--fill-from-earlier", "aa", code=2)
    assert "takes a reason" in _ragassay(
        job, "publish", "--allow", _json(job, "publish", "--check", code=1)["undecided"][0]["id"], code=2
    )
    assert "no run, public or not" in _ragassay(job, "unpublish", "aa", "--reason", "why", code=2)
    bad = job / "bad.jsonl"
    bad.write_text('{"finding": 3}\n{"what": "ever"}\n', encoding="utf-8")
    assert "line 2" in _ragassay(job, "publish", "--decide", str(bad), code=2)
    assert list((job / ".ragassay" / "public").glob("*/run")) == []
