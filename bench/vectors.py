"""What a search over many vectors takes: the graph of the stack `usearch` beside the exact search of `dense`.

    python bench/vectors.py [--chunks 1000000] [--dimension 384] [--dtype f16] [--threads 1] [--quick] [--json]

The vectors are a mixture of Gaussians on the unit sphere. Centres: `--clusters` standard normal vectors, scaled to
length 1. A vector: a centre, each as likely as another, plus `--spread` / sqrt(dimension) times a standard normal one,
scaled to length 1; two of one cluster have a cosine of about 1 / (1 + spread²), two of different ones about 0. Numpy's
PCG64, float32, seeded by the number of each 10,000 vectors; the queries are drawn likewise, under a seed of their own,
and are none of the vectors. The vectors are written to a file, which is mapped. Each measurement has a process of its
own:

- `build`: the different vectors are told apart, the graph is filled by `--threads` threads, saved and synced.
- `exact`: one query at a time, every vector compared, block by block.
- `graph`: one query at a time, ten hits, candidates compared anew with the mapped vectors; recall@10 is the share of
  the ten that the exact search finds. A second round is measured: in the first, pages come from the disk.

`anonymous` is memory that is not a mapped file, which the system cannot take back; `peak` has the mapped pages besides.
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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.plugins.stacks.exact import nearest, nearest_of_each
from ragassay.plugins.stacks.kept_folder import kept_folder
from ragassay.plugins.stacks.matrix import unit_rows
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.usearch.graph import FILE, Graph, write_graph
from ragassay.plugins.stacks.usearch.nodes import nodes_of
from ragassay.plugins.stacks.usearch.settings import Settings, read_settings

BLOCK = 10_000
TOP_K = 10
EXACT_QUERIES = 50
EXPANSIONS = (32, 64, 128, 256)
NAME = "0" * 32
TARGET_QUERIES_S, TARGET_RECALL = 200, 0.95
VECTORS, CENTRES, QUERIES = 0, 1, 2
"""What a seed is for."""


def centres(args: argparse.Namespace) -> NDArray[np.float32]:
    """Return the centres of the clusters, shape (clusters, dimension)."""
    random = np.random.default_rng([CENTRES])
    return unit_rows(random.standard_normal((args.clusters, args.dimension), dtype=np.float32))


def drawn(args: argparse.Namespace, count: int, seed: Sequence[int]) -> NDArray[np.float32]:
    """Return vectors of the mixture, shape (count, dimension)."""
    random = np.random.default_rng(list(seed))
    noise = random.standard_normal((count, args.dimension), dtype=np.float32)
    noise *= np.float32(args.spread / args.dimension**0.5)
    return unit_rows(noise + centres(args)[random.integers(0, args.clusters, count)])


def write_vectors(args: argparse.Namespace) -> dict[str, float]:
    """Write all vectors to a file, block by block."""
    began = time.perf_counter()
    with (args.folder / "vectors").open("wb") as file:
        for start in range(0, args.chunks, BLOCK):
            file.write(drawn(args, min(BLOCK, args.chunks - start), [VECTORS, start // BLOCK]).data)
    return {"wall_s": time.perf_counter() - began, "disk_mib": (args.folder / "vectors").stat().st_size / 2**20}


def mapped(args: argparse.Namespace) -> NDArray[np.float32]:
    """Return the vectors, mapped."""
    path = args.folder / "vectors"
    return np.asarray(np.memmap(path, dtype=np.float32, mode="r", shape=(args.chunks, args.dimension)))


def settings_of(args: argparse.Namespace, expansion: int) -> Settings:
    """Return the settings of a row."""
    given = {"dtype": args.dtype, "threads": args.threads, "expansion_search": expansion}
    return read_settings(Parameters("usearch", given))


def measure_build(args: argparse.Namespace) -> dict[str, float]:
    """Build the graph as the stack does, and return what it took."""
    matrix, settings = mapped(args), settings_of(args, EXPANSIONS[0])
    most = [anonymous_mib()]
    began, cpu = time.perf_counter(), time.process_time()
    nodes = nodes_of(matrix)
    told_apart = time.perf_counter() - began

    def progress(done: int, total: int) -> None:
        most[0] = max(most[0], anonymous_mib())

    kept = kept_folder(
        "usearch", args.folder, NAME, lambda folder: write_graph(folder, matrix, nodes, settings, progress)
    )
    return {
        "wall_s": time.perf_counter() - began,
        "cpu_s": time.process_time() - cpu,
        "told_apart_s": told_apart,
        "anonymous_mib": max(most[0], anonymous_mib()),
        "peak_mib": peak_mib(),
        "disk_mib": (kept.path / FILE).stat().st_size / 2**20,
    }


def measure_exact(args: argparse.Namespace) -> dict[str, float]:
    """Search exactly, and put down what is found for every query."""
    matrix, queries = mapped(args), drawn(args, args.queries, [QUERIES])
    found = np.stack([positions for positions, _ in nearest_of_each(matrix, queries, TOP_K)])
    np.save(args.folder / "exact.npy", found)
    before = anonymous_mib()
    took, cpu = timed(lambda query: nearest(matrix, query, TOP_K), queries[:EXACT_QUERIES])
    return {**spread_of(took, cpu), "anonymous_mib": max(before, anonymous_mib()), "peak_mib": peak_mib()}


def measure_graph(args: argparse.Namespace, expansion: int) -> dict[str, float]:
    """Search the graph, and compare with what the exact search found."""
    matrix, queries = mapped(args), drawn(args, args.queries, [QUERIES]).tolist()
    exact = np.load(args.folder / "exact.npy")
    settings = settings_of(args, expansion)
    began = time.perf_counter()
    nodes = nodes_of(matrix)
    kept = kept_folder("usearch", args.folder, NAME, _not_again)
    engine = Graph(kept.path / FILE, matrix, nodes, settings, kept.about.facts)
    opened = time.perf_counter() - began
    found = [[at for at, _ in engine.nearest("", query, TOP_K)] for query in queries]
    right = sum(len(set(hits) & set(true)) for hits, true in zip(found, exact.tolist(), strict=True))
    took, cpu = timed(lambda query: engine.nearest("", query, TOP_K), queries)
    figures = {"recall": right / exact.size, **spread_of(took, cpu), "open_s": opened}
    figures |= {"anonymous_mib": anonymous_mib(), "peak_mib": peak_mib()}
    engine.close()
    return figures


def _not_again(folder: Path) -> dict[str, Any]:
    raise AssertionError(f"the graph in {folder} was built before")


def timed(ask: Callable[[Any], object], queries: Iterable[Any]) -> tuple[list[float], float]:
    """Return the wall seconds of each query, ascending, and the CPU seconds of all."""
    took, cpu = [], time.process_time()
    for query in queries:
        began = time.perf_counter()
        ask(query)
        took.append(time.perf_counter() - began)
    return sorted(took), time.process_time() - cpu


def spread_of(took: Sequence[float], cpu: float) -> dict[str, float]:
    """Return how many a second, the median, the 95th percentile and the CPU time of one."""
    return {
        "queries_s": len(took) / sum(took),
        "p50_ms": took[len(took) // 2] * 1000,
        "p95_ms": took[int(len(took) * 0.95)] * 1000,
        "cpu_ms": cpu / len(took) * 1000,
    }


def anonymous_mib() -> float:
    """Return the memory that this process holds now and that is no mapped file."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024


