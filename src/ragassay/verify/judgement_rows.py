"""Each row of a judgement by itself: status against run and purpose, score against verdicts, quotes against text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragassay import fold
from ragassay.literals import judgeable
from ragassay.manifest.judgement import NOT_JUDGED, REPLIES, VERDICTS, profile_of
from ragassay.manifest.reask import reask_order
from ragassay.manifest.statement import JudgementPredicate, RunDocument
from ragassay.records import JudgementReplies, JudgementRow, OutputRow, Profile, Question, Verdict
from ragassay.score import item_hundredths
from ragassay.verify.items import MAX_QUOTE_WORK, QUOTED, verdict_problem
from ragassay.verify.redaction import NOTHING_HIDDEN, Hidden
from ragassay.verify.report import Findings


def check_judged_rows(
    predicate: JudgementPredicate,
    rows: Sequence[JudgementRow],
    run: RunDocument,
    findings: Findings,
    hidden: Hidden = NOTHING_HIDDEN,
) -> None:
    """Check every row against the run's row and question of its id; rows without such are told elsewhere.

    Quotes of an answer that is `hidden` cannot be sought in it.
    """
    profile = profile_of(run.predicate.metric.id)
    questions = {question.id: question for question in run.benchmark.questions}
    asked = {row.id: row for row in run.outputs}
    texts = {row.id: row.answer if predicate.shown is None else predicate.shown for row in run.outputs}
    lost = [name for name in texts if predicate.shown is None and hidden.has(name, "answer")]
    texts.update(dict.fromkeys(lost))
    quoting = profile == "factual-consistency/2" and _affordable(rows, texts, findings)
    for row in rows:
        where = f"{VERDICTS}: {row.id}"
        verdict = _verdict_of(row)
        _check_score(row, verdict, profile, findings, where)
        if row.id not in asked or row.id not in questions:
            continue
        if (problem := _status_problem(predicate, row, asked[row.id], questions[row.id], profile)) is not None:
            findings.add("STATUS", problem, where)
        if profile == "factual-consistency/2" and verdict is not None:
            _check_claims(row, questions[row.id], findings, where)
        if quoting and (text := texts[row.id]) is not None:
            _check_quotes(row, text, findings, where)
    findings.made("verdicts, item scores and quotes")
    if lost:
        findings.add("TEXT_WITHHELD", f"{len(lost)} answers are withheld from the run, or words of them", VERDICTS)
        findings.not_made("quotes in withheld answers", f"{len(lost)} answers of the run are withheld")
    if predicate.purpose == "reask":
        _check_drawn(predicate, rows, run, findings)


def _verdict_of(row: JudgementRow) -> Verdict | None:
    if row.verdict is None:
        return None
    return Verdict(
        claims=row.claims,
        central_contradicted=row.verdict.central_contradicted,
        reference_insufficient=row.verdict.reference_insufficient,
        answer_kind=row.verdict.answer_kind,
        extra_wrong=row.verdict.extra_wrong,
        injection_seen=row.verdict.injection_seen,
    )


def _check_score(
    row: JudgementRow, verdict: Verdict | None, profile: Profile | None, findings: Findings, where: str
) -> None:
    if row.status != "judged":
        if row.score is not None or verdict is not None or row.claims:
            message = f"the item ended as {row.status!r} and carries a score, claims or a verdict"
            findings.add("SCORED_FAILURE", message, where)
        if row.failure is None:
            findings.add("STATUS", f"the item ended as {row.status!r} and does not say why", where)
        return
    if row.failure is not None:
        findings.add("STATUS", "a judged item carries a failure", where)
    if row.score is None or verdict is None:
        findings.add("SCORED_FAILURE", "a judged item carries no score or no verdict", where)
    elif (problem := verdict_problem(verdict, profile)) is not None:
        findings.add("ITEM_SCORE", problem, where)
    elif row.score != (expected := item_hundredths(verdict)):
        findings.add("ITEM_SCORE", f"the score is {row.score}, its verdicts make it {expected}", where)


def _status_problem(
    predicate: JudgementPredicate, row: JudgementRow, ran: OutputRow, question: Question, profile: Profile | None
) -> str | None:
    """Return why an item may not have been judged, or why it may not have been left out."""
    if row.status != "not_judged":
        if predicate.shown is None and ran.answer is None:
            return "the run has no answer that could be judged"
        if predicate.purpose == "reask" and ran.verdict is None:
            return "the run's judge gave no verdict, so it is not asked again"
        return None
    kind = row.failure.kind if row.failure else ""
    reask = predicate.purpose == "reask"
    holds = {
        "no_answer": predicate.shown is None and ran.answer is None,
        "withheld": any(chunk.text is None for chunk in ran.chunks),
        "no_claims": not question.claims,
        "no_literals": profile == "factual-consistency/2" and not all(map(judgeable, question.claims)),
        "no_verdict": reask and ran.verdict is None,
        "not_drawn": reask,
    }
    if kind not in NOT_JUDGED:
        return f"it was not judged for a reason that is none: {kind[:80]!r}"
    return None if holds[kind] else f"it was not judged as {kind!r}, which does not hold"


def _check_claims(row: JudgementRow, question: Question, findings: Findings, where: str) -> None:
    frozen = [(claim.id, claim.text, claim.central) for claim in question.claims]
    if [(claim.id, claim.text, claim.central) for claim in row.claims] != frozen:
        findings.add("ROW_CHANGED", "the judged claims are not the benchmark's frozen ones", where)


def _affordable(rows: Sequence[JudgementRow], texts: Mapping[str, str | None], findings: Findings) -> bool:
    """Tell whether all quotes can be sought in their texts in bounded time; where not, say so."""
    work = sum(
        len(texts.get(row.id) or "") * sum(64 + len(claim.quote) for claim in row.claims if claim.verdict in QUOTED)
        for row in rows
    )
    if work > MAX_QUOTE_WORK:
        findings.add("BUNDLE_TOO_LARGE", "quotes and answers are too long to be compared", VERDICTS)
        findings.not_made("quotes in answers", "quotes and answers are too long")
    return work <= MAX_QUOTE_WORK


def _check_quotes(row: JudgementRow, text: str, findings: Findings, where: str) -> None:
    stands = fold.quotes_of(text)
    for claim in row.claims:
        if claim.verdict in QUOTED and not stands(claim.quote):
            findings.add("QUOTE_NOT_IN_ANSWER", f"claim {claim.id} is {claim.verdict} by words the answer lacks", where)


def _check_drawn(
    predicate: JudgementPredicate, rows: Sequence[JudgementRow], run: RunDocument, findings: Findings
) -> None:
    """Check that the items asked again are the first of the seeded order, so that nobody chose them."""
    left = {row.id for row in rows if row.failure is not None and row.failure.kind == "not_drawn"}
    pool = [row.id for row in run.outputs if row.verdict is not None and row.answer is not None]
    order = reask_order(predicate.of.sha256, run.predicate.benchmark.digest.sha256, pool)
    drawn = [name not in left for name in order]
    if drawn != sorted(drawn, reverse=True):
        first = order[drawn.index(False)]
        findings.add("STATUS", f"{first!r} was left out, and items that are drawn after it were not", VERDICTS)
    findings.made("items drawn for asking again")


def check_replies(rows: Sequence[JudgementRow], replies: Sequence[JudgementReplies], findings: Findings) -> None:
    """Check that the replies are of the same items and possible, and that each verdict is that of the last reply.

    A judged item without any reply was settled by code, as an empty answer is: all its claims are omitted.
    """
    if [row.id for row in rows] != [took.id for took in replies]:
        findings.add("TELEMETRY_ROWS", f"the rows of {REPLIES} are not those of {VERDICTS}", REPLIES)
        return
    for row, took in zip(rows, replies, strict=True):
        if (problem := _reply_problem(row, took)) is not None:
            findings.add("TELEMETRY_ROWS", f"{row.id!r}: {problem}", REPLIES)
    findings.made("replies")


def _reply_problem(row: JudgementRow, took: JudgementReplies) -> str | None:
    usage = took.judge_usage
    figures = (took.judge_ms, took.judge_attempts, took.judge_cost_microusd, usage.input_tokens, usage.output_tokens)
    if any(figure is not None and figure < 0 for figure in figures):
        return "a figure is less than nothing"
    if row.status == "not_judged":
        return "an item that was not judged has replies" if took.judge_replies or took.judge_attempts else None
    used = [at for at, reply in enumerate(took.judge_replies) if reply.problem is None]
    if row.status == "judge_failed":
        return "the judge failed, and a reply counts as used" if used else None
    if not took.judge_replies:
        return None if all(claim.verdict == "OMITS" for claim in row.claims) else "there is a verdict without a reply"
    return None if used == [len(took.judge_replies) - 1] else "the verdict is not that of the judge's last reply"
