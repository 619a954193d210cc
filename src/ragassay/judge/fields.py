"""Single fields of a judge's reply: declared foldings, each logged; everything else is invalid."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeVar, cast, get_args

import msgspec

from ragassay.judge.invalid import InvalidReply
from ragassay.records import VerdictWord

T = TypeVar("T")

WORDS: tuple[VerdictWord, ...] = get_args(VerdictWord)
_WORD = re.compile(r"""[\s*_`"'(\[]*([A-Za-z]+)[\s*_`"')\].,;:!]*""")
"""Outer space, emphasis, quotes, brackets and closing punctuation; a question mark is a doubt and stays."""


def as_reply(value: object, shape: type[T]) -> T:
    """Return `value` as the record `shape`: strict types, no unknown key, no default; else `InvalidReply`."""
    try:
        return msgspec.convert(value, shape, strict=True)
    except (msgspec.ValidationError, RecursionError, OverflowError, UnicodeEncodeError) as error:
        raise InvalidReply(f"the object is not of the asked form: {error}") from error


def verdict_word(written: str, place: str, folds: list[str]) -> VerdictWord:
    """Return the class that `written` names after folding case, outer space and punctuation, and emphasis."""
    match = _WORD.fullmatch(written)
    word = match[1].upper() if match else ""
    if word not in WORDS:
        raise InvalidReply(f"{place}: the verdict {written[:40]!r} is none of {', '.join(WORDS)}")
    if word != written:
        folds.append(f"{place}: verdict {written[:40]!r} read as {word}")
    return cast("VerdictWord", word)


def claim_id(written: int | str, folds: list[str]) -> int:
    """Return the claim's id; a string of digits is read as the number, and logged."""
    if isinstance(written, int):
        return written
    if not re.fullmatch(r"[1-9][0-9]{0,5}", written):
        raise InvalidReply(f"the claim id {written[:40]!r} is no id")
    folds.append(f"claim {written}: id {written!r} read as {written}")
    return int(written)


def check_nonce(given: str, expected: str) -> None:
    """Raise `InvalidReply` unless the reply carries the nonce of its own prompt."""
    if given != expected:
        raise InvalidReply("the nonce is not the one of this prompt: the object was not written for it")


def check_unicode(texts: Iterable[str]) -> None:
    """Raise `InvalidReply` for a lone surrogate, which no record can carry."""
    try:
        for text in texts:
            text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidReply(f"a text of the object is not valid Unicode: {error.reason}") from error
