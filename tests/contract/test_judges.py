"""Every built-in judge under the contract that ships for plugin authors."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ragassay.judge import LLMJudge
from ragassay.plugins.judges.literal import LiteralJudge
from ragassay.testing.judge_contract import ITEM, JudgeContract
from ragassay.testing.judge_reply import nonce_of, profile1_reply, profile2_reply
from ragassay.testing.scripted_model import ScriptedModel

if TYPE_CHECKING:
    from ragassay.records import Profile
    from ragassay.seams import Judge


class TestLiteral(JudgeContract):
    """The judge without a model."""

    def make_judge(self) -> Judge:
        """Return the literal judge."""
        return LiteralJudge()


class TestLLM2(JudgeContract):
    """The judge over a scripted model, profile 2."""

    def make_judge(self) -> Judge:
        """Return a judge whose model supports every claim."""
        model = ScriptedModel(
            lambda messages, params: profile2_reply(ITEM, ["SUPPORTS", "SUPPORTS"], nonce_of(messages))
        )
        return LLMJudge(model, self.profile)


class TestLLM1(JudgeContract):
    """The judge over a scripted model, profile 1."""

    profile: ClassVar[Profile] = "factual-consistency/1"

    def make_judge(self) -> Judge:
        """Return a judge whose model lists two claims and supports both."""
        model = ScriptedModel(
            lambda messages, params: profile1_reply([("4 bar", "SUPPORTS"), ("yearly", "SUPPORTS")], nonce_of(messages))
        )
        return LLMJudge(model, self.profile)
