"""What the calls behind one answer, verdict or search took, collected from inside them, whatever thread they run in."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

import msgspec

from ragassay.records import Usage


class Meter(msgspec.Struct):
    """What the calls behind one answer, verdict or search took: attempts that brought no reply count, nothing else.

    `outside_tokens` and `outside_microusd` are the part that no endpoint counted against the budget: calls that a
    plugin makes to a service of its own.
    """

    attempts: int = 0
    replies: int = 0
    latency_ms: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_microusd: int | None = None
    outside_tokens: int = 0
    outside_microusd: int = 0
    counted_tokens: int = 0
    """What was counted against the caps, estimates for replies that nobody saw or that said no tokens included."""
    counted_microusd: int = 0
    lost: bool = False
    """True where a call went on when nobody waited for it any more: what it took is unknown."""

    def add(self, usage: Usage, latency_ms: int, cost_microusd: int | None) -> None:
        """Add one reply; a sum of which one part is unknown is unknown, never less."""
        first = self.replies == 0
        self.replies += 1
        self.latency_ms += latency_ms
        self.input_tokens = usage.input_tokens if first else _sum(self.input_tokens, usage.input_tokens)
        self.output_tokens = usage.output_tokens if first else _sum(self.output_tokens, usage.output_tokens)
        self.cost_microusd = cost_microusd if first else _sum(self.cost_microusd, cost_microusd)

    def add_outside(self, usage: Usage, latency_ms: int, cost_microusd: int | None) -> None:
        """Add one reply of a service that a plugin asks by itself."""
        self.add(usage, latency_ms, cost_microusd)
        self.outside_tokens += (usage.input_tokens or 0) + (usage.output_tokens or 0)
        self.outside_microusd += cost_microusd or 0
        self.count((usage.input_tokens or 0) + (usage.output_tokens or 0), cost_microusd or 0)

    def count(self, tokens: int, microusd: int) -> None:
        """Note what was counted against the caps."""
        self.counted_tokens += tokens
        self.counted_microusd += microusd

    @property
    def usage(self) -> Usage:
        """Return the tokens summed."""
        return Usage(input_tokens=self.input_tokens, output_tokens=self.output_tokens)


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextlib.contextmanager
def metering(meter: Meter | None = None) -> Iterator[Meter]:
    """Collect what every call made inside took, in `meter` where one is given (to carry it into another thread)."""
    meter = Meter() if meter is None else meter
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


def current() -> Meter | None:
    """Return the meter that collects the present call, or None where nobody asked."""
    return _meter.get()
