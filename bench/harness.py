"""What the harness adds to the calls it makes, beside a bare loop over the same server in the same run.

`make bench` prints the table and exits with 1 where a figure is over its bound. An item is one question of one row in
one pass: an answer and a verdict, two calls. Ideal wall is calls x latency ÷ calls at once. Each case runs in a fresh
process, several times, in turn with the bare loop; medians are shown with their spread.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import aiohttp
import msgspec

HERE = Path(__file__).resolve().parent
BODY = json.dumps({"model": "bench", "messages": [{"role": "user", "content": "x" * 400}]}).encode()

MOST_CPU_MS = 0.20
MOST_OVER_IDEAL = 0.04
LEAST_ITEMS_PER_S = 2_000
MOST_MIB = 150
MOST_GROWTH_MIB = 20
MOST_START_CPU_S = 0.5
MOST_RESUME_S = 5.0
QUESTIONS = 2_000

PEERS = """\
Others on a machine of this kind (2 cores), 2,000 items at 50 ms and 64 calls at once, as measured in November 2026:
  CPU ms a call: promptfoo 4.0-4.9, inspect_ai 6.5-8.7, ragas 7.9-8.8, deepeval 11.5-12.4; wall 8-16 times the ideal.
  Clients alone: the openai SDK 1.2 ms a call, httpx 0.28 5-7 ms at 64 connections."""


class Case(NamedTuple):
    """So many questions, with so long a wait for each reply, and so many calls under way."""

    items: int
    latency_ms: int
    at_once: int

    @property
    def ideal_s(self) -> float:
        """The least possible wall."""
        return 2 * self.items * self.latency_ms / 1000 / self.at_once


class Size(NamedTuple):
    """What a board asks: every question in each row and pass."""

    questions: int
    rows: int = 1
    passes: int = 1

    @property
    def items(self) -> int:
        """Questions x rows x passes."""
        return self.questions * self.rows * self.passes


CASES = (Case(QUESTIONS, 50, 64), Case(2_560, 500, 256), Case(QUESTIONS, 0, 64))


@contextmanager
def server(latency_ms: int) -> Iterator[str]:
    """Run the bench server in a process of its own and yield its base URL."""
    command = [sys.executable, str(HERE / "server.py"), "--latency-ms", str(latency_ms)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def board(folder: Path, base_url: str, size: Size, at_once: int) -> Path:
    """Write a board of control rows, answered and judged by the server."""
    (folder / "docs").mkdir()
    (folder / "docs" / "part.md").write_text("# Part\n\nThe part weighs 1000 grams.\n", encoding="utf-8")
    samples = [
        {
            "id": f"q-{n:05}",
            "input": f"How many grams does part {n} weigh?",
            "target": "1000 grams.",
            "claims": [{"text": "It weighs 1000 grams.", "central": True}],
        }
        for n in range(size.questions)
    ]
    (folder / "questions.json").write_text(json.dumps({"samples": samples}), encoding="utf-8")
    model = f'{{ kind = "openai", id = "bench", base_url = "{base_url}", limits = {{ concurrency = {at_once} }} }}'
    rows = "".join(
        f'[[rows]]\nname = "row-{n}"\nstack = {{ kind = "none" }}\ntop_k = {n}\n' for n in range(1, size.rows + 1)
    )
    text = f"""name = "bench"
