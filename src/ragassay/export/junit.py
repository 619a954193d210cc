"""Runs as JUnit XML: a test suite for each row and pass, a test case for each question.

A score below the least one is a failure, a missing score is an error, and the cases of a run that its log takes back
are skipped. Characters that XML 1.0 cannot hold are written as `\\u` and four hex digits.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import BinaryIO, Literal, TypeAlias
from xml.sax.saxutils import escape, quoteattr

from ragassay.export.item import ExportedItem, RunFacts
from ragassay.export.source import RunSource, VerifiedRun

End: TypeAlias = Literal["passed", "failure", "error", "skipped"]
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(source: RunSource, file: BinaryIO, *, min_score: Decimal) -> Counter[End]:
    """Write every run as a test suite, one at a time, and return how many test cases ended how."""
    total: Counter[End] = Counter()
    file.write(b'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n')
    for run in source:
        ends = Counter(end_of(run.facts, item, min_score) for item in run.items())
        total.update(ends)
        for line in _suite(run, ends, min_score):
            file.write(line.encode("utf-8"))
    source.require_some()
    file.write(b"</testsuites>\n")
    return total


def end_of(facts: RunFacts, item: ExportedItem, min_score: Decimal) -> End:
    """Return how the test case of an item ends; the score is compared in hundredths, as it is kept."""
    if facts.voided is not None:
        return "skipped"
    if item.hundredths is None:
        return "error"
    return "failure" if item.hundredths < min_score * 100 else "passed"


def _suite(run: VerifiedRun, ends: Counter[End], min_score: Decimal) -> Iterator[str]:
    facts = run.facts
    attributes = {
        "name": f"{facts.row}, pass {facts.pass_k} of {facts.passes}",
        "package": facts.benchmark,
        "id": facts.run,
        "tests": str(ends.total()),
        "failures": str(ends["failure"]),
        "errors": str(ends["error"]),
        "skipped": str(ends["skipped"]),
        "hostname": "localhost",
    }
    if facts.started is not None:
        attributes["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(facts.started))
    yield f"  <testsuite{_attributes(attributes)}>\n    <properties>\n"
    for name, value in _properties(facts, min_score):
        yield f"      <property{_attributes({'name': name, 'value': value})}/>\n"
    yield "    </properties>\n"
    for item in run.items():
        yield from _case(facts, item, min_score)
    yield "  </testsuite>\n"


def _properties(facts: RunFacts, min_score: Decimal) -> Iterator[tuple[str, str]]:
    known = {
        "run": facts.run,
        "row key": facts.row_key,
        "source": facts.kind,
        "upstream": facts.upstream,
        "benchmark": f"{facts.benchmark} {facts.benchmark_version}",
        "subset": "true" if facts.subset else None,
        "redacted": "true" if facts.redacted else None,
        "voided": facts.voided,
        "stack": facts.stack,
        "model": facts.model,
        "judge": facts.judge,
        "metric": facts.metric,
        "score": facts.score.decimal if facts.score else None,
        "least score": str(min_score),
        "verified with": ", ".join(facts.warnings) or "no warning",
    }
    return ((name, value) for name, value in known.items() if value is not None)


def _case(facts: RunFacts, item: ExportedItem, min_score: Decimal) -> Iterator[str]:
    attributes = {"name": item.question.id, "classname": f"{facts.benchmark}.{facts.row}"}
    if (took := _seconds(item)) is not None:
        attributes["time"] = took
    end = end_of(facts, item, min_score)
    head = f"    <testcase{_attributes(attributes)}"
    if end == "passed":
        yield f"{head}/>\n"
        return
    yield f"{head}>\n"
    if end == "skipped":
        yield f"      <skipped{_attributes({'message': f'the run counts no more: {facts.voided}'})}/>\n"
    else:
        message, kind = _message(item, min_score)
        said = escape(xml_text("\n".join(_told(item))), {"\r": "&#13;"})
        yield f"      <{end}{_attributes({'message': message, 'type': kind})}>{said}</{end}>\n"
    yield "    </testcase>\n"


def _message(item: ExportedItem, min_score: Decimal) -> tuple[str, str]:
    if item.score is not None:
        return f"score {item.score} is below {min_score}", "score"
    failure = item.failure
    return f"{item.status}: {failure.message}" if failure else item.status, failure.kind if failure else item.status


def _told(item: ExportedItem) -> Iterator[str]:
    yield f"question: {item.question.input}"
    yield f"reference: {item.question.target}"
    if item.answer is not None:
        yield f"answer: {item.answer}"
    if item.withheld:
        yield f"withheld: {', '.join(item.withheld)}"
    yield from (f"{claim.verdict}: {claim.text}" for claim in item.claims)
    found = item.evidence()
    if found.state != "none":
        at = f"{found.state}, first at rank {found.first}" if found.first else found.state
        yield f"evidence in what was delivered: {at}"
    yield from (f"{chunk.rank}. {chunk.id}" for chunk in item.chunks)


def _seconds(item: ExportedItem) -> str | None:
    took = item.took
    known = [ms for ms in (took.retrieval_ms, took.answer_ms, took.judge_ms) if ms is not None] if took else []
    return f"{sum(known) / 1000:.3f}" if known else None


def _attributes(values: dict[str, str]) -> str:
    return "".join(f" {name}={quoteattr(xml_text(value))}" for name, value in values.items())


def xml_text(text: str) -> str:
    """Return text in which what XML 1.0 cannot hold is written as its code point."""
    return _NOT_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
