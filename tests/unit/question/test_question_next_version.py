"""What changes of `docs/` do to the evidence of the bundled questions is on a list, so that none goes unnoticed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import pytest

from ragassay.corpus import read_corpus
from ragassay.plugins.chunkers.heading import HeadingChunker
from ragassay.question import load_benchmark
from ragassay.question.rot import Rot, rot
from ragassay.records import Benchmark, Page

ROOT = Path(__file__).resolve().parents[3]
BUNDLED = ROOT / "examples" / "bundled"
LIST = BUNDLED / "next-version.json"
NAME = f"examples/bundled/{LIST.name}"


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    """The bundled question set."""
    return load_benchmark(BUNDLED / "questions.json")


@pytest.fixture(scope="module")
def frozen() -> Sequence[Page]:
    """The documentation that the questions were written from."""
    return read_corpus(BUNDLED / "corpus", HeadingChunker()).pages


@pytest.fixture(scope="module")
def live() -> Sequence[Page]:
    """The documentation as it is now, without the decision records, which are no part of the bundled corpus."""
    return [page for page in read_corpus(ROOT / "docs", HeadingChunker()).pages if not page.id.startswith("adr/")]


def rotten(benchmark: Benchmark, old: Sequence[Page], new: Sequence[Page]) -> dict[str, Rot]:
    """Return the questions whose evidence no longer stands where and as often as it did."""
    return {one.question: one for one in rot(benchmark, old, new) if one.rotten}


def differences(now: Mapping[str, Rot], listed: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each question that is not on the list as it is: what it rests on, what changed, what to do."""
    for id in sorted(now.keys() - listed.keys()):
        one = now[id]
        yield (
            f"{id}: {one.state} (docs/{one.page}): {one.evidence!r}{_nearest(one)}. Restore that text, or, where it "
            f"had to change, add {json.dumps({id: one.state})} to `rotten` in {NAME}, which the next version mends."
        )
    for id in sorted(listed.keys() - now.keys()):
        yield f"{id}: its evidence stands again as it did; take it out of {NAME}."
    for id in sorted(now.keys() & listed.keys()):
        if now[id].state != listed[id]:
            yield f"{id}: it is {now[id].state!r} now, and {NAME} says {listed[id]!r}; write the former there."


def _nearest(one: Rot) -> str:
    if one.nearest is not None:
        return f"; nearest to it is now, on {one.nearest.page}: {one.nearest.text!r}"
    places = [place.page for place in one.places]
    return f"; it stands on {', '.join(places)}" if places else ""


def test_the_list_is_of_the_set_that_is_there(benchmark: Benchmark) -> None:
    """It names the version of the questions, and no question that the set has not."""
    listed = json.loads(LIST.read_text(encoding="utf-8"))
    assert listed["version"] == benchmark.version
    assert listed["rotten"].keys() <= {question.id for question in benchmark.questions}


def test_no_change_of_the_documentation_breaks_evidence_unnoticed(
    benchmark: Benchmark, frozen: Sequence[Page], live: Sequence[Page]
) -> None:
    """Each question whose evidence no longer stands in `docs/` as it did is on the list, and no other is."""
    listed = json.loads(LIST.read_text(encoding="utf-8"))["rotten"]
    said = list(differences(rotten(benchmark, frozen, live), listed))
    assert not said, "\n".join(said)


def test_a_change_that_is_not_listed_is_told_with_what_to_do(benchmark: Benchmark, frozen: Sequence[Page]) -> None:
    """A digit changed, a page gone, a sentence copied or moved: each is told with question, page and way out."""
    assert rotten(benchmark, frozen, frozen) == {}
    changed = [_changed(page) for page in frozen if page.id != "reference/stacks/none.md"]
    now = rotten(benchmark, frozen, changed)
    states = {id: one.state for id, one in now.items()}
    assert states == {"q-010": "gone", "q-012": "page lost", "q-017": "doubled", "q-018": "moved"}
    said = {line.partition(":")[0]: line for line in differences(now, {})}
    assert said["q-010"].startswith(
        "q-010: gone (docs/reference/stacks/dense.md): '15 MB for 10,000 chunks of 384 numbers.'; nearest to it is "
        "now, on reference/stacks/dense.md: "
    )
    assert "16 MB for 10,000 chunks of 384 numbers" in said["q-010"]
    assert 'Restore that text, or, where it had to change, add {"q-010": "gone"} to `rotten`' in said["q-010"]
    assert "it stands on index.md" in said["q-018"]
    assert list(differences(now, states)) == []
    assert len(list(differences(now, {**states, "q-010": "moved", "q-001": "gone"}))) == 2


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
    return msgspec.structs.replace(page, text=text, sha256=f"changed {page.id}")
