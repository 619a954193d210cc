"""What a board says of its judges as text in a terminal. Needs nothing but the record. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len

from ragassay.records.calibration import Figures
from ragassay.site.judgerecord import JudgedRow, JudgeLine, Judging, RefusedJudgement
from ragassay.site.judgewords import (
    components_words,
    figure_cells,
    judge_words,
    lead_words,
    noise_words,
    ranked_pairs,
    row_words,
    together,
    undefined_words,
)
from ragassay.site.lines import wrapped
from ragassay.site.numbers import UNKNOWN, exact, plural
from ragassay.site.pairwords import order_words
from ragassay.site.record import Table
from ragassay.site.safe import fitted, one_line

NAMED = 10
"""Refused judgements and contradicted pairs that are printed; board.json names all."""


def judging_lines(table: Table, width: int) -> list[str]:
    """Return the block on the judges of a table, empty where nothing is known of them."""
    judging = table.judging
    if judging is None:
        return []
    names = {row.key: row.name for row in table.rows}
    lines = []
    for judge in judging.panel:
        lines += ["", *_panel(judge, judging.judges[0], names, width)]
    lines += _orders(table, names, width)
    lines += ["", *_known(judging, width), "", *_noise(judging, names, width)]
    if judging.components:
        lines += [""] + [line for said in components_words(judging.components) for line in wrapped(said, width)]
    lines += [line for note in judging.notes for line in wrapped(f"! {note}", width)]
    return lines + _refused(judging.refused, width)


def _panel(judge: JudgeLine, published: JudgeLine, names: Mapping[str, str], width: int) -> list[str]:
    """Return every row under one further judge, and how far it agrees with the published one."""
    said = {True: "; the order of the rows changes", False: "; the rows stay in order", None: ""}[judge.order_changed]
    lines = wrapped(f"The same answers under {judge.name}, against {published.name}{said}:", width)
    own = {line.row: line for line in published.rows}
    name = max(12, min(width - sum(WIDTHS) - len(WIDTHS), max(cell_len(one_line(names[r.row])) for r in judge.rows)))
    lines += [
        _cells(("row", "was", "score", "rank", "ρ [95 %]", "QWK", "bias", "MAE", "exact", "answers"), name, width)
    ]
    for line in judge.rows:
        lines.append(_cells((names[line.row], *_row(line, own.get(line.row))), name, width))
    if judge.agreement:
        lines.append(_cells(("all answers", "", "", "", *_figures(judge.agreement)), name, width))
    noted = [(names[line.row], "; ".join(_words(line))) for line in judge.rows]
    return lines + [line for rows, words in together(noted) if words for line in wrapped(f"{rows}: {words}", width)]


def _words(line: JudgedRow) -> list[str]:
    return [*row_words(line), *(undefined_words(line.agreement) if line.agreement else [])]


WIDTHS = (5, 5, 8, 19, 5, 5, 5, 5, 7)


def _cells(cells: Sequence[str], name: int, width: int) -> str:
    """Return one line; columns that do not fit are left out from the right."""
    line = fitted(cells[0], name)
    for cell, size in zip(cells[1:], WIDTHS, strict=True):
        if cell_len(line) + 1 + size > width:
            break
        line += f" {cell:>{size}}"
    return line


def _row(line: JudgedRow, published: JudgedRow | None) -> tuple[str, ...]:
    rank = UNKNOWN if line.rank is None else str(line.rank)
    if line.rank is not None and line.moved:
        rank = f"{line.rank} was {line.rank_published}"
    figures = _figures(line.agreement) if line.agreement else (UNKNOWN,) * 6
    return (exact(published.score if published else None), exact(line.score), rank, *figures)


def _figures(found: Figures) -> tuple[str, ...]:
    cells = dict(figure_cells(found))
    short = {name: UNKNOWN if value.startswith("undefined") else value for name, value in cells.items()}
    return (cells["ρ"], short["QWK"], short["bias"], short["MAE"], short["exact"], f"{found.n:,}")


def _orders(table: Table, names: Mapping[str, str], width: int) -> list[str]:
    """Return who leads under all judges, and which pairs the judges do not see alike."""
    first = next((row for row in table.rows if row.leads is not None), None)
    lines = [f"{first.name} {lead_words(table, first)}"] if first else []
    found = [(pair, words) for pair in ranked_pairs(table) if (words := order_words(pair)) is not None]
    lines += [f"! {names[pair.a]} and {names[pair.b]}: {words}" for pair, words in found[:NAMED]]
    if len(found) > NAMED:
        lines.append(f"! and {len(found) - NAMED} more pairs; --json names all")
    return ["", *(line for text in lines for line in wrapped(text, width))] if lines else []


def _known(judging: Judging, width: int) -> list[str]:
    lines = []
    for judge in judging.judges:
        for said in judge_words(judge):
            lines += wrapped(f"{'! ' if said.loud else ''}{judge.name}: {said.text}", width)
    return lines


def _noise(judging: Judging, names: Mapping[str, str], width: int) -> list[str]:
    """Return the published judge's own noise per row; what is true of every row is said once."""
    said = [(names[line.row], noise_words(line)) for line in judging.noise]
    title = f"{judging.judges[0].name} asked again"
    if len({words for _, words in said}) == 1 and judging.noise[0].state in ("deterministic", "not_asked"):
        return wrapped(f"{title}: {said[0][1]}", width)
    return [f"{title}:", *(line for rows, words in together(said) for line in wrapped(f"{rows}: {words}", width))]


def _refused(refused: Sequence[RefusedJudgement], width: int) -> list[str]:
    if not refused:
        return []
    said = [f"x {one.run[:8]} {one.id}: {one.code}: {one.reason}" for one in refused[:NAMED]]
    if len(refused) > NAMED:
        said.append(f"x and {len(refused) - NAMED} more; --json names all")
    head = f"{plural(len(refused), 'judgement')} not verified, and used for nothing:"
    return ["", head, *(line for text in said for line in wrapped(text, width))]
