"""From a raw reply to a verdict, by profile."""

from __future__ import annotations

from ragassay.judge import profile1, profile2
from ragassay.judge.invalid import InvalidReply
from ragassay.records import JudgeItem, Profile, RawVerdict, Verdict


def read_verdict(raw: RawVerdict, item: JudgeItem, profile: Profile) -> Verdict:
    """Return the verdict that `raw` carries for `item`; raises `InvalidReply`, and nothing else, for any other text."""
    if raw.text is None or not raw.text.strip():
        raise InvalidReply("the judge's reply is empty")
    if profile == "factual-consistency/1":
        return profile1.read(raw)
    return profile2.read(raw, item)
