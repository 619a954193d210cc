"""A finished pass becomes the five files of a run."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import msgspec
import pytest

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest import build_run, decode_run, encode_rows, output_row, telemetry_row
from ragassay.manifest.statement import Window
from ragassay.records import Outcome, RawVerdict, Score, Usage
from ragassay.testing.signed_run import (
    RUN_ID,
    STARTED,
    failed_outcome,
    open_run,
    public_signer,
    sample_benchmark,
    sample_config,
    sample_outcome,
    signed_run,
)

BENCHMARK = sample_benchmark(3)
QUESTION = BENCHMARK.questions[0]


def test_names_of_the_manifest_are_the_specified_ones() -> None:
    """The members of the statement are exactly those of the specification, digests as {sha256}."""
    statement = open_run(signed_run()).statement
    predicate = statement["predicate"]
    assert set(statement) == {"_type", "predicateType", "subject", "predicate"}
    assert set(predicate) == {
        "runId", "row", "pass", "provenance", "intent", "benchmark", "config", "telemetry", "content", "corpus",
        "stack", "model", "judge", "metric", "score", "counts", "window", "signer",
        "verdicts", "lines", "figures",
    }  # fmt: skip
    assert set(predicate["benchmark"]) == {"id", "version", "items", "digest", "itemSet"}
    assert set(predicate["provenance"]) == {"sourceKind", "modelInvoked", "evaluator", "upstreamRef"}
    assert predicate["intent"] is None
    assert predicate["metric"] == {
        "id": "factual-consistency/2-judged-by-literal/1", "itemDen": 100, "higherIsBetter": True,
    }  # fmt: skip
    assert set(predicate["signer"]) == {"kid", "x", "name", "registryVersion"}
    assert set(predicate["counts"]) == {
        "asked", "scored", "insufficient", "unjudged", "answerFailed", "retrievalFailed", "harnessFailed",
        "retrievalEmpty", "abstained", "refused", "filled",
    }  # fmt: skip
    for member in ("config", "telemetry", "corpus", "stack", "model", "judge"):
        assert set(predicate[member]["digest"]) == {"sha256"}
    assert statement["subject"][0]["name"] == "outputs.jsonl"


def test_digests_are_those_of_the_files() -> None:
    """Every digest of the manifest is the SHA-256 of the file's bytes."""
    files = signed_run()
    statement = open_run(files).statement
    predicate = statement["predicate"]
    assert statement["subject"] == [
        {"name": "outputs.jsonl", "digest": {"sha256": canon.sha256(files["outputs.jsonl"])}}
    ]
    assert predicate["telemetry"]["digest"]["sha256"] == canon.sha256(files["telemetry.jsonl"])
    assert predicate["config"]["digest"]["sha256"] == canon.sha256(files["config.json"])
    assert predicate["benchmark"]["digest"]["sha256"] == canon.sha256(files["benchmark.json"]) == BENCHMARK.digest()
    assert predicate["benchmark"]["itemSet"]["sha256"] == BENCHMARK.item_set_digest()


def test_the_item_set_digest_is_the_published_one(shared_data: Path) -> None:
    """The quick encoder gives the hash that the published question set is known by."""
    from ragassay.manifest.encoding import item_set_digest
    from ragassay.records import Benchmark, Question

    published = json.loads((shared_data / "sdk-docs-retrieval" / "v1.0.0.json").read_bytes())
    questions = tuple(Question(**sample, claims=()) for sample in published["samples"])
    benchmark = Benchmark(name="sdk", questions=questions, scorer_key=published["scorerKey"])
    assert item_set_digest(benchmark) == "04adb10a199b3de662f3a20d9bfc6dabb4686c84c39bcab0e5ee9a129b523bdc"


def test_the_content_digest_ignores_run_and_pass() -> None:
    """The same answers as another pass of another run have another outputs digest and the same content digest."""
    one, two = open_run(signed_run()), open_run(signed_run(run_id="f" * 32, pass_k=2))
    assert one.predicate["content"] == two.predicate["content"]
    assert one.statement["subject"] != two.statement["subject"]
    rows = [{k: v for k, v in row.items() if k not in ("run", "pass")} for row in one.outputs]
    assert one.predicate["content"]["sha256"] == canon.sha256(b"".join(canon.canonical(row) + b"\n" for row in rows))


def test_the_same_input_gives_the_same_bytes() -> None:
    """Building has neither clock nor chance in it."""
    assert signed_run() == signed_run()


def test_score_counts_and_window_leave_failures_out() -> None:
    """A failed retrieval lowers `scored`, enters no sum, and is counted by kind."""
    predicate = decode_run(signed_run(items=4, failed=[1])).predicate
    assert predicate.score == Score(num=100 + 25 + 100, den=300, decimal="0.7500")
    assert (predicate.counts.asked, predicate.counts.scored, predicate.counts.retrieval_failed) == (4, 3, 1)
    assert predicate.window == Window(start=STARTED, end=STARTED + 3)


def test_a_run_without_any_score_has_none() -> None:
    """Nothing scored is `score: null`, not 0."""
    files = signed_run(items=2, failed=[0, 1])
    assert open_run(files).predicate["score"] is None


def test_a_run_in_which_nothing_happened_has_no_window() -> None:
    """Without any time there is no window."""
    outcomes = [msgspec.structs.replace(failed_outcome(q, 0), answered_at=None) for q in BENCHMARK.questions]
    files = build_run(
        run_id=RUN_ID, pass_k=1, config=sample_config(BENCHMARK), benchmark=BENCHMARK, outcomes=outcomes,
        signer=public_signer(),
    )  # fmt: skip
    assert decode_run(files).predicate.window is None


