"""What a stack says of how finished the product is that it asks. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

UNFINISHED = frozenset({"alpha", "beta", "preview", "experimental"})
"""What a stack may say of itself as `maturity` that a reader should know of."""


def maturities(value: Any) -> Iterator[tuple[str, str]]:
    """Yield kind and `maturity` of every part of a description that says how mature it is."""
    if isinstance(value, dict):
        if isinstance(value.get("maturity"), str):
            yield str(value.get("kind", "a part")), value["maturity"]
        for one in value.values():
            yield from maturities(one)
    elif isinstance(value, list):
        for one in value:
            yield from maturities(one)
