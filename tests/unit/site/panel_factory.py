"""Makes real, signed judgements of the runs of `site_factory`, so that panels can be built without asking any model."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import site_factory as make

from ragassay import canon
from ragassay.manifest import MANIFEST, RunDocument, Signer, decode_run, read_run
from ragassay.manifest.judgement import NOT_JUDGED, build_judgement, folder_name
from ragassay.manifest.reask import reask_order
from ragassay.records import (
    ClaimVerdict,
    Failure,
    JudgementReplies,
    JudgementRow,
    JudgeReply,
    NullRow,
    OutputRow,
    OutputVerdict,
    Purpose,
    VerdictWord,
)

JUDGE_1: dict[str, Any] = {"kind": "llm", "id": "judge-1", "describe": {}}
"""The judge of the factory's runs."""
JUDGE_2: dict[str, Any] = {"kind": "llm", "id": "judge-2", "describe": {}}
WORDS: dict[str, VerdictWord] = {
    "supports": "SUPPORTS",
    "hedges": "HEDGES",
    "contradicts": "CONTRADICTS",
    "omits": "OMITS",
}
SCORES = {"supports": 100, "hedges": 50, "contradicts": 0, "omits": 0}
Grade = Callable[[int], str]
"""Question number from 1 to a grade: one of `WORDS`, or `judge_failed`, or a reason why it was not judged."""


def _row(output: OutputRow, question: Any, grade: str, text: str | None) -> JudgementRow:
    if output.answer is None and text is None:
        grade = "no_answer"
    if grade not in WORDS:
        failed = grade == "judge_failed"
        failure = Failure(kind=grade, message=NOT_JUDGED.get(grade, "prose instead of a verdict"))
        status: Any = "judge_failed" if failed else "not_judged"
        return JudgementRow(id=output.id, status=status, claims=(), verdict=None, score=None, failure=failure)
    said = output.answer if text is None else text
    quote = "" if grade == "omits" else (said or "")[:10]
    claims = tuple(
        ClaimVerdict(id=c.id, text=c.text, central=c.central, verdict=WORDS[grade], quote=quote, reason="as quoted")
        for c in question.claims
    )
    verdict = OutputVerdict(
        central_contradicted=grade == "contradicts",
        reference_insufficient=False,
        answer_kind="answer",
        extra_wrong=False,
        injection_seen=False,
    )
    return JudgementRow(id=output.id, status="judged", claims=claims, verdict=verdict, score=SCORES[grade])


def judgement_files(run: RunDocument, of: str, grades: Grade, **changes: Any) -> dict[str, bytes]:
    """Return the signed files of one judgement of a run; `changes` replace arguments of `build_judgement`."""
    text = changes.get("shown")
    rows = [
        _row(output, question, grades(number), text)
        for number, (output, question) in enumerate(zip(run.outputs, run.benchmark.questions, strict=True), 1)
    ]
    used = (JudgeReply(nonce="n", text="{}", problem=None),)
    replies = [JudgementReplies(id=r.id, judge_replies=used if r.status == "judged" else ()) for r in rows]
    given: dict[str, Any] = {
        "of": of,
        "run": run.predicate,
        "judge": JUDGE_2,
        "purpose": "panel",
        "rows": rows,
        "replies": replies,
        "created": make.START + 5_000,
        "signer": make.SIGNER,
    }
    return build_judgement(**{**given, **changes})


def judge_run(workspace: Path, run_id: str, grades: Grade, **changes: Any) -> Path:
    """Write one judgement of a run of the workspace; returns its folder."""
    files = read_run(workspace / "runs" / run_id).files
    built = judgement_files(decode_run(files), canon.sha256(files[MANIFEST]), grades, **changes)
    judge = changes.get("judge", JUDGE_2)
    purpose: Purpose = changes.get("purpose", "panel")
    name = folder_name(canon.digest(judge), purpose, changes.get("n", 1))
    folder = workspace / "judgements" / run_id / name
    make.write_files(folder, built)
    return folder


def reask(workspace: Path, run_id: str, drawn: int, changed: Collection[int], grades: Grade, to: str) -> Path:
    """Ask the run's own judge again about the first `drawn` items of the seeded order.

    Of these, those at the places `changed` (from 0) are given `to` and all others what the run says, by `grades`.
    """
    files = read_run(workspace / "runs" / run_id).files
    run, of = decode_run(files), canon.sha256(files[MANIFEST])
    pool = [row.id for row in run.outputs if row.verdict is not None and row.answer is not None]
    order = reask_order(of, run.predicate.benchmark.digest.sha256, pool)
    numbers = {question.id: number for number, question in enumerate(run.benchmark.questions, 1)}
    again = {
        numbers[name]: to if place in changed else grades(numbers[name]) for place, name in enumerate(order[:drawn])
    }
    return judge_run(workspace, run_id, lambda n: again.get(n, "not_drawn"), judge=JUDGE_1, purpose="reask")


def null_row(workspace: Path, run_id: str, name: NullRow, shown: str, grades: Grade, n: int) -> Path:
    """Show the run's own judge one text in place of every answer."""
    return judge_run(workspace, run_id, grades, judge=JUDGE_1, purpose="null-row", null_row=name, shown=shown, n=n)


def stranger() -> Signer:
    """Return a key that nobody knows."""
    return Signer.from_seed(bytes(range(1, 33)), "stranger")
