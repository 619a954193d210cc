"""The selector of the stack `tree`: chooses from a list of nodes, in as many calls as the list needs."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.errors import StackError
from ragassay.plugins.stacks.prompted import said
from ragassay.plugins.stacks.tree.answer import (
    LONGEST_PROMPT,
    QUESTION_CHARACTERS,
    REASON_CHARACTERS,
    Form,
    Unusable,
    picked,
)
from ragassay.plugins.stacks.tree.headings import shown
from ragassay.plugins.stacks.tree.nodes import PATH_CHARACTERS, Node
from ragassay.seams import BlockingModel

LONGEST_SUMMARY = 1_000
LONGEST_ENTRY = PATH_CHARACTERS + LONGEST_SUMMARY + 40
"""The longest line of a list, its number and its mark included."""
_AROUND = 200
"""Room for what stands around list, question and reason in a message."""
FIXED = LONGEST_PROMPT + _AROUND
LEAST_CHARACTERS = 8_000
"""The least that a message may be allowed: two of the longest entries fit, so that every list shrinks."""


class Selector:
    """Asks `model` for numbers: at most `per_call` nodes and `max_characters` characters in a call."""

    def __init__(self, model: BlockingModel, *, per_call: int, max_characters: int, attempts: int, form: Form) -> None:
        self._model = model
        self._per_call = per_call
        self._room = max_characters - FIXED - QUESTION_CHARACTERS - REASON_CHARACTERS
        self._attempts = attempts
        self._form = form

    def choose(self, question: str, nodes: Sequence[Node], most: int, kind: str) -> list[Node]:
        """Return at most `most` of `nodes`, best first; empty where the model says that none fits.

        A list that is too long for one call is shown in blocks, each of which gives at most `quota` nodes; what was
        chosen is the next list, until one call has shown all that is left. Raises `StackError` where an answer cannot
        be used in the last attempt too, and what the model raises.
        """
        left = list(nodes)
        while left:
            blocks = self.blocks(left)
            if len(blocks) == 1:
                return self._ask(question, left, most, kind)
            left = [node for block in blocks for node in self._ask(question, block, quota(len(block), most), kind)]
        return []

    def blocks(self, nodes: Sequence[Node]) -> list[Sequence[Node]]:
        """Return the nodes in blocks, each as long as `per_call` and the characters of a call allow."""
        blocks: list[Sequence[Node]] = []
        first = taken = 0
        for at, node in enumerate(nodes):
            length = len(node.entry(at - first + 1)) + 1
            if at > first and (at - first == self._per_call or taken + length > self._room):
                blocks.append(nodes[first:at])
                first, taken = at, 0
            taken += length
        return [*blocks, nodes[first:]] if nodes else []

    def calls_at_most(self, nodes: Sequence[Node], most: int) -> int:
        """Return how many calls a choice from `nodes`, or from as many others of their lengths, takes at the most."""
        if not nodes:
            return 0
        longest = max(len(node.entry(len(nodes))) + 1 for node in nodes)
        fit = min(self._per_call, self._room // longest)
        count, calls = len(nodes), 0
        while count > fit:
            blocks = -(-count // fit)
            calls += blocks
            count = min(most * blocks, (count + blocks) // 2)
        return (calls + 1) * self._attempts

    def _ask(self, question: str, nodes: Sequence[Node], most: int, kind: str) -> list[Node]:
        entries = "\n".join(node.entry(number) for number, node in enumerate(nodes, 1))
        again, reply, reason = "", "", ""
        most = min(most, len(nodes))
        for _ in range(self._attempts):
            reply = said(
                self._model,
                self._form.prompt,
                self._form.params(len(nodes), most),
                kind=kind,
                entries=entries,
                question=question[:QUESTION_CHARACTERS],
                most=str(most),
                again=again,
            )
            try:
                return picked(reply, nodes, most, self._form)
            except Unusable as error:
                reason = str(error)
                again = f"Your last answer was refused: {shown(reason, REASON_CHARACTERS - 50)}.\n\n"
        raise StackError(
            f"the model's choice among {len(nodes)} {kind} cannot be used after {self._attempts} attempts: {reason}; "
            f"it said {reply[:200]!r}"
        )


def quota(count: int, most: int) -> int:
    """Return how many nodes a block of `count` gives to the next list: at most half of them, so that lists shrink."""
    return min(most, (count + 1) // 2)
