"""A model drafts the questions of a plan: each place is asked for until it has one, or nothing is left to try."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ragassay.question.draft.plan import Slot
from ragassay.run.question_sets.asking import Asked, Asking, Wanted, all_of, answered
from ragassay.run.question_sets.draft_prompt import messages, prompt_digest
from ragassay.run.question_sets.draft_state import Folding


async def ask_drafts(
    how: Asking,
    folding: Folding,
    slots: Sequence[Slot],
    taken: Mapping[str, str],
    report: Callable[[int, int], object],
) -> Asked:
    """Ask for every place that has no question yet; what was answered before is not asked again.

    A place whose question turns out to be that of an earlier one is asked for again. Raises `InputError` when the
    endpoint refuses the key or the budget is spent; every reply that came is kept.
    """
    asked = Asked(left_out={}, failed={})
    while work := [
        _settle(how, folding, slot, before, asked)
        for slot, state, before in folding.with_taken(slots, taken)
        if state.next is not None and str(slot.number) not in asked.failed
    ]:
        await all_of(work, report)
    return asked


async def _settle(how: Asking, folding: Folding, slot: Slot, taken: Mapping[str, str], asked: Asked) -> None:
    """Ask for one place until it has a question, nothing is left, or the endpoint gives no reply.

    Each call adds a reply, and a place has few passages, so this ends.
    """
    while (state := folding.of(slot, taken)).next is not None:
        candidate, reasons = state.next, state.reasons
        page = folding.site.by_id[candidate.page.page]
        passage = page.text[candidate.passage.start : candidate.passage.end]
        wanted = Wanted(id=candidate.key, material=candidate.material(), round=1, prompt=prompt_digest())

        shown = partial(messages, page.title, passage, reasons)
        if not await answered(how, wanted, shown, asked, str(slot.number)):
            return
