"""What an object of somebody else's library is set to, as JSON that can be published: no key, no path of a machine."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from ragassay.canon import decimal_string, sha256
from ragassay.plugins.stacks.foreign.secrets import (
    HIDDEN,
    is_secret,
    names_a_secret,
    secrets_in,
    texts_of,
    without_secrets,
)
from ragassay.records import JSON

MOST_ITEMS = 50
MOST_DEPTH = 6
MOST_CHARS = 500
SHORTEST = 4
"""A shorter text that is hidden is not looked for in errors: it would be found in words."""
_LARGEST = 2**53 - 1
_NO_MATTER = ("callback_manager", "callbacks", "show_progress", "verbose")
_REVISION = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Settings:
    """Reads objects of the classes `inside`, and whatever has pydantic's fields; of others the class alone.

    `hidden` gathers the secrets that it met, `classes` the class of every object that it read.
    """

    def __init__(self, inside: tuple[type, ...], items: tuple[type, ...]) -> None:
        self._inside = inside
        self._items = items
        self._way: list[int] = []
        self.hidden: set[str] = set()
        self.classes: set[type] = set()

    def of(self, value: Any) -> JSON:
        """Return the class of an object and what it is set to, without what is None."""
        self.classes.add(type(value))
        told: JSON = {"class": qualified(type(value))}
        if id(value) in self._way or len(self._way) >= MOST_DEPTH:
            return told
        self._way.append(id(value))
        try:
            for name, one in _members(value, self._inside):
                if one is not None and name not in _NO_MATTER:
                    told[name] = self._value(name, one)
        finally:
            self._way.pop()
        return told

    def plain(self, value: Any, name: str = "") -> Any:
        """Return a value that a library wrote out itself, such as Haystack's `to_dict`, without what is secret."""
        return self._value(name, value)

    def scrub(self, text: str) -> str:
        """Take every secret that was met, and whatever looks like one, out of a text."""
        return without_secrets(text, self.hidden)

    def _value(self, name: str, value: Any) -> Any:
        if isinstance(value, bool) or (isinstance(value, int) and abs(value) <= _LARGEST):
            return value
        if isinstance(value, Enum):
            return self._value(name, value.value)
        if isinstance(value, int | float):
            return decimal_string(value) if math.isfinite(value) else str(value)
        if isinstance(value, Mapping) and value.get("type") == "env_var":
            return {"env_vars": self._list("", value.get("env_vars") or ())}
        if is_secret(value) or (names_a_secret(name) and isinstance(value, str | bytes | Mapping | list | tuple)):
            self._hide(value)
            return HIDDEN
        if isinstance(value, str):
            return self._text(name, value)
        if isinstance(value, PurePath):
            return self._text(name, str(value))
        if isinstance(value, Mapping):
            return self._mapping(value)
        if isinstance(value, list | tuple | set | frozenset):
            return self._list(name, value)
        if isinstance(value, type):
            return qualified(value)
        if isinstance(value, FunctionType | BuiltinFunctionType | MethodType):
            return f"{value.__module__}.{value.__qualname__}"
        return self.of(value)

    def _mapping(self, value: Mapping[Any, Any]) -> JSON:
        if len(value) > MOST_ITEMS:
            return {"items": len(value)}
        return {str(key): self._value(str(key), one) for key, one in value.items() if one is not None}

    def _list(self, name: str, value: Any) -> Any:
        if len(value) > MOST_ITEMS or any(isinstance(one, self._items) for one in value):
            return {"items": len(value)}
        told = [self._value(name, one) for one in value if one is not None]
        return sorted(told, key=str) if isinstance(value, set | frozenset) else told

    def _text(self, name: str, value: str) -> Any:
        if value.startswith(("/", "~", "\\\\")) or re.match(r"[A-Za-z]:[\\/]", value):
            return "(a path)"
        if _REVISION.fullmatch(value) and re.search(r"revision|commit|sha|digest|hash|version", name):
            return value
        self.hidden |= secrets_in(value)
        told = self.scrub(value).encode("utf-8", "backslashreplace").decode()
        return told if len(told) <= MOST_CHARS else {"chars": len(told), "sha256": sha256(told.encode())}

    def _hide(self, value: Any) -> None:
        self.hidden |= {text for text in texts_of(value) if len(text) >= SHORTEST}


def qualified(of: type) -> str:
    """Return a class's module and name."""
    return f"{of.__module__}.{of.__qualname__}"


def _members(value: Any, inside: tuple[type, ...]) -> Iterator[tuple[str, Any]]:
    """Yield pydantic's fields, or what the constructor takes and the object keeps under that name."""
    fields, kept = getattr(type(value), "model_fields", None), getattr(value, "__dict__", {})
    if isinstance(fields, Mapping):
        for name in fields:
            yield str(name), kept.get(name)
    elif isinstance(value, inside):
        for name in _parameters(type(value)):
            yield name, kept.get(name, kept.get(f"_{name}"))


def _parameters(of: type) -> list[str]:
    try:
        every = list(inspect.signature(inspect.getattr_static(of, "__init__")).parameters.values())
    except (TypeError, ValueError):
        return []
    return [one.name for one in every[1:] if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
