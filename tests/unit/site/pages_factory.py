"""A board with everything on it that a page can show: other judges, void runs, superseded rows, publications."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import panel_factory as panel
import site_factory as make
from lxml import html

from ragassay import canon
from ragassay.manifest import MANIFEST
from ragassay.records.publication import LeftOut, Publication, ScanSummary, SignOff
from ragassay.site import BoardPlan, LoadedRun, PlannedRow, build_board, load_runs, site_files
from ragassay.site.loaded import Voided, Withdrawn
from ragassay.site.record import Board

NOW = make.START + 9_999
REASON = "the docs were of another version"
SCAN = ScanSummary(
    version="0" * 64,
    detectors=("email", "phone"),
    not_detected=("names of people", "health terms"),
    texts=120,
    findings=3,
    allowed=1,
    redacted=1,
    withheld=1,
)


def rich(workspace: Path) -> list[LoadedRun]:
    """Write and load a board: five rows, a panel, an earlier dense, one other judge, a bm25 pass that is void."""
    bench = make.benchmark(12)
    older = {"kind": "dense", "describe": {"dim": 128}}
    make.write_row(workspace, "dense", "dense", bench, make.losing(make.every(2)), passes=1, stack=older)
    make.small_board(workspace, bench, at=make.START + 1000)
    other = {"kind": "llm", "id": "judge-9", "describe": {}}
    make.write_row(workspace, "bm25", "bm25", bench, make.losing(make.every(3)), judge=other, at=make.START - 500)
    void = make.write_row(workspace, "bm25", "bm25", bench, make.losing_first(9), passes=1, at=make.START + 2000)
    gone = make.write_row(workspace, "sparse", "splade", bench, make.losing_first(9), passes=1, at=make.START + 2000)
    runs = load_runs(workspace, now=NOW)
    one = next(run for run in runs if run.document and run.document.predicate.row.name == "hybrid")
    panel.judge_run(workspace, one.id, lambda n: "hedges" if n == 2 else "supports")
    return [voided(run) if run.id in (*void, *gone) else run for run in load_runs(workspace, now=NOW)]


def voided(run: LoadedRun, reason: str = REASON) -> LoadedRun:
    """Return a run as it is loaded where nothing but its voiding in the log speaks against it."""
    assert run.document is not None
    void = Voided(document=run.document, reason=reason, at=make.START + 5_000)
    return msgspec.structs.replace(run, document=None, refused=f"RUN_VOIDED: {reason}", voided=void)


def publication(run: LoadedRun, **changes: Any) -> Publication:
    """Return how a run was published: read by Ada and by Ben."""
    document = run.document or (run.voided.document if run.voided else None)
    assert document is not None
    p = document.predicate
    manifest = canon.sha256(run.files[MANIFEST])
    read = [
        SignOff(
            run=p.run_id,
            manifest=manifest,
            reader=reader,
            at=make.START + 7_000,
            items=p.counts.asked,
            shown="1" * 64,
            decisions="2" * 64,
        )
        for reader in ("Ada", "Ben")
    ]
    fields: dict[str, Any] = {
        "run": p.run_id,
        "manifest": manifest,
        "row": p.row.name,
        "pass_": p.pass_.k,
        "at": make.START + 8_000,
        "signer": p.signer.kid,
        "scan": SCAN,
        "sign_offs": tuple(read),
        "left_out": (LeftOut(judgement="0123456789abcdef-panel-1", reason="its replies hold an e-mail address"),),
    }
    return Publication(**{**fields, **changes})


def published(runs: list[LoadedRun]) -> list[LoadedRun]:
    """Return runs as a public board takes them."""
    return [msgspec.structs.replace(run, publication=publication(run)) for run in runs]


def withdrawn(run: LoadedRun, **changes: Any) -> Withdrawn:
    """Return a run as taken back from the public."""
    fields = {"publication": publication(run), "reason": "it named a person", "at": make.START + 9_000, "key": None}
    return Withdrawn(**{**fields, **changes})


def plan(*names: str) -> BoardPlan:
    """Return a board file's plan with these rows, and one that was never run."""
    rows = tuple(PlannedRow(name=name, stack="bm25") for name in (*names, "never"))
    return BoardPlan(name="Acme docs", rows=rows)


def public_board(runs: list[LoadedRun], *gone: Withdrawn) -> Board:
    """Return the public board of published runs."""
    return build_board(published(runs), now=NOW, scope="public", withdrawn=gone)


def public_site(runs: list[LoadedRun], *gone: Withdrawn) -> dict[str, bytes]:
    """Return the site of published runs."""
    return site_files(public_board(runs, *gone), published(runs))


def parsed(data: bytes) -> Any:
    """Return a page as a tree."""
    return html.document_fromstring(data.decode("utf-8"))


def words(data: bytes) -> str:
    """Return what a page says, white space collapsed."""
    return " ".join(" ".join(parsed(data).xpath("//body//text()")).split())
