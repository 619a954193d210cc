"""What MLflow is told of a run: parameters, metrics and tags, within the bounds of its keys and values. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ragassay import canon
from ragassay.export.source import VerifiedRun
from ragassay.records import to_json
from ragassay.score import ndcg_at_k, reach_at_k, reciprocal_rank

MAX_KEY = 250
MAX_VALUE = 6000
"""Characters of a parameter's value; a longer one is written as its SHA-256, and stands whole in the bundle."""
_OTHER = re.compile(r"[^A-Za-z0-9_./ -]")


def params_of(run: VerifiedRun) -> dict[str, str]:
    """Return everything that can change the number, flattened: `stack.kind`, `judge.id`; what is null has no key."""
    if run.config is None:
        return {}
    flat = _flat("", to_json(run.config.measure))
    return {_key(name): _value(value) for name, value in flat}


def metrics_of(run: VerifiedRun) -> dict[str, float]:
    """Return the score, the counts, and the retrieval measures over the questions of which they are known.

    What is not known has no metric: a run in which nothing was scored has no `score`.
    """
    facts = run.facts
    found: dict[str, float] = {f"counts.{name}": float(value) for name, value in to_json(facts.counts).items()}
    if facts.score is not None:
        found["score"] = facts.score.num / facts.score.den
    ranks = [ranked for item in run.items() if (ranked := item.evidence()).state != "none"]
    if ranks and facts.top_k:
        k = facts.top_k
        found["retrieval.questions"] = float(len(ranks))
        found["retrieval.reach_at_k"] = sum(reach_at_k(one, k) or 0 for one in ranks) / len(ranks)
        found["retrieval.mrr"] = sum(reciprocal_rank(one) or 0.0 for one in ranks) / len(ranks)
        found["retrieval.ndcg_at_k"] = sum(ndcg_at_k(one, k) or 0.0 for one in ranks) / len(ranks)
    return found


def tags_of(run: VerifiedRun) -> dict[str, str]:
    """Return what the run is, by which runs are found again and grouped by row."""
    facts = run.facts
    tags: dict[str, object] = {
        "run": facts.run,
        "row": facts.row,
        "row_key": facts.row_key,
        "pass": facts.pass_k,
        "passes": facts.passes,
        "source_kind": facts.kind,
        "metric": facts.metric,
        "judge": facts.judge,
        "benchmark": f"{facts.benchmark} {facts.benchmark_version}",
        "signer": facts.signer,
        "harness": facts.harness,
        "redacted": facts.redacted or None,
        "voided": facts.voided,
        "missing": ", ".join(f"{name} {count:,}" for name, count in missing_of(run).items()) or None,
    }
    return {f"ragassay.{name}": _short(str(value)) for name, value in tags.items() if value is not None}


def missing_of(run: VerifiedRun) -> dict[str, int]:
    """Return how many questions have no score, by class."""
    counts = run.facts.counts
    classes = ("unjudged", "answer_failed", "retrieval_failed", "harness_failed")
    return {name: getattr(counts, name) for name in classes if getattr(counts, name)}


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, member in value.items():
            yield from _flat(f"{name}.{key}" if name else str(key), member)
    elif value is not None:
        yield name, value


def _key(name: str) -> str:
    """Return a key that MLflow takes; one that it would not take whole ends in a digest, so that none is lost."""
    plain = _OTHER.sub("_", name)
    if plain == name and len(name) <= MAX_KEY and not re.search(r"^[./ ]|[./ ]$|//|\.\.|/\.", name):
        return name
    return f"{plain.replace('/', '_').replace('..', '_')[:200].strip('. ')}-{canon.sha256(name.encode())[:12]}"


def _value(value: Any) -> str:
    return _short(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _short(text: str) -> str:
    return text if len(text) <= MAX_VALUE else f"sha256:{canon.sha256(text.encode('utf-8', 'surrogatepass'))}"
