"""Where the variance of the item scores comes from, where at least two judges scored the same answers. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragassay.errors import InputError
from ragassay.estimate import Components, Undefined, difference_variance, variance_components
from ragassay.site.judgerecord import ComponentLine, ComponentsLine
from ragassay.site.numbers import decimal6
from ragassay.site.underjudge import RowUnder
from ragassay.site.window import RowRuns

PUBLISHED = "published"


def components_line(rows: Sequence[RowRuns], panel: Mapping[str, Sequence[RowUnder]]) -> ComponentsLine:
    """Return the components of question × row × pass × judge over the ranked rows; `panel` is by judge.

    Control and oracle are no rows of the comparison and stay out. Passes are paired by their place in the window.
    """
    ranked = {row.key for row in rows if row.standing == "ranked"}
    cells: dict[tuple[str, str, int, str], int | None] = {
        (output.id, row.key, place, PUBLISHED): output.score
        for row in rows
        if row.key in ranked
        for place, run in enumerate(row.window, 1)
        for output in run.outputs
    }
    for judge, under in panel.items():
        for one in under:
            if one.row.key in ranked:
                for place, judgement in enumerate(one.judgements, 1):
                    cells |= {(r.id, one.row.key, place, judge): r.score for r in (judgement.rows if judgement else ())}
    try:
        found = variance_components(cells)
    except InputError as error:
        return ComponentsLine(undefined=str(error))
    return ComponentsLine(undefined=found.reason) if isinstance(found, Undefined) else _line(found)


def _line(found: Components) -> ComponentsLine:
    design = difference_variance(found, questions=found.questions, passes=found.passes)
    known = None if isinstance(design, Undefined) else design
    return ComponentsLine(
        questions=found.questions,
        rows=found.rows,
        passes=found.passes,
        judges=found.judges,
        dropped=found.dropped,
        not_separated=tuple(found.not_separated),
        components=tuple(
            ComponentLine(
                facets=tuple(one.facets),
                variance=decimal6(one.variance),
                share=_text(one.share),
                negative=one.negative,
            )
            for one in found.components
        ),
        standard_error=_text(known.standard_error if known else None),
        from_questions=_text(known.from_questions if known else None),
        from_passes=_text(known.from_passes if known else None),
        from_judges=_text(known.from_judges if known else None),
        advice=known.advice if known else None,
        note=found.note,
    )


def _text(value: float | None) -> str | None:
    return None if value is None else decimal6(value)
