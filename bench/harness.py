"""How much the harness adds: 2,000 items (answer and judge) against a local server, beside a bare loop in the same run.

`make bench` prints wall ÷ ideal, CPU ms per model call and peak memory, at 50 ms and at 0 ms of server latency.
Ideal wall is calls x latency ÷ concurrency; answering and judging get half of the concurrency each.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import msgspec

ITEMS = 2_000
CONCURRENCY = 64
HERE = Path(__file__).resolve().parent


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


def board(folder: Path, base_url: str) -> Path:
    """Write a board of one control row over 2,000 questions, answered and judged by the server."""
    (folder / "docs").mkdir()
    (folder / "docs" / "part.md").write_text("# Part\n\nThe part weighs 1000 grams.\n", encoding="utf-8")
    samples = [
        {
            "id": f"q-{n:05}",
            "input": f"How many grams does part {n} weigh?",
            "target": "1000 grams.",
            "claims": [{"text": "It weighs 1000 grams.", "central": True}],
        }
        for n in range(ITEMS)
    ]
    (folder / "questions.json").write_text(json.dumps({"samples": samples}), encoding="utf-8")
    model = f'kind = "openai"\nid = "bench"\nbase_url = "{base_url}"\nlimits = {{ concurrency = {CONCURRENCY // 2} }}'
    inline = model.replace("\n", ", ")
    text = f"""name = "bench"
passes = 1
[corpus]
path = "docs"
[benchmark]
file = "questions.json"
[answer]
{model}
[judge]
kind = "llm"
model = {{ {inline} }}
[[rows]]
name = "no-retrieval"
stack = {{ kind = "none" }}
"""
    path = folder / "board.toml"
    path.write_text(text, encoding="utf-8")
    return path


def ours(base_url: str) -> dict[str, float]:
    """Run the board through the library in a fresh process and return wall, CPU (seconds) and peak memory (MiB)."""
    with tempfile.TemporaryDirectory() as folder:
        path = board(Path(folder), base_url)
        command = [sys.executable, str(HERE / "once.py"), str(path)]
        found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        return found


async def _floor(base_url: str, calls: int) -> None:
    body = json.dumps({"model": "bench", "messages": [{"role": "user", "content": "x" * 400}]}).encode()
    slots = asyncio.Semaphore(CONCURRENCY)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=CONCURRENCY)) as session:

        async def call() -> None:
            async with slots, session.post(f"{base_url}/chat/completions", data=body) as reply:
                msgspec.json.decode(await reply.read())

        await asyncio.gather(*(call() for _ in range(calls)))


def floor(base_url: str, calls: int) -> dict[str, float]:
    """Make as many calls in a bare aiohttp loop and return wall and CPU seconds."""
    import uvloop

    began, cpu = time.perf_counter(), time.process_time()
    uvloop.run(_floor(base_url, calls))
    return {"wall_s": time.perf_counter() - began, "cpu_s": time.process_time() - cpu}


def main() -> None:
    """Print one table."""
    calls = 2 * ITEMS
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{ITEMS} items, {calls} calls, concurrency {CONCURRENCY}")
    print(f"{'':28}{'wall s':>8}{'÷ ideal':>9}{'CPU ms/call':>13}{'peak MiB':>10}")
    for latency_ms in (50, 0):
        ideal = calls * latency_ms / 1000 / CONCURRENCY
        with server(latency_ms) as base_url:
            for name, found in (("bare loop", floor(base_url, calls)), ("ragassay", ours(base_url))):
                ratio = f"{found['wall_s'] / ideal:9.2f}" if ideal else f"{'':9}"
                peak = f"{found['peak_mib']:10.0f}" if "peak_mib" in found else ""
                cpu_ms = found["cpu_s"] / calls * 1000
                print(f"{name + f' at {latency_ms} ms':28}{found['wall_s']:8.2f}{ratio}{cpu_ms:13.3f}{peak}")
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"(the bare loop's own process peaks at {own:.0f} MiB)")


if __name__ == "__main__":
    main()
