"""Which questions a judge that reads literals can judge at all."""

from __future__ import annotations

from ragassay.records import Benchmark


def literal_problems(benchmark: Benchmark) -> list[str]:
    """Return the ids of the questions that cannot be judged literally: a claim of theirs has no `must`."""
    return [question.id for question in benchmark.questions if any(not claim.must for claim in question.claims)]
