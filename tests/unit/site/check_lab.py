"""A board with a baseline of its own, from scripted runs, for the tests of `ragassay check`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import site_factory as make
from click.testing import CliRunner, Result

from ragassay.cli.check import command
from ragassay.records import Benchmark

BOARD = """
name = "Acme docs"
[corpus]
path = "docs"
[benchmark]
file = "questions.json"
[answer]
kind = "openai"
id = "acme-7b"
base_url = "https://models.acme.example/v1"
key_env = "ACME_KEY"
[judge]
kind = "llm"
model = { kind = "openai", id = "judge-1", base_url = "https://models.acme.example/v1", key_env = "ACME_KEY" }
[[rows]]
name = "no-retrieval"
stack = { kind = "none" }
[[rows]]
name = "bm25"
stack = { kind = "bm25" }
"""
LATER = make.START + 100_000


def first(count: int, grade: str = "omits", rest: str = "supports") -> make.Grades:
    """Return grades by which the first `count` questions come out as `grade` in every pass, all others as `rest`."""
    return lambda n, _: grade if n <= count else rest


def one_is(grade: str, number: int, k: int | None = None, lost: int = 0) -> make.Grades:
    """Return grades by which one question, in pass `k` or in all, comes out as `grade`; the first `lost` are lost."""
    return lambda n, at: grade if n == number and k in (None, at) else first(lost)(n, at)


def never(n: int, _: int) -> str:
    """Answer nothing right: an honest control."""
    return "omits"


def write_board(
    folder: Path,
    bench: Benchmark,
    grades: make.Grades,
    *,
    at: int = LATER,
    control: make.Grades | None = never,
    reached: Callable[[int], bool] = lambda _: True,
    **changes: Any,
) -> Path:
    """Write a board file and the runs of its rows; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "board.toml").write_text(BOARD, encoding="utf-8")
    (folder / "questions.json").write_bytes(bench.full_form())
    if control is not None:
        make.write_row(folder / ".ragassay", "no-retrieval", "none", bench, control, at=at)
    make.write_row(folder / ".ragassay", "bm25", "bm25", bench, grades, at=at, reached=reached, **changes)
    return folder


def run(*arguments: str | Path) -> Result:
    """Run `ragassay check` and return what it printed; errors raised on purpose come through."""
    result = CliRunner(env={"COLUMNS": "100"}).invoke(command, [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result
