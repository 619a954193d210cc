"""A judge's reply as text, for scripted models: what a model that follows the prompt would say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ragassay.records import JudgeItem, Message, VerdictWord


def nonce_of(messages: Sequence[Message]) -> str:
    """Return the nonce that a judge's prompt asks to be repeated: the last word of its last message."""
    return messages[-1].content.split()[-1]


def profile2_reply(
    item: JudgeItem,
    words: Sequence[VerdictWord],
    nonce: str,
    *,
    quotes: Mapping[int, str] | None = None,
    **fields: Any,
) -> str:
    """Return a reply of profile 2 with one of `words` per claim, in order.

    A quote is the whole answer unless `quotes` names another by claim id; an OMITS has none. `fields` replace
    `answer_kind`, `extra_wrong` and `injection_seen`.
    """
    given = quotes or {}
    claims = [
        {
            "id": claim.id,
            "quote": given.get(claim.id, "" if word == "OMITS" else item.answer),
            "reason": f"as scripted: {word.lower()}",
            "verdict": word,
        }
        for claim, word in zip(item.claims, words, strict=True)
    ]
    reply = {"claims": claims, "answer_kind": "answer", "extra_wrong": False, "injection_seen": False, "nonce": nonce}
    return json.dumps({**reply, **fields}, ensure_ascii=False)


def profile1_reply(
    claims: Sequence[tuple[str, VerdictWord]],
    nonce: str,
    *,
    central_contradicted: bool = False,
    reference_insufficient: bool = False,
) -> str:
    """Return a reply of profile 1 that lists `claims`, each a text with its verdict."""
    reply = {
        "claims": [{"claim": text, "reason": f"as scripted: {word.lower()}", "verdict": word} for text, word in claims],
        "central_claim_contradicted": central_contradicted,
        "reference_insufficient": reference_insufficient,
        "nonce": nonce,
    }
    return json.dumps(reply, ensure_ascii=False)
