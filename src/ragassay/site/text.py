"""The board as text in a terminal of `width` columns, no colour needed. Needs nothing but the record. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from ragassay.site.bar import bar
from ragassay.site.exposuretext import exposure_lines
from ragassay.site.lines import wrapped
from ragassay.site.notes import Note, row_notes, table_notes
from ragassay.site.numbers import UNKNOWN, bracket, exact, listed, milliseconds, money, plural, short, shown
from ragassay.site.paneltext import judging_lines
from ragassay.site.record import Amount, Board, BoardRow, Latency, Table
from ragassay.site.safe import fitted, one_line
from ragassay.site.scopewords import scope_words, voided_words

LEGEND = (
    "█ to the 95 % interval ├─┤, ┼ the score (lower median of the window); "
    "≈ not distinguished from the first; second number: rank interval"
)
NAMED_REFUSED = 10


def render_text(board: Board, width: int = 100, *, whole: bool = True) -> str:
    """Return the board as lines of at most `width` columns (80 or more), its one sentence last.

    Unless `whole`, each table that stands apart (earlier questions, another judge) is one line that names it.
    """
    width = max(width, 80)
    lines = [_between(board.name, scope_words(board), width)]
    for table in board.tables:
        lines += ["", *(_table(table, width) if table.main or whole else _named(table, width))]
    lines += _refused(board, width)
    lines += _voided(board, width)
    lines += _list("", [board.attested] if board.attested else [], width)
    lines += _list("", [f"! {warning}" for warning in board.warnings], width)
    if board.control_waiver:
        lines += wrapped(f"! no control row, waived: {board.control_waiver}", width)
    lines += ["", *wrapped(board.sentence, width, "")]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _named(table: Table, width: int) -> list[str]:
    said = f"Apart, never ranked against the table above: {table.why_apart}; {plural(len(table.rows), 'row')} over "
    said += f"{plural(table.benchmark.items, 'question')}, benchmark {table.benchmark.digest[:8]} (--all prints it)"
    return wrapped(said, width)


def _between(left: str, right: str, width: int) -> str:
    return fitted(left, width - len(right) - 1) + " " + right


def _list(title: str, items: Sequence[str], width: int) -> list[str]:
    if not items:
        return []
    return ["", *([title] if title else []), *(line for item in items for line in wrapped(item, width))]


def _table(table: Table, width: int) -> list[str]:
    said = (
        f"{plural(table.benchmark.items, 'question')} of {table.benchmark.id} {table.benchmark.version} · "
        f"{table.scorer} judged by {table.judge} · answers by {table.answer}"
    )
    lines = wrapped(said, width)
    if table.why_apart:
        lines = [*wrapped(f"Apart, never ranked against the table above: {table.why_apart}", width), *lines]
    notes = table_notes(table.rows)
    lines += ["", *_scores(table.rows, notes, width), "", *_costs(table.rows, width)]
    lines += wrapped(behind_latencies(table.rows), width)
    lines += ["", *wrapped(LEGEND, width)]
    if again := [row.name for row in table.rows if row.rung == "re-executed"]:
        lines += wrapped(f"re-executed here with equal content, counts and score: {listed(again)}", width)
    lines += _list("", [f"{note.letter}  {note.text}" for note in notes], width)
    lines += _list("", table.facts, width)
    lines += _list("", [f"! {warning}" for warning in table.warnings], width)
    lines += exposure_lines(table, width)
    lines += judging_lines(table, width)
    if not table.main:
        lines += ["", *wrapped(table.sentence, width)]
    return lines


def _columns(rows: Sequence[BoardRow], notes: Sequence[Note], width: int) -> tuple[list[str], list[str], int, int]:
    """Return the gap and the notes of each row, and the cells of the name and of the drawing; no number is ever cut."""
    letters = [_letters([note.letter for note in row_notes(row, rows, notes)]) for row in rows]
    gaps = [_gap(row, interval=True) for row in rows]
    name = _name_width(rows, width - 78)
    taken = sum(SCORE_WIDTHS) + 7 + name + max(5, *map(len, letters))
    if width - taken - max(16, *map(len, gaps)) < LEAST_DRAWN:
        gaps = [_gap(row, interval=False) for row in rows]
    widest = max(16 if any("[" in gap for gap in gaps) else 5, *map(len, gaps))
    return [gap.ljust(widest) for gap in gaps], letters, name, max(LEAST_DRAWN, width - taken - widest)


def _letters(letters: Sequence[str]) -> str:
    """Return the letters of a row's notes, close together where they are many and each is one letter."""
    close = len(letters) > 6 and all(len(letter) == 1 for letter in letters)
    return ("" if close else " ").join(letters)


