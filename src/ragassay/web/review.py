"""The page on which outputs are read, findings decided and runs signed off: what it serves and what it takes."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ragassay.publish.decisions import DecisionFile
from ragassay.publish.reached import PagesFile
from ragassay.publish.reading import Unit
from ragassay.publish.review_lines import reader_name
from ragassay.publish.signoffs import NotComplete, ReviewFile
from ragassay.records import JSON
from ragassay.web.app import Link, Page, asset, document, problem
from ragassay.web.review_asks import Decide, OfUnit, SeenUnit, Sign, sent_as
from ragassay.web.review_pages import Slice, form_of, pages_of, unit_json
from ragassay.web.review_shown import Shown
from ragassay.web.review_state import State, finding_json, findings_json, refusals, state_json
from ragassay.web.review_text import blocks_of
from ragassay.web.snapshot import Snapshots


def review_page(snapshots: Snapshots, *, reader: str | None = None, links: Sequence[Link] = ()) -> Page:
    """Return the page for a workspace; `reader` is the name to begin with, None where the page asks for it."""
    desk = _Desk(snapshots, reader)
    return Page(
        path="/review",
        routes=(
            Route("/review", document(__package__, "review.html", links, "/review"), methods=["GET"]),
            Route("/review/review.css", asset(__package__, "review.css"), methods=["GET"]),
            *(
                Route(f"/review/{name}.js", asset(__package__, f"{name}.js"), methods=["GET"])
                for name in ("review", "review_keys", "review_list", "review_unit")
            ),
            Route("/review/begin", desk.begin),
            Route("/review/state", desk.state),
            Route("/review/scan", desk.scan),
            Route("/review/findings", desk.findings),
            Route("/review/unit/{key}", desk.unit),
            Route("/review/seen", desk.seen, methods=["POST"]),
            Route("/review/unread", desk.unread, methods=["POST"]),
            Route("/review/place", desk.place, methods=["POST"]),
            Route("/review/decide", desk.decide, methods=["POST"]),
            Route("/review/sign", desk.sign, methods=["POST"]),
        ),
    )


class _Desk:
    """The endpoints of the page. What they say is stored is on the disk."""

    def __init__(self, snapshots: Snapshots, reader: str | None) -> None:
        self._snapshots = snapshots
        self._reader = reader
        self._review = ReviewFile(snapshots.workspace)
        self._decisions = DecisionFile(snapshots.workspace)
        self._pages = PagesFile(snapshots.workspace)
        self._shown = Shown()

    async def begin(self, request: Request) -> Response:
        """Send the name to begin with."""
        return JSONResponse({"reader": self._reader})

    async def state(self, request: Request) -> Response:
        """Send what there is to read, how far this reader is, and which sign-offs hold."""
        reader = reader_name(request.query_params.get("reader", ""))

        def answer() -> JSON:
            return {"reader": reader, "at": self._review.place(reader), **state_json(self._state(reader))}

        return JSONResponse(await run_in_threadpool(answer))

    async def scan(self, request: Request) -> Response:
        """Send whether the scan goes on, in as few bytes as that takes: a page asks each second."""

        def running() -> bool:
            return self._snapshots.scanned(self._snapshots.now()).running

        return JSONResponse({"running": await run_in_threadpool(running)})

    async def findings(self, request: Request) -> Response:
        """Send every finding of the scan with what was decided of it."""
        return JSONResponse(await run_in_threadpool(lambda: findings_json(self._state(None))))

    async def unit(self, request: Request) -> Response:
        """Send one page of one unit, and remember that this reader was sent it in this form.

        Where no page is named it is the first whose end this reader has not had on the screen.
        """
        reader = reader_name(request.query_params.get("reader", ""))
        state = await run_in_threadpool(self._state, None)
        unit = state.snapshot.units.get(request.path_params["key"])
        if unit is None:
            return problem(404, "there is no such output to read any more; load the page again")
        wanted = request.query_params.get("page")
        sent = await run_in_threadpool(self._page, state, unit, reader, wanted)
        if sent is None:
            return problem(404, "this output has no such page")
        if request.method == "GET":  # a HEAD request carries nothing that could be read
            self._shown.sent(reader, unit.key, sent["page"], sent["form"])
        return JSONResponse(sent)

    async def seen(self, request: Request) -> Response:
        """Take note that the end of a page was on the screen; once all pages were, the unit is stored as read."""
        got = await sent_as(request, SeenUnit)
        reader = reader_name(got.reader)
        snapshot = await run_in_threadpool(self._snapshots.now)
        unit = snapshot.units.get(got.unit)
        if unit is None or not self._shown.was_sent(reader, got.unit, got.page, got.form):
            return problem(409, "this was not sent to this reader in this form; it is shown again")
        missing = await run_in_threadpool(self._reach, unit, reader, got)
        return JSONResponse({"unit": got.unit, "read": not missing, "missing": missing})

    async def unread(self, request: Request) -> Response:
        """Take back that a unit was read."""
        got = await sent_as(request, OfUnit)
        reader = reader_name(got.reader)
        await run_in_threadpool(self._pages.unmark, reader, got.unit)
        await run_in_threadpool(self._review.unmark, reader, got.unit)
        self._shown.forget(reader, got.unit)
        return JSONResponse({"unit": got.unit, "read": False})

    async def place(self, request: Request) -> Response:
        """Store where a reader is."""
        got = await sent_as(request, OfUnit)
        snapshot = await run_in_threadpool(self._snapshots.now)
        if got.unit not in snapshot.units:
            return problem(409, "there is no such output to read any more; load the page again")
        await run_in_threadpool(self._review.keep_place, reader_name(got.reader), got.unit)
        return JSONResponse({"unit": got.unit})

    async def decide(self, request: Request) -> Response:
        """Store what is done with a finding."""
        got = await sent_as(request, Decide)
        reader = reader_name(got.reader)
        state = await run_in_threadpool(self._state, None)
        finding = next((one for one in state.scanned.findings if one.id == got.finding), None)
        if finding is None:
            return problem(409, "the scan knows no such finding any more; load the page again")

        def store() -> None:
            self._decisions.add(finding, got.action, reason=got.reason, by=reader)

        await run_in_threadpool(store)
        return JSONResponse(finding_json(await run_in_threadpool(self._state, None), finding))

    async def sign(self, request: Request) -> Response:
        """Store sign-offs, unless something of a run is unread or undecided, or it is not what the page showed."""
        got = await sent_as(request, Sign)
        reader = reader_name(got.reader)
        state = await run_in_threadpool(self._state, reader)
        shown = {one.run: (one.manifest, one.decisions) for one in got.runs}
        if not shown:
            return problem(422, "no run was named")
        refused = await run_in_threadpool(refusals, state, shown)
        if refused:
            text = "what is unread, undecided or no longer as shown cannot be signed off"
            return JSONResponse({"problem": text, "refused": refused}, status_code=409)
        try:
            signed = [(state.snapshot.readings[run], state.touching[run]) for run in shown]
            lines = await run_in_threadpool(self._review.sign_all, signed, reader)
        except NotComplete as error:
            return problem(409, str(error))
        return JSONResponse({"signed": [line.run for line in lines]})

    def _reach(self, unit: Unit, reader: str, got: SeenUnit) -> list[int]:
        """Store that the end of a page was on the screen, and return the pages of the unit that are missing still."""
        pages = pages_of(blocks_of(unit, ()))
        missing: list[int] = []
        if len(pages) > 1:
            self._pages.mark(reader, unit.key, got.page, got.form)
            missing = self._missing(unit, reader, pages)
        if not missing:
            self._review.mark(reader, unit.key)
        return missing

    def _missing(self, unit: Unit, reader: str, pages: Sequence[Sequence[Slice]]) -> list[int]:
        reached = self._pages.reached(reader, unit.key)
        return [page for page in range(len(pages)) if reached.get(page) != form_of(unit.key, page, pages)]

    def _page(self, state: State, unit: Unit, reader: str, wanted: str | None) -> JSON | None:
        """Return one page of a unit as it is sent; None where it has no such page."""
        here = state.scanned.by_unit.get(unit.key, ())
        pages = pages_of(blocks_of(unit, here))
        if wanted is None:
            wanted = str(min(self._missing(unit, reader, pages), default=0)) if len(pages) > 1 else "0"
        if not wanted.isascii() or not wanted.isdigit() or len(wanted) > 6 or int(wanted) >= len(pages):
            return None
        findings = [finding_json(state, finding, unit) for finding in here]
        return unit_json(unit, int(wanted), pages, stands=state.stands(unit), findings=findings)

    def _state(self, reader: str | None) -> State:
        snapshot = self._snapshots.now()
        scanned, decisions = self._snapshots.scanned(snapshot), self._decisions.decisions()
        if reader is None:
            return State.of(snapshot, scanned, decisions)
        return State.of(snapshot, scanned, decisions, seen=self._review.seen(reader), review=self._review)
