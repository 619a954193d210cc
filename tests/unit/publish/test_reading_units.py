"""What is read before publishing: equal rows once, everything at least once, in a fixed order."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site"))
import site_factory as make

from ragassay import canon
from ragassay.publish.reading import decisions_digest, reading_of, touching, unit_key, units
from ragassay.records import OutputRow, Source
from ragassay.records.publication import Decision, Finding, Place
from ragassay.site.loaded import LoadedRun
from ragassay.site.runs import load_runs

BENCH = make.benchmark(4)


def written(workspace: Path, *, passes: int = 2, rows: tuple[str, ...] = ("bm25",), same: bool = True) -> None:
    """Write passes of rows that come out the same, or differ in every answer."""
    for row in rows:
        settings = make.config(row, row, BENCH, circumstance_passes=passes)
        for k in range(1, passes + 1):
            outcomes = [
                make.outcome(q, "supports", text=f"{q.target} {'' if same else f'{row} {k}'}", at=make.START + k)
                for q in BENCH.questions
            ]
            make.write_run(workspace / "runs", settings, BENCH, outcomes, k=k)


def test_equal_passes_are_read_once(tmp_path: Path) -> None:
    """Two passes that came out the same are four units, each standing in both runs."""
    written(tmp_path)
    found = units(load_runs(tmp_path))
    assert [unit.question.id for unit in found] == [q.id for q in BENCH.questions]
    assert {tuple(sorted(stand.pass_k for stand in unit.stands)) for unit in found} == {(1, 2)}


def test_different_answers_are_read_each(tmp_path: Path) -> None:
    """Where every answer differs every row of every run is a unit, in the order of runs and rows."""
    written(tmp_path, rows=("bm25", "hybrid"), same=False)
    runs = load_runs(tmp_path)
    found = units(runs)
    assert len(found) == 2 * 2 * len(BENCH.questions)
    documents = [run.document for run in runs if run.document is not None]
    assert [unit.output for unit in found] == [row for document in documents for row in document.outputs]


def test_the_key_is_the_digest_of_what_is_read(tmp_path: Path) -> None:
    """It can be computed from the line of the file with two members taken out, the reference and the evidence."""
    written(tmp_path, passes=1)
    (run,) = load_runs(tmp_path)
    assert run.document is not None
    line = msgspec.json.decode(run.files["outputs.jsonl"].split(b"\n")[0])
    del line["run"], line["pass"]
    question = run.document.benchmark.questions[0]
    read = {"evidence": list(question.evidence), "reference": question.target, "row": line}
    assert unit_key(run.document.outputs[0], question) == canon.digest(read)


@pytest.mark.parametrize("changes", [{"target": "another reference"}, {"evidence": ("another passage",)}])
def test_equal_rows_under_another_reference_are_read_each(tmp_path: Path, changes: dict[str, str]) -> None:
    """Without delivered texts no row holds reference or evidence: whoever read one set has not read the other."""
    other = make.benchmark(4, **changes)
    for bench in (BENCH, other):
        settings = make.config("control", "none", bench)
        outcomes = [make.outcome(q, "supports", retrieval="off", text="said") for q in bench.questions]
        make.write_run(tmp_path / "runs", settings, bench, outcomes)
    runs = load_runs(tmp_path)
    assert {run.refused for run in runs} == {None}
    assert len({msgspec.json.encode(o) for o in _rows_without_run(runs)}) == 4
    assert len(units(runs)) == 8


def _rows_without_run(runs: list[LoadedRun]) -> list[OutputRow]:
    return [
        msgspec.structs.replace(output, run="", pass_=1)
        for run in runs
        if run.document is not None
        for output in run.document.outputs
    ]


@given(run=st.text(alphabet="0123456789abcdef", min_size=1), k=st.integers(1, 99), answer=st.text(max_size=20))
@settings(max_examples=50, deadline=None)
def test_only_run_and_pass_are_left_out(run: str, k: int, answer: str) -> None:
    """Another run and pass is the same unit; another answer, or an item filled from elsewhere, is not."""
    row = OutputRow(
        run="r", pass_=1, id="q", question="?", status="ok", retrieval="ok", chunks=(), answer="said", claims=(),
        verdict=None, judge=None, score=None,
    )  # fmt: skip
    change, asked = msgspec.structs.replace, BENCH.questions[0]
    assert unit_key(change(row, run=run, pass_=k), asked) == unit_key(row, asked)
    assert (unit_key(change(row, answer=answer), asked) == unit_key(row, asked)) == (answer == "said")
    assert unit_key(change(row, fill=Source(run="x", pass_=1)), asked) != unit_key(row, asked)


def test_a_run_that_was_refused_is_not_read(tmp_path: Path) -> None:
    """A run whose bytes were changed gives no units and no reading."""
    written(tmp_path, passes=1)
    path = next((tmp_path / "runs").iterdir()) / "outputs.jsonl"
    path.write_bytes(path.read_bytes().replace(b"7.", b"8."))
    (run,) = load_runs(tmp_path)
    assert reading_of(run) is None
    assert units([run]) == []


def test_what_was_shown_is_bound_in_the_rows_order(tmp_path: Path) -> None:
    """The digest of a reading is that over its units, one hex digest per line."""
    written(tmp_path, passes=1, same=False)
    reading = reading_of(load_runs(tmp_path)[0])
    assert reading is not None
    assert reading.shown == canon.sha256(("\n".join(reading.units) + "\n").encode())
    assert msgspec.structs.replace(reading, units=reading.units[::-1]).shown != reading.shown


def _finding(identity: str, *runs: str) -> Finding:
    places = tuple(Place(file="outputs.jsonl", run=run, item="q", field="answer", start=0, end=1) for run in runs)
    return Finding(id=identity, kind="email", detector="d", text="t", before="", after="", places=places)


def _decision(finding: str, reason: str = "", at: int = 1, by: str = "ann") -> Decision:
    return Decision(finding=finding, kind="email", action="redact", reason=reason, by=by, at=at)


def test_the_last_decision_of_each_finding_of_the_run_touches_it() -> None:
    """Decisions of other runs' findings, of no finding and earlier ones are not there."""
    findings = [_finding("b", "r1"), _finding("a", "r1", "r2"), _finding("c", "r2")]
    lines = [_decision("a", "old"), _decision("c"), _decision("x"), _decision("a", "new"), _decision("b")]
    assert touching("r1", findings, lines) == (lines[3], lines[4])
    assert touching("r2", findings, lines) == (lines[3], lines[1])


@pytest.mark.parametrize(
    ("change", "same"),
    [(_decision("a", at=9), True), (_decision("a", by="ben"), True), (_decision("a", "why"), False),
     (_decision("b"), False)],
)  # fmt: skip
def test_the_digest_of_decisions_is_over_what_is_decided(change: Decision, same: bool) -> None:
    """Who and when are not in it; what and why are."""
    assert (decisions_digest([change]) == decisions_digest([_decision("a")])) is same
    assert decisions_digest([_decision("a"), _decision("b")]) == decisions_digest([_decision("b"), _decision("a")])
