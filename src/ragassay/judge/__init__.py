"""What a judge is shown, and how its verdict is read; a judge returns no number."""

from __future__ import annotations

from ragassay.judge.invalid import InvalidReply
from ragassay.judge.items import build_item, is_empty, settle_empty
from ragassay.judge.llm import LLMJudge
from ragassay.judge.read import read_verdict

__all__ = ["InvalidReply", "LLMJudge", "build_item", "is_empty", "read_verdict", "settle_empty"]
