"""A row of an earlier pass in the place of a failed one, which the run does not declare: each form of it. Pure.

The publisher signs and logs the run with every digest put right. The pass is the second of three; the first ended
before it began.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ragassay.testing.cases import Case
from ragassay.testing.logged_run import CREATED, Bundle, Change, Story, planned_id, tell
from ragassay.testing.signed_run import STARTED, OpenedRun, open_run, signed_run

EARLIER = STARTED - 30
"""When the first pass answered: after its announcement was seen, and before the second pass began."""


def _row(run: OpenedRun, at: int | None = EARLIER, /, **members: Any) -> None:
    """Put the first pass's first row in, `members` rewritten, and its telemetry, answered at `at`.

    Where that is None the telemetry stays that of this pass.
    """
    first = open_run(signed_run(run_id=planned_id(1), pass_k=1))
    run.outputs[0] = {**first.outputs[0], **members}
    if at is not None:
        run.telemetry[0] = {**first.telemetry[0], "answeredAt": at}


def filled(at: int | None = EARLIER, /, *, window: int | None = None, **members: Any) -> Change:
    """Return the change that fills the first row; `window` is its new start."""

    def change(run: OpenedRun) -> None:
        _row(run, at, **members)
        if window is not None:
            run.predicate["window"]["start"] = window

    return change


def second_pass(change: Change, story: Story | None = None) -> Callable[[], Bundle]:
    """Return what builds pass 2 of 3 after a change."""
    told = msgspec.structs.replace(story or Story(), change=change, others=(1, 3))
    return lambda: tell(told, signed_run(run_id=planned_id(2), pass_k=2))


def _count(run: OpenedRun) -> None:
    _row(run, None, **REWRITTEN)
    run.predicate["counts"]["filled"] = 1


def _lose_telemetry(run: OpenedRun) -> None:
    _row(run, None, **REWRITTEN)
    run.telemetry.pop(0)


def _lose_time(run: OpenedRun) -> None:
    _row(run, None, **REWRITTEN)
    run.telemetry[0]["answeredAt"] = None


REWRITTEN: dict[str, Any] = {"run": planned_id(2), "pass": 2}
"""Run and pass as those of this pass."""
_EARLIER_PLAN = tuple(planned_id(k) for k in (11, 12, 13))


def _case(change: Change, *codes: str, ok: bool = False, story: Story | None = None) -> Case:
    build = second_pass(change, story)
    return Case(build=build, policy="key, log and witness", codes=frozenset(codes), ok=ok, strict=False)


UNDECLARED_FILLS: dict[str, Case] = {
    "fill: a row of an earlier pass as it was": _case(
        filled(window=EARLIER), "ROW_FOREIGN_RUN", "FILL_UNDECLARED",
    ),
    "fill: its run rewritten": _case(filled(window=EARLIER, run=planned_id(2)), "FILL_UNDECLARED"),
    "fill: its pass rewritten": _case(filled(window=EARLIER, **{"pass": 2}), "ROW_FOREIGN_RUN"),
    "fill: run and pass rewritten, its time kept": _case(filled(**REWRITTEN), "WINDOW"),
    "fill: its telemetry left out": _case(_lose_telemetry, "TELEMETRY_ROWS"),
    "fill: its time left out": _case(_lose_time, "WINDOW"),
    "fill: from before the announcement, window widened": _case(
        filled(CREATED - 600, window=CREATED - 600, **REWRITTEN), "INTENT_AFTER_RUN", "UNTIMED",
    ),
    "fill: from before anybody saw the announcement, window widened": _case(
        filled(CREATED + 30, window=CREATED + 30, **REWRITTEN), "UNTIMED", ok=True,
    ),
    "fill: under the announcement that it was made under": _case(
        filled(window=EARLIER, **REWRITTEN), "PASS_OUT_OF_PLAN",
        story=Story(announce=lambda intent: msgspec.structs.replace(intent, runs=_EARLIER_PLAN)),
    ),
    "fill: counted, and no row says it": _case(_count, "COUNTS"),
    "fill: named in its row, and not counted": _case(
        filled(window=EARLIER, fill={"run": planned_id(1), "pass": 1}, **REWRITTEN), "FILL_UNDECLARED", "COUNTS",
    ),
}  # fmt: skip
"""Each form that one bundle shows, by its name."""

UNSEEN_FILLS: dict[str, Callable[[], Bundle]] = {
    "rewritten whole": second_pass(filled(None, **REWRITTEN)),
    "its time kept, and the window widened to it": second_pass(filled(window=EARLIER, **REWRITTEN)),
}
"""The forms that no bundle shows by itself: whoever has the earlier pass too sees one reply of the judge in both."""
