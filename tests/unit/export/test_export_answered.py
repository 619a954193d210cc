"""What ragas and RAGChecker are given: every row whole, a failure never an empty answer, and the counts add up."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from export_lab import Search, read_folder, retrieved, source_of

from ragassay.export.answered import AnsweredRun, write_answered
from ragassay.export.ragas import COLUMNS, WRITERS, Form
from ragassay.export.ragchecker import write_results
from ragassay.manifest.redaction import Withholding
from ragassay.question.foreign.ragas_cells import list_of
from ragassay.run.question_sets.import_read import ImportOptions
from ragassay.run.question_sets.import_set import import_set
from ragassay.testing.redacted_run import Redacting, redact
from ragassay.testing.signed_run import signed_run

TEXT = 'port 80, "quoted"\nand é\u2028 on a line'
SEARCHES = (
    Search(evidence=(TEXT, "other"), delivered=(("a#1", TEXT, "2"), ("b", "x", "1"))),
    Search(failed=True),
    Search(evidence=(), delivered=()),
)


def ragas(folder: Path, form: Form, *runs: Mapping[str, bytes]) -> tuple[AnsweredRun, ...]:
    """Export runs for ragas."""
    return write_answered(source_of(*runs), folder, "ragas", f".{form}", WRITERS[form])


def rows(data: bytes) -> list[dict[str, Any]]:
    """Return the objects of a JSONL file."""
    return [json.loads(line) for line in data.splitlines()]


def test_each_row_of_ragas_is_whole(tmp_path: Path) -> None:
    """Question, contexts, response and reference stand under ragas' names; a failed search is noted and has no row."""
    (run,) = ragas(tmp_path, "jsonl", retrieved(SEARCHES))
    first, third = rows((tmp_path / run.files[0]).read_bytes())
    assert list(first) == list(COLUMNS)
    assert first["retrieved_contexts"] == [TEXT, "x"]
    assert first["retrieved_context_ids"] == ["a#1", "b"]
    assert first["reference_contexts"] == [TEXT]
    assert third["retrieved_contexts"] == []
    assert "reference_contexts" not in third
    assert all(row["response"] and row["reference"] and row["user_input"] for row in (first, third))
    assert (run.questions, run.rows, run.left_out) == (3, 2, {"retrieval_failed: stack": 1})
    notes = (tmp_path / run.files[1]).read_text(encoding="utf-8")
    assert notes == "question\twhy\nq-002\tretrieval_failed: stack\n"


def test_csv_says_the_same_as_jsonl(tmp_path: Path) -> None:
    """A list in a cell is JSON, and at the same time a list of Python."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (one,) = ragas(tmp_path / "a", "jsonl", retrieved(SEARCHES))
    (two,) = ragas(tmp_path / "b", "csv", retrieved(SEARCHES))
    table = csv.DictReader(io.StringIO((tmp_path / "b" / two.files[0]).read_text(encoding="utf-8"), newline=""))
    for cells, row in zip(table, rows((tmp_path / "a" / one.files[0]).read_bytes()), strict=True):
        assert cells["response"] == row["response"]
        assert list_of(cells["retrieved_contexts"]) == row["retrieved_contexts"]
        assert eval(cells["retrieved_contexts"]) == row["retrieved_contexts"]


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_what_is_exported_can_be_imported(tmp_path: Path, form: Form) -> None:
    """The question set that comes back has the ids, questions, answers and evidence that went out."""
    (run,) = ragas(tmp_path, form, signed_run(items=3))
    report = import_set(ImportOptions(form="ragas", source=tmp_path / run.files[0], out=tmp_path / "q.json"))
    assert report.queries == {"seen": 3, "questions": 3, "worksheet": 0, "leftOut": 0}
    assert set(report.not_taken) == {"query.response", "query.retrieved_contexts", "query.retrieved_context_ids"}
    question = json.loads((tmp_path / "q.json").read_bytes())["samples"][0]
    assert (question["id"], question["target"]) == ("q-001", "Port 8001, over TCP.")
    assert question["evidence"] == ["Service 1 listens on port 8001 over TCP."]


def test_ragchecker_has_its_keys(tmp_path: Path) -> None:
    """One object with `results`, each with RAGChecker's five keys and nothing that it computes itself."""
    (run,) = write_answered(source_of(retrieved(SEARCHES)), tmp_path, "ragchecker", ".json", write_results)
    results = json.loads((tmp_path / run.files[0]).read_bytes())["results"]
    assert [result["query_id"] for result in results] == ["q-001", "q-003"]
    assert set(results[0]) == {"query_id", "query", "gt_answer", "response", "retrieved_context"}
    assert results[0]["retrieved_context"] == [{"doc_id": "a#1", "text": TEXT}, {"doc_id": "b", "text": "x"}]
    assert results[1]["retrieved_context"] == []


def test_a_withheld_text_is_not_judged_in_part(tmp_path: Path) -> None:
    """A row whose answer or a delivered text was cut is noted, and does not stand there with what is left of it."""
    withhold = (
        Withholding(id="q-001", field="chunks/2/text", reason="the page is licensed"),
        Withholding(id="q-003", field="answer", reason="it names a person"),
    )
    cut = redact(Redacting(run=retrieved((*SEARCHES, SEARCHES[2])), withhold=withhold))
    (run,) = ragas(tmp_path, "jsonl", cut.files)
    assert run.left_out == {
        "a delivered text is withheld, or words of it": 1,
        "retrieval_failed: stack": 1,
        "the answer is withheld, or words of it": 1,
    }
    assert [row["id"] for row in rows((tmp_path / run.files[0]).read_bytes())] == ["q-004"]


def test_a_run_without_answers_is_named(tmp_path: Path) -> None:
    """Where every search failed the run is left out with its reasons, and the other run is written."""
    dead = retrieved((Search(failed=True),), number=2, row="dead")
    source = source_of(dead, retrieved(SEARCHES))
    (run,) = write_answered(source, tmp_path, "ragas", ".jsonl", WRITERS["jsonl"])
    assert run.row == "bm25"
    assert [(one.code, one.reason) for one in source.left_out] == [
        ("NO_ANSWERS", "no question has its answer and texts: retrieval_failed: stack (1)")
    ]
    assert len(read_folder(tmp_path)) == 3
