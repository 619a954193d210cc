"""Searches that cost money, and a row with texts of its own, published with texts withheld: whole in both readers."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="pip install 'ragassay[langchain]'")

from publish_lab import MAIL, cosigned, finding_of, ragassay, ragassay_json, sign_off, write_job

from ragassay.site.words import OWN_CORPUS, WIRE_FORM_ONLY
from ragassay.testing.rerank_server import MODEL, RerankServer

ADAPTER = Path(__file__).resolve().parents[2] / "conformance" / "adapters" / "javascript.mjs"
OWN = f"""
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

def make():
    return RunnableLambda(lambda question: [Document(id="a", page_content="It takes 12 MB. Ask {MAIL} why.")])
"""
ROWS = """
[[rows]]
name = "reranked"
stack = {{ kind = "rerank", method = "endpoint", form = "cohere", id = "{model}", url = "{url}", \
of = {{ kind = "bm25" }}, price = {{ usd_per_1000_searches = "2" }} }}
top_k = 2
[[rows]]
name = "elsewhere"
stack = {{ kind = "langchain", retriever = "own_texts:make", corpus = "own" }}
top_k = 2
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A board that was announced, witnessed, run, redacted, published and witnessed again."""
    folder = write_job(tmp_path_factory.mktemp("costs"))
    (folder / "own_texts.py").write_text(OWN, encoding="utf-8")
    path = folder / "board.toml"
    with RerankServer() as server:
        rows = ROWS.format(model=MODEL, url=server.address("cohere"))
        text = path.read_text(encoding="utf-8").replace("passes = 3", "passes = 1")
        path.write_text(text + rows, encoding="utf-8")
        ragassay(folder, "run", "--announce")
        witness = cosigned(folder)
        ragassay(folder, "run")
    ragassay(folder, "log", "policy", "--witness", witness, "--out", "policy.json")
    ragassay(folder, "publish", "--redact", finding_of(folder), "--reason", "a private address", code=1)
    sign_off(folder / ".ragassay")
    ragassay(folder, "publish")
    cosigned(folder)
    ragassay(folder, "board", "--public")
    return folder


def _public(folder: Path) -> list[Path]:
    return sorted((folder / ".ragassay" / "public").glob("*/run"))


def _telemetry(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "telemetry.jsonl").read_text(encoding="utf-8").splitlines()]


def test_what_searches_cost_is_public_and_verified_strictly(job: Path) -> None:
    """What its search took stands in the public telemetry."""
    asked = ["--strict", "--policy", "policy.json", "--log", ".ragassay/log"]
    assert "5 of 5 runs strictly verified" in ragassay(job, "verify", *map(str, _public(job)), *asked)
    spent = [row.get("retrievalCostMicrousd") for run in _public(job) for row in _telemetry(run)]
    assert sum(cost == 2000 for cost in spent) == 3, spent
    withheld = [run for run in _public(job) if (run / "withheld.jsonl").exists()]
    assert [run for run in withheld if any(row.get("retrievalCostMicrousd") for row in _telemetry(run))]
    public = (job / ".ragassay" / "public").rglob("*")
    assert not [path for path in public if path.is_file() and MAIL.encode() in path.read_bytes()]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_the_verifier_of_the_browser_says_the_same(job: Path) -> None:
    """Accepted strictly, with the same facts, by the script of the page."""
    ragassay(job, "export", "verifier", "--out", "verify.html")
    for run in _public(job):
        command = ["node", str(ADAPTER), str(job / "verify.html"), "verify", str(run), "--now", str(int(time.time()))]
        command += ["--policy", str(job / "policy.json"), "--log", str(job / ".ragassay" / "log")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        found = json.loads(done.stdout)
        assert found["strictOk"], found
        assert set(found["codes"]) <= {"TEXT_WITHHELD"}, found


def test_the_public_board_marks_the_rows(job: Path) -> None:
    """What is said of a row before it is published is said of it afterwards: board, pages, specification."""
    found = ragassay_json(job, "board", "--public")
    rows = {row["name"]: row for table in found["tables"] for row in table["rows"]}
    assert WIRE_FORM_ONLY in rows["reranked"]["warnings"]
    assert OWN_CORPUS in rows["elsewhere"]["warnings"]
    assert not [note for note in rows["bm25"]["warnings"] if note in (WIRE_FORM_ONLY, OWN_CORPUS)]
    assert rows["reranked"]["searchCostPer1000Microusd"] == 2_000_000
    for page in ("index.html", "rows/elsewhere.html"):
        assert OWN_CORPUS in (job / "public-site" / page).read_text(encoding="utf-8"), page
    printed = " ".join(ragassay(job, "board", "--public").split())
    assert OWN_CORPUS in printed
    assert WIRE_FORM_ONLY in printed
    spec = (job / "public-site" / "spec.md").read_text(encoding="utf-8")
    assert "The rows do not share one corpus" in spec
    assert "Not every stack was tested against its service" in spec
