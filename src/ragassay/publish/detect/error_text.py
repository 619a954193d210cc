"""Answers that are, as a whole, the text of an error; an answer that explains an error is none. Pure.

Each pattern holds a whole answer, or its beginning where nothing but an error begins so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection

NAME = "error texts/1"
MOST_CHARACTERS = 20_000
"""A longer answer is read only as far as a JSON object, a traceback or an HTML page begins it."""
SHORT = 300
MIN_QUESTIONS = 3
"""An answer of up to `SHORT` characters that begins like an error, the same on this many questions, is one."""

_STATUS = (
    r"(?:bad request|unauthori[sz]ed|payment required|forbidden|not found|method not allowed|request time-?out|conflict"
    r"|payload too large|unprocessable (?:entity|content)|too many requests|internal server error|not implemented"
    r"|bad gateway|service (?:temporarily )?unavailable|gateway time-?out)"
)
_WHOLE = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"(?:error:?\s+)?(?:http(?:/\d(?:\.\d)?)?\s+)?5\d\d[\s:–-]+{_STATUS}[.!]?",
        r"(?:an? )?internal server error[.!]?(?: please (?:try again|retry).{0,80})?",
        r"(?:bad gateway|service (?:temporarily )?unavailable|gateway time-?out)[.!]?",
        r"(?:no healthy upstream|stream timeout)[.!]?",
        r"(?:request|connection|read|connect|gateway)(?: was)? timed out[.!]?",
        r"connection (?:error|refused|reset(?: by peer)?|aborted)[.!]?",
        r"rate limit (?:reached|exceeded)(?: for .{1,200}?(?:try again|retry|limit:? \d|visit http).{0,300}"
        r"|[.:!]\s*(?:please |try |retry |current ).{0,300}|[.!]?)",
        r"you (?:have )?exceeded your current quota.{0,400}",
        r"(?:the )?(?:server|model|engine|service)(?: [\w./:-]{1,80})? (?:is|had an error|has been) ?"
        r"(?:currently )?(?:overloaded|unavailable|experiencing high|while processing your request).{0,300}",
        r"(?:incorrect|invalid|missing) api key(?: provided)?(?:[:.].{0,300})?",
        r"(?:[\w.]{0,80}\.)?(?:api(?:connection|timeout|status|response)?error|ratelimiterror|internalservererror"
        r"|badrequesterror|authenticationerror|permissiondeniederror|serviceunavailableerror|overloadederror"
        r"|resourceexhausted|deadlineexceeded|readtimeout(?:error)?|connecttimeout(?:error)?|clientconnectorerror"
        r"|clientresponseerror|httpstatuserror|maxretryerror|remotedisconnected|connectionreseterror)"
        r"(?:\s*\([^\n]{0,400}\)|:[^\n]{0,400})?",
    )
)
_BEGINS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"error code: ?[45]\d\d\b\s*(?:[-–:]|$)",
        r"upstream connect error or disconnect/reset before headers",
        r"traceback \(most recent call last\):\s",
        r"(?:<\?xml[^>]{0,200}\?>\s*)?<error>\s*<code>",
    )
)
_PAGE = re.compile(r"(?:<!doctype html[^>]{0,200}>|<html\b)", re.IGNORECASE)
_PAGE_ERROR = re.compile(
    rf"<(?:title|h1|h2)\b[^>]{{0,200}}>[^<]{{0,80}}"
    rf"(?:\b[45]\d\d\b|{_STATUS}|\berror\b|access denied|attention required)",
    re.IGNORECASE,
)
_ERROR_KEYS = frozenset({"error", "errors"})
_FASTAPI = frozenset({"detail"})
_MESSAGE = frozenset({"message", "msg", "error_message"})
_BESIDE = _MESSAGE | {
    "code",
    "status",
    "status_code",
    "statusCode",
    "type",
    "request_id",
    "requestId",
    "success",
    "param",
}
_BESIDE |= {"detail", "details", "object", "timestamp", "path", "title", "instance"}
_BEGINNING = re.compile(rf"(?:error|exception|failed|failure)\b|(?:http\s+)?[45]\d\d[\s:–-]+{_STATUS}", re.IGNORECASE)
_FENCE = re.compile(r"```\w*\n(.*)\n?```", re.DOTALL)


def is_error(answer: str) -> bool:
    """Tell whether an answer as a whole is the text of an error."""
    text = _bare(answer)
    if any(pattern.match(text) for pattern in _BEGINS) or _is_page(text):
        return True
    if len(text) <= MOST_CHARACTERS and any(pattern.fullmatch(text) for pattern in _WHOLE):
        return True
    return _is_json_error(text)


def is_repeated_error(answer: str, questions: Collection[str]) -> bool:
    """Tell whether a short answer that begins like an error was given to several questions, by their ids."""
    text = _bare(answer)
    return len(text) <= SHORT and len(set(questions)) >= MIN_QUESTIONS and _BEGINNING.match(text) is not None


def _bare(answer: str) -> str:
    """Return an answer without white space, quotation marks or one code fence around it."""
    text = answer.strip()
    fenced = _FENCE.fullmatch(text) if text.startswith("```") and text.endswith("```") else None
    return (fenced.group(1) if fenced else text).strip("\"'` \t\r\n\ufeff")


def _is_page(text: str) -> bool:
    return _PAGE.match(text) is not None and _PAGE_ERROR.search(text[:MOST_CHARACTERS]) is not None


def _is_json_error(text: str) -> bool:
    if not text.startswith(("{", "[")) or len(text) > MOST_CHARACTERS:
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        return False
    names = value.keys()
    if any(value.get(name) for name in _ERROR_KEYS):
        return True
    if names == _FASTAPI:
        return True
    return bool(names & _MESSAGE) and len(names) > 1 and names <= _BESIDE