passes = {size.passes}
concurrency = {at_once}
answer = {model}
corpus = {{ path = "docs" }}
benchmark = {{ file = "questions.json" }}
judge = {{ kind = "llm", model = {model} }}
{rows}"""
    path = folder / "board.toml"
    path.write_text(text, encoding="utf-8")
    return path


def ours(base_url: str, size: Size, at_once: int, *options: str) -> dict[str, float]:
    """Run such a board through the library in a fresh process and return its figures (see `once.py`)."""
    with tempfile.TemporaryDirectory() as folder:
        path = board(Path(folder), base_url, size, at_once)
        command = [sys.executable, str(HERE / "once.py"), str(path), *options]
        found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        return found


async def _bare(base_url: str, calls: int, at_once: int) -> None:
    slots = asyncio.Semaphore(at_once)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=at_once)) as session:

        async def call() -> None:
            async with slots, session.post(f"{base_url}/chat/completions", data=BODY) as reply:
                msgspec.json.decode(await reply.read())

        await asyncio.gather(*(call() for _ in range(calls)))


def bare(base_url: str, calls: int, at_once: int) -> dict[str, float]:
    """Make as many calls in a bare aiohttp loop on uvloop, in a fresh process; return wall and CPU seconds."""
    command = [sys.executable, str(HERE / "harness.py"), "--bare", base_url, str(calls), str(at_once)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def _bare_here(base_url: str, calls: int, at_once: int) -> None:
    import uvloop

    began, cpu = time.perf_counter(), time.process_time()
    uvloop.run(_bare(base_url, calls, at_once))
    print(json.dumps({"wall_s": time.perf_counter() - began, "cpu_s": time.process_time() - cpu}))


class Line(NamedTuple):
    """One figure against its bound."""

    what: str
    found: float
    bound: str
    kept: bool


def measured(case: Case, repeats: int) -> list[Line]:
    """Run one case in turn with the bare loop, print both, and return its figures."""
    calls = 2 * case.items
    floors, found = [], []
    with server(case.latency_ms) as base_url:
        for _ in range(repeats):
            floors.append(bare(base_url, calls, case.at_once))
            found.append(ours(base_url, Size(case.items), case.at_once))
    name = f"{case.items} items, {case.latency_ms} ms, {case.at_once} at once"
    _print(f"{name}: bare loop", floors, calls, case.ideal_s)
    _print(f"{name}: ragassay", found, calls, case.ideal_s)
    cpu_ms = _median(found, "cpu_s") / calls * 1000
    lines = [Line(f"{name}: CPU ms a call", cpu_ms, f"≤ {MOST_CPU_MS}", cpu_ms <= MOST_CPU_MS)]
    if case.ideal_s:
        over = (_median(found, "wall_s") - _median(floors, "wall_s")) / case.ideal_s
        lines.append(
            Line(
                f"{name}: wall over the bare loop, of the ideal", over, f"≤ {MOST_OVER_IDEAL}", over <= MOST_OVER_IDEAL
            )
        )
    else:
        rate = case.items / _median(found, "wall_s")
        lines.append(Line(f"{name}: items a second", rate, f"≥ {LEAST_ITEMS_PER_S}", rate >= LEAST_ITEMS_PER_S))
        start = _median(found, "start_cpu_s")
        lines.append(
            Line("CPU s until the first question is asked", start, f"≤ {MOST_START_CPU_S}", start <= MOST_START_CPU_S)
        )
    return lines


def _median(found: Sequence[dict[str, float]], name: str) -> float:
    return statistics.median(one[name] for one in found)


def _print(name: str, found: Sequence[dict[str, float]], calls: int, ideal_s: float) -> None:
    walls, cpus = [one["wall_s"] for one in found], [one["cpu_s"] / calls * 1000 for one in found]
    ratio = f"{statistics.median(walls) / ideal_s:8.3f}" if ideal_s else f"{'':8}"
    asking = f"{_median(found, 'asking_s'):9.2f}" if "asking_s" in found[0] else f"{'':9}"
    peak = f"{_median(found, 'peak_mib'):9.0f}" if "peak_mib" in found[0] else ""
    spread = f"{min(cpus):.3f}-{max(cpus):.3f}"
    print(
        f"{name:48}{statistics.median(walls):8.2f}{ratio}{asking}{statistics.median(cpus):8.3f} {spread:12}{peak}",
        flush=True,
    )


def at_size(large: Size) -> list[Line]:
    """Return how memory grows from one pass to many, and how long a journal of all of them takes to resume."""
    with server(0) as base_url:
        small = ours(base_url, Size(large.questions), 64)
        whole = ours(base_url, large, 64)
        resumed = ours(base_url, large, 64, "--resume")
    assert resumed["resumed"] == large.items, resumed
    peak, growth = whole["peak_mib"], whole["peak_mib"] - small["peak_mib"]
    rate = large.items / whole["wall_s"]
    name = f"{large.items:,} items"
    return [
        Line(f"{name}: peak MiB", peak, f"≤ {MOST_MIB}", peak <= MOST_MIB),
        Line(
            f"{name}: MiB more than for {large.questions:,}", growth, f"≤ {MOST_GROWTH_MIB}", growth <= MOST_GROWTH_MIB
        ),
        Line(f"{name}: items a second", rate, f"≥ {LEAST_ITEMS_PER_S}", rate >= LEAST_ITEMS_PER_S),
        Line(f"{name}: s to resume", resumed["resume_s"], f"≤ {MOST_RESUME_S}", resumed["resume_s"] <= MOST_RESUME_S),
    ]


def main() -> int:
    """Print the tables; return 1 where a figure is over its bound."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="Leave out the cases of 500 ms and of 200,000 items.")
    parser.add_argument("--bare", nargs=3, metavar=("URL", "CALLS", "AT_ONCE"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.bare:
        _bare_here(args.bare[0], int(args.bare[1]), int(args.bare[2]))
        return 0
    print(
        f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}; medians of {args.repeats}"
    )
    print(f"{'':48}{'wall s':>8}{'÷ ideal':>8}{'asking s':>9}{'CPU ms a call':>15}{'':6}{'peak MiB':>9}")
    lines = [
        line for case in CASES if not (args.quick and case.latency_ms == 500) for line in measured(case, args.repeats)
    ]
    if not args.quick:
        lines += at_size(Size(QUESTIONS, rows=20, passes=5))
    print(f"\n{PEERS}\n")
    for line in lines:
        print(f"{'ok  ' if line.kept else 'OVER'} {line.what:62}{line.found:10.3f}  {line.bound}")
    return 0 if all(line.kept for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
