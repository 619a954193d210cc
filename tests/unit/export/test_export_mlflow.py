"""Runs in MLflow: what is not known has no metric, a run is there once, and one that is not whole is not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_for_exports import run_cli
from export_lab import Search, retrieved, source_of

from ragassay.errors import PluginError
from ragassay.export.mlflow_runs import log_runs
from ragassay.export.mlflow_values import MAX_VALUE, _key, metrics_of, params_of, tags_of
from ragassay.manifest.bundle import read_bundle
from ragassay.testing.signed_run import signed_run

SEARCHES = (
    Search(delivered=(("a", "x", "2"), ("b", "port 80 is open", "1"))),
    Search(failed=True),
    Search(delivered=()),
)


def values(*searches: Search) -> tuple[dict[str, float], dict[str, str], dict[str, str]]:
    """Return metrics, parameters and tags of a run with these searches."""
    (run,) = ((metrics_of(run), params_of(run), tags_of(run)) for run in source_of(retrieved(searches)))
    return run


def test_what_is_not_known_has_no_metric() -> None:
    """A run in which nothing was scored has counts and no score, and no retrieval measure."""
    metrics, _, tags = values(Search(failed=True), Search(failed=True))
    assert "score" not in metrics
    assert not [name for name in metrics if name.startswith("retrieval.")]
    assert metrics["counts.asked"] == metrics["counts.retrievalFailed"] == 2.0
    assert tags["ragassay.missing"] == "retrieval_failed 2"


def test_measures_are_the_boards() -> None:
    """The score is exact, and the retrieval measures are over the questions of which they are known."""
    metrics, params, tags = values(*SEARCHES)
    assert metrics["score"] == 1.0  # of the two that were scored
    assert metrics["retrieval.questions"] == 2.0
    assert metrics["retrieval.mrr"] == pytest.approx(0.25)
    assert metrics["retrieval.reach_at_k"] == pytest.approx(0.5)
    assert params["stack.kind"] == "bm25"
    assert params["topK"] == "5"
    assert "threshold" not in params
    assert "corpus.digest" not in params
    assert (tags["ragassay.row"], tags["ragassay.pass"], tags["ragassay.missing"]) == (
        "bm25",
        "1",
        "retrieval_failed 1",
    )


def test_keys_that_mlflow_would_not_take_stay_apart() -> None:
    """Strange and long names become keys of plain characters, each its own."""
    names = ["a=b", "a:b", "a/../b", "/a", "a//b", "a" * 300, "a" * 301, "é", "a.b", "../x", "."]
    keys = [_key(name) for name in names]
    assert len(set(keys)) == len(names)
    assert keys[names.index("a.b")] == "a.b"
    assert all(len(key) <= 250 and key.isascii() and ".." not in key for key in keys)
    assert MAX_VALUE <= 6000


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give a tracking URI of files."""
    pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    return f"file://{tmp_path / 'store'}"


def logged(store: str, experiment: str = "e") -> list[Any]:
    """Return what MLflow has in an experiment."""
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=store)
    found = client.get_experiment_by_name(experiment)
    return [] if found is None else list(client.search_runs([found.experiment_id]))


@pytest.mark.filterwarnings("ignore")
def test_a_run_is_logged_once_with_its_bundle(store: str, tmp_path: Path) -> None:
    """Metrics, parameters, tags, times and the bundle stand in MLflow; a second export adds nothing."""
    files = signed_run(items=4, failed=(1,))
    (first,) = log_runs(source_of(files), store, "e")
    (second,) = log_runs(source_of(files), store, "e")
    assert (first.new, second.new, first.mlflow_run) == (True, False, second.mlflow_run)
    (run,) = logged(store)
    assert run.info.status == "FINISHED"
    assert run.info.start_time == 1_790_000_000_000
    assert run.data.metrics["score"] == first.score
    assert run.data.metrics["counts.retrievalFailed"] == 1.0
    assert run.data.tags["ragassay.run"] == first.run
    (bundle,) = (tmp_path / "store").glob("*/*/artifacts/*.zip")
    assert read_bundle(bundle.read_bytes()).files == files


@pytest.mark.filterwarnings("ignore")
def test_a_run_that_cannot_be_logged_whole_is_not_there(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the bundle is refused the run is deleted again, the error says so, and the next export logs it."""
    from mlflow import MlflowClient

    def refuse(*_: object, **__: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(MlflowClient, "log_artifact", refuse)
        with pytest.raises(PluginError, match="no space left"):
            log_runs(source_of(signed_run()), store, "e")
    assert logged(store) == []
    assert log_runs(source_of(signed_run()), store, "e")[0].new


@pytest.mark.filterwarnings("ignore")
def test_the_verb_says_what_was_logged(store: str, tmp_path: Path) -> None:
    """The command prints each run with its score, or that there is none."""
    for name, files in (("a", signed_run()), ("b", retrieved((Search(failed=True),), number=2, row="dead"))):
        folder = tmp_path / name
        folder.mkdir()
        for file, data in files.items():
            (folder / file).write_bytes(data)
    words = ("export", "mlflow", tmp_path / "a", tmp_path / "b", "--tracking-uri", store, "--experiment", "x")
    code, output = run_cli(*words, "--json")
    assert code == 0
    assert [(run["row"], run["score"] is None) for run in json.loads(output)["runs"]] == [
        ("bm25", False),
        ("dead", True),
    ]
    code, output = run_cli(*words)
    assert output.startswith("experiment x: 0 logged, 2 there already\n")
    assert "dead, pass 1: no score" in output


@pytest.mark.filterwarnings("ignore")
def test_a_database_is_a_store_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite holds the same, where its packages are there."""
    pytest.importorskip("mlflow")
    pytest.importorskip("alembic", reason="MLflow's databases need sqlalchemy, alembic and sqlparse")
    monkeypatch.chdir(tmp_path)
    (one,) = log_runs(source_of(signed_run()), f"sqlite:///{tmp_path / 'm.db'}", "e")
    assert one.new
    assert logged(f"sqlite:///{tmp_path / 'm.db'}")[0].data.metrics["score"] == one.score


def test_a_store_that_cannot_be_used_is_an_error_of_the_service(tmp_path: Path) -> None:
    """An unknown kind of store is named, with exit code 3 and without a password."""
    pytest.importorskip("mlflow")
    with pytest.raises(PluginError, match="MLflow at host/db") as caught:
        log_runs(source_of(signed_run()), "nosuch://user:secret@host/db", "e")
    assert "secret" not in str(caught.value)
    assert caught.value.exit_code == 3
