"""A small board with signed runs, judged again through the library against local servers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from run_lab import SIGNER, Lab

from ragassay.manifest import read_run
from ragassay.manifest.judgement import JudgementDocument, decode_judgement
from ragassay.manifest.judgement_folder import judgement_folders, read_judgement
from ragassay.question import load_benchmark
from ragassay.run.board_file import BoardFile, load_board, reask_share
from ragassay.run.judge_making import make_judges
from ragassay.run.judge_panel import Jobs, Wanted, plan_jobs
from ragassay.run.judge_run import JudgementEnded, make_judgements
from ragassay.run.judge_runs import VerifiedRun, choose_runs
from ragassay.run.status import RunStatus
from ragassay.site import load_runs
from ragassay.testing.chat_server import ChatServer

PANEL_LLM = '[[panel]]\nname = "second"\nkind = "llm"\nmodel = {model}\n'
PANEL_LITERAL = '[[panel]]\nname = "by literals"\nkind = "literal"\n'


def model(url: str, extra: str = "limits = { concurrency = 4 }") -> str:
    """Return a model table over a local server, whose waits are those of its faults."""
    return f'{{ kind = "openai", id = "judge-2", base_url = "{url}", {extra} }}'


class JudgeLab(Lab):
    """A `Lab` whose runs are judged again."""

    def add_panel(self, text: str) -> BoardFile:
        """Append tables of a panel to the board file."""
        path = self.folder / "board.toml"
        kept = path.read_text(encoding="utf-8").split("[[panel]]")[0]
        path.write_text(kept + text, encoding="utf-8")
        return load_board(path)

    def board(self) -> BoardFile:
        """Return the board as it is written."""
        return load_board(self.folder / "board.toml")

    def verified(self) -> list[VerifiedRun]:
        """Return the runs of the workspace as the command line finds them."""
        return [
            VerifiedRun(id=run.id, files=run.files, document=run.document, refused=run.refused)
            for run in load_runs(self.space.root)
        ]

    def jobs(self, wanted: Wanted, only: Sequence[str] = ()) -> Jobs:
        """Return what is to be judged, and what is left out."""
        board = self.board()
        chosen, left_out = choose_runs(board, load_benchmark(board.benchmark).digest(), self.verified(), only)
        jobs = plan_jobs(self.space, chosen, wanted, only_named=bool(only))
        return Jobs(jobs=jobs.jobs, there=jobs.there, left_out=[*left_out, *jobs.left_out])

    async def judge_async(self, *, only: Sequence[str] = (), **wanted: Any) -> list[JudgementEnded]:
        """Judge what is asked for; without anything, the panel and the board's share of reasks."""
        board = self.board()
        judges = make_judges(board, {})
        assert judges.own is not None
        asked: dict[str, Any] = wanted or {"panel": True, "reask": True}
        jobs = self.jobs(
            Wanted(
                panel=judges.panel if asked.get("panel") else (),
                own=judges.own,
                reask=reask_share(board.judge, judges.own.judge) if asked.get("reask") else None,
                null_rows=bool(asked.get("null_rows")),
                again=bool(asked.get("again")),
            ),
            only,
        )
        self.status = RunStatus()
        return await make_judgements(
            jobs.jobs,
            self.space,
            judges,
            signer=SIGNER,
            seed=board.seed,
            seal=bool(asked.get("seal")),
            status=self.status,
        )

    def judge(self, server: ChatServer | None = None, tables: str | None = None, **wanted: Any) -> list[JudgementEnded]:
        """Judge by a panel of these tables, with a server behind their `{model}` or without one."""

        async def work() -> list[JudgementEnded]:
            if server is None:
                if tables is not None:
                    self.add_panel(tables)
                return await self.judge_async(**wanted)
            async with server:
                self.add_panel((tables or PANEL_LLM).replace("{model}", model(server.base_url)))
                return await self.judge_async(**wanted)

        return asyncio.run(work())

    def documents(self, run_id: str) -> list[JudgementDocument]:
        """Return the judgements of one run."""
        folders = judgement_folders(self.space.root, run_id)
        return [decode_judgement(read_judgement(folder).files) for folder in folders]

    def all_documents(self) -> list[JudgementDocument]:
        """Return every judgement of the workspace."""
        return [one for run in sorted(self.space.runs.iterdir()) for one in self.documents(run.name)]

    def run_bytes(self) -> dict[str, dict[str, bytes]]:
        """Return the files of every run."""
        return {folder.name: read_run(folder).files for folder in sorted(self.space.runs.iterdir())}


def literal_lab(folder: Path, questions: int = 10, passes: int = 1) -> JudgeLab:
    """Return a lab whose runs are signed, judged by literals."""
    lab = JudgeLab(folder, questions)
    lab.write(head=f"passes = {passes}")
    assert all(end.held is None for end in lab.run().values())
    return lab
