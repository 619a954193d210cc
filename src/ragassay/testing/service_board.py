"""A board of three questions in a folder of its own, run through the real runner while something happens to a row."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from ragassay import plugins
from ragassay.manifest import generate_key
from ragassay.records import JSON, Hit, Secret
from ragassay.run.board_file import BoardFile, RowTable, load_board
from ragassay.run.board_run import Ended, plan_passes, run_passes
from ragassay.run.journal import read_entries
from ragassay.run.passes import Row
from ragassay.run.prepared import Options, build_rows, prepare
from ragassay.run.registration import Registrar
from ragassay.run.state import ItemState, replay
from ragassay.run.status import RunStatus
from ragassay.run.workspace import Workspace
from ragassay.seams import Progress, Retriever

ROW = "service"
WORDS: JSON = {"kind": "words"}
"""The board table of the embedder without a model, inside `known_words`."""
TEXTS = tuple(f"# Part {n}\n\nThe part {n} weighs {n + 1000} grams.\n" for n in range(3))
QUESTIONS = tuple(f"How many grams does the part {n} weigh?" for n in range(3))
_BOARD = """
name = "service"
passes = 1
[corpus]
path = "docs"
[benchmark]
file = "questions.json"
[answer]
kind = "reader"
limits = { concurrency = 1 }
[judge]
kind = "literal"
[[rows]]
name = "no-retrieval"
stack = { kind = "none" }
"""


class Watched:
    """A built stack; `then` is called once, after the first question of the board that was searched for.

    The search with which a run warms a row up is none of them.
    """

    def __init__(self, inner: Retriever, then: Callable[[], None]) -> None:
        self._inner = inner
        self._then = then
        self._lock = threading.Lock()
        self.answered = 0

    def search(self, text: str, k: int) -> Sequence[Hit]:
        """Return the inner stack's hits; one search after another."""
        with self._lock:
            found = self._inner.search(text, k)
            if text not in QUESTIONS:
                return found
            self.answered += 1
            if self.answered == 1:
                self._then()
            return found

    def describe(self) -> JSON:
        """Return what the inner stack says."""
        return self._inner.describe()

    def close(self) -> None:
        """Close the inner stack."""
        self._inner.close()


class Passed(msgspec.Struct, frozen=True, kw_only=True):
    """One pass of the service's row after a run: how it ended, its questions' states, how many searches answered."""

    ended: Ended
    states: Mapping[str, ItemState]
    answered: int


class ServiceBoard:
    """Documents, questions and a board in `folder`, with a control and the row under test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.space = Workspace(folder / ".ragassay")
        self._signers = (generate_key(), generate_key("log"))
        (folder / "docs").mkdir()
        for n, text in enumerate(TEXTS):
            (folder / "docs" / f"page-{n}.md").write_text(text, encoding="utf-8")
        samples = [_sample(n, text) for n, text in enumerate(QUESTIONS)]
        questions = json.dumps({"name": "parts", "samples": samples})
        (folder / "questions.json").write_text(questions, encoding="utf-8")
        (folder / "board.toml").write_text(_BOARD, encoding="utf-8")

    def board(self, entry: JSON) -> BoardFile:
        """Return the board with `entry` as the stack of its second row."""
        board = load_board(self.folder / "board.toml")
        row = RowTable(name=ROW, stack=entry, top_k=2, threshold=None, exposure=None)
        return msgspec.structs.replace(board, rows=(*board.rows, row))

    def run(self, entry: JSON, keys: Mapping[str, Secret], then: Callable[[], None]) -> Passed:
        """Run the board, or continue it, through the real runner; `then` is called after the row's first search."""
        return asyncio.run(self._run(entry, keys, then))

    async def _run(self, entry: JSON, keys: Mapping[str, Secret], then: Callable[[], None]) -> Passed:
        options, status = Options(weights_cache=self.folder), RunStatus()
        prepared = prepare(self.board(entry), self.space, keys, options, silent)
        rows = build_rows(prepared, self.space, options, silent, status)
        watched = next(Watched(row.retriever, then) for row in rows if row.name == ROW)
        rows = [_with(row, watched) if row.name == ROW else row for row in rows]
        try:
            registrar = Registrar(self.space, *self._signers)
            plans = plan_passes(rows, prepared.benchmark, self.space, registrar, options)
            ends = await run_passes(
                prepared, rows, plans, self.space, registrar=registrar, options=options, status=status
            )
        finally:
            for row in rows:
                row.retriever.close()
        ended = next(end for end in ends if end.row == ROW)
        journal = self.space.pass_folder(ROW, ended.run_id) / "journal.jsonl"
        return Passed(ended=ended, states=replay(read_entries(journal)), answered=watched.answered)

    def everything_written(self) -> str:
        """Return every byte below the workspace as text."""
        files = sorted(path for path in self.space.root.rglob("*") if path.is_file())
        return "\n".join(path.read_bytes().decode("latin-1") for path in files)


def _with(row: Row, retriever: Retriever) -> Row:
    return msgspec.structs.replace(row, retriever=retriever)


def _sample(n: int, question: str) -> JSON:
    return {
        "id": f"q-{n}",
        "page": f"page-{n}.md",
        "input": question,
        "target": f"{n + 1000} grams.",
        "evidence": f"The part {n} weighs {n + 1000} grams.",
        "claims": [{"text": f"It weighs {n + 1000} grams.", "central": True, "must": [[str(n + 1000)]]}],
    }


def silent(_what: str) -> Progress:
    """Report progress nowhere."""
    return lambda _done, _total: None


@contextmanager
def known_words() -> Iterator[None]:
    """Let a board name the embedder without a model as `{ kind = "words" }` until the block ends."""
    known: Any = plugins.BUILT_IN["embedders"]
    added = "words" not in known
    known.setdefault("words", "ragassay.testing.fake_embedder:WordEmbedder")
    try:
        yield
    finally:
        if added:
            known.pop("words", None)
