"""When a call to one endpoint may start: slots that adapt, a pace of requests and of tokens, cool-downs, the budget.

All slots that the board allows are used from the first call on. Where the endpoint refuses calls of that first flight,
there are as many slots as it served of it (where it served none, one, doubled by each round of replies); each later
episode of refusals takes a fifth of them, and one comes back a round of replies (additive increase). Refusals of calls
that were under way together are one episode. The call that has waited longest starts next, and O(1) is done a call.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Literal

import msgspec

from ragassay.errors import InputError, ModelError
from ragassay.run.board_file import Limits
from ragassay.run.budget import Budget, Need

BACK_OFF = 0.8
REPLIES_A_SLOT = 10
"""After an episode one slot comes back in a round of replies, and in no fewer than these."""
FIRST_COOL_S = 0.5
LONGEST_COOL_S = 60.0
LONGEST_RETRY_AFTER_S = 900.0
"""A server that asks for more than a quarter of an hour has in effect refused."""
HOPELESS_EPISODES = 8
HOPELESS_S = 120.0
"""While an endpoint that served nobody through so many episodes and so long cools down, calls fail at once."""
LATE_S = 0.05
"""By how much a timer may come late without slowing down the pace of calls that wait for it."""
SHORTEST_S = 1e-6

Ticket = int
"""The episodes that had been when a call started: later ones are news, an earlier one is not."""
Hold = Literal["slots", "cool-down", "requests per minute", "tokens per minute", "budget"]
_Grant = asyncio.Future[Ticket | InputError | ModelError]


class LimiterReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a limiter did: slots at most, episodes, seconds cooled down, and how many calls waited for what."""

    slots: int
    allowed: int
    episodes: int
    cooled_s: float
    waits: dict[str, int]


class Waiting(msgspec.Struct):
    """A call that may not start yet, and what it was last held by."""

    grant: _Grant
    need: Need | None
    hold: Hold | None = None


