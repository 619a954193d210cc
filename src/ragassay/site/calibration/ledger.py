"""The file of ratings: appended to under a lock, each line on disk before anyone is told that it is stored."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from ragassay.errors import InputError
from ragassay.manifest.log_disk import sync, writing
from ragassay.records.calibration import FOLDER, CannotSay, Rating
from ragassay.site.calibration.items import Item
from ragassay.site.calibration.ratings import decode_ratings, encode_rating, latest, same_saying

NAME = "ratings.jsonl"
MAX_BYTES = 64 << 20


class Ledger:
    """`ratings.jsonl` of a workspace; several servers and threads may write it at once."""

    def __init__(self, workspace: Path) -> None:
        self.path = workspace / FOLDER / NAME

    def read(self) -> bytes:
        """Return the bytes of the file, none where it is absent; raises `InputError` where it cannot be read."""
        if self.path.exists() and not self.path.is_file():
            raise InputError(f"{self.path} is no plain file; move it away")
        try:
            with self.path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise InputError(f"{self.path} cannot be read ({error.strerror}); check its permissions") from error
        if len(data) > MAX_BYTES:
            raise InputError(f"{self.path} has more than the {MAX_BYTES} bytes allowed; move it away")
        return data

    def ratings(self) -> list[Rating]:
        """Return every line, oldest first; raises `InputError` for one that is no rating."""
        return decode_ratings(self.read(), str(self.path))

    def rate(self, item: Item, rater: str, rubric: str, *, level: int | None, reason: CannotSay | None) -> Rating:
        """Store a rating and return it; one that stands already and says the same is returned and not stored again."""
        new = _line(item, rater, rubric, level=level, reason=reason)

        def decide(lines: list[Rating]) -> tuple[Rating, bool]:
            now = next((r for r in latest(lines) if (r.rater, r.item, r.rubric) == (rater, item.key, rubric)), None)
            return (now, False) if now is not None and same_saying(now, new) else (new, True)

        return self._append(decide)

    def undo(self, item: Item, rater: str, rubric: str, rating: str) -> bool:
        """Take back one line of a rater on an item; True once it stands no more, False where there is no such line."""
        known: list[bool] = []

        def decide(lines: list[Rating]) -> tuple[Rating, bool]:
            key = (rating, rater, item.key, rubric)
            known.append(any((r.id, r.rater, r.item, r.rubric) == key and r.undoes is None for r in lines))
            back = _line(item, rater, rubric, undoes=rating)
            return back, known[0] and not any(r.undoes == rating for r in lines)

        self._append(decide)
        return known[0]

    def _append(self, decide: Callable[[list[Rating]], tuple[Rating, bool]]) -> Rating:
        """Let `decide` see every line and say which one to write, if at all, while nobody else writes; return it."""
        with writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            with writing(self.path):
                _lock(file)
            data = self.read()
            rating, new = decide(decode_ratings(data, str(self.path)))
            if new:
                with writing(self.path):
                    _write(file, data, encode_rating(rating))
                    sync(self.path.parent)
        finally:
            os.close(file)
        return rating


def _lock(file: int) -> None:
    import fcntl  # ratings are read also where there is no such lock

    fcntl.flock(file, fcntl.LOCK_EX)


def _write(file: int, before: bytes, line: bytes) -> None:
    """Cut off a torn last line, append one, and return when it is on the disk."""
    whole = before.rfind(b"\n") + 1
    if whole < len(before):
        os.ftruncate(file, whole)
    try:
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.fsync(file)
    except OSError:
        os.ftruncate(file, whole)  # what is not wholly there is not there
        raise


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
