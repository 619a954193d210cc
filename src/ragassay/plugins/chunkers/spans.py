"""Tokens, sentences and blocks of a text, and how a list of cuts becomes chunks. Shared by the chunkers."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragassay import canon
from ragassay.errors import InputError
from ragassay.records import Chunk, Page

TOKENS = r"\w+|[^\w\s]"
"""What counts as one token: a run of word characters, or one other character that is not white space."""

_TOKEN = re.compile(TOKENS)
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_SENTENCE_END = re.compile(
    r"""[.!?…]{1,8}["'”’»)\]*_`]{0,8}(?P<gap>\s+)(?=[^\s\W]|["'“‘«(\[*_`#<:-])|[。！？]["”’」』）]{0,8}\s*"""
)
_NO_END = frozenset(
    (
        *("e.g.", "i.e.", "cf.", "vs.", "etc.", "al.", "approx.", "resp.", "incl.", "no.", "nos.", "fig.", "sec."),
        *("eq.", "mr.", "mrs.", "ms.", "dr.", "st.", "a.m.", "p.m."),
    )
)


def token_starts(text: str) -> list[int]:
    """Return the start of every token of `text`, in order."""
    return [found.start() for found in _TOKEN.finditer(text)]


def block_starts(text: str) -> list[int]:
    """Return where each block begins that follows a blank line."""
    return [found.end() for found in _BLANK_LINE.finditer(text) if found.end() < len(text)]


def sentence_starts(text: str) -> list[int]:
    """Return where a sentence begins after another one; abbreviations and lower-case starts do not end a sentence."""
    return [found.end() for found in _SENTENCE_END.finditer(text) if _ends(text, found)]


def _ends(text: str, found: re.Match[str]) -> bool:
    if found.group("gap") is None:
        return found.end() < len(text)
    if text[found.end()].islower():
        return False
    word = text[max(0, found.start() - 12) : found.start() + 1].split()[-1]
    return word.lower().lstrip("([") not in _NO_END


def line_starts(text: str) -> list[int]:
    """Return where each line but the first begins."""
    return [at + 1 for at, char in enumerate(text) if char == "\n" and at + 1 < len(text)]


def chunks_of(page: Page, spans: Iterable[tuple[int, int]]) -> list[Chunk]:
    """Return the chunks of `page` at the half-open `spans`, numbered from 0."""
    chunks = []
    for number, (start, end) in enumerate(spans):
        text = page.text[start:end]
        sha256 = canon.sha256(text.encode("utf-8"))
        chunks.append(Chunk(id=f"{page.id}#{number}", page=page.id, start=start, end=end, text=text, sha256=sha256))
    return chunks


def covering(windows: Sequence[tuple[int, int]], starts: Sequence[int], length: int) -> list[tuple[int, int]]:
    """Turn windows over units (tokens, sentences) into spans that cover `length` characters without a gap.

    Unit i begins at `starts[i]`; a span runs up to the start of the unit after its window, so that white space
    belongs to what stands before it; the first span begins at 0 and the last one ends at `length`.
    """
    bounds = [0, *starts[1:], length]
    return [(bounds[first], bounds[end]) for first, end in windows]


def before(starts: Sequence[int], at: int) -> int:
    """Return how many of the sorted `starts` lie before the character `at`."""
    return bisect_left(starts, at)


def whole_numbers(
    kind: str, given: Mapping[str, Any], defaults: Mapping[str, int], lowest: Mapping[str, int]
) -> dict[str, int]:
    """Return the parameters of a chunker with its defaults filled in.

    Raises `InputError` with every problem: unknown names, values that are no whole numbers, values below `lowest`.
    """
    problems = [f"{name}: no such parameter; known are {', '.join(defaults)}" for name in given if name not in defaults]
    values = {**defaults, **{name: value for name, value in given.items() if name in defaults}}
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int):
            problems.append(f"{name}: must be a whole number, not {value!r}")
        elif value < lowest[name]:
            problems.append(f"{name}: must be {lowest[name]} or more, not {value}")
        elif value > LARGEST:
            problems.append(f"{name}: must be {LARGEST:,} or less, not {value}")
    window, overlap = values[next(iter(defaults))], values["overlap"]
    if not problems and overlap >= window:
        problems.append(f"overlap: must be less than {next(iter(defaults))} ({window}), not {overlap}")
    if problems:
        raise InputError(f"the chunker {kind!r} cannot be made", problems)
    return values


LARGEST = 1_000_000
