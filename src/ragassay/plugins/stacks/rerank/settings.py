"""The parameters of the stack `rerank`: those of the method that is named, every problem in one error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragassay.plugins.embedders.local import EmbedderParameters
from ragassay.plugins.stacks.connection import key_env_check, url_check
from ragassay.plugins.stacks.rerank.price import Price, read_price

RUNTIMES = ("onnx", "sentence-transformers")
SCORES = ("sigmoid", "logits")
FORMS = ("cohere", "jina", "tei")
LLM_SCORES = ("logprobs", "word")

_OF: Mapping[str, tuple[str, ...]] = {
    "cross-encoder": ("runtime", "path", "id", "revision", "device", "max_tokens", "batch", "threads", "scores"),
    "endpoint": ("form", "url", "id", "key_env", "params", "batch", "timeout_s", "concurrency", "price"),
    "llm": ("llm_score", "top_logprobs", "max_characters", "concurrency"),
}
"""The parameters of each method; `method` and `depth` belong to all."""
METHODS = tuple(_OF)
_OURS = frozenset({"model", "query", "documents", "texts", "top_n", "return_documents", "return_text", "stream"})
_URL = "url must be the whole http or https address that is posted to, such as https://api.cohere.com/v2/rerank"


class CrossEncoderSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A model on this machine; without `max_tokens` it reads what the model can, at most 512."""

    runtime: str
    path: Path | None
    id: str | None
    revision: str | None
    device: str | None
    max_tokens: int | None
    batch: int | None
    threads: int | None
    scores: str


class EndpointSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A service; without `batch` it gets 100 passages a call, or what a TEI server says that it takes."""

    form: str
    url: str
    id: str | None
    params: Mapping[str, Any]
    batch: int | None
    timeout_s: int
    concurrency: int
    price: Price | None


class LlmSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a language model's reply becomes a score."""

    llm_score: str
    top_logprobs: int
    max_characters: int
    concurrency: int


Settings = CrossEncoderSettings | EndpointSettings | LlmSettings


def read_settings(given: Mapping[str, Any]) -> tuple[Settings, int]:
    """Return the settings of the method that is named, and `depth`; raises `InputError` with every problem."""
    read = EmbedderParameters("rerank", given)
    method = read.choice("method", "", METHODS)
    depth = read.integer("depth", 20, low=1, high=1_000)
    found = _all(read)
    found["price"], problems = read_price(read.table("price"))
    read.note(*problems)
    if method:
        read.note(*_strangers(method, given), *_missing(method, found, given))
    read.finish()
    return _KINDS[method](**{name: found[name] for name in _OF[method] if name != "key_env"}), depth


def _all(read: EmbedderParameters) -> dict[str, Any]:
    """Return every parameter of every method, each read once."""
    read.hidden("key_env", key_env_check())
    return {
        "runtime": read.choice("runtime", "onnx", RUNTIMES),
        "path": read.folder(),
        "id": read.text("id"),
        "revision": read.text("revision"),
        "device": read.text("device"),
        "max_tokens": read.limit("max_tokens"),
        "batch": read.limit("batch", 1_000),
        "threads": read.limit("threads", 256),
        "scores": read.choice("scores", "sigmoid", SCORES),
        "form": read.choice("form", "cohere", FORMS),
        "url": read.hidden("url", url_check(_URL, needed=False)),
        "params": read.table("params") or {},
        "timeout_s": read.integer("timeout_s", 30, low=1, high=55),
        "concurrency": read.integer("concurrency", 4, low=1, high=64),
        "llm_score": read.choice("llm_score", "logprobs", LLM_SCORES),
        "top_logprobs": read.integer("top_logprobs", 20, low=2, high=20),
        "max_characters": read.integer("max_characters", 8_000, low=1, high=1_000_000),
    }


def _strangers(method: str, given: Mapping[str, Any]) -> list[str]:
    """Name what was given and belongs to other methods only."""
    return [
        f"{name} belongs to method = {' or '.join(repr(one) for one in owners)}; leave it out"
        for name in given
        if (owners := [one for one, names in _OF.items() if name in names]) and method not in owners
    ]


def _missing(method: str, found: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """Name what the method needs and what does not go together."""
    if method == "cross-encoder":
        return _cross_encoder_faults(found, given)
    return _endpoint_faults(found, given) if method == "endpoint" else []


def _cross_encoder_faults(found: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    torch = found["runtime"] == "sentence-transformers"
    problems = []
    if not torch:
        problems += [
            f"{name} belongs to runtime = 'sentence-transformers'; leave it out"
            for name in ("id", "revision", "device")
            if name in given
        ]
    elif "threads" in given:
        problems.append("threads belongs to runtime = 'onnx'; leave it out")
    if (found["path"] is None) == (found["id"] is None or not torch):
        files = "model.onnx and tokenizer.json" if not torch else "the model, or id, its name on the hub, and not both"
        problems.append(f"path must be the folder of {files}")
    if found["revision"] is not None and found["id"] is None:
        problems.append("revision belongs to id: a folder has the files that it has")
    if found["max_tokens"] is not None and found["max_tokens"] < 8:
        problems.append(f"max_tokens = {found['max_tokens']} must be at least 8")
    return problems


def _endpoint_faults(found: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    problems = [] if "url" in given else [f"url is missing: {_URL}"]
    if found["form"] == "tei" and found["id"] is not None:
        problems.append("id must be left out with form = 'tei': such a server serves one model")
    if found["form"] != "tei" and found["id"] is None:
        problems.append("id is missing; give the model's name, which is sent as `model`")
    ours: Sequence[str] = sorted(_OURS & set(found["params"]))
    return problems + [f"params.{name} is set by the harness and cannot be given" for name in ours]


_KINDS: Mapping[str, type[Any]] = {
    "cross-encoder": CrossEncoderSettings,
    "endpoint": EndpointSettings,
    "llm": LlmSettings,
}
