"""Runs are exported one at a time, verified, and none is left out unsaid."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

import pytest
from export_lab import RUN, Search, retrieved, source_of

from ragassay.errors import InputError, VerifyError
from ragassay.export.source import Given, RunSource, workspace_trust
from ragassay.manifest import RunFiles
from ragassay.manifest.redaction import Withholding
from ragassay.testing.redacted_run import Redacting, redact
from ragassay.testing.signed_run import OpenedRun, resigned, signed_run

HIT = Search(delivered=(("a", "port 80 is open", "2"),))


def test_items_come_in_the_order_of_the_questions_and_a_failure_is_no_score() -> None:
    """A failed item has score None; scored ones have their hundredths, verdict counts and timings."""
    source = source_of(signed_run(failed=(1,)))
    for run in source:
        items = list(run.items())
        assert [item.question.id for item in items] == ["q-001", "q-002", "q-003"]
        assert [item.score for item in items] == [1.0, None, 0.25]
        assert items[0].verdict_counts == {"SUPPORTS": 2, "HEDGES": 0, "CONTRADICTS": 0, "OMITS": 0}
        assert items[1].verdict_counts is None
        assert items[1].failure is not None
        assert items[0].took is not None
        assert items[0].chunks[0].score == "3.25"
        assert len(list(run.items())) == 3
        assert run.facts.warnings
    assert (source.exported, source.refused, source.left_out) == (1, 0, [])


def test_a_refused_run_is_listed_with_its_reason() -> None:
    """A changed run and a stub are never exported; both are listed as refused, and the sound one comes through."""
    changed = signed_run()
    changed["outputs.jsonl"] = changed["outputs.jsonl"].replace(b'"score":100', b'"score":99', 1)

    def to_stub(run: OpenedRun) -> None:
        run.predicate["provenance"]["sourceKind"] = "stub"

    stub = resigned(signed_run(run_id=RUN.format(7)), to_stub)
    source = source_of(changed, stub, retrieved([HIT], number=3))
    assert [run.facts.run for run in source] == [RUN.format(3)]
    assert [(one.code, one.refused) for one in source.left_out] == [("OUTPUTS_DIGEST", True), ("STUB", True)]
    assert source.refused == 2


def test_nothing_to_export_is_an_error_that_says_why() -> None:
    """Only refused runs are the publisher's fault, only unwanted ones the asker's."""
    changed = signed_run()
    changed["outputs.jsonl"] += b"\n"
    source = source_of(changed)
    assert list(source) == []
    with pytest.raises(VerifyError, match="OUTPUTS_DIGEST"):
        source.require_some()
    other = source_of(signed_run(), rows=("dense",))
    assert list(other) == []
    with pytest.raises(InputError, match="it is of row bm25"):
        other.require_some()


def test_a_run_that_is_given_twice_is_exported_once() -> None:
    """The second copy is listed, not refused."""
    source = source_of(signed_run(), signed_run())
    assert len(list(source)) == 1
    assert [(one.code, one.refused) for one in source.left_out] == [("GIVEN_TWICE", False)]


def test_a_withheld_answer_is_none_and_named() -> None:
    """The words that stand in the place of a withheld answer are never exported as one."""
    withhold = (
        Withholding(id="q-001", field="answer", reason="it names a person"),
        Withholding(id="q-002", field="chunks/1/text", reason="the page is licensed"),
    )
    source = source_of(redact(Redacting(withhold=withhold)).files)
    for run in source:
        first, second, third = run.items()
        assert run.facts.redacted
        assert (first.answer, first.withheld) == (None, ("answer",))
        assert first.score is not None
        assert (second.chunks[0].text, second.texts, second.withheld) == (None, None, ("chunks/1/text",))
        assert (third.withheld, third.answer is None) == ((), False)
    assert source.exported == 1


def test_the_items_of_a_run_end_with_it() -> None:
    """Once the next run is taken the one before is let go."""
    source = iter(source_of(retrieved([HIT]), retrieved([HIT], number=2)))
    first = next(source)
    next(source)
    with pytest.raises(RuntimeError, match="is over"):
        list(first.items())


def test_memory_stays_flat_over_many_runs(tmp_path: Path) -> None:
    """At their peak eight runs take no more memory than two, within less than the bytes of a single run."""
    searches = [Search(delivered=(("a", "port 80 is open" * 200, "2"),))] * 20
    made = [retrieved(searches, number=n) for n in range(8)]

    def peak(count: int) -> int:
        given = [Given(name=str(n), read=lambda n=n: RunFiles(files=made[n])) for n in range(count)]  # type: ignore[misc]
        source = RunSource(given, workspace_trust(tmp_path / "none"))
        gc.collect()
        tracemalloc.start()
        for run in source:
            for item in run.items():
                assert item.score is not None
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(1)
    assert peak(8) - peak(2) < sum(map(len, made[0].values()))
