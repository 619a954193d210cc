"""Makes real, signed run folders from a few scripted figures, so that boards can be built without asking any model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragassay import canon
from ragassay.manifest import Signer, build_run
from ragassay.records import (
    Answer,
    AnswerKind,
    Benchmark,
    Circumstance,
    Claim,
    ClaimVerdict,
    Config,
    Delivered,
    Failure,
    Measure,
    Outcome,
    Profile,
    Question,
    Retrieval,
    Status,
    Usage,
    Verdict,
    VerdictWord,
)

SIGNER = Signer.from_seed(bytes(range(32)), "test-key")
START = 1_790_000_000


def question(number: int, **changes: Any) -> Question:
    """Return a question with one claim, evidence and a page of its own."""
    text = f"option-{number} is set to {number * 7}"
    fields: dict[str, Any] = {
        "id": f"q-{number:03d}",
        "input": f"What is option-{number} of the Acme CLI set to?",
        "target": f"{number * 7}.",
        "claims": (Claim(id=1, text=f"It is {number * 7}.", central=True, must=((str(number * 7),),)),),
        "page": f"cli/page-{number}.md",
        "topic": ("cli", "api")[number % 2],
        "evidence": (text,),
    }
    return Question(**{**fields, **changes})


def benchmark(count: int = 60, *, name: str = "acme-docs", version: str = "1.0.0", **changes: Any) -> Benchmark:
    """Return a question set of `count` questions."""
    return Benchmark(name=name, version=version, questions=tuple(question(n, **changes) for n in range(1, count + 1)))


def config(row: str, kind: str, bench: Benchmark, **changes: Any) -> Config:
    """Return a row's configuration; `changes` replace members of `measure`, `circumstance_…` those of circumstance."""
    circumstance = {k.removeprefix("circumstance_"): v for k, v in changes.items() if k.startswith("circumstance_")}
    measure = {k: v for k, v in changes.items() if not k.startswith("circumstance_")}
    ref = {
        "id": bench.name,
        "version": bench.version,
        "items": len(bench.questions),
        "digest": bench.digest(),
        "itemSet": bench.item_set_digest(),
    }
    chunker = {"kind": "heading", "max_tokens": 256, "overlap": 32}
    corpus = {"digest": "c" * 64, "pages": 111, "chunks": 710, "chunker": chunker, "extractor": "1"}
    fields: dict[str, Any] = {
        "benchmark": ref,
        "corpus": corpus,
        "stack": {"kind": kind, "entry": {"kind": kind}, "describe": {"kind": kind, "name": row}},
        "top_k": 5,
        "threshold": None,
        "answer": {"kind": "openai", "id": "acme-7b", "template": {"name": "chunks-as-system/1"}, "describe": {}},
        "judge": {"kind": "llm", "id": "judge-1", "describe": {}},
        "scorer": "factual-consistency/2",
    }
    around: dict[str, Any] = {"harness": "0.1.0", "passes": 3, "seed": 7, "limits": {}, "prices": {}, "key_env": {}}
    return Config(
        row=row, measure=Measure(**{**fields, **measure}), circumstance=Circumstance(**{**around, **circumstance})
    )


def chunk(rank: int, text: str, page: str = "cli/other.md") -> Delivered:
    """Return a delivered chunk."""
    digest = canon.sha256(text.encode())
    return Delivered(
        rank=rank,
        chunk=f"{page}#{digest[:8]}",
        sha256=digest,
        text=text,
        score="0.5",
        page=page,
        start=0,
        end=len(text),
    )


def retrieval_of(asked: Question, *, reached: bool, state: str, k: int) -> Retrieval:
    """Return k delivered texts, the second of which holds the evidence where it was reached."""
    texts = [f"Filler number {rank} about {asked.page}." for rank in range(1, k + 1)]
    if reached and asked.evidence:
        texts[1] = f"In this section, {asked.evidence[0]}, unless said otherwise."
    delivered = () if state in ("off", "empty") else tuple(chunk(i, t) for i, t in enumerate(texts, 1))
    return Retrieval(state=state, delivered=delivered, latency_ms=12)  # type: ignore[arg-type]


