"""The model inside a stack: a model behind its limits, asked from the threads in which searches run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragassay.errors import InputError, ModelError, RunStopped, StackError
from ragassay.plugins.http_thread import HttpThread
from ragassay.records import JSON, Message, Reply
from ragassay.run.limits import Endpoint


class StackModel:
    """A `BlockingModel`: calls share one endpoint's limits, retries and budget, and are counted with their search."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._thread = HttpThread(endpoint)
        self._name = str(endpoint.describe().get("id") or endpoint.describe().get("kind"))

    def complete(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        """Return the first usable reply; blocks the calling thread.

        Raises `StackError` when no attempt is left, and `RunStopped` where the key is refused or the budget is spent.
        """
        try:
            return self._thread.run(self._endpoint.complete(messages, params))
        except ModelError as error:
            if error.kind == "auth":
                raise RunStopped(f"the model {self._name!r} of a stack refused the key: {error}") from error
            raise StackError(f"the stack's model {self._name!r}: {error}") from error
        except InputError as error:
            raise RunStopped(error.message, error.problems) from error

    def describe(self) -> JSON:
        """Return what the model says of itself."""
        return self._endpoint.describe()
