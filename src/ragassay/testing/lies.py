"""What a dishonest publisher can sign: each lie changes a run, and every digest is put right after it. Pure.

Each entry is a change of an opened run and the reason code that it must be refused by.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ragassay.testing.signed_run import OpenedRun

Change: TypeAlias = Callable[[OpenedRun], None]


def with_rows(change: Callable[[list[dict[str, Any]]], object]) -> Change:
    """Return the change of the list of output rows."""

    def apply(run: OpenedRun) -> None:
        change(run.outputs)

    return apply


def with_row(**members: Any) -> Change:
    """Return the change of members of the second row."""
    return with_rows(lambda rows: rows[1].update(members))


def repeat_row(run: OpenedRun) -> None:
    """Give the first question a second row."""
    run.outputs.insert(1, run.outputs[0])


def with_verdict(word: str, **members: Any) -> Change:
    """Return the change of the class of the second claim of the first row."""
    return with_rows(lambda rows: rows[0]["claims"][1].update(verdict=word, **members))


def fill_row(run: OpenedRun) -> None:
    """Call the first row filled in from another run."""
    run.outputs[0]["fill"] = {"run": "e" * 32, "pass": 1}


def fill_from_itself(run: OpenedRun) -> None:
    """Call the first row filled in from this very run."""
    run.outputs[0]["fill"] = {"run": run.predicate["runId"], "pass": 2}
    run.predicate["counts"]["filled"] = 1


def with_measure(**members: Any) -> Change:
    """Return the change of members of what was measured."""

    def apply(run: OpenedRun) -> None:
        run.config["measure"].update(members)

    return apply


def switch_off(run: OpenedRun) -> None:
    """Say that nothing was retrieved for the first question, and that this was meant."""
    run.outputs[0].update(retrieval="off", chunks=[])
    run.telemetry[0].update(retrievalScores=[])


def call_control(run: OpenedRun) -> None:
    """Say that the stack is none at all."""
    run.config["measure"].update(stack={"kind": "none", "entry": {"kind": "none"}, "describe": {}})


def add_chunk(score: str = "3", **members: Any) -> Change:
    """Return the change that delivers a second text where top-k is 1."""

    def apply(run: OpenedRun) -> None:
        run.config["measure"].update(topK=1)
        chunks = run.outputs[0]["chunks"]
        chunks.append({**chunks[0], "rank": 2, **members})
        run.telemetry[0]["retrievalScores"].append(score)

    return apply


def with_span(start: int, offset: int) -> Change:
    """Return the change of the first chunk's place on its page."""

    def apply(run: OpenedRun) -> None:
        chunk = run.outputs[0]["chunks"][0]
        chunk.update(start=start, end=len(chunk["text"]) + offset)

    return apply


def drop_questions(run: OpenedRun) -> None:
    """Leave no question."""
    run.benchmark["samples"].clear()
    run.outputs.clear()
    run.telemetry.clear()


def repeat_question(run: OpenedRun) -> None:
    """Put one question in the place of another, and answer it once."""
    run.benchmark["samples"][1] = run.benchmark["samples"][0]
    run.outputs.pop(1)
    run.telemetry.pop(1)


def with_claims(name: str, /, **members: Any) -> Change:
    """Return the change of members of one part of the manifest."""

    def apply(run: OpenedRun) -> None:
        run.predicate[name].update(members)

    return apply


def blame_harness(run: OpenedRun) -> None:
    """Call the failure of the stack on the second question one of the harness."""
    failure = {"kind": "stack", "message": "the index is down"}
    run.outputs[1].update(retrieval="failed", chunks=[], answer=None, claims=[], verdict=None, judge=None, score=None)
    run.outputs[1].update(status="harness_failed", failure=failure)


def postpone(run: OpenedRun) -> None:
    """Move every answer by a thousand million seconds, into the future."""
    for row in run.telemetry:
        row["answeredAt"] += 10**9
    run.predicate["window"] = {name: time + 10**9 for name, time in run.predicate["window"].items()}


