"""The parameters that a plugin's class takes, asked of the class itself: constructing one does no work."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import msgspec

from ragassay.errors import InputError, legible
from ragassay.plugins.stacks.parameters import TAKEN


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter of a plugin."""

    name: str
    default: Any
    """What holds where it is not given, as JSON; None where nothing does."""
    required: bool
    allowed: str | None
    """What it may be, in the class's own words; None where the class does not say."""


def parameters_of(plugin: Any) -> list[Parameter]:
    """Return what a board can give a plugin's class: what its constructor names, and what it reads of the others.

    A parameter that is annotated as a `Secret` is left out: the runner gives it.
    A class that reads its parameters with `Parameters` is constructed twice, once without any and once with a value
    that fits none of them, and what it refuses says what is required and allowed.
    """
    named = [
        Parameter(
            name=one.name,
            default=None if one.default is one.empty else _json(one.default),
            required=one.default is one.empty,
            allowed=None if one.annotation is one.empty else str(getattr(one.annotation, "__name__", one.annotation)),
        )
        for one in _signature(plugin)
    ]
    read: dict[str, Any] = {}
    token = TAKEN.set(read)
    try:
        missing = _refused(plugin, {})
        wrong = _refused(plugin, dict.fromkeys(read, _FITS_NOWHERE)) if read else {}
    finally:
        TAKEN.reset(token)
    kept = [one for one in named if "Secret" not in (one.allowed or "")]
    return kept + [
        Parameter(name=name, default=_json(default), required=name in missing, allowed=wrong.get(name))
        for name, default in read.items()
    ]


class _Nowhere:
    """A value that no parameter may have."""

    def __repr__(self) -> str:
        return "…"


_FITS_NOWHERE = _Nowhere()


def _signature(plugin: Any) -> list[inspect.Parameter]:
    kept = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    try:
        return [one for one in inspect.signature(plugin).parameters.values() if one.kind in kept]
    except (TypeError, ValueError):  # a class of a compiled module tells nothing
        return []


def _refused(plugin: Any, given: Mapping[str, Any]) -> dict[str, str]:
    """Return what each refused parameter must be, by name."""
    try:
        plugin(**given)
    except InputError as error:
        found = (problem.partition(" must be ") for problem in error.problems)
        return {start.partition(" ")[0]: wanted for start, _, wanted in found}
    except Exception as error:  # noqa: BLE001 - an outside class may raise anything: then nothing is said of them
        return {"": legible(error)}
    return {}


def _json(value: Any) -> Any:
    try:
        return msgspec.json.decode(msgspec.json.encode(value))
    except (TypeError, ValueError):
        return repr(value)