def peak_mib() -> float:
    """Return the most that this process held, mapped pages included."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one(what: str, args: argparse.Namespace) -> dict[str, float]:
    """Return one measurement, in this process."""
    if what.startswith("graph "):
        return measure_graph(args, int(what.split()[1]))
    return {"vectors": write_vectors, "build": measure_build, "exact": measure_exact}[what](args)


def in_a_process(what: str, args: argparse.Namespace, folder: Path) -> dict[str, float]:
    """Return one measurement, made by a new process."""
    names = ("chunks", "dimension", "clusters", "spread", "queries", "dtype", "threads")
    typed = [word for name in names for word in (f"--{name}", str(getattr(args, name)))]
    line = [sys.executable, __file__, "--one", what, "--folder", str(folder), *typed]
    figures: dict[str, float] = json.loads(subprocess.run(line, check=True, stdout=subprocess.PIPE).stdout)
    return figures


def measured(args: argparse.Namespace) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Yield what was measured, and the figures."""
    with tempfile.TemporaryDirectory(prefix="ragassay-bench-", dir=args.folder) as name:
        for what in ("vectors", "build", "exact", *(f"graph {expansion}" for expansion in EXPANSIONS)):
            yield what, in_a_process(what, args, Path(name))


UNITS = {"s": "s", "mib": "MiB", "ms": "ms"}


