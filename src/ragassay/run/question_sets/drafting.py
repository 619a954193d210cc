"""One go at a draft: its plan is made or gone on with, and a model or worksheets fill it."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.question import load_file
from ragassay.question.draft.checks import Site
from ragassay.question.draft.plan import PAGES, Plan, Slot
from ragassay.question.rules import lint
from ragassay.records import JSON, Page
from ragassay.run.board_file import BoardFile, ModelTable
from ragassay.run.build import Report
from ragassay.run.limits import Endpoint
from ragassay.run.question_sets.asking import Asked, Asking, asking
from ragassay.run.question_sets.claims_replies import ReplyFile
from ragassay.run.question_sets.draft_ask import ask_drafts
from ragassay.run.question_sets.draft_begun import DEFAULT_COUNT, DraftOptions, file_before, planned
from ragassay.run.question_sets.draft_folder import (
    AskedModel,
    DraftPlaces,
    load_models,
    load_plan,
    places_beside,
    question_bytes,
    remove_file,
    save_lines,
    save_models,
    save_plan,
    settled_items,
)
from ragassay.run.question_sets.draft_models import same_as
from ragassay.run.question_sets.draft_prompt import response_format
from ragassay.run.question_sets.draft_set import About, New, by_hand, by_model, joined, open_slots, taken_words
from ragassay.run.question_sets.draft_sheets import sheet_pages, take_sheets
from ragassay.run.question_sets.draft_state import Folding, SlotState, candidates
from ragassay.run.workspace import replace_bytes, write_bytes


class Drafter(msgspec.Struct, frozen=True, kw_only=True):
    """The model that drafts: its table, parameters of its calls, what opens it, and where progress goes."""

    table: ModelTable
    params: JSON
    opened: Callable[[], Endpoint]
    report: Report


class Draft:
    """A draft under way; `report` says what it came to."""

    def __init__(
        self,
        pages: Sequence[Page],
        options: DraftOptions,
        board: BoardFile | None,
        places: DraftPlaces,
        kept: ReplyFile,
    ) -> None:
        self._options = options
        self._board = board
        self._places = places
        self._kept = kept
        self._before = file_before(options)
        self._avoided = [load_file(path).benchmark for path in options.avoid]
        self._planned = load_plan(places.plan)
        self._told_name = options.name or (self._planned.name if self._planned else None)
        self._name = self._told_name or (board.name if board else options.out.stem)
        if self._before is not None:
            self._name = self._before.name
        self._site = Site(pages, self._name)
        self._items = settled_items(places, self._before)
        self.report: dict[str, Any] = {"folder": str(places.folder)}
        self.asked: Asked | None = None

    @classmethod
    @contextlib.contextmanager
    def opened(cls, pages: Sequence[Page], options: DraftOptions, board: BoardFile | None) -> Iterator[Self]:
        """Hold the draft's folder, so that two commands cannot work on one draft at once; `board` is the one known."""
        file_before(options)  # what is refused for its file leaves no folder behind
        places = places_beside(options.out)
        with ReplyFile.held(places.replies) as kept:
            yield cls(pages, options, board, places, kept)

    def go_on(self, about: About, drafter: Drafter | None, *, by_hand: bool) -> int:
        """Plan, ask `drafter` or read worksheets, and write; return the exit code. With neither, only plan."""
        plan = planned(
            self._options,
            self._planned,
            self._site.pages,
            avoided=self._avoided,
            before=self._before,
            tried=self._tried,
        )
        plan = msgspec.structs.replace(plan, name=self._told_name)
        if by_hand:
            code = self._by_hand(plan, about)
        elif drafter is not None:
            code = self._by_model(plan, about, drafter)
        else:
            save_plan(self._places.plan, plan)
            code = 0
        wanted = self._options.count or (DEFAULT_COUNT if self._planned is None else len(plan.slots))
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

    def _tried(self, plan: Plan) -> set[str]:
        """Return the pages that a model was asked about, or that a worksheet was written for."""
        every = [candidate for slot in plan.slots for candidate in candidates(slot, PAGES)]
        asked = {candidate.page.page for candidate in every if self._kept.named(candidate.key)}
        return asked | sheet_pages(self._places.worksheets, plan.slots)

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

    def _by_model(self, plan: Plan, about: About, drafter: Drafter) -> int:
        taken = taken_words(self._before, *self._avoided)
        plan, slots, folding = self._round(plan, taken)
        save_plan(self._places.plan, plan)
        asked = asyncio.run(self._ask(drafter, folding, slots, taken))
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
        if self._options.again and not any(state.next or state.item for state in states):
            plan = msgspec.structs.replace(plan, rounds=plan.rounds + 1)
            folding = Folding(plan, self._site, self._kept)
        return plan, slots, folding

    async def _ask(self, drafter: Drafter, folding: Folding, slots: Sequence[Slot], taken: dict[str, str]) -> Asked:
        endpoint = drafter.opened()
        try:
            how = asking(endpoint, drafter.params, self._kept, response_format())
            self._remember(how, drafter)
            return await ask_drafts(how, folding, slots, taken, drafter.report("drafts"))
        finally:
            await endpoint.close()

    def _remember(self, how: Asking, drafter: Drafter) -> None:
        """Write down how this model is asked, and where the board holds it too, before it is."""
        same = None if self._board is None else tuple(same_as(drafter.table, self._board))
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
        """Write the question file and where its questions are from, so that a kill at any point can be gone on from.

        Where nothing is new, nothing is written.
        """
        if not new:
            return
        if file_before(self._options) != self._before:
            raise InputError(
                f"{self._options.out} was changed while the draft was under way, and was left as it is; type the same "
                "command again: what was answered is not asked again"
            )
        benchmark, records = joined(self._before, new, plan, self._name)
        save_lines(self._places.pending, records)
        write = write_bytes if self._before is None else replace_bytes
        write(self._options.out.resolve(), question_bytes(benchmark))  # a link stays one
        save_lines(self._places.items, [*self._items, *records])
        remove_file(self._places.pending)
        findings = lint(benchmark, self._site.pages)
        counts = Counter(finding.severity for finding in findings)
        self.report["file"] = {
            "path": str(self._options.out),
            "questions": len(benchmark.questions),
            "new": [record.question for record in records],
            "lint": {"error": counts["error"], "warning": counts["warning"]},
        }
