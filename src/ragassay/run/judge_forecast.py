"""What further judging will ask and cost, from the very prompts that would be sent. Tokens and money are estimates."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from ragassay.judge import profile1, profile2
from ragassay.records import JudgeItem, Profile, Record
from ragassay.run.board_file import ModelTable
from ragassay.run.judge_items import run_profile
from ragassay.run.judge_panel import Job
from ragassay.run.judge_run import puts_of

CHARACTERS_PER_TOKEN = 4
OUTPUT_TOKENS_PER_CLAIM = 60
OUTPUT_TOKENS_PER_CALL = 60
"""Assumed length of a verdict: so much for each claim, and for all that is not in a claim."""
CLAIMS_UNKNOWN = 4
"""Claims that a judge of profile 1 is assumed to find."""
_NONCE = "0" * 32


class JudgeForecast(Record, frozen=True):
    """One judge: judgements to be made, items in them, calls, tokens in and out, micro-USD (None: no price known)."""

    judge: str
    judgements: int
    items: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost_microusd: int | None


def judge_forecast(jobs: Sequence[Job]) -> list[JudgeForecast]:
    """Estimate every judge's work, as if nothing of begun judgements had been asked yet."""
    names = list(dict.fromkeys(job.judge.name for job in jobs))
    return [_of(name, [job for job in jobs if job.judge.name == name]) for name in names]


def _of(name: str, jobs: Sequence[Job]) -> JudgeForecast:
    model = jobs[0].judge.table.model
    items = [(put.item, run_profile(job.document)) for job in jobs for put in puts_of(job) if put.item is not None]
    asked = items if model is not None else []
    sent = sum(_characters(item, profile) for item, profile in asked) // CHARACTERS_PER_TOKEN
    replied = sum(_output(item, profile) for item, profile in asked)
    return JudgeForecast(
        judge=name,
        judgements=len(jobs),
        items=len(items),
        calls=len(asked),
        input_tokens=sent,
        output_tokens=replied,
        cost_microusd=_cost(model, sent, replied),
    )


def _characters(item: JudgeItem, profile: Profile) -> int:
    module = profile1 if profile == "factual-consistency/1" else profile2
    return sum(len(message.content) for message in module.messages(item, _NONCE))


def _output(item: JudgeItem, profile: Profile) -> int:
    claims = CLAIMS_UNKNOWN if profile == "factual-consistency/1" else len(item.claims)
    return OUTPUT_TOKENS_PER_CALL + OUTPUT_TOKENS_PER_CLAIM * claims


def _cost(model: ModelTable | None, sent: int, replied: int) -> int | None:
    if model is None or model.kind != "openai":
        return 0
    if model.price is None:
        return None
    output = Decimal(model.price.output_usd_per_mtok) * replied
    return int(Decimal(model.price.input_usd_per_mtok) * sent + output)
