"""Does the manifest say what its configuration and its question set say? Pure."""

from __future__ import annotations

from collections.abc import Iterator

from ragassay import canon
from ragassay.manifest.build import benchmark_ref
from ragassay.manifest.decode import ReadConfig
from ragassay.manifest.files import BENCHMARK, CONFIG
from ragassay.manifest.refs import config_refs
from ragassay.manifest.statement import BenchmarkRef, RunPredicate
from ragassay.records import Benchmark, to_json
from ragassay.verify.report import Findings


def check_config(predicate: RunPredicate, read: ReadConfig, findings: Findings) -> None:
    """Recompute every member of the manifest that follows from `config.json`."""
    for name in _differences(predicate, read):
        findings.add("CONFIG_MISMATCH", f"`{name}` of the manifest does not follow from {CONFIG}", CONFIG)
    named = read.config.measure.benchmark
    if canon.canonical(named) != canon.canonical(_flat(predicate.benchmark)):  # as values `true` would equal 1
        findings.add("BENCHMARK_MISMATCH", f"{CONFIG} names another question set than the manifest", CONFIG)
    findings.made("configuration")


def _differences(predicate: RunPredicate, read: ReadConfig) -> Iterator[str]:
    config = read.config
    if predicate.row.name != config.row:
        yield "row.name"
    if predicate.row.key != read.row_key:
        yield "row.key"
    if predicate.pass_.of != config.circumstance.passes:
        yield "pass.of"
    if predicate.provenance.evaluator.version != config.circumstance.harness:
        yield "provenance.evaluator.version"
    try:
        refs = config_refs(config)
    except ValueError as error:
        yield f"stack, model, judge, corpus and metric ({error})"
        return
    for name in ("corpus", "stack", "model", "judge", "metric"):
        if getattr(predicate, name) != getattr(refs, name):
            yield name


def _flat(ref: BenchmarkRef) -> dict[str, str | int]:
    return {
        "id": ref.id,
        "version": ref.version,
        "items": ref.items,
        "digest": ref.digest.sha256,
        "itemSet": ref.item_set.sha256,
    }


def check_benchmark(predicate: RunPredicate, benchmark: Benchmark, digest: str, findings: Findings) -> None:
    """Recompute what the manifest says of the question set; `digest` is that of the file's bytes."""
    found, claimed = to_json(benchmark_ref(benchmark, digest)), to_json(predicate.benchmark)
    for name in ("id", "version", "items", "itemSet"):
        if found[name] != claimed[name]:
            findings.add(
                "BENCHMARK_MISMATCH", f"`benchmark.{name}` of the manifest is not that of {BENCHMARK}", BENCHMARK
            )
    findings.made("question set")
