"""The judge that needs no model: it looks for the literals of the frozen claims in the answer.

It reads literals and not meaning; it is deterministic, free, and anyone can repeat it from the stored outputs.
"""

from __future__ import annotations

import json
from typing import ClassVar

from ragassay.fold import LITERAL
from ragassay.literals import judge_claim, judgeable
from ragassay.records import JSON, Claim, JudgeItem, RawVerdict

NONCE = "literal"
"""Nobody answers a prompt here, so nothing could be planted: the nonce is fixed and replies are reproducible."""


class LiteralJudge:
    """Judge `literal/1`: a claim whose `must` lists are all hit is SUPPORTS, a `must_not` hit is CONTRADICTS."""

    id = "literal/1"
    attempts = 1
    needs_literals = True
    deterministic: ClassVar[bool] = True

    async def grade(self, item: JudgeItem) -> RawVerdict:
        """Return the verdict as a reply of profile 2; for claims without literals a text that is no verdict."""
        without = [claim.id for claim in item.claims if not judgeable(claim)]
        if without or not item.claims:
            named = ", ".join(map(str, without)) or "none at all"
            text = f"cannot be judged literally: claims without `must`: {named}"
        else:
            text = json.dumps(_reply(item), ensure_ascii=False)
        return RawVerdict(nonce=NONCE, text=text, attempts=0)

    def describe(self) -> JSON:
        """Return kind, id and the folds under which literals are looked for."""
        return {"kind": "literal", "id": self.id, "folds": list(LITERAL)}


def _reply(item: JudgeItem) -> JSON:
    return {
        "claims": [_classified(claim, item.answer) for claim in item.claims],
        "answer_kind": "answer" if item.answer.strip() else "empty",
        "extra_wrong": False,
        "injection_seen": False,
        "nonce": NONCE,
    }


def _classified(claim: Claim, answer: str) -> JSON:
    word, span = judge_claim(claim, answer)
    reasons = {
        "SUPPORTS": "every list of literals has a hit",
        "CONTRADICTS": "a literal that must not stand there has a hit",
        "OMITS": "a list of literals has no hit",
    }
    quote = answer[span[0] : span[1]] if span else ""
    return {"id": claim.id, "quote": quote, "reason": reasons[word], "verdict": word}
