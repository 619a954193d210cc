"""What tokens cost. Pure."""

from __future__ import annotations

from decimal import Decimal

import msgspec


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
