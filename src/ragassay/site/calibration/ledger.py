"""The file of ratings: it is only ever appended to, and a rating is taken back by a further line."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable
from pathlib import Path

from ragassay.manifest.append_only import AppendOnlyFile
from ragassay.records.calibration import FOLDER, CannotSay, Rating
from ragassay.site.calibration.items import Item
from ragassay.site.calibration.ratings import check_rating, latest, same_saying

NAME = "ratings.jsonl"


class Ledger(AppendOnlyFile[Rating]):
    """`ratings.jsonl` of a workspace; several servers and threads may write it at once."""

    def __init__(self, workspace: Path) -> None:
        super().__init__(workspace / FOLDER / NAME, Rating, check=check_rating, wrong="are no ratings")

    def ratings(self) -> list[Rating]:
        """Return every line, oldest first; raises `InputError` for one that is no rating."""
        return self.lines()

    def rate(self, item: Item, rater: str, rubric: str, *, level: int | None, reason: CannotSay | None) -> Rating:
        """Store a rating and return it; one that stands already and says the same is returned and not stored again."""
        new = _line(item, rater, rubric, level=level, reason=reason)

        def standing(lines: Iterable[Rating]) -> Rating | None:
            key = (rater, item.key, rubric)
            return next((r for r in latest(lines) if (r.rater, r.item, r.rubric) == key), None)

        return standing(self.append(lambda lines: [] if same_saying(standing(lines), new) else [new])) or new

    def undo(self, item: Item, rater: str, rubric: str, rating: str) -> bool:
        """Take back one line of a rater on an item; True once it stands no more, False where there is no such line."""
        back = _line(item, rater, rubric, undoes=rating)

        def known(lines: Iterable[Rating]) -> bool:
            key = (rating, rater, item.key, rubric)
            return any((r.id, r.rater, r.item, r.rubric) == key and r.undoes is None for r in lines)

        def decide(lines: list[Rating]) -> list[Rating]:
            return [back] if known(lines) and not any(r.undoes == rating for r in lines) else []

        return known(self.append(decide))


def _line(
    item: Item,
    rater: str,
    rubric: str,
    *,
    level: int | None = None,
    reason: CannotSay | None = None,
    undoes: str | None = None,
) -> Rating:
    return Rating(
        id=secrets.token_hex(8),
        at=int(time.time()),
        rater=rater,
        item=item.key,
        question=item.question.id,
        answer=item.answer,
        prompt=item.prompt,
        rubric=rubric,
        level=level,
        reason=reason,
        undoes=undoes,
    )
