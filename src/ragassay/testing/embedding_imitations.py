"""Embedding servers imitated in what differs on the wire. Wire form only: nothing was run against a service.

Where each form is from:

- Text Embeddings Inference: its OpenAPI document and the routes of its server. Errors of `/v1/embeddings` are
  `{"message", "code", "type"}`; 413 is both more texts than `--max-client-batch-size` (32) and a text that is longer
  than the model reads where `--auto-truncate` is off; 424 is a model that failed, 429 a server that is overloaded. It
  does not look at `model` and answers with the name of its own.
- OpenAI: the reference of its embeddings endpoint: 2,048 texts and 300,000 tokens a call, 8,192 tokens a text, none
  of them empty.
- Ollama: its users' reports of texts longer than the context, which recent versions refuse instead of cutting them.
"""

from __future__ import annotations

from collections.abc import Mapping

from ragassay.testing.provider_imitations import cloudflare, embeddings, ollama, openai_embeddings, openai_error
from ragassay.testing.provider_servers import Asked, Imitation, Said

TEI_BATCH = 32
TEI_MODEL = "BAAI/bge-small-en-v1.5"
TEI_DIMENSION = 384
TEI_TOKENS = 512
OPENAI_TOKENS = 8192
OPENAI_CALL_TOKENS = 300_000
OLLAMA_TOKENS = 2048


def tei_error(status: int, kind: str, message: str) -> Said:
    """Return an error as Text Embeddings Inference writes it on its OpenAI-compatible route."""
    return Said(status=status, body={"message": message, "code": status, "type": kind})


TEI_OVERLOADED = tei_error(429, "Overloaded", "Model is overloaded")
"""Its answer while as many requests are under way as it takes; it does not say how long to wait."""

TEI_FAILED = tei_error(424, "Backend", "Inference failed")
"""Its answer where the model failed on a batch."""


def _longest(asked: Asked) -> int:
    """Return the tokens of the longest text; here a token is a word."""
    return max(len(text.split()) for text in asked.body["input"])


def tei(asked: Asked) -> Said:
    """Imitate Text Embeddings Inference as it is started without options, with a model of 384 dimensions."""
    if not asked.body["input"]:
        return tei_error(400, "Empty", "`inputs` cannot be empty")
    if (count := len(asked.body["input"])) > TEI_BATCH:
        return tei_error(413, "Validation", f"batch size {count} > maximum allowed batch size {TEI_BATCH}")
    if (length := _longest(asked)) > TEI_TOKENS:
        message = f"Input validation error: `inputs` must have less than {TEI_TOKENS} tokens. Given: {length}"
        return tei_error(413, "Validation", message)
    body = embeddings(asked.body, TEI_DIMENSION)
    body["usage"]["total_tokens"] = body["usage"]["prompt_tokens"]
    return Said(body={**body, "model": TEI_MODEL})


def openai_limited(asked: Asked) -> Said:
    """Imitate OpenAI's embeddings with the limits of one call."""
    texts = asked.body["input"]
    if any(not text for text in texts):
        return openai_error("Invalid 'input[0]': input cannot be an empty string.")
    if len(texts) > 2048 or sum(len(text.split()) for text in texts) > OPENAI_CALL_TOKENS:
        return openai_error(f"Requested more than {OPENAI_CALL_TOKENS} tokens, max {OPENAI_CALL_TOKENS} per request")
    if (length := _longest(asked)) > OPENAI_TOKENS:
        message = f"This model's maximum context length is {OPENAI_TOKENS} tokens, you requested {length} tokens."
        return openai_error(message)
    return openai_embeddings(asked)


def ollama_strict(asked: Asked) -> Said:
    """Imitate a recent Ollama, which refuses a text that is longer than the model's context."""
    if _longest(asked) > OLLAMA_TOKENS:
        return openai_error("the input length exceeds the context length")
    return ollama(asked)


EMBEDDING_SERVERS: Mapping[str, Imitation] = {
    "cloudflare": cloudflare,
    "openai": openai_limited,
    "ollama": ollama_strict,
    "tei": tei,
}
"""One imitation for each server that the embedder's page has an entry for."""
