"""Recorded parameters as the pages list them: the path to each and its value as it is read. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ragassay.site.spec.document import Code
from ragassay.site.spec.parameters import leaves


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded parameter: the path to it, and its value, which is in words of ours where there is none."""

    name: str
    value: str
    literal: bool
    """Whether the value stands there letter by letter."""


def recorded(members: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """Return every parameter that a description records, in the order of the specification page."""
    found = leaves(dict(members)) if members else ()
    return tuple(Parameter(name=name, value=one.text, literal=isinstance(one, Code)) for name, one in found)
