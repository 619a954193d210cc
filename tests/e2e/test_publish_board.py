"""From finished passes to a public board by the command line, as the how-to page says, and back again for one run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from publish_lab import MAIL, ragassay, ragassay_json, sign_off, write_job


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A board of control, oracle and BM25 over three pages that was run; each page holds an address of a person."""
    ragassay(write_job(tmp_path), "run")
    return tmp_path


def test_from_finished_passes_to_a_public_board_and_back(job: Path) -> None:
    """Check, decide, sign off, publish; every bundle is verified; one run is taken back and its texts are gone."""
    before = ragassay_json(job, "publish", "--check", code=1)
    assert {one["code"] for run in before["runs"] for one in run["refusals"]} == {"undecided", "not-signed-off"}
    (finding,) = before["undecided"]
    assert (finding["kind"], finding["text"]) == ("email", MAIL)
    said = ragassay(job, "publish", code=1)
    assert finding["id"] in said
    assert list((job / ".ragassay" / "public").glob("*/run")) == []
    ragassay(job, "publish", "--redact", finding["id"], "--reason", "a private address", "--by", "Ann", code=1)
    sign_off(job / ".ragassay")
    assert "nothing is refused" in ragassay(job, "publish", "--check")
    assert "published 9 runs" in ragassay(job, "publish")

    site, key = job / "public-site", str(job / ".ragassay" / "keys" / "run.pub.json")
    assert not [path for path in site.rglob("*") if path.is_file() and MAIL.encode() in path.read_bytes()]
    bundles = sorted(str(path) for path in (job / ".ragassay" / "public").glob("*/run"))
    assert len(bundles) == 9
    log = str(job / ".ragassay" / "log")
    assert "9 of 9 runs verified" in ragassay(job, "verify", *bundles, "--key", key, "--log", log)
    assert "9 of 9 runs verified" in ragassay(job, "verify", str(site / "runs"), "--key", key)
    board = json.loads((site / "board.json").read_text(encoding="utf-8"))
    assert board["scope"] == "public"
    assert {row["name"]: row["passes"] for row in board["tables"][0]["rows"]} == {
        "bm25": 3,
        "no-retrieval": 3,
        "oracle": 3,
    }
    assert "nothing new: 9 runs public already" in ragassay(job, "publish")

    gone = next(run["run"] for run in before["runs"] if run["row"] == "bm25")
    said = ragassay(job, "unpublish", gone, "--reason", "it names a person")
    assert "row bm25: 2 of 3 counted runs left" in said
    after = ragassay_json(job, "board", "--public")
    line = next(row for row in after["tables"][0]["rows"] if row["name"] == "bm25")
    voided = next(run for run in line["runs"] if run["id"] == gone)
    assert "it names a person" in json.dumps(voided)
    assert line["passes"] == 2
    assert not (site / "runs" / gone).exists()
    assert not (site / "runs" / f"{gone}.zip").exists()
    assert "it names a person" in ragassay(job, "log", "audit", log)


def test_naming_less_publishes_less(job: Path) -> None:
    """Only the control is published when only its row is named; the rest stays private."""
    (finding,) = ragassay_json(job, "publish", "--check", code=1)["undecided"]
    file = job / "decisions.jsonl"
    file.write_text(json.dumps({"finding": finding["id"], "action": "redact", "reason": "private"}), encoding="utf-8")
    ragassay(job, "publish", "--decide", str(file), code=1)
    sign_off(job / ".ragassay")
    found = ragassay_json(job, "publish", "--row", "no-retrieval")
    assert len(found["published"]) == 3
    assert {run["row"] for run in found["runs"]} == {"no-retrieval"}
    rows = json.loads((job / "public-site" / "board.json").read_text(encoding="utf-8"))["tables"][0]["rows"]
    assert {row["name"]: row["standing"] for row in rows}["bm25"] == "not_run"


def test_wrong_usage_is_said_before_anything_is_done(job: Path) -> None:
    """Unknown rows, runs and findings, a reason for nothing, a fill of nothing: exit 2, and nothing is public."""
    assert "no row 'bm52'" in ragassay(job, "publish", "--row", "bm52", code=2)
    assert "id that begins with 'zz'" in ragassay(job, "publish", "--run", "zz", code=2)
    assert "findings have an id" in ragassay(job, "publish", "--redact", "zz", code=2)
    assert "--reason is that of a decision" in ragassay(job, "publish", "--reason", "why", code=2)
    assert "name it with --run" in ragassay(job, "publish", "--fill-from-earlier", "aa", code=2)
    assert "takes a reason" in ragassay(
        job, "publish", "--allow", ragassay_json(job, "publish", "--check", code=1)["undecided"][0]["id"], code=2
    )
    assert "no run, public or not" in ragassay(job, "unpublish", "aa", "--reason", "why", code=2)
    bad = job / "bad.jsonl"
    bad.write_text('{"finding": 3}\n{"what": "ever"}\n', encoding="utf-8")
    assert "line 2" in ragassay(job, "publish", "--decide", str(bad), code=2)
    assert list((job / ".ragassay" / "public").glob("*/run")) == []
