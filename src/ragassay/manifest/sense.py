"""What a configuration and a question set must say beyond their form, for a reader to rely on it. Pure."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal, InvalidOperation

from ragassay.records import JSON, Benchmark, Measure


def measure_problem(measure: Measure) -> str | None:
    """Return what makes a measurement impossible, or None."""
    if measure.top_k < 1:
        return f"measure.topK is {measure.top_k}; it counts from 1"
    if measure.threshold is not None and not _finite(measure.threshold):
        return f"measure.threshold is {measure.threshold[:40]!r}, no decimal number"
    tables: dict[str, JSON] = {"stack": measure.stack, "answer": measure.answer, "judge": measure.judge}
    for name, table in tables.items():
        for member in ("id", "kind"):
            if not isinstance(table.get(member, ""), str):
                return f"measure.{name}.{member} is no text"
    return None


def _finite(text: str) -> bool:
    try:
        return len(text) <= 400 and Decimal(text).is_finite()
    except InvalidOperation:
        return False


def benchmark_problem(benchmark: Benchmark) -> str | None:
    """Return why questions cannot be told apart or there are none, or None."""
    if not benchmark.questions:
        return "it holds no question"
    ids = [question.id for question in benchmark.questions]
    if not all(ids):
        return "a question has no id"
    name, times = Counter(ids).most_common(1)[0]
    if times > 1:
        return f"the question {name[:80]!r} stands {times} times"
    for question in benchmark.questions:
        claims = [claim.id for claim in question.claims]
        if len(set(claims)) != len(claims):
            return f"two claims of the question {question.id[:80]!r} have one id"
        if claims and not any(claim.central for claim in question.claims):
            return f"no claim of the question {question.id[:80]!r} is central"
    return None
