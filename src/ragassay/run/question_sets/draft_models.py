"""Whether the model that drafts questions also answers, judges or searches on a board: it then favours itself."""

from __future__ import annotations

from collections.abc import Iterator

from ragassay.run.board_file import BoardFile, ModelTable
from ragassay.run.build import parts_of


def same_as(table: ModelTable, board: BoardFile) -> list[str]:
    """Return where on `board` the model of `table` stands: `[answer]`, `[judge]`, a judge of the panel, a row's part.

    Two models count as one where their ids are the same behind the last slash and without case, whatever their
    addresses, or where both are the same file.
    """
    own = _names(table.kind, table.id, table.path)
    return [place for place, kind, id_, path in _models(board) if own & _names(kind, id_, path)]


def _models(board: BoardFile) -> Iterator[tuple[str, str, str | None, str | None]]:
    yield "[answer]", board.answer.kind, board.answer.id, board.answer.path
    judges = [("[judge]", board.judge), *((f"the judge {one.name!r} of the panel", one.judge) for one in board.panel)]
    for place, judge in judges:
        if judge.model is not None:
            yield place, judge.model.kind, judge.model.id, judge.model.path
    for row in board.rows:
        for part in parts_of(row.stack):
            if part.seam == "models":
                entry = part.entry
                path = entry.get("path")
                at = None if path is None else str(board.path.parent / str(path))
                yield f"{part.place} of the row {row.name!r}", str(entry["kind"]), entry.get("id"), at


def _names(kind: str, id_: str | None, path: str | None) -> set[str]:
    names = {str(id_).rpartition("/")[2].casefold()} if id_ else set()
    if path is not None:
        names.add(f"path {path}")
    return names or {f"kind {kind}"}
