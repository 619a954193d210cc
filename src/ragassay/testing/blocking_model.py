"""A model as a stack gets it, that says what a test tells it to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragassay.records import JSON, Message, Reply


class BlockingScript:
    """Implements `BlockingModel`: makes each reply from the messages of its call; may raise. Safe between threads.

    `calls` holds the messages and parameters as they came.
    """

    def __init__(self, script: Callable[[Sequence[Message]], str | Reply], *, id: str = "scripted/1") -> None:
        self._script = script
        self._id = id
        self._lock = threading.Lock()
        self.calls: list[tuple[tuple[Message, ...], dict[str, Any]]] = []

    def complete(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        """Return what the script says."""
        with self._lock:
            self.calls.append((tuple(messages), dict(params)))
        said = self._script(messages)
        return said if isinstance(said, Reply) else Reply(text=said, finish_reason="stop", model=self._id)

    def describe(self) -> JSON:
        """Return its id."""
        return {"kind": "scripted", "id": self._id}