class Limiter:
    """The gate in front of one endpoint: every `acquire` that returns is followed by one `release`."""

    def __init__(self, limits: Limits, budget: Budget, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = limits.concurrency
        self._slots = float(limits.concurrency)
        self._budget = budget
        self._clock = clock
        self._requests = Pace(limits.requests_per_minute)
        self._tokens = Pace(limits.tokens_per_minute)
        self._queue: deque[Waiting] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._under_way = 0
        self._served = 0
        self._sizing = False
        """Between the first refusal in the first flight and the next episode: what is served says how many it takes."""
        self._slow_start = False
        """While nothing of the first flight was served."""
        self._cool_until = float("-inf")
        self._refused_since: float | None = None
        self._in_a_row = 0
        self._last: ModelError | None = None
        self._used_up = False
        self._backlog = False
        self._peak = 0
        self._episodes = 0
        self._cooled_s = 0.0
        self._waits: Counter[str] = Counter()
        self._loop: asyncio.AbstractEventLoop | None = None
        budget.on_release(self._wake)

    async def acquire(self, need: Need | None) -> Ticket:
        """Wait until a call may start, and count it as started.

        Raises `InputError` where the budget has no room for it, and `ModelError` where the endpoint serves nobody.
        """
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        if not self._queue and self._may_start_now(need):
            return self._started(need, self._clock())
        waiting = Waiting(self._loop.create_future(), need)
        self._queue.append(waiting)
        self._start_waiting()
        try:
            granted = await waiting.grant
        except asyncio.CancelledError:
            if waiting.grant.done() and not waiting.grant.cancelled() and isinstance(waiting.grant.result(), Ticket):
                self._tokens.correct(-need.expected.tokens if need else 0, self._clock())
                self.release(need)
            raise
        if isinstance(granted, Ticket):
            return granted
        raise granted

    def release(self, need: Need | None) -> None:
        """Give back the slot, and what of the budget was held, of a call that has ended in whatever way."""
        self._under_way -= 1
        if need is not None:
            self._budget.release(need)  # starts what waits here as well
        else:
            self._start_waiting()

    def succeeded(self, ticket: Ticket) -> None:
        """Take into account that a call was served: where slots were short, there are more of them now."""
        self._used_up = False
        self._served += 1
        if ticket != self._episodes:
            if ticket == 0 and self._sizing:
                self._slots, self._slow_start = float(self._served), False
            return
        self._in_a_row = 0
        self._refused_since = None
        if self._slots < self._most and self._under_way >= int(self._slots):
            more = 1.0 if self._slow_start else 1 / max(self._slots, REPLIES_A_SLOT)
            self._slots = min(self._most, self._slots + more)

    def refused(self, ticket: Ticket, error: ModelError) -> None:
        """Take into account that a call was refused for its rate: one back-off an episode."""
        now = self._clock()
        self._last = error
        self._used_up = self._used_up or not error.retryable
        if ticket == self._episodes:
            self._episodes += 1
            self._in_a_row += 1
            self._refused_since = now if self._refused_since is None else self._refused_since
            self._sizing = self._episodes == 1 and self._served < self._most
            self._slow_start = self._sizing and not self._served
            fewer = self._served if self._sizing else min(self._slots, self._under_way) * BACK_OFF
            self._slots = max(1.0, fewer)
            self._cool(now, _cool_s(self._in_a_row))
        self.cool(error)

    def cool(self, error: ModelError) -> None:
        """Start no call before the time that the server named with a failure, where it named one."""
        if error.retry_after_s is not None:
            self._last = error
            self._cool(self._clock(), error.retry_after_s)

    def correct(self, need: Need, tokens: int) -> None:
        """Replace the tokens that a call was expected to take by those that it took."""
        self._tokens.correct(tokens - need.expected.tokens, self._clock())

    def report(self) -> LimiterReport:
        """Return what was done so far."""
        return LimiterReport(
            slots=self._peak,
            allowed=self._most,
            episodes=self._episodes,
            cooled_s=self._cooled_s,
            waits=dict(self._waits),
        )

    @property
    def slots(self) -> int:
        """How many calls may be under way now."""
        return int(self._slots)

    @property
    def under_way(self) -> int:
        """How many are."""
        return self._under_way

    def _may_start_now(self, need: Need | None) -> bool:
        """Tell whether a call need not wait, where nothing is to be counted or paced and nobody waits before it."""
        if need is not None or self._under_way >= int(self._slots) or self._used_up:
            return False
        now = self._clock()
        return self._cool_until <= now and self._requests.free_at <= now and self._tokens.free_at <= now

    def _start_waiting(self) -> None:
        """Start the calls that have waited longest, as many as may; arm the timer where only time holds the next."""
        while self._queue:
            head = self._queue[0]
            if head.grant.done():  # cancelled while it waited
                self._queue.popleft()
                continue
            now = self._clock()
            if (hopeless := self._hopeless(now)) is not None:
                self._queue.popleft()
                head.grant.set_result(hopeless)
                continue
            if self._under_way >= int(self._slots):
                self._held(head, "slots")
                return
            hold, until = self._until(now)
            if hold is not None:
                self._held(head, hold)
                self._wake_at(until, now)
                return
            with self._budget.lock:
                if head.need is not None and not self._budget.has_room(head.need):
                    if self._budget.under_way:
                        self._held(head, "budget")
                        return
                    self._queue.popleft()
                    head.grant.set_result(self._budget.refuse(head.need))
                    continue
                self._queue.popleft()
                self._start(head, now)
        self._backlog = False

    def _wake(self) -> None:
        """Start what waits, now or, where another thread gave the room back, as soon as this one's loop comes to it."""
        if self._loop is None or not self._queue:
            return
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is self._loop:
            self._start_waiting()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._start_waiting)

    def _start(self, head: Waiting, now: float) -> None:
        head.grant.set_result(self._started(head.need, now))

    def _started(self, need: Need | None, now: float) -> Ticket:
        self._under_way += 1
        if self._under_way > self._peak:
            self._peak = self._under_way
        due = now - LATE_S if self._backlog else now
        self._requests.take(1, due)
        if need is not None:
            self._tokens.take(need.expected.tokens, due)
            self._budget.reserve(need)
        return self._episodes

    def _until(self, now: float) -> tuple[Hold | None, float]:
        """Return what time alone holds the next call by, and until when."""
        if self._cool_until > now:
            return "cool-down", self._cool_until
        if self._requests.free_at > now:
            return "requests per minute", self._requests.free_at
        if self._tokens.free_at > now:
            return "tokens per minute", self._tokens.free_at
        return None, now

    def _held(self, head: Waiting, hold: Hold) -> None:
        self._backlog = hold in ("requests per minute", "tokens per minute")
        if head.hold != hold:
            head.hold = hold
            self._waits[hold] += 1

    def _wake_at(self, until: float, now: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(max(until - now, SHORTEST_S), self._start_waiting)

    def _cool(self, now: float, seconds: float) -> None:
        until = now + seconds
        if until > self._cool_until:
            self._cooled_s += until - max(self._cool_until, now)
            self._cool_until = until

    def _hopeless(self, now: float) -> ModelError | None:
        """Return the failure of a call that is not worth its wait: nobody was served for long, or will be for long."""
        wait = self._cool_until - now
        if self._last is None or (wait <= 0 and not self._used_up):
            return None
        if self._used_up:
            return ModelError(str(self._last), kind=self._last.kind, retryable=False)
        if wait > LONGEST_RETRY_AFTER_S:
            why = f"the server asks to wait {wait:.0f} s"
        elif self._in_a_row >= HOPELESS_EPISODES and now - (self._refused_since or now) >= HOPELESS_S:
            why = f"the endpoint has served no call for {now - (self._refused_since or now):.0f} s"
        else:
            return None
        return ModelError(f"{self._last} ({why})", kind=self._last.kind, retryable=False)


class Pace:
    """Spreads what is taken evenly over the minute; `free_at` is when the next may be taken. Without a rate: always."""

    def __init__(self, per_minute: int | None) -> None:
        self._seconds_each = 60 / per_minute if per_minute else 0.0
        self.free_at = float("-inf")

    def take(self, amount: int, due: float) -> None:
        """Take an amount that was due then, or since when it became free."""
        if self._seconds_each:
            self.free_at = max(self.free_at, due) + amount * self._seconds_each

    def correct(self, more: int, now: float) -> None:
        """Count an amount (negative: give one back) that turned out later."""
        if self._seconds_each:
            self.free_at = (max(self.free_at, now) if more > 0 else self.free_at) + more * self._seconds_each


def _cool_s(in_a_row: int) -> float:
    """Return how long an endpoint rests that names no time: not after one episode, ever longer while it serves none."""
    return 0.0 if in_a_row < 2 else float(min(LONGEST_COOL_S, FIRST_COOL_S * 2 ** min(in_a_row - 2, 20)))