SIGNED_LIES: dict[str, tuple[Change, str]] = {
    "row dropped": (with_rows(lambda rows: rows.pop(1)), "ROW_MISSING"),
    "row duplicated": (repeat_row, "ROW_DUPLICATE"),
    "rows reordered": (with_rows(lambda rows: rows.reverse()), "ROW_ORDER"),
    "row of an unknown question": (with_row(id="q-999"), "ROW_UNKNOWN"),
    "row of another run": (with_row(run="f" * 32), "ROW_FOREIGN_RUN"),
    "row of an earlier pass": (with_row(**{"pass": 2}), "FILL_UNDECLARED"),
    "filled row not counted": (fill_row, "FILL_UNDECLARED"),
    "row filled from its own run": (fill_from_itself, "FILL_UNDECLARED"),
    "item score above its verdicts": (with_row(score=100), "ITEM_SCORE"),
    "score of 1000": (with_row(score=1000), "ITEM_SCORE"),
    "negative score": (with_row(score=-5), "ITEM_SCORE"),
    "central contradiction unflagged": (
        with_rows(lambda rows: rows[2]["verdict"].update(centralContradicted=False)), "ITEM_SCORE",
    ),
    "frozen reference insufficient": (
        with_rows(lambda rows: rows[2]["verdict"].update(referenceInsufficient=True)), "ITEM_SCORE",
    ),
    "scored without a verdict": (with_row(verdict=None, claims=[]), "SCORED_FAILURE"),
    "scored without a score": (with_row(score=None), "SCORED_FAILURE"),
    "failed row given a score": (
        with_row(status="answer_failed", answer=None, verdict=None, claims=[], judge=None,
             failure={"kind": "empty", "message": "no text"}), "SCORED_FAILURE",
    ),
    "failure without its reason": (
        with_row(status="answer_failed", answer=None, verdict=None, claims=[], judge=None, score=None), "STATUS",
    ),
    "answer hidden as refused": (with_row(status="refused"), "STATUS"),
    "retrieval called empty": (with_row(status="retrieval_empty"), "STATUS"),
    "failed retrieval scored": (with_row(retrieval="failed", chunks=[]), "STATUS"),
    "control with chunks": (with_row(retrieval="off"), "STATUS"),
    "answer taken out": (with_row(answer=None), "STATUS"),
    "judge mixed": (with_row(judge="0" * 64), "JUDGE_MIXED"),
    "judge unnamed": (with_row(judge=None), "JUDGE_MIXED"),
    "support without a quote": (with_verdict("SUPPORTS", quote=""), "QUOTE_NOT_IN_ANSWER"),
    "support by a blank": (with_verdict("SUPPORTS", quote=" "), "QUOTE_NOT_IN_ANSWER"),
    "support by invented words": (with_verdict("SUPPORTS", quote="over UDP"), "QUOTE_NOT_IN_ANSWER"),
    "answer edited under its verdict": (with_row(answer="I do not know."), "QUOTE_NOT_IN_ANSWER"),
    "claim reworded": (with_rows(lambda rows: rows[1]["claims"][0].update(text="It uses a port.")), "ROW_CHANGED"),
    "claim dropped": (with_rows(lambda rows: rows[1]["claims"].pop()), "ROW_CHANGED"),
    "central claim moved": (with_rows(lambda rows: rows[1]["claims"][0].update(central=False)), "ROW_CHANGED"),
    "question reworded": (with_row(question="Which port?"), "ROW_CHANGED"),
    "retrieved text edited": (with_rows(lambda rows: rows[0]["chunks"][0].update(text="x")), "CHUNK_DIGEST"),
    "span longer than its text": (
        with_rows(lambda rows: rows[0]["chunks"][0].update(start=0, end=10**6)), "CHUNK_DIGEST",
    ),
    "rank left out": (with_rows(lambda rows: rows[0]["chunks"][0].update(rank=2)), "CHUNK_DIGEST"),
    "row of another shape": (with_row(extra=1), "ROW_MALFORMED"),
    "row with a string for a score": (with_row(score="50"), "ROW_MALFORMED"),
    "stack changed": (with_measure(stack={"kind": "bm25", "entry": {}, "describe": {}}), "CONFIG_MISMATCH"),
    "top k changed": (with_measure(topK=50), "CONFIG_MISMATCH"),
    "model changed": (with_measure(answer={"kind": "reader", "id": "reader/2"}), "CONFIG_MISMATCH"),
    "judge changed": (with_measure(judge={"kind": "llm", "id": "kind-judge"}), "CONFIG_MISMATCH"),
    "scorer changed": (with_measure(scorer="factual-consistency/1"), "CONFIG_MISMATCH"),
    "corpus changed": (with_measure(corpus={"digest": None, "pages": "many", "chunks": 1}), "CONFIG_MISMATCH"),
    "stack without a kind": (with_measure(stack={}), "CONFIG_MISMATCH"),
    "configuration of another question set": (with_measure(benchmark={"id": "other"}), "BENCHMARK_MISMATCH"),
    "row renamed": (with_claims("row", name="dense"), "CONFIG_MISMATCH"),
    "row key of another row": (with_claims("row", key="0" * 64), "CONFIG_MISMATCH"),
    "more planned passes": (with_claims("pass", of=30), "CONFIG_MISMATCH"),
    "metric renamed": (with_claims("metric", id="factual-consistency/1-judged-by-x"), "CONFIG_MISMATCH"),
    "older benchmark version": (with_claims("benchmark", version="0.9.0"), "BENCHMARK_MISMATCH"),
    "benchmark renamed": (with_claims("benchmark", id="harder"), "BENCHMARK_MISMATCH"),
    "item set of another benchmark": (with_claims("benchmark", itemSet={"sha256": "0" * 64}), "BENCHMARK_MISMATCH"),
    "total above its items": (with_claims("score", num=300, decimal="1.0000"), "RUN_SCORE"),
    "decimal not the ratio": (with_claims("score", decimal="0.9999"), "RUN_SCORE"),
    "no score where there is one": (lambda run: run.predicate.update(score=None), "RUN_SCORE"),
    "wrong counts": (with_claims("counts", asked=4), "COUNTS"),
    "missing items counted as scored": (with_claims("counts", scored=2, refused=1), "COUNTS"),
    "window before the answers": (with_claims("window", start=1, end=2), "WINDOW"),
    "no window": (lambda run: run.predicate.update(window=None), "WINDOW"),
    "answer without a time": (lambda run: run.telemetry[1].update(answeredAt=None), "WINDOW"),
    "telemetry of other rows": (lambda run: run.telemetry.reverse(), "TELEMETRY_ROWS"),
    "telemetry row dropped": (lambda run: run.telemetry.clear(), "TELEMETRY_ROWS"),
    "retrieval scores dropped": (lambda run: run.telemetry[0].update(retrievalScores=[]), "TELEMETRY_ROWS"),
    "answers of the future": (postpone, "WINDOW"),
    "failure of the stack called the harness's": (blame_harness, "STATUS"),
    "stub": (with_claims("provenance", sourceKind="stub"), "STUB"),
    "answers without a model": (with_claims("provenance", modelInvoked=False), "STATUS"),
    "another harness than configured": (
        with_claims("provenance", evaluator={"name": "ragassay", "version": "99"}), "CONFIG_MISMATCH",
    ),
    "items of a thousand": (with_claims("metric", itemDen=1000), "ENVELOPE_MALFORMED"),
    "lower is better": (with_claims("metric", higherIsBetter=False), "ENVELOPE_MALFORMED"),
    "abstention left unsaid": (with_rows(lambda rows: rows[0]["verdict"].update(answerKind=None)), "ITEM_SCORE"),
    "retrieval called off": (switch_off, "CONFIG_MISMATCH"),
    "control that was given texts": (call_control, "CONFIG_MISMATCH"),
    "more texts than top k": (add_chunk(id="services/9.md#0", page="services/9.md"), "CONFIG_MISMATCH"),
    "one text twice": (add_chunk(), "CHUNK_DIGEST"),
    "one chunk with two texts": (
        with_rows(lambda rows: rows[1]["chunks"][0].update(id=rows[0]["chunks"][0]["id"])), "CHUNK_DIGEST",
    ),
    "span before the page": (with_span(-10, -10), "CHUNK_DIGEST"),
    "half a span": (with_rows(lambda rows: rows[0]["chunks"][0].update(start=None)), "CHUNK_DIGEST"),
    "span of no page": (with_rows(lambda rows: rows[0]["chunks"][0].update(page=None)), "CHUNK_DIGEST"),
    "withheld text without a digest": (
        with_rows(lambda rows: rows[0]["chunks"][0].update(text=None, sha256="secret")), "CHUNK_DIGEST",
    ),
    "text below the threshold": (with_measure(threshold="5"), "TELEMETRY_ROWS"),
    "threshold of words": (with_measure(threshold="high"), "CONFIG_DIGEST"),
    "threshold without an end": (with_measure(threshold="Infinity"), "CONFIG_DIGEST"),
    "top k of nothing": (with_measure(topK=0), "CONFIG_DIGEST"),
    "kind of a stack that is a list": (
        with_measure(stack={"kind": ["bm25"], "entry": {}, "describe": {}}), "CONFIG_DIGEST",
    ),
    "negative chunks": (with_measure(corpus={"digest": None, "pages": 1, "chunks": -9}), "CONFIG_MISMATCH"),
    "scores that rise": (add_chunk("9", id="services/9.md#0", page="services/9.md"), "TELEMETRY_ROWS"),
    "score of words": (lambda run: run.telemetry[0].update(retrievalScores=["<b>"]), "TELEMETRY_ROWS"),
    "score in another form": (lambda run: run.telemetry[0].update(retrievalScores=["3.250"]), "TELEMETRY_ROWS"),
    "negative latency": (lambda run: run.telemetry[0].update(answerMs=-7), "TELEMETRY_ROWS"),
    "negative cost": (lambda run: run.telemetry[0].update(answerCostMicrousd=-7), "TELEMETRY_ROWS"),
    "negative tokens": (
        lambda run: run.telemetry[0]["judgeUsage"].update(inputTokens=-1), "TELEMETRY_ROWS",
    ),
    "verdict of a refused reply": (
        lambda run: run.telemetry[0]["judgeReplies"][0].update(problem="prose"), "TELEMETRY_ROWS",
    ),
    "no question": (drop_questions, "BENCHMARK_DIGEST"),
    "question twice, answered once": (repeat_question, "BENCHMARK_DIGEST"),
    "question without an id": (lambda run: run.benchmark["samples"][0].update(id=""), "BENCHMARK_DIGEST"),
    "claim twice": (lambda run: run.benchmark["samples"][0]["claims"][1].update(id=1), "BENCHMARK_DIGEST"),
    "no central claim": (
        lambda run: run.benchmark["samples"][0]["claims"][0].update(central=False), "BENCHMARK_DIGEST",
    ),
}  # fmt: skip
"""Each lie by its name: the change, and the reason code that refuses it."""
