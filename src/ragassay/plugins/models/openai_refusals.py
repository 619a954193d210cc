"""What of a request a server's words refuse, and what to write on the board instead; pure.

The words are those that servers are known to send: OpenAI ("Unsupported parameter: 'max_tokens' …", "Unsupported value:
'temperature' …"), chat templates under vLLM and llama.cpp ("System message must be at the beginning.", "Conversation
roles must alternate"), and servers that answer in a stream only ("This model only support stream mode", "Stream must be
set to true").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, get_args

from ragassay.errors import ModelError

Part = Literal["stream_options", "stream", "max_tokens", "temperature", "response_format", "systems"]

_SYSTEMS = (
    r"roles (must|should) alternate"
    r"|(multiple|several|more than one|only one|single|consecutive)\s+[`'\"]?system\b"
    r"|system[`'\"]?\s+(messages?|prompts?|roles?)\b.{0,80}?\b(multiple|only|single|once|one|beginning|first|start|not)\b"
)
_NO = r"(not|n't|unsupported|only|must|invalid|unavailable|unknown|unrecognized|extra|deprecated)"
_WORDS: Mapping[Part, str] = {
    "stream_options": r"stream_options",
    "stream": (
        r"only supports? stream|enable the stream|stream.{0,3} must be (set to )?true"
        r"|non-?stream(ing|ed)?\b.{0,60}\bnot (supported|available)|must be (called|used|requested) with stream"
    ),
    "max_tokens": r"max_tokens.{0,80}max_completion_tokens|unsupported parameter.{0,4}max_tokens",
    "temperature": rf"\b{_NO}\b.{{0,80}}temperature|temperature.{{0,80}}\b{_NO}\b",
    "response_format": r"response[_ ]format|json_schema|json_object|json mode|structured output|guided_|grammar",
    "systems": _SYSTEMS,
}
_RULES: Mapping[Part, re.Pattern[str]] = {part: re.compile(_WORDS[part], re.IGNORECASE) for part in get_args(Part)}

ADVICE: Mapping[Part, str] = {
    "max_tokens": "give max_completion_tokens in the model's params in place of max_tokens",
    "temperature": "take temperature out of the model's params; for a judge write omit = ['temperature'] in its table",
    "response_format": "write omit = ['response_format'] in the judge's table",
    "systems": (
        "set template = 'single-system/1' in [answer], or 'user-context/1' if it takes none at all (the template is "
        "part of every row's identity)"
    ),
}
"""What to change on the board, by the part that was refused."""


def refused_part(error: ModelError, *, systems: int = 1) -> Part | None:
    """Return the part of a request that the server's words refuse, None where they name none of these.

    `systems` is the number of system messages that were sent: with one or none, words about them mean something else.
    """
    if error.kind not in ("bad_request", "server_error"):
        return None
    for part, rule in _RULES.items():
        if error.kind == "server_error" and part != "systems":
            continue  # a server that is down may say anything; a chat template that fails is a 500 in some servers
        if (part != "systems" or systems > 1) and rule.search(str(error)):
            return part
    return None


def advised(error: ModelError, *, systems: int) -> ModelError:
    """Return the error with what to change on the board, final, where its words name a part; else the error itself."""
    part = refused_part(error, systems=systems)
    if part is None or part not in ADVICE:
        return error
    said = "the endpoint does not take several system messages" if part == "systems" else f"the endpoint refuses {part}"
    return ModelError(f"{said}; {ADVICE[part]}. {error}", kind="bad_request", retryable=False)
