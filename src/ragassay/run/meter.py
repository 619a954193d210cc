"""What the calls behind one answer or verdict took, collected from inside them. Pure."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

import msgspec

from ragassay.records import Usage


class Meter(msgspec.Struct):
    """What the calls behind one answer or verdict took: attempts that brought no reply count and add nothing else."""

    attempts: int = 0
    replies: int = 0
    latency_ms: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_microusd: int | None = None

    def add(self, usage: Usage, latency_ms: int, cost_microusd: int | None) -> None:
        """Add one reply; a sum of which one part is unknown is unknown, never less."""
        first = self.replies == 0
        self.replies += 1
        self.latency_ms += latency_ms
        self.input_tokens = usage.input_tokens if first else _sum(self.input_tokens, usage.input_tokens)
        self.output_tokens = usage.output_tokens if first else _sum(self.output_tokens, usage.output_tokens)
        self.cost_microusd = cost_microusd if first else _sum(self.cost_microusd, cost_microusd)

    @property
    def usage(self) -> Usage:
        """Return the tokens summed."""
        return Usage(input_tokens=self.input_tokens, output_tokens=self.output_tokens)


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextlib.contextmanager
def metering() -> Iterator[Meter]:
    """Collect what every call made inside took."""
    meter = Meter()
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


def current() -> Meter | None:
    """Return the meter that collects the present call, or None where nobody asked."""
    return _meter.get()