def _gap(row: BoardRow, *, interval: bool) -> str:
    if row.gap is None:
        return ""
    return f"{shown(row.gap.share, 2)} {bracket(row.gap.interval, 2) if interval else ''}".strip()


SCORE_WIDTHS = (9, 5, 8, 7)
"""Rank, score, reach and missing."""
LEAST_DRAWN = 6


def _scores(rows: Sequence[BoardRow], notes: Sequence[Note], width: int) -> list[str]:
    reach_k = next((row.reach.k for row in rows if row.reach and row.role == "row"), None)
    head_reach = f"reach@{reach_k}" if reach_k else "reach"
    gaps, letters, name, drawn = _columns(rows, notes, width)
    axis = "0" + " " * (drawn - 2) + "1"
    lines = [
        f"{'rank':<9} {'row':<{name}} score {axis} {'gap':<{len(gaps[0])}} {head_reach:>8} {'missing':>7} notes",
    ]
    for previous, row, gap, own in zip([None, *rows[:-1]], rows, gaps, letters, strict=True):
        if previous is not None and previous.standing == "ranked" != row.standing:
            lines.append("┈" * width)
        lines.append(_score(row, gap, own, name, drawn, reach_k))
    return lines


def _score(row: BoardRow, gap: str, letters: str, name: int, drawn: int, reach_k: int | None) -> str:
    score = f"{row.score.num}/{row.score.den}" if row.score else None
    low, high = (row.interval.low, row.interval.high) if row.interval and score else (None, None)
    reach = _reach(row, reach_k)
    missing = f"{row.missing.total}/{row.missing.asked}" if row.missing.total else UNKNOWN
    cells = [
        fitted(_rank(row), 9),
        fitted(row.name, name),
        f"{exact(row.score):>5}",
        bar(row.score.decimal if row.score else None, low, high, drawn),
        gap,
        f"{reach:>8}",
        f"{missing:>7}",
        letters,
    ]
    return " ".join(cells)


def _reach(row: BoardRow, k: int | None) -> str:
    if row.reach is None:
        return UNKNOWN
    at = f" @{row.reach.k}" if row.reach.k != k and row.role == "row" else ""
    return f"{row.reach.exact + row.reach.folded}/{row.reach.of}{at}"


def _rank(row: BoardRow) -> str:
    if row.rank is not None and row.rank_interval is not None:
        first, last = row.rank_interval
        span = f"{first}–{last}" if first != last else f"{first}"
        return f"{row.rank}{'≈' if row.not_distinguished else ' '} {span}"
    return {
        "set_apart": row.role,
        "unranked": "unranked",
        "superseded": "replaced",
        "not_run": "not run",
        "voided": "voided",
    }.get(row.standing, "")


def _costs(rows: Sequence[BoardRow], width: int) -> list[str]:
    measured = [row for row in rows if row.passes]
    if not measured:
        return []
    name = _name_width(rows, width - sum(COST_WIDTHS) - len(COST_WIDTHS))
    lines = [("", *(upper for upper, _ in COSTS)), ("", *(lower for _, lower in COSTS))]
    return [_cost_cells(line, name, width) for line in [*lines, *((row.name, *_cost(row)) for row in measured)]]


def _name_width(rows: Sequence[BoardRow], room: int) -> int:
    """Return the cells that names get: what the longest takes, at most `room`, never under 12."""
    return max(12, min(room, max(cell_len(one_line(row.name)) for row in rows)))


