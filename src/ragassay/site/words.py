"""What a reader must know beside the numbers, in words: warnings of a row, of a table, of a board. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

from ragassay.manifest.statement import RunDocument
from ragassay.site.closedbook import closed_book, closed_book_warnings, control_of
from ragassay.site.exposurewords import exposure_warnings
from ragassay.site.fairness import fairness_warnings
from ragassay.site.group import is_measured
from ragassay.site.judgerecord import Judging
from ragassay.site.judgewords import NO_NOISE, NOTHING, asked_again
from ragassay.site.loaded import LoadedRun
from ragassay.site.maturity import UNFINISHED, maturities
from ragassay.site.numbers import listed, plural, shown
from ragassay.site.questionrecord import ExposureLine
from ragassay.site.record import BoardPlan, BoardRow, QuestionLine
from ragassay.site.rung import CODE
from ragassay.site.uncounted import uncounted, withheld_evidence
from ragassay.site.window import RowRuns
from ragassay.verify import CODES

IDENTICAL = "deterministic: identical passes"
LITERAL = "literal judge: reads literals and not meaning"
READER = "extractive reader: no language model wrote these answers"
READER_CONTROL = "its control is 0 by construction"
OWN_CORPUS = "it searches a corpus of its own, which is not recorded: a difference to other rows may lie in the texts"
WIRE_FORM_ONLY = "the code for its stack was tested against the wire form only, not against the service"


def missing_words(row: BoardRow) -> list[str]:
    """Say what has no score, by class: '3 of 180 unjudged'."""
    m = row.missing
    classes = (
        (m.unjudged, "unjudged"),
        (m.answer_failed, "without an answer"),
        (m.retrieval_failed, "not retrieved: the stack failed"),
        (m.harness_failed, "lost by the harness"),
    )
    return [f"{count} of {m.asked} {what}" for count, what in classes if count]


def all_identical(rows: Sequence[RowRuns]) -> bool:
    """Tell whether every row has several passes that came out the same, which is then said once for the table."""
    return len(rows) > 1 and all(row.identical and len(row.window) > 1 for row in rows)


def row_warnings(
    row: RowRuns, line: BoardRow, *, exposure: ExposureLine | None = None, identical_said: bool = False
) -> tuple[str, ...]:
    """Return the warnings of one row; `identical_said` when the table says that all passes are identical."""
    said = [row.reason] if row.reason else []
    if line.rung == "republished":
        said.append(f"source: {line.upstream or 'not given'}")
        said += [] if row.headline else ["no number: not every question has a published score"]
    if row.different and not (row.reason or "").startswith(CODE):
        said.append(f"{CODE}: {plural(row.different, 'run')} not counted, different when executed again")
    said += missing_words(line)
    if line.bounds:
        said.append(
            f"its mean would lie between {shown(line.bounds[0])} and {shown(line.bounds[1])} without missing items"
        )
    said += _outside(line)
    if row.identical and len(row.window) > 1 and not identical_said:
        said.append(IDENTICAL)
    for count, what in (
        (line.insufficient, "with an insufficient reference, counted as half right"),
        (line.abstained, "abstained"),
        (line.refused, "refused"),
        (line.retrieval_empty, "asked although the search found nothing"),
    ):
        if count:
            said.append(f"{count} of {line.missing.asked} {what}")
    if line.correct_without_reach:
        said.append(
            f"{plural(line.correct_without_reach, 'question')} answered right without the evidence: "
            "look there for a second passage that answers"
        )
    if line.reach and set(line.reach.folds) - {"whitespace"}:
        said.append(f"{line.reach.folded} of {line.reach.of} reached only after folds: {', '.join(line.reach.folds)}")
    if line.exposure in ("designed-on", "tuned-on"):
        said.append(f"{line.exposure.replace('-', ' ')} these questions: its score is likely too high")
    said += exposure_warnings(exposure) + fairness_warnings(line)
    said += _unproven(row)
    said += withheld_evidence(row) + _truncated(row) + uncounted(row) + _filled(row) + _claims_differ(row)
    return tuple(said)


def _unproven(row: RowRuns) -> list[str]:
    """Say of a row that its texts are its own, that its stack never met its service, that its product is unfinished."""
    config = row.shown.config if row.shown else None
    if config is None:
        return []
    said = [OWN_CORPUS] if config.measure.corpus.get("digest", "") is None else []
    said += [WIRE_FORM_ONLY] if config.circumstance.wire_form_only else []
    marks = sorted({mark for _, mark in maturities(config.measure.stack.get("describe"))})
    return [*said, *(f"its stack says of itself: {mark}" for mark in marks if mark.lower() in UNFINISHED)]


def _truncated(row: RowRuns) -> list[str]:
    """Say of how many chunks the row's embedder saw the beginning only, as the stack described itself."""
    config = row.shown.config if row.shown else None
    found: list[int] = _figures(config.measure.stack, "truncated_chunks") if config else []
    chunks = config.measure.corpus.get("chunks") if config else None
    of = f" of {chunks}" if isinstance(chunks, int) else ""
    cut = max(found, default=0)
    return [f"its embedder sees only the beginning of {cut}{of} chunks"] if cut else []