def outcome(
    asked: Question,
    grade: str,
    *,
    reached: bool = True,
    retrieval: str = "ok",
    k: int = 5,
    at: int = START,
    text: str | None = None,
    answer_kind: AnswerKind | None = "answer",
) -> Outcome:
    """Return one question ended: grade is supports, hedges, contradicts, omits or a class of missing."""
    if grade == "retrieval_failed":
        failure = Failure(kind="stack", message="the stack did not answer")
        return Outcome(question=asked.id, status="retrieval_failed", score=None, failure=failure, answered_at=at)
    found = retrieval_of(asked, reached=reached, state=retrieval, k=k)
    said = text or f"According to the docs, {asked.target} That is all."
    answer = Answer(
        text=said,
        finish_reason="stop",
        usage=Usage(input_tokens=900, output_tokens=40),
        latency_ms=640,
        attempts=1,
        cost_microusd=106,
    )
    common = {"question": asked.id, "retrieval": found, "answered_at": at}
    if grade in ("answer_failed", "judge_failed", "harness_failed"):
        failure = Failure(kind="unjudged", message="prose instead of a verdict")
        status: Status = grade  # type: ignore[assignment]
        kept = None if grade == "answer_failed" else answer
        return Outcome(**common, status=status, score=None, answer=kept, failure=failure)  # type: ignore[arg-type]
    words: dict[str, VerdictWord] = {
        "supports": "SUPPORTS",
        "hedges": "HEDGES",
        "contradicts": "CONTRADICTS",
        "omits": "OMITS",
    }
    quote = "" if grade == "omits" else said[: max(1, len(said) // 2)]
    claims = tuple(
        ClaimVerdict(
            id=c.id,
            text=c.text,
            central=c.central,
            verdict=words[grade],
            quote=quote,
            reason="as quoted",
        )
        for c in asked.claims
    )
    contradicted = grade == "contradicts" and any(c.central for c in asked.claims)
    score = {"supports": 100, "hedges": 50, "contradicts": 0, "omits": 0}[grade]
    verdict = Verdict(claims=claims, central_contradicted=contradicted, answer_kind=answer_kind)
    ended: Status = "retrieval_empty" if retrieval == "empty" else "ok"
    return Outcome(**common, status=ended, score=score, answer=answer, verdict=verdict)  # type: ignore[arg-type]


Grades = Callable[[int, int], str]
"""(question number from 1, pass from 1) to a grade."""


def write_run(
    runs: Path,
    settings: Config,
    bench: Benchmark,
    outcomes: Sequence[Outcome],
    *,
    k: int = 1,
    run_id: str | None = None,
) -> str:
    """Sign one pass and write its folder under `runs`; returns the run's id."""
    identity = run_id or canon.sha256(f"{settings.row_key()} {k} {outcomes[0].answered_at}".encode())[:32]
    files = build_run(run_id=identity, pass_k=k, config=settings, benchmark=bench, outcomes=outcomes, signer=SIGNER)
    write_files(runs / identity, files)
    return identity


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a run."""
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)


def write_row(
    workspace: Path,
    row: str,
    kind: str,
    bench: Benchmark,
    grades: Grades,
    *,
    passes: int = 3,
    reached: Callable[[int], bool] = lambda _: True,
    at: int = START,
    text: str | None = None,
    **changes: Any,
) -> list[str]:
    """Write all passes of one row under `<workspace>/runs`; returns their ids."""
    settings = config(row, kind, bench, **{"circumstance_passes": passes, **changes})
    state = "off" if kind == "none" else "ok"
    return [
        write_run(
            workspace / "runs",
            settings,
            bench,
            [
                outcome(
                    q,
                    grades(n, k),
                    reached=reached(n),
                    retrieval=state,
                    k=min(5, settings.measure.top_k),
                    at=at + 60 * k,
                    text=text,
                )
                for n, q in enumerate(bench.questions, 1)
            ],
            k=k,
        )
        for k in range(1, passes + 1)
    ]


def every(*numbers: int) -> Callable[[int], bool]:
    """Return a test for question numbers that are a multiple of one of `numbers`."""
    return lambda n: any(n % number == 0 for number in numbers)


def losing(lost: Callable[[int], bool], grade: str = "omits") -> Grades:
    """Return grades that support every claim except on the lost questions; one of seven wobbles between passes."""
    return lambda n, k: grade if lost(n) else ("hedges" if n % 7 == k % 7 else "supports")


def losing_first(lost: int) -> Grades:
    """Return grades that omit every claim of the first `lost` questions and support all others."""
    return lambda n, _: "omits" if n <= lost else "supports"


def small_board(workspace: Path, bench: Benchmark | None = None, **changes: Any) -> Benchmark:
    """Write a board of control, oracle and three rows: bm25 and hybrid alike, dense clearly lower."""
    bench = bench or benchmark()
    write_row(workspace, "no-retrieval", "none", bench, losing(lambda n: n % 20 != 0), **changes)
    write_row(workspace, "oracle", "oracle", bench, losing(lambda n: n == 13), **changes)
    write_row(workspace, "bm25", "bm25", bench, losing(every(6)), reached=lambda n: n % 6 != 0, **changes)
    write_row(
        workspace, "hybrid", "hybrid", bench, losing(lambda n: n % 6 == 3), reached=lambda n: n % 9 != 3, **changes
    )
    write_row(
        workspace, "dense", "dense", bench, losing(every(2, 3), "contradicts"), reached=lambda n: n % 4 != 0, **changes
    )
    return bench


PROFILE_1: Profile = "factual-consistency/1"
