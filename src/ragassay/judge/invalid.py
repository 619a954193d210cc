"""What a reply of a judge is when it is not a verdict."""

from __future__ import annotations

from ragassay.errors import PluginError


class InvalidReply(PluginError):
    """A judge's reply cannot be read as a verdict; the message says why. Never a score: ask again or leave unjudged."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=True)
