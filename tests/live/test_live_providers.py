"""One check against each real provider, run only where its variables are set; otherwise reported as skipped.

Set the key (and, for Cloudflare, the account) to opt in; for a server of your own set its base URL. A check is one to a
few calls of some dozen tokens.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

import msgspec
import pytest

from ragassay.plugins.embedders.openai_check import EmbeddingFindings, check_embeddings
from ragassay.plugins.http import HttpClient
from ragassay.plugins.models.openai import OpenAIModel
from ragassay.plugins.models.openai_check import ChatFindings, check_chat
from ragassay.records import Secret

CLOUDFLARE = "https://api.cloudflare.com/client/v4/accounts/{CLOUDFLARE_ACCOUNT_ID}/ai/v1"
GEMINI = "https://generativelanguage.googleapis.com/v1beta/openai"
OPENAI = "https://api.openai.com/v1"


class Live(msgspec.Struct, frozen=True, kw_only=True):
    """A provider: its address with variables in braces, the key's variable, the models asked."""

    base_url: str
    key_env: str | None
    chat: tuple[str, ...]
    embedding: str | None = None
    dimension: int | None = None
    limit: str = "max_tokens"


PROVIDERS: Mapping[str, Live] = {
    "cloudflare": Live(
        base_url=CLOUDFLARE,
        key_env="CLOUDFLARE_API_TOKEN",
        chat=("@cf/zai-org/glm-5.3-flash", "@cf/deepseek-ai/deepseek-v4-flash-0731"),
        embedding="@cf/google/embeddinggemma-300m",
        dimension=768,
    ),
    "gemini": Live(base_url=GEMINI, key_env="GEMINI_API_KEY", chat=("gemini-2.5-flash", "gemini-3.8-flash")),
    "openai": Live(
        base_url=OPENAI,
        key_env="OPENAI_API_KEY",
        chat=("gpt-4.1-mini",),
        embedding="text-embedding-3-small",
        dimension=1536,
        limit="max_completion_tokens",
    ),
    "ollama": Live(base_url="{OLLAMA_BASE_URL}", key_env=None, chat=("{OLLAMA_MODEL}",)),
    "vllm": Live(base_url="{VLLM_BASE_URL}", key_env=None, chat=("{VLLM_MODEL}",)),
    "llamacpp-server": Live(base_url="{LLAMACPP_BASE_URL}", key_env=None, chat=("{LLAMACPP_MODEL}",)),
}


def filled(text: str) -> str:
    """Return a text with its variables filled in; skips where one is not set."""
    for name in [part.split("}")[0] for part in text.split("{")[1:]]:
        if not os.environ.get(name):
            pytest.skip(f"not asked: the variable {name} is not set")
        text = text.replace(f"{{{name}}}", os.environ[name])
    return text


def key_of(live: Live) -> Secret | None:
    """Return the provider's key; skips where it is not set."""
    if live.key_env is None:
        return None
    if not os.environ.get(live.key_env):
        pytest.skip(f"not asked: the variable {live.key_env} is not set")
    return Secret(os.environ[live.key_env])


@pytest.mark.enable_socket
@pytest.mark.parametrize(("name", "model"), [(name, model) for name, live in PROVIDERS.items() for model in live.chat])
def test_a_provider_answers(name: str, model: str) -> None:
    """The endpoint gives a reply, and what it supports can be found out."""
    live = PROVIDERS[name]
    key, base_url, id = key_of(live), filled(live.base_url), filled(model)

    async def ask() -> ChatFindings:
        params = {live.limit: 2048}
        client = OpenAIModel(id, base_url, key=key, params=params, timeout_s=120)
        try:
            return await check_chat(client, params)
        finally:
            await client.close()

    found = asyncio.run(ask())
    assert found.problem is None
    assert found.latency_ms is not None


@pytest.mark.enable_socket
@pytest.mark.parametrize("name", [name for name, live in PROVIDERS.items() if live.embedding])
def test_a_provider_embeds(name: str) -> None:
    """The endpoint gives vectors of the documented dimension."""
    live = PROVIDERS[name]
    key, base_url = key_of(live), filled(live.base_url)

    async def ask() -> EmbeddingFindings:
        client = HttpClient(base_url, key=key, timeout_s=120)
        try:
            return await check_embeddings(client, live.embedding or "", {})
        finally:
            await client.close()

    found = asyncio.run(ask())
    assert (found.problem, found.dimension) == (None, live.dimension)
