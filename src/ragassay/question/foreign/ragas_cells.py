"""A cell of a CSV that holds a list becomes that list: written as JSON, or as Python writes a list of texts."""

from __future__ import annotations

import ast
import io
import tokenize
from itertools import pairwise

import msgspec

MAX_PYTHON = 1024 * 1024
"""Characters of a list in Python's form that are read."""
_SPACING = frozenset((tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT))


def list_of(cell: str) -> list[str]:
    """Return the texts of a list; raises `ValueError` with the reason where it is none.

    `['a' 'b']`, as numpy writes it, is refused: without commas Python would read one text of it.
    """
    try:
        value = msgspec.json.decode(cell)
    except (ValueError, RecursionError):
        value = _python(cell)
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError("is no list of texts")
    return value


def _python(cell: str) -> object:
    if len(cell) > MAX_PYTHON:
        raise ValueError(f"has {len(cell):,} characters, more than the {MAX_PYTHON:,} of a list in Python's form")
    if not cell.strip().startswith("["):
        raise ValueError("is no list of texts; write it as JSON")
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(cell.strip()).readline))
        value: object = ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError) as error:
        raise ValueError("is no list of texts; write it as JSON") from error
    kinds = [one.type for one in tokens if one.type not in _SPACING]
    if any(pair == (tokenize.STRING, tokenize.STRING) for pair in pairwise(kinds)):
        raise ValueError("is a list without commas, as numpy writes it: where one text ends is not known; use JSONL")
    return value
