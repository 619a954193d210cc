"""A board that was really run: ir_measures on its exported files says what the board says; a kill leaves nothing."""

from __future__ import annotations

import csv
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ragassay.errors import PluginError
from ragassay.plugins import weights

ir_measures = pytest.importorskip("ir_measures")

BUNDLED = Path(__file__).resolve().parents[2] / "examples" / "bundled"
ROWS = ("no-retrieval", "oracle", "bm25", "dense")
pytestmark = pytest.mark.slow


def _ragassay(folder: Path, *arguments: str, code: int = 0) -> str:
    command = [sys.executable, "-m", "ragassay", *arguments]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled board after one pass of control, oracle, bm25 and dense; without the weights of the last it skips."""
    try:
        weights.require("minilm-l6-v2-int8", weights.default_cache())
    except PluginError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("exported") / "board"
    shutil.copytree(BUNDLED, folder, ignore=shutil.ignore_patterns(".ragassay", "site", "board.json"))
    board = folder / "board.toml"
    board.write_text(board.read_text(encoding="utf-8").replace("passes = 3", "passes = 1"), encoding="utf-8")
    _ragassay(folder, "keys", "init", "--dir", ".ragassay/keys")
    _ragassay(folder, "run", "board.toml", *(part for row in ROWS for part in ("--row", row)))
    return folder


def _means(run: Path, qrels: Any, k: int) -> tuple[float, float, float]:
    wanted = (ir_measures.Success @ k, ir_measures.RR, ir_measures.nDCG @ k)
    found = ir_measures.calc_aggregate(wanted, qrels, list(ir_measures.read_trec_run(str(run))))
    return found[wanted[0]], found[wanted[1]], found[wanted[2]]


def test_other_tools_say_what_the_board_says(ran: Path) -> None:
    """Reach, MRR and nDCG of each row agree to 1e-9 with the export, and round to what the board prints."""
    said = json.loads(_ragassay(ran, "export", "trec", "--out", "trec", "--json"))
    assert {run["row"] for run in said["runs"]} == {"oracle", "bm25", "dense"}
    assert [one["code"] for one in said["leftOut"]] == ["NO_RETRIEVAL"]
    board = json.loads((ran / "board.json").read_text(encoding="utf-8"))
    reach = {row["name"]: row["reach"] for row in board["tables"][0]["rows"]}
    for run in said["runs"]:
        measures, shown = run["measures"], reach[run["row"]]
        qrels = list(ir_measures.read_trec_qrels(str(ran / "trec" / run["files"][1])))
        found = _means(ran / "trec" / run["files"][0], qrels, measures["k"])
        assert found == pytest.approx((measures["reach"], measures["mrr"], measures["ndcg"]), abs=1e-9, rel=0)
        assert shown["k"] == measures["k"]
        assert (shown["exact"] + shown["folded"]) / shown["of"] == pytest.approx(found[0], abs=1e-9)
        assert (float(shown["mrr"]), float(shown["ndcg"])) == pytest.approx(found[1:], abs=5.1e-7)


def test_the_qrels_of_the_whole_corpus_agree_on_reach_and_mrr(ran: Path) -> None:
    """The run files evaluated on the BEIR folder of the same corpus give the same reach and MRR."""
    _ragassay(ran, "export", "beir", "--out", "beir")
    chosen = ("--row", "bm25", "--row", "dense")
    said = json.loads(_ragassay(ran, "export", "trec", "--out", "for-beir", *chosen, "--json"))
    with (ran / "beir/qrels/test.tsv").open(encoding="utf-8", newline="") as file:
        qrels = [
            ir_measures.Qrel(row["query-id"], row["corpus-id"], int(row["score"]))
            for row in csv.DictReader(file, delimiter="\t")
        ]
    for run in said["runs"]:
        found = _means(ran / "for-beir" / run["files"][0], qrels, run["measures"]["k"])
        assert found[:2] == pytest.approx((run["measures"]["reach"], run["measures"]["mrr"]), abs=1e-9, rel=0)


@pytest.mark.parametrize("words", [("trec",), ("csv",), ("junit", "--min-score", "0.5")])
def test_a_killed_export_leaves_nothing_under_its_name(ran: Path, words: tuple[str, ...]) -> None:
    """Killed in the middle, only a hidden file stays, and the next export is whole."""
    out = f"killed-{words[0]}"
    command = [sys.executable, "-m", "ragassay", "export", *words, "--out", out]
    with subprocess.Popen(command, cwd=ran, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and not list(ran.glob(f".{out}.*")):
            time.sleep(0.001)
        assert process.poll() is None, "the export ended before it could be killed"
        process.send_signal(signal.SIGKILL)
    assert not (ran / out).exists()
    _ragassay(ran, "export", *words, "--out", out)
    assert (ran / out).exists()
