"""A cap on money and tokens that calls under way cannot break: each is reserved before it starts. Pure.

Of the calls under way all but the last that started are reserved at the most they can take, that one at what it is
expected to take. So the sum passes the cap by at most one call's actual minus its estimate.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from ragassay.canon import decimal_string
from ragassay.errors import InputError


class Amount(NamedTuple):
    """Tokens in and out together, and micro-USD."""

    tokens: int
    microusd: int


NOTHING = Amount(0, 0)


class Need(NamedTuple):
    """What one call is expected to take, the most it can take, and the characters that it sends."""

    expected: Amount
    most: Amount
    characters: int = 0


class Budget:
    """Money and tokens spent against their caps (None: no cap), with what is reserved for the calls under way.

    Safe between threads; hold `lock` from `has_room` to `reserve`.
    """

    def __init__(self, max_microusd: int | None = None, spent_microusd: int = 0, *, max_tokens: int | None = None):
        self.max_microusd = max_microusd
        self.max_tokens = max_tokens
        self.spent_microusd = spent_microusd
        self.spent_tokens = 0
        self.estimated_calls = 0
        """Calls that count by an estimate, as their server did not say what they took."""
        self.estimated = NOTHING
        """What these calls were counted as; it is part of what is spent."""
        self.under_way = 0
        self.lock = threading.RLock()
        self._refusal: str | None = None
        """What the first call was told that had no room; every later one is told the same."""
        self._tokens = 0
        self._microusd = 0
        self._released: list[Callable[[], None]] = []

    @property
    def capped(self) -> bool:
        """True where anything has to be counted before a call."""
        return self.max_microusd is not None or self.max_tokens is not None

    @property
    def held(self) -> Amount:
        """What is reserved for the calls under way."""
        return Amount(self._tokens, self._microusd)

    def on_release(self, wake: Callable[[], None]) -> None:
        """Call `wake` whenever room may have come back, from whatever thread gave it back."""
        self._released.append(wake)

    def has_room(self, need: Need) -> bool:
        """Tell whether a call may start beside those under way."""
        if self._refusal is not None:
            return False
        if self.max_microusd is not None:
            money = self.spent_microusd + self._microusd
            if money >= self.max_microusd or money + need.expected.microusd > self.max_microusd:
                return False
        if self.max_tokens is None:
            return True
        tokens = self.spent_tokens + self._tokens
        return tokens < self.max_tokens and tokens + need.expected.tokens <= self.max_tokens

    def reserve(self, need: Need) -> None:
        """Hold the most that a call which starts now can take."""
        with self.lock:
            self.under_way += 1
            self._tokens += need.most.tokens
            self._microusd += need.most.microusd

    def release(self, need: Need) -> None:
        """Give back what was held for a call; what it took is `spend`'s business, and comes before."""
        with self.lock:
            self.under_way -= 1
            self._tokens -= need.most.tokens
            self._microusd -= need.most.microusd
        for wake in self._released:
            wake()

    def spend(self, amount: Amount, *, estimated: bool = False) -> None:
        """Count what a call took, or what it is estimated to have taken."""
        with self.lock:
            self.spent_microusd += amount.microusd
            self.spent_tokens += amount.tokens
            if estimated:
                self.estimated_calls += 1
                self.estimated = _sum(self.estimated, amount)

    def resume(self, spent: Amount, *, estimated: Amount, estimated_calls: int) -> None:
        """Count what earlier sessions took, of which a part may be estimated."""
        self.spend(spent)
        self.estimated = _sum(self.estimated, estimated)
        self.estimated_calls += estimated_calls

    def refuse(self, need: Need) -> InputError:
        """Close the budget, as a call has no room although nothing else is under way; return that call's error."""
        if self._refusal is None:
            self._refusal = self._said(need)
        return InputError(self._refusal)

    def _said(self, need: Need) -> str:
        faults = []
        if self.max_microusd is not None and self.spent_microusd + need.expected.microusd > self.max_microusd:
            more = need.expected.microusd
            left = f"{usd(self.spent_microusd)} of it spent, the next call takes about {usd(more)}"
            faults.append((f"{usd(self.max_microusd)}", "max_usd", self.spent_microusd >= self.max_microusd, left))
        if self.max_tokens is not None and self.spent_tokens + need.expected.tokens > self.max_tokens:
            left = f"{self.spent_tokens} of them spent, the next call takes about {need.expected.tokens}"
            faults.append((f"{self.max_tokens} tokens", "max_tokens", self.spent_tokens >= self.max_tokens, left))
        cap, key, gone, left = faults[0] if faults else (f"{usd(self.max_microusd or 0)}", "max_usd", True, "")
        said = f"the budget of {cap} is spent" if gone else f"the budget of {cap} is too small to go on ({left})"
        return f"{said}; raise [budget] {key} and run again: what was answered is kept"


def _sum(one: Amount, other: Amount) -> Amount:
    return Amount(one.tokens + other.tokens, one.microusd + other.microusd)


def usd(microusd: int) -> str:
    """Return whole micro-USD as an exact decimal with its unit: 500 gives '0.0005 USD'."""
    return f"{decimal_string(Decimal(microusd) / 1_000_000)} USD"
