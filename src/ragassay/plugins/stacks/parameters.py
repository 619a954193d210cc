"""Reading a plugin's parameters once, at the edge: every problem and every unknown name in one error."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

from ragassay.canon import decimal_string
from ragassay.errors import InputError

T = TypeVar("T")

Check = Callable[[object], str | None]
"""Returns what is wrong with a value, None where nothing is."""

TAKEN: ContextVar[dict[str, Any] | None] = ContextVar("taken", default=None)
"""Where a dict is set, each parameter that is read is put down there with its default."""

SHOWN = 200
"""How many characters of a wrong value stand in its problem."""


class Parameters:
    """The parameters given to one plugin; read each by name, then call `finish`, which raises what was found."""

    def __init__(self, kind: str, given: Mapping[str, Any]) -> None:
        self._kind = kind
        self._given = dict(given)
        self._known: list[str] = []
        self._problems: list[str] = []

    def integer(self, name: str, default: int, *, low: int, high: int) -> int:
        """Return an integer within [low, high]; a wrong one is noted and the default returned."""
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            return self._wrong(name, value, f"an integer from {low} to {high}", default)
        return value

    def decimal(self, name: str, default: str, *, low: str, high: str) -> str:
        """Return a number within [low, high] as its shortest decimal string; a wrong one is noted."""
        value = self._take(name, default)
        try:
            if isinstance(value, bool) or not isinstance(value, int | float | str):
                raise TypeError
            number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
            if not number.is_finite() or not Decimal(low) <= number <= Decimal(high):
                raise ValueError
        except (TypeError, ValueError, InvalidOperation):
            return self._wrong(name, value, f"a number from {low} to {high}", default)
        return decimal_string(number)

    def choice(self, name: str, default: str, options: Sequence[str]) -> str:
        """Return one of `options`; anything else is noted."""
        value = self._take(name, default)
        if not isinstance(value, str) or value not in options:
            return self._wrong(name, value, f"one of {', '.join(options)}", default)
        return value

    def flag(self, name: str, default: bool) -> bool:
        """Return true or false; anything else is noted."""
        value = self._take(name, default)
        return value if isinstance(value, bool) else self._wrong(name, value, "true or false", default)

    def text(self, name: str) -> str | None:
        """Return a non-empty string, or None when it was not given; anything else is noted."""
        value = self._take(name, None)
        if value is not None and (not isinstance(value, str) or not value):
            return self._wrong(name, value, "a non-empty string", None)
        return value

    def words(self, name: str, default: str, named: Sequence[str]) -> str | tuple[str, ...]:
        """Return one of the `named` lists or the list of words that was given, sorted, each once."""
        value = self._take(name, default)
        if isinstance(value, str) and value in named:
            return value
        if isinstance(value, list | tuple) and all(isinstance(word, str) and word for word in value):
            return tuple(sorted(set(value)))
        return self._wrong(name, value, f"{', '.join(named)} or a list of words", default)

    def table(self, name: str) -> Mapping[str, Any] | None:
        """Return a table with text keys, or None when it was not given; anything else is noted."""
        value = self._take(name, None)
        if value is not None and (not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value)):
            return self._wrong(name, value, "a table", None)
        return value

    def hidden(self, name: str, check: Check) -> str | None:
        """Return a text with which `check` finds nothing wrong; a wrong one may be the key: noted, and not repeated."""
        value = self._take(name, None)
        if fault := check(value):
            self.note(fault)
            return None
        return None if value is None else str(value)

    def gives(self, name: str) -> bool:
        """Tell whether a parameter was given."""
        return self._given.get(name) is not None

    def note(self, *problems: str) -> None:
        """Note what is wrong with several parameters together."""
        self._problems += problems

    def finish(self) -> None:
        """Raise `InputError` with all problems and unknown names, if there are any."""
        unknown = sorted(set(self._given) - set(self._known))
        known = ", ".join(sorted(self._known)) or "none"
        problems = [*self._problems, *(f"unknown parameter {self._named(name)} (known: {known})" for name in unknown)]
        if problems:
            raise InputError(f"the parameters of {self._kind!r} cannot be used", problems)

    def _named(self, name: str) -> str:
        """Return an unknown name as a message repeats it, and the one that was meant, if one is near."""
        near = difflib.get_close_matches(name[:SHOWN], self._known, 1, 0.7)
        return f"{_shown(name)}; did you mean {near[0]!r}?" if near else _shown(name)

    def _take(self, name: str, default: Any) -> Any:
        self._known.append(name)
        if (taken := TAKEN.get()) is not None:
            taken[name] = default
        return self._given.get(name, default)

    def _wrong(self, name: str, value: object, wanted: str, default: T) -> T:
        given = f" = {_shown(value)}" if name in self._given else ""
        self._problems.append(f"{name}{given} must be {wanted}")
        return default


def _shown(value: object) -> str:
    """Return a value as a message repeats it: of a long one its beginning."""
    shown = repr(value)
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…"
