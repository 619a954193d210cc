"""`ragassay run --executor ray` on two machines of a real cluster: equal results, and kills that cost nothing."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ray")

sys.path.insert(0, str(Path(__file__).resolve().parent))

from cluster_case import (
    Nodes,
    answers,
    calls,
    counting_server,
    ended,
    run,
    two_nodes,
    wait_until,
    write_board,
)

from ragassay.errors import PluginError
from ragassay.manifest import decode_run, read_run
from ragassay.plugins import weights

KEY = "sk-that-stands-in-no-file-of-the-cluster"
MODEL = 'kind = "openai"\nid = "counter"\nbase_url = "{url}"\nlimits = {{ concurrency = 8 }}'


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    """One cluster for the tests that leave it whole."""
    with two_nodes() as found:
        yield found


def _contents(workspace: Path) -> set[tuple[object, ...]]:
    found: set[tuple[object, ...]] = set()
    for folder in (workspace / "runs").iterdir():
        one = decode_run(read_run(folder).files).predicate
        found.add((one.row.name, one.pass_.k, one.content.sha256, str(one.counts), str(one.score)))
    return found


def test_two_machines_and_one_process_sign_the_same(tmp_path: Path, nodes: Nodes) -> None:
    """Content digest, counts and score of every pass are those of a local run over the same board."""
    write_board(tmp_path, 40, passes=2)
    said = ended(run(tmp_path, nodes))
    assert "asking on 2 workers: 1 (" in said
    there = _contents(tmp_path / ".ragassay")
    (tmp_path / ".ragassay" / "runs").rename(tmp_path / "there")
    ended(run(tmp_path, None, "--new"))
    assert len(there) == 4
    assert there == _contents(tmp_path / ".ragassay")
    assert not nodes.workers()


def test_a_worker_killed_in_the_middle_is_replaced_and_nothing_is_asked_twice(tmp_path: Path, nodes: Nodes) -> None:
    """SIGKILL of one of two workers: every answer is journaled once, and only its calls under way are made again."""
    log = tmp_path / "calls.log"
    with counting_server(log, "--latency-ms", "60") as url:
        write_board(tmp_path, 100, answer=MODEL.format(url=url) + '\nkey_env = "SOME_KEY"')
        process = run(tmp_path, nodes, variables={"SOME_KEY": KEY})
        wait_until(lambda: calls(log) >= 40, process)
        os.kill(nodes.workers()[0], signal.SIGKILL)
        said = ended(process)
    assert "was lost" in said
    assert KEY not in said
    assert not [path for path in nodes.folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    found = answers(tmp_path)
    assert len(found) == 200
    assert all(len(texts) == 1 for texts in found.values())
    assert 200 <= calls(log) <= 200 + 8 + 8  # under way at the kill, and answered but not handed over yet
    assert not nodes.workers()


@pytest.mark.slow
def test_a_run_killed_in_the_middle_is_continued_here_or_there(tmp_path: Path, nodes: Nodes) -> None:
    """SIGKILL of the run itself, once continued on the cluster and once here: no journaled answer is asked again."""
    log = tmp_path / "calls.log"
    with counting_server(log, "--latency-ms", "60") as url:
        write_board(tmp_path, 150, answer=MODEL.format(url=url))
        kept: dict[tuple[str, str], list[str]] = {}
        for more in (60, 60):
            process, before = run(tmp_path, nodes), calls(log)
            wait_until(lambda before=before, more=more: calls(log) >= before + more, process)
            process.kill()
            process.communicate()
            now = answers(tmp_path)
            assert {key: now.get(key) for key in kept} == kept
            kept = now
        assert 40 <= len(kept) < 300
        said = ended(run(tmp_path, None))
    assert "continues with" in said
    found = answers(tmp_path)
    assert len(found) == 300
    assert all(len(texts) == 1 for texts in found.values())
    assert {key: found[key] for key in kept} == kept
    assert 300 <= calls(log) <= 300 + 2 * (2 * 8 + 64)  # the calls under way, and one group of records, for each kill


@pytest.mark.slow
def test_ctrl_c_stops_workers_cleanly(tmp_path: Path, nodes: Nodes) -> None:
    """SIGINT to the run lets what is under way end and keeps it; no worker stays, and the next run asks the rest."""
    log = tmp_path / "calls.log"
    with counting_server(log, "--latency-ms", "60") as url:
        write_board(tmp_path, 100, answer=MODEL.format(url=url))
        process = run(tmp_path, nodes)
        wait_until(lambda: calls(log) >= 30, process)
        process.send_signal(signal.SIGINT)
        said = ended(process, 3)
        assert "run the same command again to continue" in said
        assert len(answers(tmp_path)) == calls(log) < 200
        assert not nodes.workers()
        ended(run(tmp_path, nodes))
    assert calls(log) == 200


@pytest.mark.slow
def test_the_rate_of_one_endpoint_holds_over_the_cluster(tmp_path: Path, nodes: Nodes) -> None:
    """600 requests a minute are 10 a second, whoever makes them."""
    log = tmp_path / "calls.log"
    with counting_server(log) as url:
        limits = "limits = { concurrency = 8, requests_per_minute = 600 }"
        write_board(tmp_path, 30, answer=f'kind = "openai"\nid = "m"\nbase_url = "{url}"\n{limits}')
        process = run(tmp_path, nodes)
        wait_until(lambda: calls(log) >= 1, process)
        seen = []
        while process.poll() is None and calls(log) < 60:
            seen.append((time.monotonic(), calls(log)))
            time.sleep(0.02)
        ended(process)
    first, last = seen[0], seen[-1]
    assert (last[1] - first[1]) / (last[0] - first[0]) <= 11.5
    assert calls(log) == 60


@pytest.mark.slow
def test_a_corpus_is_embedded_on_the_cluster(tmp_path: Path, nodes: Nodes) -> None:
    """Workers without a shared disk embed the chunks, get vectors and indexes back, and find what one process finds."""
    pytest.importorskip("tantivy")
    pytest.importorskip("usearch")
    try:
        weights.require("minilm-l6-v2-int8", weights.default_cache())
    except PluginError as error:
        pytest.skip(str(error))
    write_board(tmp_path, 600, dense=True)
    said = ended(run(tmp_path, nodes))
    assert "embedding on 2 workers: 600/600" in said
    there = _contents(tmp_path / ".ragassay")
    (tmp_path / ".ragassay" / "runs").rename(tmp_path / "there")
    sent = nodes.folder / "home" / ".cache" / "ragassay" / "cluster" / "indexes"
    assert sorted(path.parent.name for path in sent.glob("*/ragassay_*")) == ["tantivy", "usearch"]
    assert not list(sent.glob("*/.ragassay_*.lock")), "an index that was sent is not built again"
    ended(run(tmp_path, None, "--new"))
    assert there == _contents(tmp_path / ".ragassay")


@pytest.mark.slow
def test_a_machine_that_goes_leaves_no_question_missing(tmp_path: Path) -> None:
    """With the second machine gone for good the first asks what it had open."""
    log = tmp_path / "calls.log"
    with two_nodes() as own, counting_server(log, "--latency-ms", "100") as url:
        write_board(tmp_path, 100, answer=MODEL.format(url=url))
        process = run(tmp_path, own)
        wait_until(lambda: calls(log) >= 30, process)
        own.remove_second()
        said = ended(process)
    assert "was lost" in said
    found = answers(tmp_path)
    assert len(found) == 200
    assert all(len(texts) == 1 for texts in found.values())
    assert 200 <= calls(log) <= 200 + 16 + 16
