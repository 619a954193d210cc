"""What tokens cost. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

_INPUT = "input_usd_per_mtok"
_MOST_USD = 1_000_000


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """USD per million tokens, which is micro-USD per token."""

    input_usd_per_mtok: str
    output_usd_per_mtok: str

    def cost_microusd(self, input_tokens: int | None, output_tokens: int | None) -> int | None:
        """Return the cost of one call, half-up, or None where the server did not count tokens."""
        if input_tokens is None or output_tokens is None:
            return None
        cost = Decimal(self.input_usd_per_mtok) * input_tokens + Decimal(self.output_usd_per_mtok) * output_tokens
        return int(cost + Decimal("0.5"))


def input_price_problems(given: object) -> list[str]:
    """Return what is wrong with the price of a service that bills its input alone; None is no price."""
    if given is None:
        return []
    wanted = f"price must be {{ {_INPUT} = '…' }}, a decimal string from 0 to {_MOST_USD}"
    if not isinstance(given, Mapping) or set(given) != {_INPUT} or not isinstance(given[_INPUT], str):
        return [wanted]
    try:
        usd = Decimal(given[_INPUT])
    except InvalidOperation:
        return [wanted]
    return [] if usd.is_finite() and 0 <= usd <= _MOST_USD else [wanted]


def input_price(given: Mapping[str, Any] | None) -> Price | None:
    """Return a price that `input_price_problems` finds nothing wrong with."""
    return Price(input_usd_per_mtok=given[_INPUT], output_usd_per_mtok="0") if given else None
