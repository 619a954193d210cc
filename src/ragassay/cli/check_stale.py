"""What the runs of a row measured otherwise than the board file asks now: then the board was edited and not run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragassay import canon
from ragassay.records import Config
from ragassay.run.board_file import BoardFile
from ragassay.run.row_config import measured_entry
from ragassay.site.safe import shortened


def stale_rows(board: BoardFile, latest: Mapping[str, Config]) -> dict[str, Sequence[str]]:
    """Return, for each row of the board whose latest run is given, what that run measured otherwise.

    It looks at what the board file says by itself: stack, top-k, threshold, chunker, model, judge and scorer. Whether
    pages were edited since is not seen without reading them.
    """
    found: dict[str, Sequence[str]] = {}
    for row in board.rows:
        config = latest.get(row.name)
        if config is None:
            continue
        measure = config.measure
        pairs: list[tuple[str, Any, Any]] = [
            ("stack", canon.without_fractions(measured_entry(row.stack)), measure.stack.get("entry")),
            ("top_k", row.top_k, measure.top_k),
            ("threshold", row.threshold, measure.threshold),
            ("chunker", board.chunker.get("kind"), measure.corpus.get("chunker", {}).get("kind")),
            ("answer.kind", board.answer.kind, measure.answer.get("kind")),
            ("judge.kind", board.judge.kind, measure.judge.get("kind")),
            ("scorer", board.scorer, measure.scorer),
        ]
        if board.answer.id is not None:
            pairs.append(("answer.id", board.answer.id, measure.answer.get("id")))
        found[row.name] = [
            f"{name} is {_text(asked)} and was {_text(measured)}"
            for name, asked, measured in pairs
            if asked != measured
        ]
    return found


def _text(value: object) -> str:
    return shortened(canon.canonical(value).decode("utf-8"), 80)
