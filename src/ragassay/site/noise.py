"""The published judge's own noise in one row: what asking it again changed. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from ragassay.estimate import Undefined, judge_noise
from ragassay.manifest.judgement import JudgementDocument
from ragassay.records import JudgementRow, OutputRow
from ragassay.site.judgerecord import NoiseLine
from ragassay.site.numbers import decimal6
from ragassay.site.window import REPEATABLE_JUDGES, RowRuns

Item = tuple[str, str]
"""Run and question."""


def noise_line(row: RowRuns, again: Mapping[str, JudgementDocument]) -> NoiseLine:
    """Return the noise of the judge in one row; `again` holds by run id what it said when it was asked again.

    Only runs of the window count. Items that were asked again and lack a score from either time are counted as lost.
    """
    deterministic = _deterministic(row)
    asked = {run.predicate.run_id: again[run.predicate.run_id] for run in row.window if run.predicate.run_id in again}
    first: dict[Item, OutputRow] = {}
    second: dict[Item, JudgementRow] = {}
    for run in row.window:
        identity = run.predicate.run_id
        first |= {(identity, output.id): output for output in run.outputs}
        if identity in asked:
            second |= {(identity, one.id): one for one in asked[identity].rows}
    scored = sum(output.score is not None for output in first.values())
    found = judge_noise(first, second, items=scored or None, deterministic=deterministic)
    line = NoiseLine(row=row.key, state="not_asked", runs=len(row.window), runs_again=len(asked))
    if isinstance(found, Undefined):
        state = "undefined" if any(one.status != "not_judged" for one in second.values()) else "not_asked"
        return replace(line, state=state, note=found.reason if state == "undefined" else None)
    if found.state == "deterministic":
        return replace(line, state="deterministic")
    return replace(
        line,
        state="measured",
        n=found.n,
        lost=found.lost,
        whole=len(asked) == len(row.window) and not any(_not_drawn(one) for one in second.values()),
        score_changed=found.score_changed,
        verdict_changed=found.verdict_changed,
        score_share=_text(found.score_share),
        mean_absolute=_text(found.mean_absolute),
        mean_change=_text(found.mean_change),
        sd=_text(found.sd),
        effect=_text(found.effect),
        note=found.note,
    )


def _deterministic(row: RowRuns) -> bool:
    config = row.window[0].config if row.window else None
    return config is not None and config.measure.judge.get("kind") in REPEATABLE_JUDGES


def _not_drawn(row: JudgementRow) -> bool:
    return row.failure is not None and row.failure.kind == "not_drawn"


def _text(value: float | None) -> str | None:
    return None if value is None else decimal6(value)