def line(what: str, figures: Mapping[str, float]) -> str:
    """Return one line of the table."""
    shown = []
    for name, value in figures.items():
        word, _, unit = name.rpartition("_")
        number = f"{value:,.0f}" if unit == "mib" or word == "queries" else f"{value:,.2f}"
        shown.append(
            f"recall@10 {value:.4f}"
            if name == "recall"
            else f"{word.replace('_', ' ')} {number}{'/s' if word == 'queries' else ' ' + UNITS[unit]}"
        )
    return f"{what:10} {', '.join(shown)}"


def verdict(args: argparse.Namespace, found: Mapping[str, Mapping[str, float]]) -> str:
    """Say whether the target is met by any number of candidates."""
    if args.chunks != 1_000_000:
        return "the target is for 1,000,000 chunks"
    met = [
        what
        for what, figures in found.items()
        if what.startswith("graph") and figures["recall"] >= TARGET_RECALL and figures["queries_s"] >= TARGET_QUERIES_S
    ]
    aim = f"at least {TARGET_QUERIES_S} queries/s at recall@10 of at least {TARGET_RECALL}"
    return f"{aim}: {'met by ' + ', '.join(met) if met else 'NOT MET'}"


def options() -> argparse.Namespace:
    """Return what was typed."""
    parser = argparse.ArgumentParser(description="Measure exact and approximate search over many vectors.")
    parser.add_argument("--chunks", type=int, default=1_000_000, help="how many vectors [default: 1,000,000]")
    parser.add_argument("--dimension", type=int, default=384, help="numbers in each [default: 384]")
    parser.add_argument("--clusters", type=int, default=1_000, help="how many centres [default: 1,000]")
    parser.add_argument("--spread", type=float, default=0.5, help="length of the noise around one [default: 0.5]")
    parser.add_argument("--queries", type=int, default=1_000, help="how many are asked [default: 1,000]")
    parser.add_argument("--dtype", default="f16", choices=["f16", "f32", "i8"], help="numbers in the graph")
    parser.add_argument("--threads", type=int, default=1, help="fill the graph with so many [default: 1]")
    parser.add_argument("--folder", type=Path, help="where the files go, and are removed [default: a temporary folder]")
    parser.add_argument("--quick", action="store_true", help="20,000 vectors in 20 clusters, 200 queries")
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.quick:
        args.chunks, args.clusters, args.queries = 20_000, 20, 200
    return args


def main() -> None:
    """Measure and print."""
    args = options()
    if args.one:
        print(json.dumps(one(args.one, args)))
        return
    if not args.json:
        print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
        print(f"usearch {version('usearch')}, numpy {np.__version__}")
        print(
            f"{args.chunks:,} vectors of {args.dimension} numbers in {args.clusters:,} clusters, spread {args.spread}; "
            f"{args.queries:,} queries; graph of {args.dtype}, filled by {args.threads}"
        )
    found = {}
    for what, figures in measured(args):
        found[what] = figures
        print(json.dumps({"what": what, **figures}) if args.json else line(what, figures), flush=True)
    if not args.json:
        print(verdict(args, found))


if __name__ == "__main__":
    main()
