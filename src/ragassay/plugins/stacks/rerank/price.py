"""What a rerank service takes for its work: for searches or for tokens, as it bills them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

import msgspec

NAMES = ("usd_per_1000_searches", "usd_per_mtok")
_WANTED = 'price must be { usd_per_1000_searches = "…" } or { usd_per_mtok = "…" }, as the service bills'
_DEAREST = 1_000_000


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """USD for a thousand searches, or for a million tokens."""

    usd_per_1000_searches: Decimal | None = None
    usd_per_mtok: Decimal | None = None

    def cost_microusd(self, searches: Decimal | None, tokens: int | None) -> int | None:
        """Return the cost of one reply, half-up, or None where the service does not say what it counted."""
        if self.usd_per_1000_searches is not None:
            cost = None if searches is None else self.usd_per_1000_searches * searches * 1000
        else:
            cost = None if tokens is None or self.usd_per_mtok is None else self.usd_per_mtok * tokens
        return None if cost is None else int(cost.to_integral_value(ROUND_HALF_UP))


def read_price(table: Mapping[str, Any] | None) -> tuple[Price | None, list[str]]:
    """Return the price in a board's table, None where there is none, and what is wrong with it."""
    if table is None:
        return None, []
    if len(table) != 1 or next(iter(table)) not in NAMES:
        return None, [_WANTED]
    name, value = next(iter(table.items()))
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise InvalidOperation
        number = Decimal(str(value))
        if not number.is_finite() or not 0 <= number <= _DEAREST:
            raise InvalidOperation
    except InvalidOperation:
        return None, [f"price.{name} = {value!r} must be a number from 0 to {_DEAREST}"]
    return Price(**{name: number}), []