def test_outcomes_must_be_in_the_benchmarks_order() -> None:
    """A missing or moved outcome is our bug and is not signed."""
    outcomes = [sample_outcome(question, at) for at, question in enumerate(BENCHMARK.questions)]
    for wrong in (outcomes[:-1], outcomes[::-1]):
        with pytest.raises(ValueError, match="order"):
            build_run(
                run_id=RUN_ID, pass_k=1, config=sample_config(BENCHMARK), benchmark=BENCHMARK, outcomes=wrong,
                signer=public_signer(),
            )  # fmt: skip


def test_a_text_that_cannot_be_written_names_its_question() -> None:
    """A lone surrogate in an answer is refused with the question's id."""
    outcome = sample_outcome(QUESTION, 0)
    assert outcome.answer is not None
    broken = msgspec.structs.replace(outcome, answer=msgspec.structs.replace(outcome.answer, text="\ud800"))
    benchmark = sample_benchmark(1)
    with pytest.raises(canon.NotCanonical, match="'q-001'"):
        build_run(
            run_id=RUN_ID, pass_k=1, config=sample_config(benchmark), benchmark=benchmark, outcomes=[broken],
            signer=public_signer(),
        )  # fmt: skip


def test_decode_run_gives_back_what_was_built() -> None:
    """All five files decode to the values that made them."""
    document = decode_run(signed_run())
    assert document.benchmark == BENCHMARK
    assert document.config == sample_config(BENCHMARK)
    assert [row.id for row in document.outputs] == [row.id for row in document.telemetry]
    assert encode_rows(document.outputs) == signed_run()["outputs.jsonl"]


@pytest.mark.parametrize("name", ["run.dsse.json", "outputs.jsonl", "telemetry.jsonl", "config.json", "benchmark.json"])
def test_decode_run_names_the_missing_file(name: str) -> None:
    """A run without one of its files has the reason code for it."""
    files = signed_run()
    del files[name]
    with pytest.raises(VerifyError, match=name) as error:
        decode_run(files)
    assert error.value.code == "FILE_MISSING"


def test_an_output_row_keeps_what_came_before_the_failure() -> None:
    """A judge that failed leaves answer, chunks and judge; no verdict and no score."""
    scored = sample_outcome(QUESTION, 0)
    outcome = msgspec.structs.replace(
        scored, status="judge_failed", score=None, verdict=None, failure=failed_outcome(QUESTION, 0).failure
    )
    row = output_row(outcome, QUESTION, run=RUN_ID, pass_k=2, judge="j" * 64)
    assert (row.score, row.verdict, row.claims) == (None, None, ())
    assert row.answer == QUESTION.evidence[0]
    assert (row.judge, row.pass_) == ("j" * 64, 2)


def test_an_item_that_never_reached_the_judge_names_none() -> None:
    """A failed retrieval has state `failed`, no chunks, no answer and no judge."""
    row = output_row(failed_outcome(QUESTION, 0), QUESTION, run=RUN_ID, pass_k=1, judge="j" * 64)
    assert (row.retrieval, row.chunks, row.answer, row.judge) == ("failed", (), None, None)


def _judged(*raw: RawVerdict, used: bool = True) -> Outcome:
    outcome = sample_outcome(QUESTION, 0)
    return msgspec.structs.replace(outcome, raw_verdicts=raw, verdict=outcome.verdict if used else None)


def test_telemetry_keeps_every_raw_reply_and_why_it_was_refused() -> None:
    """The last reply of a judged item was used; the others carry their problem, named or not."""
    raw = [RawVerdict(nonce=f"n{i}", text=f"reply {i}") for i in range(3)]
    replies = telemetry_row(_judged(*raw), problems=["two objects"]).judge_replies
    assert [(reply.text, reply.problem) for reply in replies] == [
        ("reply 0", "two objects"),
        ("reply 1", "invalid reply"),
        ("reply 2", None),
    ]
    unjudged = telemetry_row(_judged(*raw, used=False), problems=["a", "b", "c"]).judge_replies
    assert [reply.problem for reply in unjudged] == ["a", "b", "c"]


def test_telemetry_sums_are_unknown_where_a_part_is() -> None:
    """Tokens and cost of the judge are sums over its replies, and null as soon as one is null."""
    known = RawVerdict(
        nonce="a", text="", usage=Usage(input_tokens=3, output_tokens=4), cost_microusd=7, latency_ms=5, attempts=2
    )
    unknown = RawVerdict(nonce="b", text="", usage=Usage(input_tokens=1), latency_ms=1)
    both = telemetry_row(_judged(known, unknown))
    assert (both.judge_usage, both.judge_cost_microusd) == (Usage(input_tokens=4), None)
    assert (both.judge_ms, both.judge_attempts) == (6, 3)
    twice = telemetry_row(_judged(known, known))
    assert (twice.judge_usage, twice.judge_cost_microusd) == (Usage(input_tokens=6, output_tokens=8), 14)
    nothing = telemetry_row(failed_outcome(QUESTION, 0))
    assert (nothing.judge_ms, nothing.judge_cost_microusd, nothing.retrieval_ms) == (None, None, None)


def test_the_manifest_holds_integers_only() -> None:
    """No number of any file is fractional, and the payload equals its canonical form."""
    files = signed_run()
    payload = base64.b64decode(json.loads(files["run.dsse.json"])["payload"])
    assert canon.load_canonical(payload, max_bytes=1 << 20)
    for name in ("outputs.jsonl", "telemetry.jsonl"):
        for line in files[name].splitlines():
            canon.load_canonical(line, max_bytes=1 << 20)
