"""A model that says what a test tells it to: a fake to be shipped, so that plugin and judge authors need no server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ragassay.records import JSON, Message, Reply

Said: TypeAlias = str | Reply | Exception
"""A text, a whole reply, or an exception that is raised."""

Script: TypeAlias = Callable[[Sequence[Message], Mapping[str, Any]], Said]
"""Makes each reply from the messages and parameters of its call."""


class ScriptedModel:
    """Implements the model seam: replies in order (or by a callable), remembers every call.

    `calls` holds messages and parameters as they came, `closed` whether it was closed. Asking more often than there
    are replies raises `AssertionError`: a test that expects n calls fails on the n+1st.
    """

    def __init__(self, replies: Sequence[Said] | Script, *, id: str = "scripted/1") -> None:
        self._script = replies if callable(replies) else None
        self._replies = [] if callable(replies) else list(replies)
        self.id = id
        self.calls: list[tuple[tuple[Message, ...], dict[str, Any]]] = []
        self.closed = False

    async def complete(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        """Return (or raise) what the script says for this call."""
        self.calls.append((tuple(messages), dict(params)))
        said = self._script(messages, params) if self._script else self._next()
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, Reply) else Reply(text=said, finish_reason="stop", model=self.id)

    def _next(self) -> Said:
        assert self._replies, f"the script holds no reply for call {len(self.calls)}"
        return self._replies.pop(0)

    def describe(self) -> JSON:
        """Return kind and id."""
        return {"kind": "scripted", "id": self.id}

    async def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True
