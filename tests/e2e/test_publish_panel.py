"""A board with a panel, asked again, with null rows: its judgements are public with its runs, later ones as well."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from publish_lab import MAIL, finding_of, ragassay, ragassay_json, sign_off, write_job

from ragassay.site.publications import load_public

JUDGE = """[judge]
kind = "llm"
reask = "50%"
model = { kind = "openai", id = "judging", base_url = "URL", limits = { concurrency = 4 } }

[[panel]]
name = "second"
kind = "llm"
model = { kind = "openai", id = "second", base_url = "URL", limits = { concurrency = 4 } }

[[panel]]
name = "by literals"
kind = "literal"
"""


@contextmanager
def judging() -> Iterator[str]:
    """Run a server that judges; yield its base URL."""
    command = [sys.executable, "-m", "ragassay.testing.chat_server", "--mode", "judge"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ.copy())
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10)
        process.stdout.close()


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A board that was run, judged by its panel and asked again, redacted and published; then null rows were judged."""
    folder = write_job(tmp_path_factory.mktemp("panel"))
    with judging() as url:
        board = folder / "board.toml"
        text = board.read_text(encoding="utf-8")
        before, _, after = text.partition('[judge]\nkind = "literal"\n')
        board.write_text(before + JUDGE.replace("URL", url) + after, encoding="utf-8")
        ragassay(folder, "run")
        ragassay(folder, "judge")
        ragassay(folder, "publish", "--redact", finding_of(folder), "--reason", "a private address", code=1)
        sign_off(folder / ".ragassay")
        ragassay(folder, "publish")
        yield folder


def _judges(folder: Path) -> list[dict[str, Any]]:
    """Return what the public board says of each judge."""
    (table,) = json.loads((folder / "public-site" / "board.json").read_text(encoding="utf-8"))["tables"]
    found: list[dict[str, Any]] = table["judging"]["judges"]
    return found


def _names(folder: Path) -> dict[str, tuple[str, ...]]:
    public = load_public(folder / ".ragassay")
    assert not [run.refused for run in public.runs if run.document is None]
    assert not [one.refused for run in public.runs for one in run.judgements if one.document is None]
    return {run: one.judgements for run, one in public.publications.items()}


def test_panel_and_asking_again_are_public_under_every_judge(job: Path) -> None:
    """Control and oracle stand under the panel's judges too, and each public judgement verifies on its own."""
    names = _names(job)
    assert len(names) == 9
    assert all(sum("-panel-" in name for name in listed) == 2 for listed in names.values())
    assert all(sum("-reask-" in name for name in listed) == 1 for listed in names.values())
    judges = {line["name"]: line for line in _judges(job)}
    assert len(judges) == 3
    for line in judges.values():
        assert len({row["row"] for row in line["rows"]}) == 3, "control, oracle and bm25 under each judge"
        assert {row["judgedRuns"] for row in line["rows"]} == {3}
    site = [path for path in (job / "public-site").rglob("*") if path.is_file()]
    assert not [path for path in site if MAIL.encode() in path.read_bytes()]


def test_null_rows_that_are_judged_later_are_added(job: Path) -> None:
    """`publish --check` names them, `publish` adds them and says so, and the third time nothing is new."""
    ragassay(job, "judge", "--null-rows", code=1)
    said = ragassay(job, "publish", "--check")
    assert "not public, and judged since; `ragassay publish` adds it" in said
    found = ragassay_json(job, "publish")
    assert found["published"] == []
    ((run, names),) = found["judgements"].items()
    assert len(names) == 3
    assert set(names) <= set(_names(job)[run])
    assert "nothing new: 9 runs public already" in ragassay(job, "publish")
    assert next(line for line in _judges(job) if line["published"])["nullRows"]


def test_rows_whose_control_was_taken_back_are_named(job: Path) -> None:
    """With the last run of the control gone the rest of the board is said to be unreadable, and `publish` refuses."""
    names = [run["run"] for run in ragassay_json(job, "publish", "--check")["runs"] if run["row"] == "no-retrieval"]
    said = [ragassay(job, "unpublish", run, "--reason", "a mistake") for run in names]
    assert ["no control is public any more" in one for one in said] == [False, False, True]
    found = ragassay_json(job, "publish", "--check", "--row", "bm25", code=1)
    assert {one["code"] for run in found["runs"] for one in run["refusals"]} == {"no-control"}
