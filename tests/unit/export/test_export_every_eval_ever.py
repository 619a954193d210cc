"""Records of Every Eval Ever: valid under its own schemas, no stub among them, and no score where there is none."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cli_for_exports import run_cli
from export_lab import Search, retrieved, source_of

from ragassay.errors import InputError
from ragassay.export.every_eval_ever import Publisher
from ragassay.export.every_eval_ever_out import RecordedRun, write_records
from ragassay.export.source import RunSource
from ragassay.manifest import build_run
from ragassay.manifest.redaction import Withholding
from ragassay.records import JSON, Measure
from ragassay.testing.redacted_run import Redacting, redact
from ragassay.testing.signed_run import (
    OpenedRun,
    public_signer,
    resigned,
    sample_benchmark,
    sample_config,
    sample_outcome,
    signed_run,
)

SCHEMAS = Path(__file__).resolve().parents[2] / "vectors" / "every_eval_ever"
US = Publisher(organization="Acme docs team", relationship="third_party", retrieved=1_790_086_400)


def measured(answer: JSON | None = None, judge: JSON | None = None, number: int = 1) -> dict[str, bytes]:
    """Return a signed run of two questions with this answering model and judge."""
    benchmark = sample_benchmark(2)
    config = sample_config(benchmark)
    changed = {name: table for name, table in (("answer", answer), ("judge", judge)) if table is not None}
    measure: Measure = msgspec.structs.replace(config.measure, **changed)
    return build_run(
        run_id=f"{number:032x}",
        pass_k=1,
        config=msgspec.structs.replace(config, measure=measure),
        benchmark=benchmark,
        outcomes=[sample_outcome(question, at) for at, question in enumerate(benchmark.questions)],
        signer=public_signer(),
    )


def model(id_: str, kind: str = "openai", **params: Any) -> JSON:
    """Return the table of an answering model."""
    return {"kind": kind, "id": id_, "template": "chunks-as-system/1", "params": params, "describe": {}}


def recorded(folder: Path, *runs: Mapping[str, bytes], publisher: Publisher = US) -> tuple[RecordedRun, RunSource]:
    """Export runs, and return the first that was written and the source."""
    source = source_of(*runs)
    return write_records(source, folder, publisher)[0], source


def valid(folder: Path) -> int:
    """Hold every record against its schema, and return how many there are."""
    jsonschema = pytest.importorskip("jsonschema")
    whole, single = (
        jsonschema.Draft7Validator(json.loads((SCHEMAS / name).read_bytes()))
        for name in ("eval.schema.json", "instance_level_eval.schema.json")
    )
    count = 0
    for path in (folder / "data").rglob("*.json*"):
        for text in [path.read_text("ascii")] if path.suffix == ".json" else path.read_text("ascii").splitlines():
            problems = [
                error.message for error in (whole if path.suffix == ".json" else single).iter_errors(json.loads(text))
            ]
            assert problems == []
            count += 1
    return count


def test_records_are_valid_and_count_what_has_no_score(tmp_path: Path) -> None:
    """Aggregate and lines satisfy the schemas; a failed question has no line, is counted, and stands in the notes."""
    run, _ = recorded(tmp_path, signed_run(items=4, failed=(1,)))
    assert valid(tmp_path) == 1 + 3
    assert (run.questions, run.lines, run.left_out) == (4, 3, {"retrieval_failed: stack": 1})
    record = json.loads((tmp_path / run.file).read_bytes())
    details = record["evaluation_results"][0]["score_details"]
    assert details["score"] == run.score
    assert (details["details"]["asked"], details["details"]["retrievalFailed"]) == ("4", "1")
    samples = record["detailed_evaluation_results"]
    data = (tmp_path / samples["file_path"]).read_bytes()
    assert samples["checksum"] == hashlib.sha256(data).hexdigest()
    assert samples["total_rows"] == len(data.splitlines()) == 3
    lines = [json.loads(line) for line in data.splitlines()]
    assert [line["sample_id"] for line in lines] == ["q-001", "q-003", "q-004"]
    assert sum(line["evaluation"]["score"] for line in lines) / 3 == pytest.approx(run.score)
    assert [line["evaluation"]["is_correct"] for line in lines] == [True, False, True]
    assert {line["evaluation_id"] for line in lines} == {record["evaluation_id"]}
    (notes,) = tmp_path.glob("*.notes.tsv")
    assert notes.read_text(encoding="utf-8").splitlines()[1:] == ["q-002\tretrieval_failed: stack"]


def test_the_path_is_that_of_the_datastore(tmp_path: Path) -> None:
    """Collection, developer, model and a UUID of version 4 make the path, whatever the names hold."""
    hostile = model("../evil/..:x/CON. ", temperature="0.5", max_tokens=64)
    run, _ = recorded(tmp_path, measured(hostile))
    assert valid(tmp_path) == 3
    parts = run.file.split("/")
    assert (parts[0], len(parts)) == ("data", 5)
    assert not [part for part in parts if part in ("", ".", "..") or part.startswith(".") or part.endswith((".", " "))]
    record = json.loads((tmp_path / run.file).read_bytes())
    assert record["evaluation_results"][0]["generation_config"]["generation_args"] == {
        "temperature": 0.5,
        "max_tokens": 64,
    }
    assert {path.name for path in tmp_path.iterdir()} >= {"data", "export.json"}


def _stub(run: OpenedRun) -> None:
    run.predicate["provenance"]["sourceKind"] = "stub"


STUBS: tuple[Callable[[], dict[str, bytes]], ...] = (
    lambda: measured(model("stub/echo-1")),
    lambda: measured(model("m/x", kind="stub")),
    lambda: measured(judge={"kind": "llm", "id": "acme/stub", "describe": {}}),
    lambda: measured(judge={"kind": "llm", "id": "j/1", "describe": {"model": {"kind": "stub", "id": "j"}}}),
    lambda: resigned(signed_run(), _stub),
)


@pytest.mark.parametrize("at", range(len(STUBS)))
def test_a_stub_is_never_exported(tmp_path: Path, at: int) -> None:
    """A run with a stub as model or judge, or that says it is one, is refused and listed, and the other is written."""
    other = measured(model("acme/stubborn-7b"), number=9)
    run, source = recorded(tmp_path, STUBS[at](), other)
    assert run.run == f"{9:032x}"
    assert [one.code for one in source.left_out] == ["STUB"]
    assert valid(tmp_path) == 3


def test_a_stub_makes_the_exit_code_1(tmp_path: Path) -> None:
    """The verb writes the others, names the stub, and says no."""
    for name, files in (("a", measured(model("stub"))), ("b", measured(model("acme/m"), number=2))):
        (tmp_path / name).mkdir()
        for file, data in files.items():
            (tmp_path / name / file).write_bytes(data)
    words = (
        "export",
        "every-eval-ever",
        tmp_path / "a",
        tmp_path / "b",
        "--organization",
        "A",
        "--relationship",
        "other",
    )
    code, output = run_cli(*words, "--out", tmp_path / "out")
    assert code == 1
    assert "STUB: stub is a stub, whose numbers mean nothing" in output
    assert "acme/m/" in output
    code, output = run_cli(*words[:3], *words[4:], "--out", tmp_path / "none")
    assert code == 1
    assert not (tmp_path / "none").exists()
    code, output = run_cli(*words, "--out", tmp_path / "two", "--model-id", "acme")
    assert code == 2
    assert not (tmp_path / "two").exists()


def test_a_run_without_a_score_is_left_out(tmp_path: Path) -> None:
    """Where nothing was scored there is no record: the schema's score would have to be made up."""
    dead = retrieved((Search(failed=True),), number=2, row="dead")
    _, source = recorded(tmp_path, dead, signed_run())
    assert [(one.code, one.reason) for one in source.left_out] == [
        ("NO_SCORE", "nothing was scored, and no score is not 0")
    ]


def test_a_model_needs_a_developer(tmp_path: Path) -> None:
    """A flat id is left out unless somebody says who made the model; one id is not given to two models."""
    with pytest.raises(InputError, match="NO_DEVELOPER"):
        recorded(tmp_path, measured(model("gemini-2.5-flash")))
    told = msgspec.structs.replace(US, developer="google")
    run, _ = recorded(tmp_path, measured(model("gemini-2.5-flash")), publisher=told)
    assert run.file.startswith("data/sample/google/gemini-2.5-flash/")
    named = msgspec.structs.replace(US, model="google/gemini")
    with pytest.raises(InputError, match="one model"):
        recorded(tmp_path, measured(model("a")), measured(model("b"), number=2), publisher=named)


def test_a_withheld_answer_has_no_line(tmp_path: Path) -> None:
    """The score of the run stays what was signed; the line whose answer is cut is in the notes."""
    withhold = (Withholding(id="q-001", field="answer", reason="it names a person"),)
    run, _ = recorded(tmp_path, redact(Redacting(run=measured(), withhold=withhold)).files)
    assert run.left_out == {"the answer is withheld, or words of it": 1}
    assert valid(tmp_path) == 2
