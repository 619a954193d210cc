"""Two rows of a board found by name, and their comparison as text for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from rich.cells import cell_len

from ragassay.errors import InputError
from ragassay.site.cellwords import CAUSE_WORDS
from ragassay.site.lines import wrapped
from ragassay.site.numbers import UNKNOWN, bracket, listed, pvalue, shown, signed
from ragassay.site.pairwords import pair_sentence, turned
from ragassay.site.record import Board, BoardRow, Cell, Pair, Table
from ragassay.site.safe import fitted, one_line

LABEL = 26
"""Cells of what a figure is called."""
MOST = 12
"""Deciding questions that are printed; --json names all."""


def find_pair(board: Board, a: str, b: str) -> tuple[Table, Pair]:
    """Return the comparison of the rows named `a` and `b`, first minus second; the main table is looked at first.

    Raises `InputError`, naming the rows there are, where a name is unknown, where a row has no number, or where
    the two stand in different tables and must not be compared.
    """
    if a == b:
        raise InputError(f"{a!r} is given twice; name two rows")
    for table in board.tables:
        keys = {row.name: row.key for row in table.rows if row.standing not in ("superseded", "not_run")}
        if a in keys and b in keys:
            return table, _pair(table, keys[a], keys[b])
    known = {row.name for table in board.tables for row in table.rows}
    unknown = [name for name in (a, b) if name not in known]
    if unknown:
        there = listed(sorted(known)) if known else "none yet; `ragassay run` makes runs"
        raise InputError(f"there is no row {listed([repr(name) for name in unknown], 'or')}; the rows are {there}")
    apart = [table.why_apart for table in board.tables if table.why_apart]
    why = f" ({'; '.join(dict.fromkeys(apart))})" if apart else ""
    raise InputError(f"{a} and {b} stand in different tables and must not be compared{why}")


def _pair(table: Table, a: str, b: str) -> Pair:
    for pair in table.pairs:
        if (pair.a, pair.b) == (a, b):
            return pair
        if (pair.a, pair.b) == (b, a):
            return turned(pair)
    without = [row for row in table.rows if row.key in (a, b) and row.score is None]
    reasons = [f"{row.name}: {row.reason or 'no headline number'}" for row in without]
    raise InputError("the two rows cannot be compared", reasons)


def render_pair(table: Table, pair: Pair, width: int = 100) -> str:
    """Return a comparison as lines of at most `width` columns."""
    names = {row.key: row.name for row in table.rows}
    a, b = one_line(names[pair.a]), one_line(names[pair.b])
    p = pvalue(pair.p) + (f", {pvalue(pair.p_holm)} after Holm's adjustment" if pair.p_holm else "")
    figures = [
        ("difference", f"{signed(pair.difference)}  {a} − {b}, means over {pair.questions} questions"),
        ("better on such questions", f"{bracket(pair.interval) or UNKNOWN}  95 %, paired t"),
        (
            "repeatable on these",
            f"{bracket(pair.repeat_interval)}  {pair.repeat_note or '95 %, pass noise only'}".strip(),
        ),
        ("p by sign flips", p),
        ("smallest shown", f"{shown(pair.detectable)}  the difference this design shows with 80 % power"),
        ("wins / ties / losses", f"{pair.wins} / {pair.ties} / {pair.losses}  of {a}"),
    ]
    if pair.bounds:
        figures.append(("with missing items", f"{signed(pair.bounds[0])} to {signed(pair.bounds[1])}  worst and best"))
    lines = [*wrapped(pair_sentence(pair, names), width, ""), ""]
    lines += [line for label, text in figures for line in _figure(label, text, width)]
    lines += [line for note in pair.notes for line in wrapped(f"! {note}", width)]
    lines += ["", *_deciding(table, pair, names, width)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _figure(label: str, text: str, width: int) -> list[str]:
    plain = "  ".join(one_line(part) for part in text.split("  "))
    fits = cell_len(plain) <= width - LABEL
    first, *rest = [plain] if fits else wrapped(plain, width - LABEL, "")
    return [f"{label:<{LABEL}}{first}", *(" " * LABEL + line for line in rest)]


def _deciding(table: Table, pair: Pair, names: Mapping[str, str], width: int) -> list[str]:
    if not pair.deciding:
        return ["The rows differ on no question."]
    cells = {line.id: {cell.row: cell for cell in line.cells} for line in table.questions}
    ids = 24 if width >= 100 else 18
    side = (width - 10 - ids) // 2
    lines = [
        "The questions that decide it, largest difference first:",
        f"{'':>7} {'question':<{ids}} {fitted(names[pair.a], side)} {fitted(names[pair.b], side)}",
    ]
    for question in pair.deciding[:MOST]:
        found = cells[question]
        lines.append(
            f"{signed(pair.differences[question]):>7} {fitted(question, ids)} "
            f"{fitted(_cell(found[pair.a]), side)} {fitted(_cell(found[pair.b]), side)}"
        )
    if len(pair.deciding) > MOST:
        lines.append(f"and {len(pair.deciding) - MOST} more; --json names all")
    return lines


def _cell(cell: Cell) -> str:
    return f"{shown(cell.mean):>5} {CAUSE_WORDS[cell.cause]}"


def rows_of(table: Table, pair: Pair) -> tuple[BoardRow, BoardRow]:
    """Return both rows of a pair."""
    rows = {row.key: row for row in table.rows}
    return rows[pair.a], rows[pair.b]
