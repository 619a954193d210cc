"""The one object in a judge's reply: found, or the reply is invalid.

A reply may put prose or a code fence around its verdict, and may quote what the answer or a retrieved text planted. So
that a planted object is never taken for the judge's own:

- a candidate is an object that is valid JSON, stands in no other object or list, and has the key `claims` or
  `verdicts`; text inside its strings is its own content;
- there must be exactly one;
- around it braces and brackets are balanced (it is not part of something broken), and nothing else there carries such
  a key, in whatever quotes.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from ragassay.judge.invalid import InvalidReply

MAX_REPLY_CHARS = 262_144
"""A longer reply is invalid: a verdict on some claims never needs it."""
_MAX_BRACES = 100
_KEYS = frozenset({"claims", "verdicts"})
_OTHER = re.compile(r"""(["'“”‘’`](claims|verdicts)["'“”‘’`]|[{]\s*(claims|verdicts))\s*[:=]""", re.IGNORECASE)


def only_object(text: str) -> tuple[dict[str, Any], int]:
    """Return the one candidate of `text` and the number of characters around it; raises `InvalidReply` otherwise."""
    if len(text) > MAX_REPLY_CHARS:
        raise InvalidReply(f"the reply has {len(text)} characters; at most {MAX_REPLY_CHARS} are read")
    found, problem = _objects(text)
    if len(found) > 1:
        raise InvalidReply(f"{len(found)} objects in the reply could be the verdict; exactly one may stand there")
    if not found:
        reason = f" ({problem})" if problem else ""
        raise InvalidReply(f"the reply holds no JSON object with a list of claims{reason}")
    value, start, end = found[0]
    before, after = text[:start], text[end:]
    if not (_balanced(before) and _balanced(after)):
        raise InvalidReply(f"the object with claims stands inside, or beside, something broken{_because(problem)}")
    if _OTHER.search(before) or _OTHER.search(after):
        raise InvalidReply(f"beside the one readable object stands another with claims{_because(problem)}")
    return value, len(before.strip()) + len(after.strip())


def _because(problem: str) -> str:
    return f" ({problem})" if problem else ""


def _objects(text: str) -> tuple[list[tuple[dict[str, Any], int, int]], str]:
    """Return the candidates with their spans, and the first reason why an object could not be read."""
    found, problem, tried = [], "", 0
    at = text.find("{")
    while at >= 0:
        tried += 1
        if tried > _MAX_BRACES:
            raise InvalidReply(f"more than {_MAX_BRACES} opening braces are no objects")
        try:
            value, end = _DECODER.raw_decode(text, at)
        except RecursionError:
            raise InvalidReply("an object in the reply is nested too deeply to be read") from None
        except ValueError as error:
            problem, end = problem or str(error), at + 1
        else:
            tried -= 1
            if value.keys() & _KEYS:
                found.append((value, at, end))
        at = text.find("{", end)
    return found, problem


def _balanced(text: str) -> bool:
    open_: list[str] = []
    for char in re.findall(r"[][{}]", text):
        if char in "[{":
            open_.append(char)
        elif not open_ or open_.pop() != ("[" if char == "]" else "{"):
            return False
    return not open_


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(n for n in names if names.count(n) > 1)[:40]!r} stands twice in an object")
    return members


def _no_fraction(text: str) -> NoReturn:
    raise ValueError(f"the number {text[:40]} is no integer")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_no_fraction, parse_constant=_no_fraction)