def _figures(value: object, name: str) -> list[int]:
    """Return every integer that stands under `name` anywhere in a description."""
    if isinstance(value, list):
        return [figure for part in value for figure in _figures(part, name)]
    if not isinstance(value, dict):
        return []
    own = value.get(name)
    found: list[int] = [own] if isinstance(own, int) else []
    return found + [figure for part in value.values() for figure in _figures(part, name)]


def _outside(line: BoardRow) -> list[str]:
    """Say where the score, a lower median, lies outside the interval, which is that of the mean over all passes."""
    if line.score is None or line.interval is None or line.mean is None:
        return []
    score = Decimal(line.score.num) / line.score.den
    slack = Decimal("0.000001")
    if Decimal(line.interval.low) - slack <= score <= Decimal(line.interval.high) + slack:
        return []
    return [f"its score, the lower median, lies outside the interval, which is that of the mean ({shown(line.mean)})"]


def _filled(row: RowRuns) -> list[str]:
    filled = sum(d.predicate.counts.filled for d in row.window)
    return [f"{plural(filled, 'item')} filled from another pass"] if filled else []


def _claims_differ(row: RowRuns) -> list[str]:
    """In profile 1 the judge counts the claims itself; say for how many questions it counted differently."""
    if not row.window or not row.window[0].predicate.metric.id.startswith("factual-consistency/1"):
        return []
    if len(row.window) < 2:
        return ["the judge counts the claims: with one pass it cannot be said how steadily"]
    numbers: dict[str, set[int]] = {}
    for document in row.window:
        for output in document.outputs:
            if output.score is not None:
                numbers.setdefault(output.id, set()).add(len(output.claims))
    differ = sum(len(found) > 1 for found in numbers.values())
    return [f"the judge's number of claims differed between passes for {differ} of {len(numbers)} questions"]


def table_warnings(
    rows: Sequence[RowRuns],
    questions: Sequence[QuestionLine],
    latest: RunDocument,
    plan: BoardPlan | None,
    judging: Judging | None = None,
) -> tuple[str, ...]:
    """Return what holds for a whole table: its judge, its model, its questions, its controls.

    What is known of the judge beside its verdicts (`judging`) stands elsewhere; that nothing is, stands here.
    """
    if not is_measured(latest):
        return tuple(_elsewhere(latest) + _saturated(questions, len(latest.benchmark.questions)))
    said = _instruments(latest, rows, judging) + _controls(rows, plan)
    if all_identical(rows):
        said.append(f"{IDENTICAL} in every row, so there is no noise between passes to show")
    n = len(latest.benchmark.questions)
    unsplit = sum(q.unsplit for q in latest.benchmark.questions)
    bare = sum(not q.evidence for q in latest.benchmark.questions)
    if unsplit:
        said.append(f"{unsplit} of {n} questions are unsplit, unreviewed: their one claim is the whole target")
    if bare:
        said.append(f"unknown: no evidence for {bare} of {n} questions, so reach and oracle say nothing of them")
    control = control_of(rows)
    said += closed_book_warnings(closed_book(control) if control is not None else None)
    return tuple(said + _saturated(questions, n) + _windows(rows))


