"""One command of `questions draft`: the plan is made or gone on with, and a model or worksheets fill it."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from ragassay import canon
from ragassay.cli.asked_model import Source, source_of
from ragassay.cli.question_sources import pages_of
from ragassay.errors import InputError
from ragassay.question import load_file
from ragassay.question.draft.checks import Site
from ragassay.question.draft.plan import PAGES, Plan, Slot, extended, make_plan, pages_digest
from ragassay.question.evidence import match_evidence
from ragassay.question.rules import lint
from ragassay.records import Benchmark, Page
from ragassay.run.asking import Asked, Asking, asking
from ragassay.run.claims_replies import ReplyFile
from ragassay.run.draft_ask import ask_drafts
from ragassay.run.draft_folder import (
    AskedModel,
    DraftPlaces,
    load_items,
    load_models,
    load_plan,
    places_beside,
    question_bytes,
    save_lines,
    save_models,
    save_plan,
)
from ragassay.run.draft_models import same_as
from ragassay.run.draft_prompt import response_format
from ragassay.run.draft_set import About, New, by_hand, by_model, joined, open_slots, taken_words
from ragassay.run.draft_sheets import sheet_pages, take_sheets
from ragassay.run.draft_state import Folding, SlotState, candidates
from ragassay.run.frozen import load_set
from ragassay.run.workspace import write_bytes

if TYPE_CHECKING:
    from ragassay.cli.questions_draft import Given
    from ragassay.run.board_file import BoardFile

DEFAULT_COUNT = 60


class Draft:
    """A draft under way; `report` says what it came to."""

    def __init__(
        self, given: Given, board: BoardFile | None, pages: Sequence[Page], places: DraftPlaces, kept: ReplyFile
    ) -> None:
        self._given = given
        self._board = board
        self._places = places
        self._kept = kept
        self._before = _before(given)
        self._avoided = [load_file(path).benchmark for path in given.avoid]
        self._planned = load_plan(places.plan)
        self._told_name = given.name or (self._planned.name if self._planned else None)
        self._name = self._told_name or (board.name if board else given.out.stem)
        if self._before is not None:
            self._name = self._before.name
        self._site = Site(pages, self._name)
        self._items = load_items(places.items) if self._before else []
        self.report: dict[str, Any] = {"folder": str(places.folder)}
        self.asked: Asked | None = None
        self._wanted = given.count or 0

    @classmethod
    @contextlib.contextmanager
    def opened(cls, source: Path, given: Given, board: BoardFile | None) -> Iterator[Self]:
        """Read the corpus and hold the draft's folder: two commands cannot work on one draft at once."""
        pages = pages_of(source)
        places = places_beside(given.out)
        _before(given)
        with ReplyFile.held(places.replies) as kept:
            yield cls(given, board, pages, places, kept)

    def go_on(self, author: str | None, created: str, topics: dict[str, str]) -> int:
        """Plan, ask or read, and write; return the exit code."""
        about = About(author=author, created=created, topics=topics)
        plan = msgspec.structs.replace(self._plan(), name=self._told_name)
        if self._given.by_hand:
            code = self._by_hand(plan, about)
        elif self._given.model is not None or self._given.board is not None:
            code = self._by_model(plan, about)
        else:
            save_plan(self._places.plan, plan)
            code = 0
        wanted = self._wanted or len(plan.slots)
        self.report["plan"] = {
            "seed": plan.seed,
            "corpus": plan.corpus,
            "pages": plan.pages,
            "asked": wanted,
            "planned": len(plan.slots),
            "passedOver": {reason: len(ids) for reason, ids in plan.passed_over.items()},
            "sections": msgspec.to_builtins(plan.sections),
        }
        return max(code, int(len(plan.slots) < wanted))

    def _plan(self) -> Plan:
        pages = self._site.pages
        avoid = _used(self._avoided, pages)
        plan = self._planned
        if plan is None:
            own = _used([self._before], pages) if self._before else set()
            self._wanted = self._given.count or DEFAULT_COUNT
            return make_plan(pages, self._wanted, self._given.seed or 0, avoid | own)
        if problems := self._differences(plan, avoid):
            what = f"{self._places.plan} is the plan of another draft; name another --out, or move that folder away"
            raise InputError(what, problems)
        if (self._given.count or 0) > len(plan.slots):
            avoid |= _used([self._before], pages) if self._before else set()
            plan = extended(plan, pages, self._given.count or 0, avoid, self._tried(plan))
        return plan

    def _tried(self, plan: Plan) -> set[str]:
        """Return the pages that a model was asked about, or that a worksheet was written for."""
        every = [candidate for slot in plan.slots for candidate in candidates(slot, PAGES)]
        asked = {candidate.page.page for candidate in every if self._kept.named(candidate.key)}
        return asked | sheet_pages(self._places.worksheets, plan.slots)

    def _differences(self, plan: Plan, avoid: set[str]) -> list[str]:
        given = self._given
        problems = []
        if pages_digest(self._site.pages) != plan.corpus:
            problems.append(f"the corpus is another: the plan's {plan.pages} pages had the digest {plan.corpus}")
        if given.seed is not None and given.seed != plan.seed:
            problems.append(f"--seed is {given.seed}, the plan's is {plan.seed}")
        if given.count is not None and given.count < len(plan.slots):
            problems.append(f"--count is {given.count}, and {len(plan.slots)} questions are planned")
        if new := sorted(avoid - set(plan.avoid)) if not given.again else []:
            problems.append(f"--avoid names pages that the plan does not avoid, such as {new[0]!r}")
        return problems

    def _by_hand(self, plan: Plan, about: About) -> int:
        save_plan(self._places.plan, plan)
        slots = open_slots(plan, self._before, self._items)
        taken = taken_words(self._before, *self._avoided)
        sheets = take_sheets(self._places.worksheets, slots, self._site, taken)
        new = [by_hand(one.question, one.candidate, one.sheet, about) for one in sheets.filled]
        self.report["worksheets"] = {
            "folder": str(self._places.worksheets),
            "written": sheets.written,
            "taken": len(new),
            "half": {name: list(lacking) for name, lacking in sheets.half.items()},
            "empty": sheets.empty,
            "unsuitable": sheets.unsuitable,
        }
        self.report["without"] = sheets.exhausted
        self._write(new, plan)
        return int(bool(sheets.half or sheets.exhausted))

    def _by_model(self, plan: Plan, about: About) -> int:
        source = source_of(self._given.model, self._given.board)
        if self._board is not None:
            source = msgspec.structs.replace(
                source, max_microusd=self._board.max_microusd, max_tokens=self._board.max_tokens
            )
        taken = taken_words(self._before, *self._avoided)
        plan, slots, folding = self._round(plan, taken)
        save_plan(self._places.plan, plan)
        asked = asyncio.run(self._ask(source, folding, slots, taken))
        states = folding.all_of(slots, taken)
        done = [slot for slot in plan.slots if slot.number not in states]
        self._told(asked, states, [*states.values(), *(folding.of(slot, {}) for slot in done)])
        if not asked.failed:
            models = load_models(self._places.models)
            items = [state.item for state in states.values() if state.item is not None]
            self._write([by_model(item, models, about) for item in items], plan)
        return 3 if asked.failed else int(any(state.item is None for state in states.values()))

    def _round(self, plan: Plan, taken: dict[str, str]) -> tuple[Plan, list[Slot], Folding]:
        """Return the places without a question; where --again finds nothing left to ask, each gets a further page."""
        slots = open_slots(plan, self._before, self._items)
        folding = Folding(plan, self._site, self._kept)
        states = folding.all_of(slots, taken).values()
        if self._given.again and not any(state.next or state.item for state in states):
            plan = msgspec.structs.replace(plan, rounds=plan.rounds + 1)
            folding = Folding(plan, self._site, self._kept)
        return plan, slots, folding

    async def _ask(self, source: Source, folding: Folding, slots: Sequence[Slot], taken: dict[str, str]) -> Asked:
        from ragassay.cli.progress import Building

        endpoint = source.endpoint()
        try:
            how = asking(endpoint, source.params, self._kept, response_format())
            self._remember(how, source)
            return await ask_drafts(how, folding, slots, taken, Building()("drafts"))
        finally:
            await endpoint.close()

    def _remember(self, how: Asking, source: Source) -> None:
        """Write down how this model is asked, and where the board holds it too, before it is."""
        same = None if self._board is None else tuple(same_as(source.table, self._board))
        described = canon.without_fractions({"model": how.endpoint.describe(), "params": dict(how.params)})
        asked = AskedModel(model=described["model"], params=described["params"], same_as=same)
        save_models(self._places.models, {**load_models(self._places.models), how.settings: asked})
        self.report["model"] = {
            "id": how.model,
            "settings": how.settings,
            "sameAs": None if same is None else list(same),
        }

    def _told(self, asked: Asked, states: dict[int, SlotState], all_states: Sequence[SlotState]) -> None:
        refused = [one for state in all_states for one in state.refused]
        save_lines(self._places.refused, refused)
        rules = Counter(rule for one in refused for rule in {reason.rule for reason in one.reasons})
        self.report["asked"] = {
            "places": len(states),
            "passed": sum(state.item is not None for state in states.values()),
            "refusedReplies": len(refused),
            "refusals": dict(sorted(rules.items(), key=lambda rule: (-rule[1], rule[0]))),
            "noReply": asked.failed,
            **{name: value for name, value in msgspec.to_builtins(asked).items() if name not in ("left_out", "failed")},
        }
        failed = set(asked.failed)
        without = [number for number, state in states.items() if state.item is None and str(number) not in failed]
        self.report["without"] = without
        self.asked = asked

    def _write(self, new: Sequence[New], plan: Plan) -> None:
        """Write the question file, then where its questions are from; where nothing is new, nothing is written."""
        if not new:
            return
        benchmark, records = joined(self._before, new, plan, self._name)
        write_bytes(self._given.out, question_bytes(benchmark))
        save_lines(self._places.items, [*self._items, *records])
        findings = lint(benchmark, self._site.pages)
        counts = Counter(finding.severity for finding in findings)
        self.report["file"] = {
            "path": str(self._given.out),
            "questions": len(benchmark.questions),
            "new": [record.question for record in records],
            "lint": {"error": counts["error"], "warning": counts["warning"]},
        }


def _before(given: Given) -> Benchmark | None:
    """Return the draft that --again appends to, None where there is no file; raises `InputError` for any other."""
    if not given.out.exists():
        return None
    if not given.again:
        message = f"{given.out} is there already and is never replaced; --again appends to it, or name another --out"
        raise InputError(message)
    read, frozen = load_set(given.out)
    if given.name not in (None, read.benchmark.name):
        raise InputError(f"{given.out} is the set {read.benchmark.name!r} already; leave --name out")
    version = read.benchmark.version
    if frozen is not None or not (version == "0" or version.endswith("-draft")):
        raise InputError(f"{given.out} is version {version}, which is no draft any more; name another --out")
    if read.form != "full":
        raise InputError(f"{given.out} is not in our full form, so nothing can be appended; name another --out")
    return read.benchmark


def _used(files: Sequence[Benchmark], pages: Sequence[Page]) -> set[str]:
    """Return the pages that questions name, and those on which their evidence stands."""
    named = {question.page for file in files for question in file.questions if question.page is not None}
    return named | {one.page for file in files for one in match_evidence(file, pages) if one.page is not None}
