"""The entries of the embedder's page against servers that imitate each: as they stand, but for the address."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragassay.errors import ModelError
from ragassay.plugins.embedders.openai import OpenAIEmbedder
from ragassay.records import JSON, Secret
from ragassay.testing.embedding_imitations import EMBEDDING_SERVERS, OLLAMA_TOKENS, TEI_TOKENS
from ragassay.testing.provider_imitations import vector
from ragassay.testing.provider_servers import ProviderServer

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "embedders" / "openai.md"
HEADINGS = {"cloudflare": "Workers AI", "openai": "OpenAI", "ollama": "Ollama", "tei": "Text Embeddings Inference"}


def entry_of(name: str) -> JSON:
    """Return the embedder's entry that the page has under a server's heading."""
    section = PAGE.read_text("utf-8").partition(f"### {HEADINGS[name]}\n")[2].partition("\n##")[0]
    found = re.search(r"```toml\n(.*?)```", section, re.DOTALL)
    assert found, f"the page has no entry for {name}"
    entry: JSON = tomllib.loads(found[1])["rows"]["stack"]["embedder"]
    return entry


def made(name: str, server: ProviderServer, **given: Any) -> OpenAIEmbedder:
    """Return the embedder of the page's entry, at the imitation's address."""
    entry = {key: value for key, value in entry_of(name).items() if key != "kind"}
    return OpenAIEmbedder(**{**entry, "base_url": server.base_url, "key": Secret("sk-0123456789"), **given})


def failure(name: str, texts: list[str], **given: Any) -> str:
    """Return the message of embedding texts, after one call."""
    with ProviderServer(EMBEDDING_SERVERS[name]) as server:
        one = made(name, server, **given)
        with pytest.raises(ModelError) as caught:
            one.embed(texts, "document")
        one.close()
        assert len(server.asked) == 1
        assert caught.value.kind == "bad_request"
        return str(caught.value)


@pytest.mark.parametrize("name", sorted(EMBEDDING_SERVERS))
def test_the_entry_of_the_page_embeds(name: str) -> None:
    """Seventy chunks and a question have unit-length vectors of the entry's dimension, each prefix before them."""
    texts = [f"chunk {n}" for n in range(70)]
    with ProviderServer(EMBEDDING_SERVERS[name]) as server:
        one = made(name, server)
        rows, question = one.embed(texts, "document"), one.embed(["why?"], "query")
        one.close()
        sent = [text for asked in server.asked for text in asked.body["input"]]
    prefix = one.describe()["prefix"]
    assert sorted(sent) == sorted([*(prefix["document"] + text for text in texts), prefix["query"] + "why?"])
    expected = np.array(vector(prefix["document"] + texts[69], rows.shape[1]))
    assert np.allclose(rows[69], expected / np.linalg.norm(expected), atol=1e-6)
    assert question.shape == (1, entry_of(name)["dimension"])
    assert one.counted["document"].input_tokens == sum(len(text.split()) for text in sent[:-1])


def test_only_the_servers_that_want_a_key_are_told_one() -> None:
    """The entries of servers on one's own machine name no variable."""
    assert {name for name in EMBEDDING_SERVERS if "key_env" in entry_of(name)} == {"cloudflare", "openai"}


def test_tei_refuses_a_batch_and_the_message_says_what_to_change() -> None:
    """Its limit of texts a call, in its own words, and the parameter that is too high."""
    said = failure("tei", ["x"] * 40, batch=64)
    assert "batch size 40 > maximum allowed batch size 32" in said
    assert "`batch`" in said


def test_tei_refuses_a_long_text_and_is_not_asked_again() -> None:
    """A chunk that is longer than the model reads is an error that names the chunker, not a vector of its beginning."""
    said = failure("tei", ["word " * (TEI_TOKENS + 100)])
    assert "must have less than 512 tokens" in said
    assert "max_tokens" in said


def test_ollama_refuses_a_long_text() -> None:
    """A recent one says that the context is exceeded."""
    assert "exceeds the context length" in failure("ollama", ["word " * (OLLAMA_TOKENS + 1)])


def test_openai_refuses_an_empty_text() -> None:
    """The error is the service's, and asking again does not help."""
    assert "empty string" in failure("openai", [""], document_prefix="")
