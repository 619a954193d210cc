"""What `ragassay judge` prints of judgements, for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragassay.records import JudgementCounts, NullRow, Score, to_json
from ragassay.run.judge_forecast import CHARACTERS_PER_TOKEN, JudgeForecast
from ragassay.run.judge_run import JudgementEnded
from ragassay.site.numbers import plural
from ragassay.site.safe import one_line, shortened
from ragassay.verify import CODES, Report

MAX_MESSAGE = 400


def ended_lines(ended: Sequence[JudgementEnded]) -> list[str]:
    """Return one line per judgement that was signed, and one for each null row that did not score 0."""
    ordered = sorted(ended, key=lambda one: (one.judge, one.purpose, one.row, one.k, one.n))
    lines = [_ended(one) for one in ordered if one.held is None]
    return lines + [line for one in ended for line in null_row_lines(one.judge, one.null_row, one.score)]


def _ended(one: JudgementEnded) -> str:
    what = f"null row {one.null_row}" if one.null_row else one.purpose
    counts = one.counts
    return f"{one_line(one.row)} pass {one.k}: {one_line(one.judge)}, {what}: {_score(one.score)}, {_counted(counts)}"


def _score(score: Score | None) -> str:
    return "no score" if score is None else f"score {score.decimal} ({score.num}/{score.den})"


def _counted(counts: JudgementCounts | None) -> str:
    if counts is None:
        return "counts unknown"
    parts = [f"{counts.judged} of {counts.asked} judged"]
    parts += [f"{counts.unjudged} the judge failed on"] if counts.unjudged else []
    parts += [f"{counts.not_judged} not put to it"] if counts.not_judged else []
    return ", ".join(parts)


def gives_for_nothing(null_row: NullRow | None, score: Score | None) -> bool:
    """Tell whether a judge gave marks to a text that answers nothing."""
    return null_row is not None and score is not None and score.num > 0


def null_row_lines(judge: str, null_row: NullRow | None, score: Score | None) -> list[str]:
    """Return the warning where a null row did not score 0."""
    if not gives_for_nothing(null_row, score) or score is None:
        return []
    return [
        f"NULL ROW NOT ZERO: {one_line(judge)} gave {score.decimal} ({score.num}/{score.den}) to the {null_row} text, "
        "which answers nothing; read its scores with that in mind"
    ]


def held_lines(ended: Sequence[JudgementEnded]) -> list[str]:
    """Return why judgements are not signed yet, and what to do."""
    held = [one for one in ended if one.held is not None]
    lines = [
        f"not signed: {one_line(one.row)} pass {one.k} by {one_line(one.judge)}: {one_line(one.held or '')}"
        for one in held
    ]
    again = "the same command asks again only what failed or is left; with --seal it signs what has ended as it is"
    return [*lines, again] if held else []


def forecast_lines(found: Sequence[JudgeForecast], there: int) -> list[str]:
    """Return what would be asked and what it would cost."""
    lines = []
    for one in found:
        cost = "unknown (no price)" if one.cost_microusd is None else f"{one.cost_microusd / 1e6:.4f} USD"
        lines.append(
            f"{one_line(one.judge)}: {plural(one.judgements, 'judgement')}, {plural(one.items, 'item')}, "
            f"{plural(one.calls, 'call')}, about {one.input_tokens} tokens in and {one.output_tokens} out "
            f"({CHARACTERS_PER_TOKEN} characters a token), {cost}"
        )
    return [
        *(lines or ["nothing is left to judge"]),
        f"{plural(there, 'judgement')} there already",
        "nothing was asked",
    ]


def checked_lines(name: str, purpose: str, report: Report) -> list[str]:
    """Return the verdict on one judgement: what it claims, whose it is, and why it is refused."""
    lines = [f"{'ok' if report.ok() else 'NO'}  {one_line(name)}"]
    if report.run_id is not None:
        lines.append(f"    {shortened(report.row or '', 100)}, pass {report.pass_k} of {report.pass_of}, {purpose}")
        lines.append(f"    {_score(report.score)}, {shortened(report.metric or '', 100)}")
        trust = "the pinned key" if report.pinned else "not the key you trust yet"
        lines.append(f"    key {shortened(report.fingerprint or '', 100)} ({trust})")
    for found in report.findings:
        if found.severity == "fail":
            place = f" [{shortened(found.where, 100)}]" if found.where else ""
            lines.append(f"    fail  {found.code}: {shortened(found.message, MAX_MESSAGE)}{place}")
    warned = sorted({found.code for found in report.findings if found.severity == "warn"})
    return [*lines, *(f"    warn  {code}: {CODES[code].meaning}" for code in warned)]


def ended_json(one: JudgementEnded) -> dict[str, Any]:
    """Return one judgement's end as JSON."""
    return {
        "run": one.run_id,
        "row": one.row,
        "pass": one.k,
        "judge": one.judge,
        "purpose": one.purpose,
        "nullRow": one.null_row,
        "n": one.n,
        "folder": str(one.folder),
        "held": one.held,
        "counts": None if one.counts is None else to_json(one.counts),
        "score": None if one.score is None else to_json(one.score),
    }
