"""What a test server says: replies made from a request's body alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from ragassay.plugins.models.reader import read
from ragassay.records import JSON

ReplyOf: TypeAlias = Callable[[JSON], str | Awaitable[str]]
"""Makes the text of a reply from a request's body."""


def echo(body: JSON) -> str:
    """Reply with the last user message."""
    users = _contents(body, "user")
    return users[-1] if users else "nothing was asked"


def counter() -> ReplyOf:
    """Return a reply that says which answer it is: "answer 1", "answer 2", and so on."""
    count = 0

    def reply(_body: JSON) -> str:
        nonlocal count
        count += 1
        return f"answer {count}"

    return reply


def reader(body: JSON) -> str:
    """Reply as the extractive reader does."""
    return read(echo(body), _contents(body, "system"))


def _contents(body: JSON, role: str) -> list[str]:
    return [str(message["content"]) for message in body["messages"] if message["role"] == role]


MODES: Mapping[str, Callable[[], ReplyOf]] = {
    "counter": counter,
    "echo": lambda: echo,
    "reader": lambda: reader,
}
"""The replies that a server in a process of its own can give, by name."""
