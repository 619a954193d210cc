"""Verified runs become runs of MLflow, each with its bundle; one that is there already is left as it is."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from ragassay.errors import InputError, PluginError, VerifyError
from ragassay.export.mlflow_values import metrics_of, params_of, tags_of
from ragassay.export.source import RunSource, VerifiedRun
from ragassay.manifest.bundle import write_bundle
from ragassay.manifest.files import BESIDE, MAX_BYTES
from ragassay.records import Record

PER_CALL = 100
"""Parameters that MLflow takes in one call."""
_SECRET = re.compile(r"://[^/\s@]*@")
"""The name and password in an address."""


class LoggedRun(Record, frozen=True):
    """One run as it stands in MLflow; `new` is false where it stood there before."""

    run: str
    row: str
    pass_k: int
    mlflow_run: str
    new: bool
    score: float | None


def log_runs(source: RunSource, tracking_uri: str, experiment: str) -> tuple[LoggedRun, ...]:
    """Log every run into an experiment; where one cannot be logged whole, it is marked FAILED and deleted again.

    Raises `PluginError` where MLflow is not installed or does not take a run; the runs before it stay.
    """
    with _said(tracking_uri):
        client = _client(tracking_uri)
        id_ = _experiment(client, experiment)
    logged: list[LoggedRun] = []
    for run in source:
        with _said(tracking_uri):
            there = client.search_runs([id_], f"tags.`ragassay.run` = '{run.facts.run}'", max_results=1)
            made = there[0].info.run_id if there else _log(client, id_, run)
        score = run.facts.score
        logged.append(
            LoggedRun(
                run=run.facts.run,
                row=run.facts.row,
                pass_k=run.facts.pass_k,
                mlflow_run=made,
                new=not there,
                score=None if score is None else score.num / score.den,
            )
        )
    source.require_some()
    return tuple(logged)


def _client(tracking_uri: str) -> Any:
    try:
        from mlflow import MlflowClient
    except ImportError as error:
        raise PluginError("exporting to MLflow needs it: pip install 'ragassay[mlflow]'") from error
    return MlflowClient(tracking_uri=tracking_uri)


def _experiment(client: Any, name: str) -> str:
    found = client.get_experiment_by_name(name)
    if found is None:
        return str(client.create_experiment(name))
    if found.lifecycle_stage != "active":
        raise InputError(f"the experiment {name!r} was deleted in MLflow; restore it, or name another --experiment")
    return str(found.experiment_id)


def _log(client: Any, experiment: str, run: VerifiedRun) -> str:
    from mlflow.entities import Metric, Param, RunTag

    facts = run.facts
    start = None if facts.started is None else facts.started * 1000
    made = client.create_run(experiment, start_time=start, run_name=f"{facts.row}, pass {facts.pass_k}")
    id_ = str(made.info.run_id)
    try:
        at = facts.ended * 1000 if facts.ended is not None else made.info.start_time
        params = iter([Param(name, value) for name, value in params_of(run).items()])
        while some := list(islice(params, PER_CALL)):
            client.log_batch(id_, params=some)
        client.log_batch(
            id_, metrics=[Metric(name, value, at, facts.pass_k) for name, value in metrics_of(run).items()]
        )
        _log_bundle(client, id_, run)
        client.log_batch(id_, tags=[RunTag(name, value) for name, value in tags_of(run).items()])
        client.set_terminated(id_, status="FINISHED", end_time=at)
    except BaseException:
        with contextlib.suppress(Exception):
            client.set_terminated(id_, status="FAILED")
            client.delete_run(id_)
        raise
    return id_


def _log_bundle(client: Any, id_: str, run: VerifiedRun) -> None:
    files = {name: data for name, data in run.files.items() if name in MAX_BYTES or name in BESIDE}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{run.facts.run}.zip"
        path.write_bytes(write_bundle(files))
        client.log_artifact(id_, str(path))


@contextlib.contextmanager
def _said(tracking_uri: str) -> Iterator[None]:
    """Turn what MLflow and its stores raise into an error that says what to do."""
    try:
        yield
    except (InputError, PluginError, VerifyError):
        raise
    except ModuleNotFoundError as error:
        what = f"this tracking URI needs the package {error.name}"
        raise PluginError(f"{what}: pip install 'ragassay[mlflow]' {error.name}") from error
    except Exception as error:
        where = tracking_uri.rpartition("@")[2]
        said = _SECRET.sub("://", " ".join(str(error).split()))[:300]
        raise PluginError(f"MLflow at {where}: {type(error).__name__}: {said}", retryable=True) from error
