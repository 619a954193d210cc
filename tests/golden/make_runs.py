"""Writes the golden runs: `python tests/golden/make_runs.py FOLDER`. A golden run is written once and never again.

A new version of the manifest gets new golden runs beside the old ones, which stay and must verify for ever. The key is
that of a public seed (`ragassay.testing.signed_run.public_signer`): its signatures mean nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from ragassay.manifest import build_run
from ragassay.records import Failure, Outcome, Profile, Question, Retrieval, VerdictWord
from ragassay.score import item_hundredths, status_of
from ragassay.testing.signed_run import public_signer, sample_benchmark, sample_config, sample_outcome

MISSED: tuple[VerdictWord, VerdictWord] = ("OMITS", "OMITS")
WORDS: tuple[tuple[VerdictWord, VerdictWord], ...] = (
    ("SUPPORTS", "SUPPORTS"),
    ("HEDGES", "SUPPORTS"),
    ("CONTRADICTS", "SUPPORTS"),
    *([MISSED] * 6),
)


def outcomes(questions: tuple[Question, ...], profile: Profile) -> list[Outcome]:
    """Return one outcome of every kind that profile knows, in the questions' order."""
    right, hedged, wrong, empty, abstained, unjudged, unanswered, down, broken = (
        sample_outcome(question, at, words) for at, (question, words) in enumerate(zip(questions, WORDS, strict=True))
    )
    nothing = Retrieval(state="empty", delivered=(), latency_ms=1)
    empty = msgspec.structs.replace(empty, retrieval=nothing, status="retrieval_empty")
    if profile == "factual-consistency/2" and abstained.verdict is not None:
        verdict = msgspec.structs.replace(abstained.verdict, answer_kind="abstention")
        abstained = msgspec.structs.replace(abstained, verdict=verdict, status=status_of(verdict, "ok"))
    elif abstained.verdict is not None:
        verdict = msgspec.structs.replace(abstained.verdict, claims=(), reference_insufficient=True)
        abstained = msgspec.structs.replace(abstained, verdict=verdict, score=item_hundredths(verdict))
    return [
        *(_of_profile(outcome, profile) for outcome in (right, hedged, wrong, empty, abstained)),
        _failed(unjudged, "judge_failed", "unjudged", "two candidate objects"),
        msgspec.structs.replace(_failed(unanswered, "answer_failed", "length", "no text"), answer=None),
        msgspec.structs.replace(_failed(down, "retrieval_failed", "stack", "it is down"), answer=None, retrieval=None),
        msgspec.structs.replace(_failed(broken, "harness_failed", "bug", "an index error"), answer=None),
    ]


def _of_profile(outcome: Outcome, profile: Profile) -> Outcome:
    if profile == "factual-consistency/2" or outcome.verdict is None:
        return outcome
    return msgspec.structs.replace(outcome, verdict=msgspec.structs.replace(outcome.verdict, answer_kind=None))


def _failed(outcome: Outcome, status: str, kind: str, message: str) -> Outcome:
    failure = Failure(kind=kind, message=message)
    return msgspec.structs.replace(outcome, status=status, score=None, verdict=None, failure=failure)


def golden_run(profile: Profile) -> dict[str, bytes]:
    """Return the files of the golden run of a profile."""
    benchmark = sample_benchmark(9)
    return build_run(
        run_id="00000000000000000000000000000001",
        pass_k=1,
        config=sample_config(benchmark, profile),
        benchmark=benchmark,
        outcomes=outcomes(benchmark.questions, profile),
        signer=public_signer(),
    )


def main(folder: Path) -> None:
    """Write one run per profile, where it is not there yet."""
    profiles: tuple[Profile, ...] = ("factual-consistency/1", "factual-consistency/2")
    for profile in profiles:
        run = folder / f"v0.2-{profile.replace('/', '-')}"
        run.mkdir(parents=True)
        for name, data in golden_run(profile).items():
            (run / name).write_bytes(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
