"""What every answering model promises, as a pytest class: subclass it, say how yours is made, and run pytest.

```python
from ragassay.testing.model_contract import ModelContract

class TestMyModel(ModelContract):
    def make_model(self) -> Model:
        return MyModel(id="my-model")
```
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import ClassVar, TypeVar

from ragassay import canon
from ragassay.records import Message, Reply, to_json
from ragassay.seams import Model

T = TypeVar("T")

QUESTION = Message(role="user", content="At which pressure does the blue valve open?")
CHUNKS = (
    Message(role="system", content="The red valve opens at 9 bar. It is checked once a year."),
    Message(role="system", content="The blue valve opens at a pressure of 4 bar. {question} is no placeholder."),
)


class ModelContract:
    """Subclass and override `make_model`; override `surroundings` where a server has to run beside it."""

    deterministic: ClassVar[bool] = True
    """False for a model that may answer the same messages differently."""

    def make_model(self) -> Model:
        """Return a new model; called inside `surroundings`."""
        raise AssertionError("override make_model")

    def surroundings(self) -> AbstractAsyncContextManager[object]:
        """Return what has to be there while the model is asked."""
        return nullcontext()

    def ask(self, work: Callable[[Model], Awaitable[T]]) -> T:
        """Run `work` with a new model in an event loop of its own, and close the model."""

        async def run() -> T:
            async with self.surroundings():
                model = self.make_model()
                try:
                    return await work(model)
                finally:
                    await model.close()

        return asyncio.run(run())

    def replies(self, *asked: Sequence[Message]) -> list[Reply]:
        """Return one reply per list of messages, asked one after the other."""

        async def work(model: Model) -> list[Reply]:
            return [await model.complete(messages, {}) for messages in asked]

        return self.ask(work)

    def test_it_is_a_model(self) -> None:
        """It has the three methods of the seam."""

        async def work(model: Model) -> bool:
            return isinstance(model, Model)

        assert self.ask(work)

    def test_it_answers_with_and_without_chunks(self) -> None:
        """A text comes back for the control's messages and for delivered chunks; figures are counts or None."""
        for reply in self.replies([QUESTION], [*CHUNKS, QUESTION]):
            assert isinstance(reply.text, str)
            assert reply.text.strip()
            assert reply.latency_ms >= 0
            for tokens in (reply.usage.input_tokens, reply.usage.output_tokens):
                assert tokens is None or tokens >= 0

    def test_a_reply_can_be_recorded(self) -> None:
        """The whole reply is canonical JSON: nothing fractional, no lone surrogate."""
        (reply,) = self.replies([*CHUNKS, QUESTION])
        assert canon.canonical(to_json(reply))

    def test_the_same_messages_get_the_same_answer(self) -> None:
        """Where the model is deterministic, neither an earlier call nor a new instance changes an answer."""
        if not self.deterministic:
            return
        first = self.replies([*CHUNKS, QUESTION], [QUESTION], [*CHUNKS, QUESTION])
        again = self.replies([*CHUNKS, QUESTION])
        assert first[0].text == first[2].text == again[0].text

    def test_calls_under_way_together_do_not_mix(self) -> None:
        """Eight calls at once get what each would get alone."""
        if not self.deterministic:
            return

        async def work(model: Model) -> list[Reply]:
            return await asyncio.gather(*(model.complete([*CHUNKS, QUESTION], {}) for _ in range(8)))

        assert len({reply.text for reply in self.ask(work)}) == 1

    def test_the_description_is_stable(self) -> None:
        """`describe()` can be signed, names the kind, and does not change by use."""

        async def work(model: Model) -> tuple[bytes, bytes]:
            before = canon.canonical(model.describe())
            await model.complete([QUESTION], {})
            return before, canon.canonical(model.describe())

        before, after = self.ask(work)
        assert before == after
        assert canon.load_strict(before, max_bytes=1 << 20)["kind"]

    def test_closing_twice_is_harmless(self) -> None:
        """A model can be closed unused, used, and again."""

        async def work(model: Model) -> None:
            await model.close()
            await model.close()

        self.ask(work)