COSTS = (
    ("interval", "95 %"),
    ("range", "of passes"),
    ("right/", "wrong"),
    ("MRR", ""),
    ("retrieval", "p50/p95"),
    ("answer", "p50/p95"),
    ("context", "tokens"),
    ("tokens", "in/out"),
    ("cost per", "1,000"),
)
"""Both lines above each column of the second block."""
COST_WIDTHS = (10, 9, 6, 5, 11, 11, 7, 9, 8)


def _cost_cells(cells: Sequence[str], name: int, width: int) -> str:
    """Return one line; columns that do not fit are left out from the right (--json holds all)."""
    line = fitted(cells[0], name)
    for cell, size in zip(cells[1:], COST_WIDTHS, strict=True):
        if len(line) + 1 + size > width:
            break
        line += f" {cell:>{size}}"
    return line


def _cost(row: BoardRow) -> list[str]:
    ends = dict.fromkeys(exact(end) for end in row.range) if row.range else [UNKNOWN]
    return [
        bracket(row.interval, 2) or UNKNOWN,
        "–".join(ends),
        f"{row.fully_right}/{row.fully_wrong}",
        shown(row.reach.mrr) if row.reach else UNKNOWN,
        latency(row.retrieval_latency),
        latency(row.answer_latency),
        UNKNOWN if row.context_tokens is None else f"{row.context_tokens:,}",
        _tokens(row),
        money(row.cost_per_1000_microusd),
    ]


def behind_latencies(rows: Sequence[BoardRow]) -> str:
    """Say how many searches are behind the latencies of retrieval, and what searches cost that ask a service."""
    calls = sorted({found.calls for row in rows if (found := row.retrieval_latency) and found.calls is not None})
    if not calls:
        return ""
    each = f"{calls[0]:,}" if len(calls) == 1 else f"{calls[0]:,} to {calls[-1]:,}"
    known = [(row.name, row.search_cost_per_1000_microusd) for row in rows]
    costs = [f"{one_line(name)} {money(cost)}" for name, cost in known if cost is not None]
    more = f" 1,000 searches cost: {', '.join(costs)}." if costs else ""
    return f"Latency of retrieval: over {each} searches a row, after a first one that is not counted.{more}"


def _tokens(row: BoardRow) -> str:
    sums = (row.input_tokens, row.output_tokens)
    if all(found.known is None for found in sums):
        return UNKNOWN
    return "/".join(short(found.known) + ("+" if found.unknown and found.known is not None else "") for found in sums)


def latency(found: Latency | None) -> str:
    """Write p50/p95, the unit once where both share it: 12/30 ms."""
    if found is None:
        return UNKNOWN
    first, second = milliseconds(found.p50_ms), milliseconds(found.p95_ms)
    number, _, unit = first.partition(" ")
    return f"{number}/{second}" if second.endswith(f" {unit}") else f"{first}/{second}"


def amount(found: Amount) -> str:
    """Write a sum: 54,000, or 'at least 53,100 (1 unknown)'; a dash where nothing is known."""
    if found.known is None:
        return UNKNOWN
    return f"{found.known:,}" if not found.unknown else f"at least {found.known:,} ({found.unknown} unknown)"


def _refused(board: Board, width: int) -> list[str]:
    if not board.refused:
        return []
    lines = [f"x {run.id}: {run.reason}" for run in board.refused[:NAMED_REFUSED]]
    if len(board.refused) > NAMED_REFUSED:
        lines.append(f"x and {len(board.refused) - NAMED_REFUSED} more; `ragassay board --json` names all")
    return _list(f"{plural(len(board.refused), 'run')} not verified, neither drawn nor ranked:", lines, width)


def _voided(board: Board, width: int) -> list[str]:
    lines = [f"x {run.id}: {run.row}, pass {run.pass_k}, {voided_words(run.taken_back)}" for run in board.voided]
    if len(lines) > NAMED_REFUSED:
        lines[NAMED_REFUSED:] = [f"x and {len(lines) - NAMED_REFUSED} more; `ragassay board --json` names all"]
    return _list(f"{plural(len(board.voided), 'run')} taken back, counted nowhere:", lines, width)
