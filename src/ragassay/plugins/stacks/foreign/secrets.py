"""What is, or may be, a secret among the settings of somebody else's objects, and taking it out of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

HIDDEN = "(not recorded)"
"""Stands for a value that is, or may be, a secret, and for one that differs from build to build."""

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
_HARMLESS = re.compile(r"(id|text|content|metadata|page|node|doc|document|field|vector|sort|partition|embedding)_key")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LOOKS_SECRET = re.compile(
    r"\b(?:sk|pk|rk|glpat|nvapi|pa|xox[abprs])-[-_A-Za-z0-9]{8,}"
    r"|\b(?:sk|pk|rk|gh[opsu]|github_pat|hf|pcsk|lsv2|gsk|jina)_[-_A-Za-z0-9]{8,}"
    r"|\b(?:AKIA|AIza|ya29\.|eyJ)[-_.A-Za-z0-9]{8,}"
    r"|\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
    r"|(?i:\bbearer )\S+"
)
_UNBROKEN = re.compile(r"[A-Za-z0-9+]{20,}={0,2}")
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>]+", re.IGNORECASE)
_REVEALING = ("get_secret_value", "resolve_value", "reveal")


def names_a_secret(name: str) -> bool:
    """Tell whether a setting of that name may hold a secret."""
    words = [word.lower() for word in _WORD.findall(name)]
    return not _HARMLESS.fullmatch(name) and not _SECRET_WORDS.isdisjoint(words)


def secrets_in(text: str) -> set[str]:
    """Return the parts of a text that look like secrets."""
    return set(_LOOKS_SECRET.findall(text)) | set(filter(_is_random, _UNBROKEN.findall(text)))


def without_secrets(text: str, known: Set[str]) -> str:
    """Return a text without the `known` secrets, without whatever looks like one, and with bare addresses."""
    for secret in sorted(known, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    text = _LOOKS_SECRET.sub(HIDDEN, _ADDRESS.sub(_bare, text))
    return _UNBROKEN.sub(lambda match: HIDDEN if _is_random(match.group()) else match.group(), text)


def is_secret(value: Any) -> bool:
    """Tell whether a value is one that a library made to hold a secret."""
    return any(hasattr(type(value), name) for name in _REVEALING)


def texts_of(value: Any) -> Iterator[str]:
    """Yield every text in a value, of a secret what it holds."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from texts_of(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts_of(one)
    elif is_secret(value):
        method = next(name for name in _REVEALING if hasattr(type(value), name))
        with suppress(Exception):  # a secret of a variable that is not set has nothing to hide
            shown = getattr(value, method)()
            if isinstance(shown, str | bytes):
                yield from texts_of(shown)


def _bare(match: re.Match[str]) -> str:
    """Return an address without user, query and fragment."""
    try:
        parts = urlsplit(match.group())
    except ValueError:
        return HIDDEN
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _is_random(text: str) -> bool:
    """Tell a drawn key from a name such as `InMemoryBM25Retriever`: its letters and digits change all the time."""
    words = _WORD.findall(text)
    return any(word.isdigit() for word in words) and len(text) < 3 * len(words)