def _saturated(questions: Sequence[QuestionLine], n: int) -> list[str]:
    return [
        f"{word} {count} of {n} questions: they separate no rows"
        for word, flag in (
            ("every stack answers", "every stack answers it"),
            ("no stack answers", "no stack answers it"),
        )
        if (count := sum(flag in line.flags for line in questions))
    ]


def _elsewhere(latest: RunDocument) -> list[str]:
    """Say what is not known of scores that were computed elsewhere."""
    return [
        f"republished: these scores were computed elsewhere and judged by {latest.predicate.judge.id}; no model was "
        "invoked here, and item scores cannot be checked, for there are no verdicts",
        "not known: stack, answering model, retrieved text, latency and cost",
    ]


def _instruments(latest: RunDocument, rows: Sequence[RowRuns], judging: Judging | None) -> list[str]:
    if latest.config is None:
        return []
    measure, said = latest.config.measure, []
    if measure.answer.get("kind") == "reader":
        controls = [row.shown.predicate.score for row in rows if row.role == "control" and row.shown is not None]
        at_zero = all(score is None or score.num == 0 for score in controls)
        said.append(f"{READER}, and {READER_CONTROL}" if at_zero else READER)
    if measure.judge.get("kind") == "literal":
        said.append(LITERAL)
    elif not asked_again(judging):
        said.append(NO_NOISE)
    return said if judging else [*said, NOTHING]


def _controls(rows: Sequence[RowRuns], plan: BoardPlan | None) -> list[str]:
    said = []
    left_out = {row.stack: row.left_out for row in (plan.rows if plan else ()) if row.left_out}
    for role, kind, means in (
        ("control", "none", "what the model knows without retrieval is not known"),
        ("oracle", "oracle", "the share of the gap cannot be given"),
    ):
        if any(row.role == role for row in rows):
            continue
        why = left_out.get(kind)
        if role == "control" and plan and plan.control_waiver:
            why = f"waived: {plan.control_waiver}"
        said.append(f"no {role} row, so {means}" + (f" ({why})" if why else ""))
    return said


def _windows(rows: Sequence[RowRuns]) -> list[str]:
    sizes = sorted({len(row.window) for row in rows if row.standing == "ranked" and not row.identical})
    if len(sizes) > 1:
        return [
            f"rows have unequal numbers of passes ({listed([str(s) for s in sizes])}): compare at equal, odd numbers"
        ]
    if sizes and sizes[0] % 2 == 0:
        return [f"{sizes[0]} passes per row: the lower median of an even number leans low"]
    return []


UNATTESTED = frozenset({"SIGNER_UNPINNED", "NO_INTENT", "UNTIMED", "UNWITNESSED"})


def attested(runs: Sequence[LoadedRun]) -> str | None:
    """Return how many drawn runs were announced and witnessed as the workspace's policy asks, None where none was."""
    drawn = [run for run in runs if run.document is not None]
    count = sum(not UNATTESTED & {check.code for check in run.checks} for run in drawn)
    return (
        f"announced before the first answer, and witnessed: {count} of {plural(len(drawn), 'run')}" if count else None
    )


def board_warnings(runs: Sequence[LoadedRun]) -> tuple[str, ...]:
    """Return one sentence per warning of the verifier, over all runs that are drawn, and one on those that are not."""
    drawn = [run for run in runs if run.document is not None]
    counts = Counter(code for run in drawn for code in {c.code for c in run.checks if c.severity == "warn"})
    said = [
        f"{code} in {n} of {plural(len(drawn), 'run')}: {CODES[code].meaning}" for code, n in sorted(counts.items())
    ]
    if different := sum(CODE in run.codes for run in drawn):
        said.insert(0, f"{CODE} in {different} of {plural(len(drawn), 'run')}: {CODES[CODE].meaning}")
    if refused := sum(run.document is None and run.voided is None for run in runs):
        said.insert(0, f"{plural(refused, 'run')} not verified, and neither drawn nor ranked")
    if void := sum(run.voided is not None for run in runs):
        said.insert(0, f"{plural(void, 'run')} voided by {'its' if void == 1 else 'their'} log, and counted nowhere")
    return tuple(said)
