"""What a judge gave the three texts that stood in place of every answer; each must be 0. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from ragassay.manifest.judgement import JudgementDocument
from ragassay.records import NullRow
from ragassay.score import run_score
from ragassay.site.judgerecord import NullRowLine
from ragassay.site.numbers import ratio

NAMES: tuple[NullRow, ...] = get_args(NullRow)


def null_row_lines(judgements: Iterable[JudgementDocument]) -> tuple[NullRowLine, ...]:
    """Return one line per null row that was judged, over all runs whose items it was judged with."""
    found = list(judgements)
    by_name = {name: [one for one in found if one.predicate.null_row == name] for name in NAMES}
    return tuple(_line(name, own) for name, own in by_name.items() if own)


def _line(name: NullRow, judgements: list[JudgementDocument]) -> NullRowLine:
    scores = [row.score for one in judgements for row in one.rows if row.score is not None]
    score = run_score(scores)
    return NullRowLine(
        null_row=name,
        runs=len(judgements),
        judged=len(scores),
        unjudged=sum(one.predicate.counts.unjudged for one in judgements),
        above=sum(value > 0 for value in scores),
        highest=max(scores, default=None),
        score=ratio(score) if score else None,
    )
