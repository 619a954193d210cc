"""The local model: no default system prompt, no truncation, the same answer twice; needs xllamacpp and weights."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ragassay.answer import build_messages
from ragassay.errors import InputError, ModelError, PluginError
from ragassay.plugins import weights
from ragassay.records import Delivered, Message

pytest.importorskip("xllamacpp", reason="needs the extra ragassay[llamacpp] and libgomp", exc_type=ImportError)

from ragassay.plugins.models.llamacpp import LlamaCpp

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

QUESTION = Message(role="user", content="Which color is the sky on a clear day?")


@pytest.fixture(scope="module")
def gguf_file() -> Path:
    """The SmolLM2 weights in the default cache; skips where they were not pulled."""
    try:
        return weights.require("smollm2-135m", weights.default_cache())
    except PluginError as error:
        pytest.skip(str(error))


def using(model: LlamaCpp, work: Callable[[LlamaCpp], Awaitable[Any]]) -> Any:
    """Run `work` with the model in a loop of its own and close it."""

    async def run() -> Any:
        try:
            return await work(model)
        finally:
            await model.close()
            await model.close()

    return asyncio.run(run())


def small(path: Path, **params: Any) -> LlamaCpp:
    """Return a model with a small context and short answers."""
    return LlamaCpp(path=path, params={"n_ctx": 512, "max_tokens": 8, "threads": 1, **params})


def rendered(path: Path, messages: Sequence[Message], **params: Any) -> str:
    """Return the prompt that the model gets."""
    return str(using(small(path, **params), lambda model: model.rendered(messages)))


def test_the_controls_prompt_has_no_system_prompt(gguf_file: Path) -> None:
    """The file's own template would insert one; the model gets the question and nothing else."""
    assert rendered(gguf_file, build_messages(QUESTION.content, [])) == (
        f"<|im_start|>user\n{QUESTION.content}<|im_end|>\n<|im_start|>assistant\n"
    )


def test_each_chunk_is_its_own_system_turn(gguf_file: Path) -> None:
    """Delivered chunks reach the model in order, one turn each, whole."""
    chunks = [Delivered(rank=n, chunk=f"c{n}", sha256="0" * 64, text=f"text {n}", score="1") for n in (1, 2)]
    assert rendered(gguf_file, build_messages(QUESTION.content, chunks)) == (
        "<|im_start|>system\ntext 1<|im_end|>\n<|im_start|>system\ntext 2<|im_end|>\n"
        f"<|im_start|>user\n{QUESTION.content}<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_given_template_that_inserts_a_prompt_is_refused(gguf_file: Path) -> None:
    """Whatever the template's form, one that adds a system turn by itself is found before the first answer."""
    sly = (
        "{% set given = messages if messages[0]['role'] == 'system' else "
        "[{'role': 'system', 'content': 'Be nice.'}] + messages %}"
        "{% for m in given %}<{{ m['role'] }}>{{ m['content'] }}</>{% endfor %}<assistant>"
    )
    with pytest.raises(ModelError, match="inserts a system prompt"):
        using(small(gguf_file, chat_template=sly), lambda model: model.complete([QUESTION], {}))


def test_it_answers_the_same_twice_and_says_what_it_took(gguf_file: Path) -> None:
    """Greedy by default: equal text from equal messages; tokens, finish reason and model are told."""

    async def work(model: LlamaCpp) -> Any:
        return [await model.complete([QUESTION], {}) for _ in range(2)]

    first, second = using(small(gguf_file), work)
    assert first.text
    assert first.text == second.text
    assert first.finish_reason in ("stop", "length")
    assert first.usage.input_tokens is not None
    assert 0 < first.usage.output_tokens <= 8
    assert first.model == gguf_file.stem


def test_calls_wait_for_each_other_without_blocking_the_loop(gguf_file: Path) -> None:
    """Three calls at once are answered one by one while other work goes on."""

    async def work(model: LlamaCpp) -> Any:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.001)
                ticks += 1

        ticking = asyncio.create_task(tick())
        replies = await asyncio.gather(*(model.complete([QUESTION], {}) for _ in range(3)))
        ticking.cancel()
        return ticks, {reply.text for reply in replies}

    ticks, texts = using(small(gguf_file), work)
    assert ticks > 3
    assert len(texts) == 1


def test_a_prompt_longer_than_the_context_is_an_error(gguf_file: Path) -> None:
    """Nothing is cut off: the error names both lengths and what to change."""
    long = Message(role="system", content="The valve opens. " * 400)
    with pytest.raises(ModelError, match=r"longer than the context of 512") as caught:
        using(small(gguf_file), lambda model: model.complete([long, QUESTION], {}))
    assert (caught.value.kind, caught.value.retryable) == ("bad_request", False)


def test_nothing_is_printed(gguf_file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Neither loading nor answering writes to the terminal."""
    using(small(gguf_file), lambda model: model.complete([QUESTION], {}))
    assert capfd.readouterr() == ("", "")


def test_the_description_names_what_can_change_an_answer(gguf_file: Path) -> None:
    """Weights by digest, parameters, template and engine: known before anything is loaded."""
    described = LlamaCpp(id="smollm2-135m", params={"max_tokens": 96}).describe()
    assert described["weights"]["sha256"] == weights.WEIGHTS["smollm2-135m"][0].sha256
    assert described["params"] == {"max_tokens": 96, "n_ctx": 8192, "seed": 0, "temperature": "0", "threads": 1}
    assert described["chat_template"]["name"] == "chatml/1"
    assert described["engine"].startswith("xllamacpp ")


def test_loading_parameters_cannot_change_per_call(gguf_file: Path) -> None:
    """A call that asks for another context is refused before anything is loaded."""
    with pytest.raises(ModelError, match="n_ctx"):
        using(small(gguf_file), lambda model: model.complete([QUESTION], {"n_ctx": 64}))


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    """A GGUF head without a model behind it, and no GGUF at all, are errors and no crash."""
    (tmp_path / "none.gguf").write_bytes(b"not a model")
    with pytest.raises(InputError, match=r"none\.gguf"):
        using(small(tmp_path / "none.gguf"), lambda model: model.complete([QUESTION], {}))
    (tmp_path / "head.gguf").write_bytes(b"GGUF\x03\0\0\0" + b"\0" * 16)
    with pytest.raises(PluginError, match=r"head\.gguf"):
        using(small(tmp_path / "head.gguf"), lambda model: model.complete([QUESTION], {}))


def test_absent_weights_name_the_command(tmp_path: Path) -> None:
    """Without the weights the description says how to get them."""
    with pytest.raises(PluginError, match="ragassay models pull smollm2-135m"):
        LlamaCpp(id="smollm2-135m", cache=tmp_path).describe()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"id": "smollm2-135m", "path": "m.gguf"},
        {"id": "smollm3"},
        {
            "path": "m.gguf",
            "params": {"n_ctx": 0, "max_tokens": True, "threads": "2", "temperature": "hot", "top_x": 1},
        },
        {"path": "m.gguf", "params": {"chat_template": 5}},
    ],
)
def test_wrong_parameters_are_refused_at_once(options: dict[str, Any]) -> None:
    """Construction checks everything and loads nothing."""
    with pytest.raises(InputError):
        LlamaCpp(**options)
