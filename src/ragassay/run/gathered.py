"""Several checks whose problems are told together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ragassay.errors import InputError

T = TypeVar("T")


class Gathered:
    """Input errors met so far; `raise_all` raises them as one."""

    def __init__(self) -> None:
        self._errors: list[InputError] = []

    def of(self, check: Callable[[], T]) -> T | None:
        """Return what `check` returns, or None where it raised an `InputError`, which is kept."""
        try:
            return check()
        except InputError as error:
            self._errors.append(error)
            return None

    def raise_all(self, message: str) -> None:
        """Raise what was gathered: a single error as it is, several as the problems of one with `message`."""
        if len(self._errors) == 1:
            raise self._errors[0]
        if self._errors:
            lines = [f"{error.message}: {problem}" for error in self._errors for problem in error.problems]
            raise InputError(message, [*(e.message for e in self._errors if not e.problems), *lines])
