"""Whether a model's reply is an answer; what is none raises, and never becomes an empty answer or a score."""

from __future__ import annotations

import unicodedata

from ragassay.errors import ModelError
from ragassay.records import Reply

_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters, marks and a symbol that show nothing, by which Unicode fills a place."""


def check_reply(reply: Reply) -> str:
    """Return the text of a reply that is an answer, unchanged.

    Raises `ModelError`: `content_filter` (retryable) when the provider says that it filtered, whatever text came
    with it; `length` (final) when there is no text because the whole output budget was spent; `empty` (retryable)
    when there is no text for another reason. Text that was cut off by the budget is an answer.
    """
    reason = (reply.finish_reason or "").casefold()
    if reason == "content_filter":
        raise ModelError("the provider's content filter stopped the reply", kind="content_filter", retryable=True)
    if reply.text is not None and not _blank(reply.text):
        return reply.text
    if reason == "length":
        raise ModelError(_spent(reply.usage.output_tokens), kind="length", retryable=False)
    said = f"finish reason {reply.finish_reason!r}" if reply.finish_reason else "no finish reason"
    raise ModelError(f"the model replied without any text ({said})", kind="empty", retryable=True)


def _blank(text: str) -> bool:
    return all(char.isspace() or char in _FILLERS or unicodedata.category(char) in _UNSEEN for char in text)


def _spent(output_tokens: int | None) -> str:
    tokens = f" ({output_tokens} tokens)" if output_tokens is not None else ""
    return (
        f"the model spent its whole output budget{tokens} without writing an answer, as a reasoning model does "
        "when it thinks too long; raise `max_tokens` in the answer's params or lower its reasoning effort"
    )
