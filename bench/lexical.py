"""What a lexical index over many chunks takes: build, memory, disk and searches of the stack `tantivy`, beside `bm25`.

    python bench/lexical.py [--chunks 1000000] [--searches 500] [--beside bm25] [--quick] [--json]

Every chunk has 60 words, drawn independently out of 200,000 by Zipf's law (the word of rank r comes up in proportion
to 1/r), the words being different runs of 2 to 8 letters; numpy's PCG64, seeded by the number of each hundred chunks.
A question is 8 different words of one chunk, frequent ones included. Every measurement has a process of its own:

- `records held`: the chunks are records in memory, as a run has them. Making them is not part of the build.
- `records made when read`: nothing but the index is held, which shows what the stack takes of the memory. A run cannot
  do this: it holds its chunks.
- `searches`: the index is found in the cache, compared with its digests, and asked by one thread, ten hits each.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ragassay import canon, plugins
from ragassay.records import Chunk

WORDS = 60
VOCABULARY = 200_000
BLOCK = 100
ASKED = 8
TOP_K = 10
WARM_UP = 20
TARGETS = {"build_s": 15.0, "peak_mib": 1e9 / 2**20}
"""For a million chunks whose records are held."""


class Made(Sequence[Chunk]):
    """Chunks that are made when they are read, a hundred at a time: the same ones each time."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._words = _vocabulary()
        self._sums = np.cumsum(1 / np.arange(1, VOCABULARY + 1))
        self._sums /= self._sums[-1]
        self._at = -1
        self._name = ""
        self._block: list[Chunk] = []

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Chunk]:
        return (self[at] for at in range(self._count))

    @overload
    def __getitem__(self, at: int) -> Chunk: ...
    @overload
    def __getitem__(self, at: slice) -> list[Chunk]: ...
    def __getitem__(self, at: int | slice) -> Chunk | list[Chunk]:
        """Return one chunk, or those of a slice."""
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(self._count))]
        if not 0 <= at < self._count:
            raise IndexError(at)
        if at // BLOCK != self._at:
            self._at = at // BLOCK
            ranks = self._drawn(self._at)
            self._block = [self._chunk(self._at * BLOCK + row, ranks[row]) for row in range(BLOCK)]
        return self._block[at % BLOCK]

    def _drawn(self, block: int) -> NDArray[np.int64]:
        return np.searchsorted(self._sums, np.random.default_rng(block).random((BLOCK, WORDS)))

    def _page(self, number: int) -> str:
        """Return the name of a page: one string for all its chunks, as chunkers make them."""
        if not self._name.startswith(f"part-{number:05}."):
            self._name = f"part-{number:05}.md"
        return self._name

    def _chunk(self, at: int, ranks: NDArray[np.int64]) -> Chunk:
        text = " ".join([self._words[rank] for rank in ranks.tolist()])
        page = self._page(at // 500)
        return Chunk(
            id=f"{page}#{at % 500}", page=page, start=0, end=len(text), text=text, sha256=canon.sha256(text.encode())
        )


def _vocabulary() -> list[str]:
    """Return the words by rank, each once: how long one is says nothing of its rank."""
    random = np.random.default_rng(VOCABULARY)
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        letters = random.integers(97, 123, 8, dtype=np.uint8).tobytes().decode()
        words[letters[: int(random.integers(2, 9))]] = None
    return list(words)


def questions(chunks: Made, count: int) -> list[str]:
    """Return questions, each of 8 different words of one chunk."""
    random = np.random.default_rng([WORDS, count])
    found = []
    for at in random.integers(0, len(chunks), count):
        words = sorted(set(chunks[int(at)].text.split()))
        found.append(" ".join(random.permutation(words)[:ASKED]))
    return found


def silent(done: int, total: int) -> None:
    """Show no progress."""


def measure_build(stack: Any, count: int, cache: Path, *, held: bool) -> dict[str, float]:
    """Build the index and return what it took; with `held` the chunks are records in memory before it begins."""
    chunks: Sequence[Chunk] = list(Made(count)) if held else Made(count)
    records = resident_mib()
    began, cpu = time.perf_counter(), time.process_time()
    index = stack.build(chunks, {"cache": cache}, silent)
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    figures = {"before_mib": records, "peak_mib": peak_mib()}
    if held:
        disk = sum(one.stat().st_size for one in cache.rglob("*") if one.is_file()) / 2**20
        figures = {"build_s": took, "cpu_s": cpu, **figures, "disk_mib": disk}
    index.close()
    return figures


def measure_searches(stack: Any, count: int, cache: Path, searches: int) -> dict[str, float]:
    """Open the index, which is found where it was built, or build it, and ask; return what it took."""
    chunks = Made(count)
    asked = questions(chunks, searches + WARM_UP)
    texts = list(chunks)
    began = time.perf_counter()
    index = stack.build(texts, {"cache": cache}, silent)
    opened, took = time.perf_counter() - began, []
    cpu = time.process_time()
    for at, question in enumerate(asked):
        began = time.perf_counter()
        hits = index.search(question, TOP_K)
        took.append(time.perf_counter() - began)
        assert len(hits) == min(TOP_K, count), (question, hits)
        cpu = time.process_time() if at + 1 == WARM_UP else cpu
    cpu = time.process_time() - cpu
    index.close()
    took = sorted(took[WARM_UP:])
    return {
        "open_s": opened,
        "p50_ms": took[len(took) // 2] * 1000,
        "p95_ms": took[int(len(took) * 0.95)] * 1000,
        "queries_s": len(took) / sum(took),
        "cpu_ms": cpu / len(took) * 1000,
        "peak_mib": peak_mib(),
    }


def resident_mib() -> float:
    """Return what this process holds in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def peak_mib() -> float:
    """Return the most that this process held in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one(kind: str, what: str, count: int, searches: int, cache: Path) -> dict[str, float]:
    """Return one measurement of one stack, in this process."""
    stack = plugins.load("stacks", kind)()
    if what == "searches":
        return measure_searches(stack, count, cache, searches)
    return measure_build(stack, count, cache, held=what == "records held")


def in_a_process(kind: str, what: str, args: argparse.Namespace, cache: Path) -> dict[str, float]:
    """Return one measurement, made by a new process."""
    typed = [__file__, "--one", kind, what, "--chunks", str(args.chunks), "--searches", str(args.searches)]
    done = subprocess.run([sys.executable, *typed, "--cache", str(cache)], check=True, stdout=subprocess.PIPE)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def measured(args: argparse.Namespace) -> Iterator[tuple[str, str, Mapping[str, float]]]:
    """Yield stack, what was measured, and the figures."""
    with tempfile.TemporaryDirectory(prefix="ragassay-bench-") as name:
        for kind in ["tantivy", *args.beside]:
            ways = ("records held", "records made when read", "searches")
            for what in ways if kind == "tantivy" else (ways[0], ways[2]):
                cache = Path(name) / kind / ("made" if what == ways[1] else "held")
                cache.mkdir(parents=True, exist_ok=True)
                yield kind, what, in_a_process(kind, what, args, cache)


UNITS = {"s": "s", "mib": "MiB", "ms": "ms"}


def line(kind: str, what: str, figures: Mapping[str, float]) -> str:
    """Return one line of the table."""
    shown = []
    for name, value in figures.items():
        word, _, unit = name.rpartition("_")
        shown.append(f"{word} {value:,.0f}/s" if word == "queries" else f"{word} {value:,.2f} {UNITS[unit]}")
    return f"{kind:8} {what:24} {', '.join(shown)}"


def verdict(args: argparse.Namespace, figures: Mapping[str, float]) -> str:
    """Say whether the targets for a million chunks are met."""
    if args.chunks != 1_000_000:
        return "the targets are for 1,000,000 chunks"
    return "; ".join(
        f"{name} {figures[name]:,.1f} of at most {most:,.1f}: {'met' if figures[name] <= most else 'NOT MET'}"
        for name, most in TARGETS.items()
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure lexical indices over many chunks.")
    parser.add_argument("--chunks", type=int, default=1_000_000, help="how many [default: 1,000,000]")
    parser.add_argument("--searches", type=int, default=500, help="how many questions are asked [default: 500]")
    parser.add_argument("--beside", action="append", default=[], choices=["bm25"], help="measure this stack too")
    parser.add_argument("--quick", action="store_true", help="20,000 chunks and 100 questions")
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    parser.add_argument("--one", nargs=2, metavar=("STACK", "WHAT"), help=argparse.SUPPRESS)
    parser.add_argument("--cache", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        kind, what = args.one
        print(json.dumps(one(kind, what, args.chunks, args.searches, args.cache)))
        return
    if args.chunks < 1 or args.searches < 1:
        parser.error("--chunks and --searches must be at least 1")
    if args.quick:
        args.chunks, args.searches = 20_000, 100
    if not args.json:
        print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
        print(f"{args.chunks:,} chunks of {WORDS} words, {args.searches} questions of {ASKED} words, {TOP_K} hits each")
    for kind, what, figures in measured(args):
        print(
            json.dumps({"stack": kind, "what": what, **figures}) if args.json else line(kind, what, figures), flush=True
        )
        if (kind, what) == ("tantivy", "records held") and not args.json:
            print(f"{'':33} {verdict(args, figures)}")


if __name__ == "__main__":
    main()
