"""What stands of the lines that raters wrote: taken-back lines left out, the latest of each rater and item. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Sequence

import msgspec

from ragassay.errors import InputError
from ragassay.records.calibration import Rating
from ragassay.site.calibration.rubric import VERSION, rubric_digest
from ragassay.site.safe import STEERING

MAX_NAME = 40


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The ratings that stand: those that count, and the others with the reason, both in the order of writing."""

    counted: tuple[Rating, ...]
    other: tuple[tuple[Rating, str], ...]


def check_rating(rating: Rating, known: set[str]) -> None:
    """Raise `InputError` or `ValueError` for a line that is no rating; `known` are the ids of the lines before it.

    An id must be new: by ids ratings are taken back.
    """
    if rating.rater != rater_name(rating.rater):
        raise ValueError(f"{rating.rater!r} is not the spelling of a rater's name: NFC, with single spaces")
    if rating.id in known:
        raise ValueError(f"the id {rating.id!r} stands on an earlier line")
    known.add(rating.id)


def rater_name(text: str, who: str = "rater") -> str:
    """Return a name in one spelling: NFC, single spaces; raises `InputError`, naming `who`, where it is none."""
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name:
        raise InputError(f"a {who} needs a name, so that several can be told apart; initials will do")
    if len(name) > MAX_NAME:
        raise InputError(f"a {who}'s name has at most {MAX_NAME} characters, not {len(name)}")
    if STEERING.search(name) or not name.isprintable():
        raise InputError(f"a {who}'s name holds characters that cannot be seen; write it without them")
    return name


def latest(ratings: Iterable[Rating]) -> list[Rating]:
    """Return the ratings that stand, as they were written: not taken back, nor followed by a later one on the same."""
    lines = list(ratings)
    undone = {line.undoes for line in lines if line.undoes is not None}
    found: dict[tuple[str, str, str], Rating] = {}
    for line in lines:
        if line.undoes is None and line.id not in undone:
            found.pop(key := (line.rater, line.item, line.rubric), None)
            found[key] = line
    return list(found.values())


def standing(ratings: Sequence[Rating], items: Collection[str]) -> Standing:
    """Split what stands into ratings of today's rubric on stored answers, and those that do not count, with why."""
    rubric = rubric_digest()
    counted, other = [], []
    for rating in latest(ratings):
        if rating.rubric != rubric:
            other.append((rating, f"given by another rubric than {VERSION} as it reads now"))
        elif rating.item not in items:
            other.append((rating, "the question, its reference or the answer is not what was rated"))
        else:
            counted.append(rating)
    return Standing(counted=tuple(counted), other=tuple(other))


def same_saying(one: Rating | None, other: Rating) -> bool:
    """Tell whether a rating says what the one that stands says already."""
    return one is not None and (one.level, one.reason) == (other.level, other.reason)
