"""Signed runs whose deliveries a test chooses, and a source of exports over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.export.source import Given, RunSource
from ragassay.manifest import RunFiles, build_run
from ragassay.records import Delivered, Failure, Outcome, Question, Retrieval
from ragassay.site.runs import Trust
from ragassay.testing.signed_run import STARTED, public_signer, sample_benchmark, sample_config, sample_outcome

RUN = "{:032x}"
NOBODY = Trust(own={}, policy=None, log=None, problems=(), now=STARTED + 86_400)
"""Trusts no key and no log: runs are checked without a pin."""


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """What was delivered for one question: (chunk id, text, score) best first; `failed`: the search failed."""

    evidence: tuple[str, ...] = ("port 80 is open",)
    delivered: tuple[tuple[str, str, str], ...] = ()
    failed: bool = False
    id: str | None = None
    answer: str | None = None
    """Words around the answer; None for the answer alone."""


def retrieved(
    searches: Sequence[Search],
    *,
    row: str = "bm25",
    pass_k: int = 1,
    top_k: int = 5,
    number: int = 1,
    kind: str = "bm25",
) -> dict[str, bytes]:
    """Return the files of a signed run with these searches, each answered and scored where it did not fail."""
    sample = sample_benchmark(len(searches))
    questions = tuple(
        msgspec.structs.replace(question, evidence=search.evidence, id=search.id or question.id)
        for question, search in zip(sample.questions, searches, strict=True)
    )
    benchmark = msgspec.structs.replace(sample, questions=questions)
    outcomes = [_outcome(q, at, search) for at, (q, search) in enumerate(zip(questions, searches, strict=True))]
    config = sample_config(benchmark, row=row)
    own = {**config.measure.corpus, "digest": None}  # a stack that owns its corpus may give one id to several texts
    stack = {**config.measure.stack, "kind": kind}
    measure = msgspec.structs.replace(config.measure, top_k=top_k, stack=stack, corpus=own)
    return build_run(
        run_id=RUN.format(number),
        pass_k=pass_k,
        config=msgspec.structs.replace(config, measure=measure),
        benchmark=benchmark,
        outcomes=outcomes,
        signer=public_signer(),
    )


def _outcome(question: Question, at: int, search: Search) -> Outcome:
    if search.failed:
        failure = Failure(kind="stack", message="the index is down")
        return Outcome(
            question=question.id, status="retrieval_failed", score=None, failure=failure, answered_at=STARTED
        )
    asked = msgspec.structs.replace(question, evidence=("Port 8001 over TCP",))
    outcome = sample_outcome(asked, at)
    text = f"{search.answer or ''}port {8001 + at} over TCP"
    answer = msgspec.structs.replace(outcome.answer, text=text) if outcome.answer else None
    delivered = tuple(
        Delivered(rank=rank, chunk=name, sha256=canon.sha256(words.encode()), text=words, score=score, page="p.md")
        for rank, (name, words, score) in enumerate(search.delivered, 1)
    )
    return msgspec.structs.replace(
        outcome,
        retrieval=Retrieval(state="ok" if delivered else "empty", delivered=delivered, latency_ms=2),
        status="ok" if delivered else "retrieval_empty",
        answer=answer,
    )


def source_of(
    *runs: Mapping[str, bytes], trust: Trust = NOBODY, rows: Sequence[str] = (), voided: bool = False
) -> RunSource:
    """Return a source of exports over the files of runs."""
    given = [Given(name=f"run {at}", read=partial(_read, files)) for at, files in enumerate(runs, 1)]
    return RunSource(given, trust, rows=rows, voided=voided)


def read_folder(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def _read(files: Mapping[str, bytes]) -> RunFiles:
    return RunFiles(files=dict(files))
