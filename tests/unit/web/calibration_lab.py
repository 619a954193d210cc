"""Small workspaces whose answers differ between rows, and a client that asks the app without any network."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site"))
import site_factory as make

from ragassay.manifest.statement import RunDocument
from ragassay.records import Benchmark, Question
from ragassay.records.calibration import Rating
from ragassay.site.calibration.items import Item, Occurrence, item_key, prompt_digest
from ragassay.site.calibration.rubric import rubric_digest
from ragassay.site.runs import load_runs
from ragassay.web.app import create_app
from ragassay.web.calibrate import calibrate_page
from ragassay.web.guard import App, Session

PORT = 43210
HOST = f"127.0.0.1:{PORT}"
ROWS = ("no-retrieval", "bm25", "hybrid")
GRADES = ("omits", "hedges", "supports")


def text_of(row: str, number: int) -> str:
    """Return the answer of a row to a question, different from that of every other."""
    return f"Option {number}, says {row}: {number * 7}."


def write_board(
    workspace: Path, *, questions: int = 6, text: Callable[[str, int], str] = text_of, bench: Benchmark | None = None
) -> Benchmark:
    """Write one signed pass of three rows, each question in each row answered in words of its own."""
    bench = bench or make.benchmark(questions)
    for at, row in enumerate(ROWS):
        kind = "none" if at == 0 else row
        settings = make.config(row, kind, bench, circumstance_passes=1)
        outcomes = [
            make.outcome(q, GRADES[(n + at) % 3], retrieval="off" if at == 0 else "ok", text=text(row, n))
            for n, q in enumerate(bench.questions, 1)
        ]
        make.write_run(workspace / "runs", settings, bench, outcomes)
    return bench


def documents(workspace: Path) -> list[RunDocument]:
    """Return the verified runs of a workspace."""
    return [run.document for run in load_runs(workspace) if run.document is not None]


def item(number: int, scores: Mapping[str, Sequence[int | None]], text: str | None = None) -> Item:
    """Return an item whose answer stands in rows with the given scores, one run each."""
    question: Question = make.question(number)
    answer = f"{number:064x}"
    seen = tuple(
        Occurrence(row=row, run=f"{row}-{k}", score=score) for row in scores for k, score in enumerate(scores[row])
    )
    return Item(
        key=item_key(question.id, prompt_digest(question), answer),
        question=question,
        text=text or f"answer {number}",
        answer=answer,
        prompt=prompt_digest(question),
        seen=seen,
    )


def rating(of: Item, rater: str, level: int | None, **changes: Any) -> Rating:
    """Return a rating as it would be stored; `changes` replace members."""
    fields: dict[str, Any] = {
        "id": f"{rater}-{of.key[:8]}-{level}",
        "at": make.START,
        "rater": rater,
        "item": of.key,
        "question": of.question.id,
        "answer": of.answer,
        "prompt": of.prompt,
        "rubric": rubric_digest(),
        "level": level,
        "reason": "other" if level is None else None,
    }
    return Rating(**{**fields, **changes})


class Reply(msgspec.Struct, frozen=True):
    """One reply of the app."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def ask(
    app: App,
    path: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    chunks: Sequence[bytes] | None = None,
) -> Reply:
    """Send one request to an ASGI application and return its reply."""
    target, _, query = path.partition("?")
    sent: list[Any] = []
    parts = list(chunks) if chunks is not None else [body]
    waiting = [
        {"type": "http.request", "body": part, "more_body": at < len(parts) - 1} for at, part in enumerate(parts)
    ]

    async def receive() -> Any:
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": target,
        "raw_path": target.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in (headers or {}).items()],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", PORT),
    }

    async def call() -> None:
        await app(scope, receive, send)

    asyncio.run(call())
    start = sent[0]
    return Reply(
        start["status"],
        {name.decode().lower(): value.decode() for name, value in start["headers"]},
        b"".join(message.get("body", b"") for message in sent[1:]),
    )


class Visitor:
    """A browser that has opened the printed address; each call sends what a page of the app would send."""

    def __init__(self, app: App, session: Session) -> None:
        self.app = app
        reply = ask(app, f"/?token={session.token}", headers={"host": HOST})
        self.cookie = reply.headers["set-cookie"].partition(";")[0]

    def get(self, path: str) -> Reply:
        """Ask for a page."""
        return ask(self.app, path, headers={"host": HOST, "cookie": self.cookie})

    def post(self, path: str, sent: Any, **changes: str) -> Reply:
        """Send JSON as the page does; `changes` replace headers, an empty one leaves it out."""
        headers = {
            "host": HOST,
            "cookie": self.cookie,
            "origin": f"http://{HOST}",
            "content-type": "application/json",
            **{name.replace("_", "-"): value for name, value in changes.items()},
        }
        kept = {name: value for name, value in headers.items() if value}
        return ask(self.app, path, method="POST", headers=kept, body=json.dumps(sent).encode())


def open_app(ledger: Any, items: Sequence[Item], **options: Any) -> tuple[App, Session]:
    """Return the app on a sample, and its session."""
    session = Session(PORT)
    return create_app([calibrate_page(ledger, items, seed="7", **options)], session), session
