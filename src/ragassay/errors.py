"""The error tree, its branches named by who must act.

```
RagassayError
├── InputError            the person who runs it: a file, an option, a workspace (exit code 2)
│   └── RunStopped        met inside a search: the run as a whole cannot go on
├── PluginError           a service or the author of a plugin (exit code 3); `.retryable`
│   ├── ModelError        a chat endpoint, by `.kind`
│   ├── StackError        a retrieval stack
│   └── judge.InvalidReply    a judge's reply that cannot be read as a verdict
└── VerifyError           the publisher: the bytes do not hold what they claim (exit code 1)
```
Each message says what happened and what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal


class RagassayError(Exception):
    """The root: everything that this library raises on purpose."""

    exit_code = 4


class InputError(RagassayError):
    """The input cannot be used as it is; lists every problem found, each with its place."""

    exit_code = 2

    def __init__(self, message: str, problems: Iterable[str] = ()) -> None:
        self.message = message
        self.problems = tuple(problems)
        super().__init__("\n".join([message, *(f"  - {problem}" for problem in self.problems)]))


def first_of(problems: Sequence[str], most: int, what: str = "") -> list[str]:
    """Return the first `most` problems and, where there are more, a line that counts the others: and 3 more lines."""
    beyond = len(problems) - most
    return [*problems[:most], *([f"and {beyond} more {what}".rstrip()] if beyond > 0 else [])]


class RunStopped(InputError):
    """Met inside a search, and no fault of that stack: the budget is spent, or a key is refused."""


class PluginError(RagassayError):
    """A plugin or the service behind it failed; `.retryable` says whether asking again may help."""

    exit_code = 3

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        self.retryable = retryable
        super().__init__(message)


class StackError(PluginError):
    """A retrieval stack raised, timed out or broke its promise: down is not the same as weak."""


ModelErrorKind = Literal[
    "rate_limited",
    "server_error",
    "timeout",
    "connection",
    "error_body",
    "empty",
    "content_filter",
    "length",
    "bad_request",
    "auth",
    "malformed_reply",
]


class ModelError(PluginError):
    """A model gave no usable reply; `kind` says how, `retry_after_s` what the server asked us to wait."""

    def __init__(
        self,
        message: str,
        *,
        kind: ModelErrorKind,
        retryable: bool,
        retry_after_s: float | None = None,
    ) -> None:
        self.kind: ModelErrorKind = kind
        self.retry_after_s = retry_after_s
        super().__init__(message, retryable=retryable)


class VerifyError(RagassayError):
    """A document does not hold what it claims; `code` is a reason code of the verifier."""

    exit_code = 1

    def __init__(self, message: str, *, code: str) -> None:
        self.code = code
        super().__init__(message)


def legible(error: BaseException) -> str:
    """Return what an error says as text that can be written: no lone surrogates, at most 2,000 characters."""
    return str(error)[:2000].encode("utf-8", "backslashreplace").decode()
