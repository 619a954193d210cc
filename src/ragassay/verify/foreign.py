"""What can be checked of a run whose item set is kept as somebody else published it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ragassay.errors import VerifyError
from ragassay.manifest.decode import decode_foreign
from ragassay.manifest.files import FOREIGN, OUTPUTS
from ragassay.manifest.foreign import Unreadable
from ragassay.manifest.statement import RunPredicate
from ragassay.records import Benchmark, OutputRow
from ragassay.verify.report import Findings


def check_foreign_set(
    predicate: RunPredicate, files: Mapping[str, bytes], rows: Sequence[OutputRow] | None, findings: Findings
) -> Benchmark | None:
    """Return the questions of a foreign item set, or None after saying which checks cannot be made and why.

    A set that cannot be read still has a number of items in the manifest, and no item of it can have two rows.
    """
    if predicate.provenance.source_kind != "republished":
        message = "only a republished run may keep a foreign item set; a measured one asks questions in our own form"
        findings.add("BENCHMARK_MISMATCH", message, FOREIGN)
    if FOREIGN not in files:
        return None
    try:
        benchmark = decode_foreign(files[FOREIGN], predicate.benchmark)
    except VerifyError as error:
        findings.error(error, FOREIGN)
        return None
    except Unreadable as error:
        findings.not_made("ids, order and question texts", f"{FOREIGN} is in no form that is read: {error}")
        _check_rows(rows or (), predicate.benchmark.items, findings)
        return None
    if len(benchmark.questions) != predicate.benchmark.items:
        message = f"{FOREIGN} has {len(benchmark.questions)} items, the manifest says {predicate.benchmark.items}"
        findings.add("BENCHMARK_MISMATCH", message, FOREIGN)
    findings.made("question set")
    return benchmark


def _check_rows(rows: Sequence[OutputRow], items: int, findings: Findings) -> None:
    for name, times in Counter(row.id for row in rows).items():
        if times > 1:
            findings.add("ROW_DUPLICATE", f"question {name!r} has {times} rows", OUTPUTS)
    if len(rows) != items:
        code = "ROW_MISSING" if len(rows) < items else "ROW_UNKNOWN"
        findings.add(code, f"there are {len(rows)} rows for the {items} items of the manifest", OUTPUTS)
