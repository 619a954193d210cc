"""What changes of `docs/` do to the evidence of the bundled questions is on a list, so that none goes unnoticed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from ragassay.corpus import read_corpus
from ragassay.plugins.chunkers.heading import HeadingChunker
from ragassay.question import EvidenceFinding, load_benchmark, match_evidence
from ragassay.records import Benchmark, Page

ROOT = Path(__file__).resolve().parents[3]
BUNDLED = ROOT / "examples" / "bundled"
LIST = BUNDLED / "next-version.json"


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    """The bundled question set."""
    return load_benchmark(BUNDLED / "questions.json")


@pytest.fixture(scope="module")
def pages() -> Sequence[Page]:
    """The documentation as it is now, without the decision records, which are no part of the bundled corpus."""
    return [page for page in read_corpus(ROOT / "docs", HeadingChunker()).pages if not page.id.startswith("adr/")]


def broken(benchmark: Benchmark, pages: Sequence[Page]) -> dict[str, str]:
    """Return by question what has become of its evidence, where it does not stand once, on its own page alone."""
    found = {finding.question: _what(finding) for finding in match_evidence(benchmark, pages)}
    return {question: what for question, what in found.items() if what is not None}


def _what(finding: EvidenceFinding) -> str | None:
    if not finding.declared_exists:
        return "page gone"
    if not finding.found:
        return "evidence gone"
    if finding.page != finding.declared:
        return f"evidence moved to {finding.page}"
    if finding.repeats or finding.others:
        return "evidence stands twice"
    return None


def differences(benchmark: Benchmark, now: dict[str, str], listed: dict[str, str]) -> list[str]:
    """Return a line for each question that is not on the list as it is, with what it rests on and what to do."""
    by_id = {question.id: question for question in benchmark.questions}
    lines = []
    for id in sorted(now.keys() - listed.keys()):
        lines.append(
            f"{id}: {now[id]} (docs/{by_id[id].page}): {by_id[id].evidence[0]!r}. Restore that sentence, or, where it "
            f"had to change, add {json.dumps({id: now[id]})} to `broken` in examples/bundled/{LIST.name}, which the "
            "next version mends."
        )
    for id in sorted(listed.keys() - now.keys()):
        lines.append(f"{id}: its evidence stands again where it did; take it out of examples/bundled/{LIST.name}.")
    for id in sorted(now.keys() & listed.keys()):
        if now[id] != listed[id]:
            lines.append(
                f"{id}: {now[id]}, and examples/bundled/{LIST.name} says {listed[id]!r}; write the former there."
            )
    return lines


def test_the_list_is_of_the_set_that_is_there(benchmark: Benchmark) -> None:
    """It names the version of the questions, and no question that the set has not."""
    listed = json.loads(LIST.read_text(encoding="utf-8"))
    assert listed["version"] == benchmark.version
    assert listed["broken"].keys() <= {question.id for question in benchmark.questions}


def test_no_change_of_the_documentation_breaks_evidence_unnoticed(benchmark: Benchmark, pages: Sequence[Page]) -> None:
    """Each question whose evidence no longer stands as it did in `docs/` is on the list, and no other is."""
    listed = json.loads(LIST.read_text(encoding="utf-8"))["broken"]
    said = differences(benchmark, broken(benchmark, pages), listed)
    assert not said, "\n".join(said)


def test_a_change_that_is_not_listed_is_told_with_what_to_do(benchmark: Benchmark) -> None:
    """A digit changed, a page gone, a sentence copied or moved: each is told with question, page and way out."""
    frozen = read_corpus(BUNDLED / "corpus", HeadingChunker()).pages
    assert broken(benchmark, frozen) == {}
    now = broken(benchmark, [_changed(page) for page in frozen if page.id != "reference/stacks/none.md"])
    assert now == {
        "q-010": "evidence gone",
        "q-012": "page gone",
        "q-017": "evidence stands twice",
        "q-018": "evidence moved to index.md",
    }
    (said,) = [line for line in differences(benchmark, now, {}) if line.startswith("q-010")]
    assert "docs/reference/stacks/dense.md" in said
    assert "15 MB for 10,000 chunks of 384 numbers." in said
    assert "Restore that sentence" in said
    assert '{"q-010": "evidence gone"}' in said
    assert differences(benchmark, now, now) == []


def test_an_entry_that_holds_no_longer_is_told(benchmark: Benchmark) -> None:
    """A restored sentence, and evidence that is now broken otherwise, have to be put right on the list."""
    said = differences(benchmark, {"q-001": "page gone"}, {"q-001": "evidence gone", "q-002": "evidence gone"})
    assert [line.partition(":")[0] for line in said] == ["q-002", "q-001"]


def _changed(page: Page) -> Page:
    text = page.text
    if page.id == "reference/stacks/dense.md":
        text = text.replace("15 MB for 10,000 chunks", "16 MB for 10,000 chunks")
    if page.id == "reference/models/openai.md":
        text += "\nA connection must stand within 10 seconds.\n"
    if page.id == "reference/judges/literal.md":
        text = text.replace("takes 1 to 4 ms", "takes 2 to 4 ms")
    if page.id == "index.md":
        text += "\nJudging one answer of 2,000 characters takes 1 to 4 ms.\n"
    return msgspec.structs.replace(page, text=text)
