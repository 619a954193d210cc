"""The page on which people rate stored answers: what it serves and what it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ragassay.errors import InputError
from ragassay.records import JSON
from ragassay.records.calibration import CannotSay, Rating
from ragassay.site.calibration.items import Item
from ragassay.site.calibration.ledger import Ledger
from ragassay.site.calibration.ratings import latest, rater_name
from ragassay.site.calibration.rubric import LEVEL_TEXTS, REASONS, RULINGS, TASK, VERSION, rubric_digest
from ragassay.site.calibration.sample import place
from ragassay.site.safe import visible
from ragassay.web.app import Link, Page, asset, document, problem

MAX_SHOWN = 100_000
"""The most characters of one text that are shown, as many as a judge is shown of an answer."""


class Rate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the page sends to rate an answer: a level in hundredths, or why there is none."""

    rater: str
    item: str
    level: Literal[0, 25, 50, 75, 100] | None = None
    reason: CannotSay | None = None


class Undo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the page sends to take a rating back."""

    rater: str
    item: str
    rating: str


class Drawn(msgspec.Struct, frozen=True, kw_only=True):
    """A sample of answers by their keys, and the seed that orders it for each rater."""

    items: Mapping[str, Item]
    seed: str


def calibrate_page(ledger: Ledger, items: Sequence[Item], *, seed: str, rater: str | None = None) -> Page:
    """Return the page for a sample of answers; `rater` is the name to begin with, None where the page asks for it."""
    drawn = Drawn(items={item.key: item for item in items}, seed=seed)
    return living_calibrate_page(ledger, lambda: drawn, rater=rater)


def living_calibrate_page(
    ledger: Ledger, drawn: Callable[[], Drawn], *, rater: str | None = None, links: Sequence[Link] = ()
) -> Page:
    """Return the page for the sample of the moment; where `drawn` raises `InputError` the page says why."""
    desk = _Desk(ledger, drawn, rater)
    return Page(
        path="/calibrate",
        routes=(
            Route("/calibrate", document(__package__, "calibrate.html", links, "/calibrate"), methods=["GET"]),
            Route("/calibrate/calibrate.js", asset(__package__, "calibrate.js"), methods=["GET"]),
            Route("/calibrate/calibrate.css", asset(__package__, "calibrate.css"), methods=["GET"]),
            Route("/calibrate/rubric", desk.rubric),
            Route("/calibrate/state", desk.state),
            Route("/calibrate/item/{key}", desk.item),
            Route("/calibrate/rate", desk.rate, methods=["POST"]),
            Route("/calibrate/undo", desk.undo, methods=["POST"]),
        ),
    )


class _Desk:
    """The endpoints of the page. Nothing that they send holds a row, a verdict, a score or another rater's rating."""

    def __init__(self, ledger: Ledger, drawn: Callable[[], Drawn], rater: str | None) -> None:
        self._ledger = ledger
        self._drawn = drawn
        self._rater = rater
        self._rubric = rubric_digest()

    async def rubric(self, request: Request) -> Response:
        """Send what every rater is told, and the name to begin with; refused where there is nothing to rate."""
        await run_in_threadpool(self._drawn)
        return JSONResponse({"rater": self._rater, **rubric_json()})

    async def state(self, request: Request) -> Response:
        """Send the keys of the answers in the order of one rater, with what that rater gave them."""
        rater = rater_name(request.query_params.get("rater", ""))
        drawn = await run_in_threadpool(self._drawn)
        order = sorted(drawn.items, key=lambda key: place(drawn.seed, f"order of {rater}", key))
        return JSONResponse({"rater": rater, "items": order, **await self._given(rater)})

    async def item(self, request: Request) -> Response:
        """Send one answer of the sample with what it is rated against."""
        item = await self._item(request.path_params["key"])
        return problem(404, "the sample holds no such answer") if item is None else JSONResponse(item_json(item))

    async def rate(self, request: Request) -> Response:
        """Store a rating, and send what this rater has given."""
        sent = await _sent(request, Rate)
        rater = rater_name(sent.rater)
        if (sent.level is None) == (sent.reason is None):
            return problem(422, "a rating has either a level or the reason why there is none")
        item = await self._item(sent.item)
        if item is None:
            return problem(404, "the sample holds no such answer")

        def store() -> Rating:
            return self._ledger.rate(item, rater, self._rubric, level=sent.level, reason=sent.reason)

        await run_in_threadpool(store)
        return JSONResponse(await self._given(rater))

    async def undo(self, request: Request) -> Response:
        """Take a rating back, and send what this rater has given."""
        sent = await _sent(request, Undo)
        rater = rater_name(sent.rater)
        item = await self._item(sent.item)
        if item is None or not await run_in_threadpool(self._ledger.undo, item, rater, self._rubric, sent.rating):
            return problem(409, "there is no such rating to take back; load the page again")
        return JSONResponse(await self._given(rater))

    async def _item(self, key: str) -> Item | None:
        return (await run_in_threadpool(self._drawn)).items.get(key)

    async def _given(self, rater: str) -> JSON:
        """Return the ratings of one rater on this sample by item, and the one that was given last."""
        lines = latest(await run_in_threadpool(self._ledger.ratings))
        items = (await run_in_threadpool(self._drawn)).items
        own = [r for r in lines if r.rater == rater and r.rubric == self._rubric and r.item in items]
        ratings = {r.item: {"level": r.level, "reason": r.reason} for r in own}
        last = {"item": own[-1].item, "rating": own[-1].id} if own else None
        return {"ratings": ratings, "last": last}


def rubric_json() -> JSON:
    """Return the rubric as the page shows it: levels from the lowest, each with its key."""
    levels = sorted(LEVEL_TEXTS)
    return {
        "version": VERSION,
        "task": TASK,
        "levels": [{"key": str(key), "level": level, "text": text} for key, (level, text) in enumerate(levels, 1)],
        "rulings": list(RULINGS),
        "reasons": [{"key": str(key), "reason": name, "text": text} for key, (name, text) in enumerate(REASONS, 1)],
    }


def item_json(item: Item) -> JSON:
    """Return what a rater sees of an answer: texts with everything written out that steers or hides, and nothing else.

    `cut` is how many characters the answer has where it is too long to be shown whole, else None.
    """
    question = item.question
    claims = () if question.unsplit else question.claims
    return {
        "key": item.key,
        "question": _shown(question.input),
        "reference": _shown(question.target),
        "claims": [{"text": _shown(claim.text), "central": claim.central} for claim in claims],
        "evidence": [_shown(text) for text in question.evidence],
        "answer": _shown(item.text),
        "cut": len(item.text) if len(item.text) > MAX_SHOWN else None,
    }


def _shown(text: str) -> str:
    return visible(text[:MAX_SHOWN])


async def _sent(request: Request, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"the request cannot be read: {error}") from error
