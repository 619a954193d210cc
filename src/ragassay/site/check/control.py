"""What the control says of a check: one that failed fails it, one that answers questions weakens it. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from ragassay.site.closedbook import closed_book_warnings
from ragassay.site.record import Board, BoardPlan, BoardRow
from ragassay.site.words import missing_words


def _control(board: Board) -> BoardRow | None:
    rows = board.main.rows if board.main else ()
    return next(
        (row for row in rows if row.role == "control" and row.standing not in ("superseded", "voided", "not_run")),
        None,
    )


def control_problems(
    board: Board, plan: BoardPlan | None, held: Mapping[str, str], *, allow_missing: bool
) -> list[str]:
    """Say what failed in the control row: passes that are held, no number, questions without a score."""
    row = _control(board)
    names = {one.name for one in plan.rows if one.stack == "none"} if plan else {row.name} if row else set()
    problems = [f"the control: {held[name]}" for name in sorted(names) if name in held]
    if row is None:
        return problems
    if row.standing == "unranked" and row.score is None:
        problems.append(f"the control has no number: {row.reason}")
    elif row.missing.total and not allow_missing:
        problems.append(f"the control is without a score: {', '.join(missing_words(row))}")
    return problems


def control_warnings(board: Board) -> list[str]:
    """Say what weakens the check: no control, or one that answers questions, which no retrieval can lose."""
    row = _control(board)
    if row is None:
        if board.control_waiver:
            return [f"no control row: {board.control_waiver}"]
        return ["no control row was run: what the model knows without retrieval is not seen"] if board.main else []
    book = board.main.closed_book if board.main else None
    said = [] if book is None else closed_book_warnings(book)
    return [f"{one}; a drop there is not seen" if one.startswith("the control answers") else one for one in said]
