"""A small real board in a folder, run through the library against a local chat server."""

from __future__ import annotations

import asyncio
import json
import sys
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from ragassay import plugins
from ragassay.manifest import generate_key, read_run
from ragassay.records import JSON, Chunk, Hit, OutputRow, Secret, TelemetryRow
from ragassay.run.board_file import load_board
from ragassay.run.board_run import Ended, plan_passes, run_passes
from ragassay.run.prepared import Options, build_rows, prepare
from ragassay.run.registration import Registrar
from ragassay.run.status import RunStatus
from ragassay.run.workspace import Workspace
from ragassay.seams import Progress
from ragassay.testing.chat_server import ChatServer

SIGNER, LOG_SIGNER = generate_key(), generate_key("log")


def silent(_what: str) -> Progress:
    """Report progress nowhere."""
    return lambda _done, _total: None


class Lab:
    """A folder with documents, questions and a board file; `run` runs it and keeps what came of it."""

    def __init__(self, folder: Path, questions: int = 10) -> None:
        self.folder = folder
        self.questions = questions
        self.space = Workspace(folder / ".ragassay")
        self.status = RunStatus()
        self.samples = [self._sample(n) for n in range(questions)]
        (folder / "docs").mkdir(exist_ok=True)
        for n in range(questions):
            text = f"# Part {n}\n\nThe part {n} weighs {n + 1000} grams.\n"
            (folder / "docs" / f"page-{n:03}.md").write_text(text, encoding="utf-8")

    @staticmethod
    def _sample(n: int) -> JSON:
        claim = {"text": f"It weighs {n + 1000} grams.", "central": True, "must": [[str(n + 1000)]]}
        return {
            "id": f"q-{n:03}",
            "page": f"page-{n:03}.md",
            "input": f"How many grams does the part {n} weigh?",
            "target": f"{n + 1000} grams.",
            "evidence": f"The part {n} weighs {n + 1000} grams.",
            "claims": [claim],
        }

    def write(
        self,
        *,
        stack: str = '{ kind = "bm25" }',
        answer: str = 'kind = "reader"',
        judge: str = 'kind = "literal"',
        head: str = "passes = 1",
        row: str = "top_k = 2",
    ) -> None:
        """Write question file and board: a control row and one row of the given stack."""
        (self.folder / "questions.json").write_text(
            json.dumps({"name": "parts", "samples": self.samples}), encoding="utf-8"
        )
        text = f'name = "lab"\n{head}\n[corpus]\npath = "docs"\n[benchmark]\nfile = "questions.json"\n'
        text += f"[answer]\n{answer}\n[judge]\n{judge}\n"
        text += '[[rows]]\nname = "no-retrieval"\nstack = { kind = "none" }\n'
        text += f'[[rows]]\nname = "row"\nstack = {stack}\n{row}\n'
        (self.folder / "board.toml").write_text(text, encoding="utf-8")

    async def run_async(
        self, options: Options | None = None, keys: Mapping[str, Secret] | None = None
    ) -> dict[tuple[str, int], Ended]:
        """Run the board; return how each pass ended by row and number."""
        options = options or Options()
        self.status = RunStatus()
        board = load_board(self.folder / "board.toml")
        prepared = prepare(board, self.space, keys or {}, options, silent)
        rows = build_rows(prepared, self.space, options, silent, self.status)
        registrar = Registrar(self.space, SIGNER, LOG_SIGNER)
        plans = plan_passes(rows, prepared.benchmark, self.space, registrar, options)
        ended = await run_passes(
            prepared, rows, plans, self.space, registrar=registrar, options=options, status=self.status
        )
        for one in rows:
            one.retriever.close()
        return {(end.row, end.k): end for end in ended}

    def run(self, options: Options | None = None) -> dict[tuple[str, int], Ended]:
        """Run the board without a server."""
        return asyncio.run(self.run_async(options))

    def with_server(
        self,
        server: ChatServer,
        *,
        answer: str = "limits = { concurrency = 4 }",
        options: Options | None = None,
        keys: Mapping[str, Secret] | None = None,
        judge: str | None = None,
        **board: Any,
    ) -> dict[tuple[str, int], Ended]:
        """Run the board with the server as its answering model (and as the judge's, where `judge` says `{url}`)."""

        async def work() -> dict[tuple[str, int], Ended]:
            async with server:
                table = f'kind = "openai"\nid = "m"\nbase_url = "{server.base_url}"\n{answer}'
                if judge is not None:
                    board["judge"] = judge.replace("{url}", server.base_url)
                self.write(answer=table, **board)
                return await self.run_async(options, keys)

        return asyncio.run(work())

    def outputs(self, end: Ended) -> dict[str, OutputRow]:
        """Return a signed pass's outputs by question."""
        lines = read_run(self.space.runs / end.run_id).files["outputs.jsonl"].splitlines()
        return {row.id: row for row in (msgspec.json.decode(line, type=OutputRow) for line in lines)}

    def telemetry(self, end: Ended) -> dict[str, TelemetryRow]:
        """Return a signed pass's telemetry by question."""
        lines = read_run(self.space.runs / end.run_id).files["telemetry.jsonl"].splitlines()
        return {row.id: row for row in (msgspec.json.decode(line, type=TelemetryRow) for line in lines)}

    def everything_written(self) -> str:
        """Return every byte below the workspace as text."""
        files = [path for path in self.space.root.rglob("*") if path.is_file() and path.suffix != ".pem"]
        return "\n".join(path.read_bytes().decode("latin-1") for path in files)


class Scripted:
    """A stack whose searches do what a function says; registered as kind `scripted`."""

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {}
    search_as: ClassVar[Any] = None

    def __init__(self, **params: Any) -> None:
        self.params = params

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Scripted:
        """Keep the chunks."""
        self.chunks = chunks
        return self

    def search(self, text: str, k: int) -> Sequence[Hit]:
        """Do what the script says."""
        found: Sequence[Hit] = type(self).search_as(text, k, self.chunks)
        return found

    def describe(self) -> JSON:
        """Say its name."""
        return {"kind": "scripted"}

    def close(self) -> None:
        """Hold nothing."""


def register(monkeypatch: Any, search_as: Any, *, owns_corpus: bool = False) -> str:
    """Make `{ kind = "scripted" }` a stack that searches as told; return its board entry."""
    stack = type("Stack", (Scripted,), {"search_as": staticmethod(search_as), "owns_corpus": owns_corpus})
    module = types.ModuleType("scripted_stack")
    module.Stack = stack  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "scripted_stack", module)
    monkeypatch.setitem(plugins.BUILT_IN["stacks"], "scripted", "scripted_stack:Stack")
    return '{ kind = "scripted" }'
