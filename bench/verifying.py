"""How long a check of one run takes: inside the library, and as a whole process of the command line.

`make bench` prints both for a run of 60 questions and one of 10,000, each with five retrieved chunks of about 1,000
characters per question, beside the most that each may take.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.manifest import build_run
from ragassay.records import Delivered, Outcome, Retrieval
from ragassay.testing.signed_run import RUN_ID, public_signer, sample_benchmark, sample_config, sample_outcome
from ragassay.verify import PinnedKey, verify

CHUNKS = 5
FILLER = "The service listens where its configuration says, and refuses what it does not know. " * 12


def run_of(items: int) -> dict[str, bytes]:
    """Return the files of a signed run of `items` questions with five chunks each."""
    benchmark = sample_benchmark(items)
    outcomes = [
        _with_chunks(sample_outcome(question, at), question.page or "", at)
        for at, question in enumerate(benchmark.questions)
    ]
    return build_run(
        run_id=RUN_ID,
        pass_k=1,
        config=sample_config(benchmark),
        benchmark=benchmark,
        outcomes=outcomes,
        signer=public_signer(),
    )


def _with_chunks(outcome: Outcome, page: str, at: int) -> Outcome:
    texts = [f"{page}, part {rank} of question {at}. {FILLER}" for rank in range(1, CHUNKS + 1)]
    delivered = tuple(
        Delivered(
            rank=rank,
            chunk=f"{page}#{rank}",
            sha256=canon.sha256(text.encode()),
            text=text,
            score=str(10 - rank),
            page=page,
            start=0,
            end=len(text),
        )
        for rank, text in enumerate(texts, start=1)
    )
    return msgspec.structs.replace(outcome, retrieval=Retrieval(state="ok", delivered=delivered, latency_ms=2))


def inside_s(files: Mapping[str, bytes], repeats: int) -> float:
    """Return the median wall seconds of `verify` in this process."""
    policy = PinnedKey(public_signer().public)
    took = []
    for _ in range(repeats):
        began = time.perf_counter()
        report = verify(files, policy=policy, now=int(time.time()))
        took.append(time.perf_counter() - began)
        assert report.ok(), report.findings
    return statistics.median(took)


def process_s(files: Mapping[str, bytes], repeats: int) -> float:
    """Return the median wall seconds of `ragassay verify` on the run in a folder."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        took = []
        for _ in range(repeats):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-m", "ragassay", "verify", folder], check=True, capture_output=True)
            took.append(time.perf_counter() - began)
        return statistics.median(took)


def main() -> None:
    """Print one table."""
    print(f"{'verify a run':28}{'MiB':>8}{'inside ms':>12}{'at most':>9}{'process ms':>12}{'at most':>9}")
    for items, repeats, inside_ms, process_ms in ((60, 15, 30, 400), (10_000, 3, None, 2_000)):
        files = run_of(items)
        size = sum(map(len, files.values())) / 2**20
        inside, process = inside_s(files, repeats) * 1000, process_s(files, repeats) * 1000
        most = f"{inside_ms}" if inside_ms else ""
        print(f"{f'of {items:,} questions':28}{size:8.1f}{inside:12.1f}{most:>9}{process:12.0f}{process_ms:>9}")


if __name__ == "__main__":
    main()
