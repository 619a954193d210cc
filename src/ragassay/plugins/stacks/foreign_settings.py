"""What an object of somebody else's library is set to, as JSON that can be published: no key, no path of a machine."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import Enum
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any
from urllib.parse import urlsplit

from ragassay.canon import decimal_string, sha256
from ragassay.records import JSON

HIDDEN = "(not recorded)"
"""Stands for a value that is, or may be, a secret, and for one that differs from build to build."""

MOST_ITEMS = 50
MOST_DEPTH = 6
MOST_CHARS = 500
_LARGEST = 2**53 - 1
_SECRET_WORDS = frozenset(
    [
        "apikey",
        "auth",
        "authorization",
        "bearer",
        "connection",
        "cookie",
        "cookies",
        "credential",
        "credentials",
        "dsn",
        "header",
        "headers",
        "key",
        "passphrase",
        "passwd",
        "password",
        "pwd",
        "secret",
        "secrets",
        "token",
    ]
)
_NO_MATTER = ("callback_manager", "callbacks", "show_progress", "verbose")
_HARMLESS = re.compile(r"(id|text|content|metadata|page|node|doc|document|field|vector|sort|partition|embedding)_key")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LOOKS_SECRET = re.compile(
    r"\b(?:sk|pk|rk|gh[opsu]|github_pat|glpat|xox[abprs]|hf|pcsk|lsv2|gsk|nvapi|jina|voyage|pa)[-_][-_A-Za-z0-9]{6,}"
    r"|\b(?:AKIA|AIza|ya29\.|eyJ)[-_.A-Za-z0-9]{8,}"
    r"|\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
    r"|(?i:\bbearer )\S+"
)
_UNBROKEN = re.compile(r"[A-Za-z0-9+]{20,}={0,2}")
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>]+", re.IGNORECASE)
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
        for secret in sorted(self.hidden, key=len, reverse=True):
            text = text.replace(secret, HIDDEN)
        text = _LOOKS_SECRET.sub(HIDDEN, _ADDRESS.sub(_without_secrets, text))
        return _UNBROKEN.sub(lambda match: HIDDEN if _is_random(match.group()) else match.group(), text)

    def _value(self, name: str, value: Any) -> Any:
        if isinstance(value, bool) or (isinstance(value, int) and abs(value) <= _LARGEST):
            return value
        if isinstance(value, Enum):
            return self._value(name, value.value)
        if isinstance(value, int | float):
            return decimal_string(value) if math.isfinite(value) else str(value)
        if isinstance(value, Mapping) and value.get("type") == "env_var":
            return {"env_vars": self._list("", value.get("env_vars") or ())}
        if _is_secret(value) or (names_a_secret(name) and isinstance(value, str | bytes | Mapping | list | tuple)):
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
        self.hidden |= set(_LOOKS_SECRET.findall(value)) | set(filter(_is_random, _UNBROKEN.findall(value)))
        told = self.scrub(value).encode("utf-8", "backslashreplace").decode()
        return told if len(told) <= MOST_CHARS else {"chars": len(told), "sha256": sha256(told.encode())}

    def _hide(self, value: Any) -> None:
        for text in _texts(value):
            if len(text) >= 4:
                self.hidden.add(text)


def qualified(of: type) -> str:
    """Return a class's module and name."""
    return f"{of.__module__}.{of.__qualname__}"


def names_a_secret(name: str) -> bool:
    """Tell whether a setting of that name may hold a secret."""
    words = [word.lower() for word in _WORD.findall(name)]
    return not _HARMLESS.fullmatch(name) and not _SECRET_WORDS.isdisjoint(words)


def _members(value: Any, inside: tuple[type, ...]) -> Iterator[tuple[str, Any]]:
    """Yield pydantic's fields, or what the constructor takes and the object keeps under that name."""
    fields = getattr(type(value), "model_fields", None)
    if isinstance(fields, Mapping):
        for name in fields:
            with suppress(AttributeError):
                yield str(name), getattr(value, name)
    elif isinstance(value, inside):
        kept = getattr(value, "__dict__", {})
        for name in _parameters(type(value)):
            yield name, kept.get(name, kept.get(f"_{name}"))


def _parameters(of: type) -> list[str]:
    try:
        every = list(inspect.signature(inspect.getattr_static(of, "__init__")).parameters.values())
    except (TypeError, ValueError):
        return []
    return [one.name for one in every[1:] if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]


def _is_random(text: str) -> bool:
    """Tell a drawn key from a name such as `InMemoryBM25Retriever`: its letters and digits change all the time."""
    words = _WORD.findall(text)
    return any(word.isdigit() for word in words) and len(text) < 3 * len(words)


def _is_secret(value: Any) -> bool:
    return hasattr(value, "get_secret_value") or hasattr(value, "resolve_value") or hasattr(value, "reveal")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)
    else:
        for method in ("get_secret_value", "resolve_value", "reveal"):
            with suppress(Exception):  # a secret of a variable that is not set has nothing to hide
                yield from _texts(getattr(value, method)())


def _without_secrets(match: re.Match[str]) -> str:
    """Return an address without user, query and fragment."""
    try:
        parts = urlsplit(match.group())
    except ValueError:
        return HIDDEN
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
