"""What the kept replies for a place of the plan come to: a question, what to ask next, or nothing more. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ragassay import canon
from ragassay.judge.invalid import InvalidReply
from ragassay.question.draft.checks import Proposed, Refusal, Site, asked_words, claims_sizes, drafted
from ragassay.question.draft.plan import Plan, PlannedPage, PlannedPassage, Slot
from ragassay.records import Claim, Question, Record
from ragassay.run.question_sets.asking import ATTEMPTS
from ragassay.run.question_sets.claims_prompt import claim_of
from ragassay.run.question_sets.claims_replies import ReplyFile, StoredReply
from ragassay.run.question_sets.draft_prompt import DraftReply, prompt_digest, read

UNSUITABLE = "unsuitable"
"""The refusal after which a passage is not asked about again: the model says that it states no fact."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that a place of the plan may get its question from."""

    slot: int
    section: str
    page: PlannedPage
    passage: PlannedPassage

    @property
    def key(self) -> str:
        """The id under which replies for it are kept."""
        return f"{self.page.page}#{self.passage.start}-{self.passage.end}"

    def material(self) -> str:
        """Return the SHA-256 of what a question is drafted from."""
        return canon.digest({"page": self.page.page, "passage": self.passage.sha256, "text": self.page.sha256})


class Refused(Record, frozen=True):
    """A reply that became no question: where it was drafted from, the SHA-256 of its text, and every reason."""

    page: str
    start: int
    end: int
    attempt: int
    model: str
    reply: str
    reasons: tuple[Refusal, ...]


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A question that passed every check, where it is from, and the replies about its passage, the taken one last."""

    candidate: Candidate
    question: Question
    replies: tuple[StoredReply, ...]
    attempts: int
    """How often its place was asked for in all, other passages included."""


class SlotState(msgspec.Struct, frozen=True, kw_only=True):
    """Where a place stands: `item` is its question, `next` what to ask with the reasons against the last reply."""

    item: Item | None
    next: Candidate | None
    reasons: tuple[str, ...]
    refused: tuple[Refused, ...]


def candidates(slot: Slot, pages: int) -> Iterator[Candidate]:
    """Yield the passages of a place in the order in which they are tried, those of its first `pages` pages."""
    for page in slot.pages[:pages]:
        for passage in page.passages:
            yield Candidate(slot=slot.number, section=slot.section, page=page, passage=passage)


class Folding:
    """Folds kept replies; each is checked once, however often it is folded."""

    def __init__(self, plan: Plan, site: Site, kept: ReplyFile) -> None:
        self.site = site
        self._pages = plan.rounds + 1
        self._kept = kept
        self._prompt = prompt_digest()
        self._checked: dict[tuple[str, str, str], tuple[Question | None, tuple[Refusal, ...]]] = {}

    def all_of(self, slots: Sequence[Slot], taken: Mapping[str, str]) -> dict[int, SlotState]:
        """Return where each place stands, in order; a question that an earlier one asks, or `taken`, is refused."""
        return {slot.number: state for slot, state, _ in self.with_taken(slots, taken)}

    def with_taken(
        self, slots: Sequence[Slot], taken: Mapping[str, str]
    ) -> Iterator[tuple[Slot, SlotState, dict[str, str]]]:
        """Yield each place, where it stands, and what was asked before it."""
        asked = dict(taken)
        for slot in slots:
            state = self.of(slot, asked)
            yield slot, state, dict(asked)
            if state.item is not None:
                asked[asked_words(state.item.question.input)] = f"the question about {state.item.question.page!r}"

    def of(self, slot: Slot, taken: Mapping[str, str]) -> SlotState:
        """Return where one place stands."""
        refused: list[Refused] = []
        for candidate in candidates(slot, self._pages):
            replies = self._replies(candidate)
            reasons: tuple[Refusal, ...] = ()
            for attempt, reply in enumerate(replies, 1):
                question, reasons = self._checked_with(candidate, reply, taken)
                if question is not None:
                    tried = (*replies[:attempt],)
                    item = Item(candidate=candidate, question=question, replies=tried, attempts=len(refused) + 1)
                    return SlotState(item=item, next=None, reasons=(), refused=tuple(refused))
                refused.append(_refused(candidate, attempt, reply, reasons))
            given_up = any(one.rule == UNSUITABLE for one in reasons)
            if not given_up and len(replies) < ATTEMPTS:
                told = tuple(f"{one.rule}: {one.message}" for one in reasons)
                return SlotState(item=None, next=candidate, reasons=told, refused=tuple(refused))
        return SlotState(item=None, next=None, reasons=(), refused=tuple(refused))

    def _replies(self, candidate: Candidate) -> list[StoredReply]:
        known = (candidate.material(), self._prompt)
        return [one for one in self._kept.named(candidate.key) if (one.material, one.prompt) == known][:ATTEMPTS]

    def _checked_with(
        self, candidate: Candidate, reply: StoredReply, taken: Mapping[str, str]
    ) -> tuple[Question | None, tuple[Refusal, ...]]:
        name = (candidate.key, reply.nonce, reply.digest())
        if name not in self._checked:
            self._checked[name] = _check(candidate, reply, self.site)
        question, reasons = self._checked[name]
        if question is not None and (other := taken.get(asked_words(question.input))):
            return None, (Refusal(rule="question-repeated", message=f"{other} asks the same"),)
        return question, reasons


def _check(candidate: Candidate, reply: StoredReply, site: Site) -> tuple[Question | None, tuple[Refusal, ...]]:
    try:
        said = read(reply.text, reply.nonce)
    except InvalidReply as error:
        return None, (Refusal(rule="form", message=str(error)),)
    if not said.suitable:
        return None, (Refusal(rule=UNSUITABLE, message="the model says that the passage states no checkable fact"),)
    if not said.claims:
        return None, (Refusal(rule="count", message="there is no claim"),)
    if sizes := claims_sizes([(claim.text, claim.must) for claim in said.claims]):
        return None, tuple(sizes)
    bare = Proposed(question=said.question, target=said.target, evidence=said.evidence)
    question, refusals = drafted(bare, candidate.page, candidate.passage, site)
    if any(one.rule == "long" for one in refusals):
        return None, tuple(refusals)
    claims, wrong = _claims(said, question)
    if not wrong and question.input.strip():
        whole = msgspec.structs.replace(bare, claims=claims)
        question, refusals = drafted(whole, candidate.page, candidate.passage, site)
    refusals = [*wrong, *refusals]
    return (None if refusals else question), tuple(refusals)


def _claims(said: DraftReply, question: Question) -> tuple[tuple[Claim, ...], list[Refusal]]:
    claims: list[Claim] = []
    wrong: list[Refusal] = []
    for claim in said.claims:
        try:
            claims.append(claim_of(claim, question))
        except InvalidReply as error:
            wrong.append(Refusal(rule="literals", message=str(error)))
    return tuple(claims), wrong


def _refused(candidate: Candidate, attempt: int, reply: StoredReply, reasons: tuple[Refusal, ...]) -> Refused:
    return Refused(
        page=candidate.page.page,
        start=candidate.passage.start,
        end=candidate.passage.end,
        attempt=attempt,
        model=reply.model,
        reply=reply.digest(),
        reasons=reasons,
    )
