"""Workspaces to be read, a detector that needs no library, and the review page without any network."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import calibration_lab as lab
import site_factory as make

from ragassay.publish.detect.hit import Detector, Hit
from ragassay.records import Benchmark
from ragassay.records.publication import FindingKind
from ragassay.site.record import BoardPlan
from ragassay.web.app import create_app
from ragassay.web.guard import App, Session
from ragassay.web.review import review_page
from ragassay.web.snapshot import Snapshots

MAIL = "eve@private.example"
SIGNER = make.SIGNER
ROWS = ("no-retrieval", "bm25")


def benchmark(count: int, **changes: Any) -> Benchmark:
    """Return a question set; `changes` replace members of every question."""
    return make.benchmark(count, **changes)


class Mails:
    """Finds one kind of e-mail address."""

    name = "mails/1"
    kinds: frozenset[FindingKind] = frozenset({"email"})

    def find(self, text: str) -> Iterable[Hit]:
        """Yield each address."""
        for found in re.finditer(r"\w+@private\.example", text):
            yield Hit(kind="email", start=found.start(), end=found.end(), detector=self.name)


def text_of(row: str, number: int, k: int) -> str:
    """Return the answer of a row to a question, the same in each pass; one of them holds an address."""
    return f"Option {number}, says {row}: {number * 7}." + (f" Ask {MAIL}." if (row, number) == ("bm25", 2) else "")


def write(
    workspace: Path,
    *,
    questions: int = 3,
    passes: int = 2,
    text: Callable[[str, int, int], str] = text_of,
    rows: Sequence[str] = ROWS,
    bench: Benchmark | None = None,
    grade: str = "supports",
) -> list[str]:
    """Write signed passes of a control and a row; returns the ids of the runs."""
    bench = bench or make.benchmark(questions)
    ids = []
    for row in rows:
        kind = "none" if row == "no-retrieval" else row
        settings = make.config(row, kind, bench, circumstance_passes=passes)
        for k in range(1, passes + 1):
            outcomes = [
                make.outcome(q, grade, retrieval="off" if kind == "none" else "ok", text=text(row, n, k),
                             at=make.START + k)
                for n, q in enumerate(bench.questions, 1)
            ]  # fmt: skip
            ids.append(make.write_run(workspace / "runs", settings, bench, outcomes, k=k))
    return ids


class Reader(lab.Visitor):
    """A reader's browser on the review page: each call sends what the page would send."""

    def __init__(self, app: App, session: Session, name: str = "ann") -> None:
        super().__init__(app, session)
        self.name = name

    def state(self) -> Any:
        """Ask for the state, once the scan is done."""
        end = time.monotonic() + 60
        while (found := self.get(f"/review/state?reader={self.name}").json)["scan"]["running"]:
            assert time.monotonic() < end
            time.sleep(0.01)
        return found

    def unit(self, key: str, page: int = 0) -> Any:
        """Ask for one page of a unit."""
        return self.get(f"/review/unit/{key}?reader={self.name}&page={page}").json

    def sends(self, path: str, **sent: Any) -> lab.Reply:
        """Send something under the reader's name."""
        return self.post(f"/review/{path}", {"reader": self.name, **sent})

    def reads(self, key: str) -> None:
        """Read every page of a unit to its end."""
        for page in range(self.unit(key)["pages"]):
            form = self.unit(key, page)["form"]
            assert self.sends("seen", unit=key, page=page, form=form).status == 200

    def reads_all(self) -> None:
        """Read everything."""
        for unit in self.state()["units"]:
            self.reads(unit["key"])

    def signs(self, *names: str) -> lab.Reply:
        """Sign runs off as the page shows them; all where none is named."""
        shown = [run for row in self.state()["rows"] for run in row["runs"]]
        runs = [{name: run[name] for name in ("run", "manifest", "decisions")} for run in shown]
        return self.sends("sign", runs=[run for run in runs if not names or run["run"] in names])


def open_review(
    workspace: Path,
    *,
    detectors: Callable[[], Sequence[Detector]] = lambda: (Mails(),),
    name: str = "ann",
    plan: BoardPlan | None = None,
    **rest: Any,
) -> Reader:
    """Return a reader before a server of their own."""
    session = Session(lab.PORT)
    snapshots = Snapshots(workspace, lambda: plan, detectors, **rest)
    return Reader(create_app([review_page(snapshots)], session), session, name)
