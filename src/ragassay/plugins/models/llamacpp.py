"""A GGUF file run in this process by xllamacpp: greedy by default, one call at a time, no hidden cache."""

from __future__ import annotations

import asyncio
import http.client
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec
import xllamacpp

from ragassay import canon
from ragassay.errors import InputError, ModelError, PluginError
from ragassay.plugins import weights
from ragassay.plugins.models import gguf
from ragassay.plugins.models.chat_template import PROBE_SYSTEM, PROBE_USER, ChatTemplate, choose, inserts_default
from ragassay.plugins.models.openai_logprobs import first_tokens_of
from ragassay.records import JSON, Message, Reply, Usage

A = TypeVar("A")
T = TypeVar("T")

DEFAULTS: Mapping[str, Any] = {"max_tokens": 512, "n_ctx": 8192, "seed": 0, "temperature": 0, "threads": 1}
"""The parameters and their defaults; `chat_template` (Jinja text) may be given besides."""

_LOADING = ("chat_template", "n_ctx", "threads")


class LlamaCpp:
    """A local model, named by `id` (weights that `ragassay models pull` fetches) or by `path` (any GGUF file)."""

    def __init__(
        self,
        *,
        id: str | None = None,
        path: str | Path | None = None,
        params: Mapping[str, Any] | None = None,
        cache: Path | None = None,
    ) -> None:
        if (id is None) == (path is None):
            raise InputError("a llamacpp model needs either `id`, such as 'smollm2-135m', or `path` to a GGUF file")
        if id is not None:
            weights.files_of(id)
        self._name = id
        self._path = Path(path) if path is not None else None
        self._params = _checked({**DEFAULTS, **(params or {})})
        self._cache = cache
        self._key = secrets.token_hex(16)
        self._server: Any = None
        self._thread: ThreadPoolExecutor | None = None

    async def complete(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        """Answer once; loads the weights at the first call. `params` win over the configured ones.

        Raises `ModelError`: `bad_request` for a prompt longer than the context (nothing is ever cut) or for
        parameters that only loading takes, `server_error` when the engine fails.
        """
        if refused := sorted(set(params) & set(_LOADING)):
            raise _final(f"{', '.join(refused)} can be set for a loaded model only on the board, not per call")
        given = {name: value for name, value in self._params.items() if name not in _LOADING}
        body = {"messages": msgspec.to_builtins(messages), **given, **params}
        return await self._in_thread(self._complete, body)

    async def rendered(self, messages: Sequence[Message]) -> str:
        """Return the prompt that the model would get for `messages`, special tokens and all."""
        return await self._in_thread(self._render, list(messages))

    def describe(self) -> JSON:
        """Return kind, id, digest of the weights, parameters, chat template and engine version.

        Raises `PluginError` or `InputError` when the weights are not there.
        """
        template = self._template
        shown = {name: value for name, value in self._params.items() if name != "chat_template"}
        return {
            "kind": "llamacpp",
            "id": self._name or self._file.stem,
            "weights": {"file": self._file.name, "sha256": self._digest},
            "params": canon.without_fractions(shown),
            "chat_template": {"name": template.name, "sha256": template.sha256},
            "engine": f"xllamacpp {version('xllamacpp')}",
        }

    async def close(self) -> None:
        """Release the weights after the call under way; may be called twice."""
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.to_thread(thread.shutdown)
        self._server = None

    async def _in_thread(self, work: Callable[[A], T], argument: A) -> T:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="llamacpp")
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, argument)

    @cached_property
    def _file(self) -> Path:
        if self._path is not None:
            return self._path
        assert self._name is not None
        return weights.require(self._name, self._cache or weights.default_cache())

    @cached_property
    def _digest(self) -> str:
        try:
            return weights.file_digest(self._file)
        except OSError as error:
            raise InputError(f"cannot read {self._file}: {error}") from error

    @cached_property
    def _template(self) -> ChatTemplate:
        own = str(gguf.metadata(self._file).get("tokenizer.chat_template", ""))
        return choose(own, self._params.get("chat_template"))

    def _complete(self, body: JSON) -> Reply:
        server = self._loaded()
        started = time.perf_counter()
        try:
            answered = server.handle_chat_completions(body)
        except ValueError as error:
            raise _final(f"the local model does not take this request: {error}") from error
        except RuntimeError as error:
            raise ModelError(f"the local model failed: {error}", kind="server_error", retryable=True) from error
        return _reply(answered, round((time.perf_counter() - started) * 1000), self._name or self._file.stem)

    def _loaded(self) -> Any:
        if self._server is None:
            try:
                self._server = xllamacpp.Server(self._engine_params())
            except RuntimeError as error:
                raise PluginError(f"xllamacpp cannot load {self._file}: {error}") from error
            self._refuse_default_prompt()
        return self._server

    def _engine_params(self) -> Any:
        template = self._template
        engine = xllamacpp.CommonParams()
        engine.model.path = str(self._file)
        engine.n_ctx = self._params["n_ctx"]
        engine.cpuparams.n_threads = engine.cpuparams_batch.n_threads = self._params["threads"]
        engine.n_parallel = 1
        engine.fit_params = False  # would shrink the context without a word
        engine.ctx_shift = False  # would drop the start of a long prompt
        engine.cache_prompt = False
        engine.cache_ram_mib = 0
        engine.warmup = False
        engine.ui = engine.endpoint_props = engine.endpoint_slots = False
        engine.api_keys = [self._key]  # the engine listens on 127.0.0.1; nobody else may ask it
        engine.verbosity = -1
        if template.text:
            engine.chat_template = template.text
        return engine

    def _refuse_default_prompt(self) -> None:
        question = Message(role="user", content=PROBE_USER)
        given = self._render([Message(role="system", content=PROBE_SYSTEM), question])
        if inserts_default(given, self._render([question])):
            self._server = None
            raise _final(
                f"the chat template of {self._file.name} inserts a system prompt when none is given, so a control "
                "row would not be one; give a template of your own in params.chat_template"
            )

    def _render(self, messages: Sequence[Message]) -> str:
        address = urlsplit(self._loaded().listening_address)
        connection = http.client.HTTPConnection(address.hostname or "127.0.0.1", address.port, timeout=60)
        try:
            connection.request(
                "POST",
                "/apply-template",
                msgspec.json.encode({"messages": messages}),
                {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"},
            )
            said = msgspec.json.decode(connection.getresponse().read())
        except (OSError, http.client.HTTPException, msgspec.DecodeError) as error:
            raise ModelError(
                f"the local model does not show its prompt: {error}", kind="connection", retryable=True
            ) from error
        finally:
            connection.close()
        if not isinstance(said, dict) or not isinstance(said.get("prompt"), str):
            raise _final(f"the chat template of {self._file.name} cannot render these messages: {str(said)[:300]}")
        prompt: str = said["prompt"]
        return prompt


def _checked(params: dict[str, Any]) -> dict[str, Any]:
    problems = [f"params.{name} is unknown" for name in sorted(set(params) - set(DEFAULTS) - {"chat_template"})]
    for name, low in (("max_tokens", 1), ("n_ctx", 64), ("seed", 0), ("threads", 1)):
        value = params[name]
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            problems.append(f"params.{name} must be an integer of at least {low}, not {value!r}")
    try:
        params["temperature"] = float(params["temperature"])
        if not 0 <= params["temperature"] <= 5:
            problems.append("params.temperature must be between 0 and 5")
    except (TypeError, ValueError):
        problems.append(f"params.temperature must be a number, not {params['temperature']!r}")
    if not isinstance(params.get("chat_template", ""), str):
        problems.append("params.chat_template must be the text of a Jinja template")
    if problems:
        raise InputError("the parameters of the llamacpp model cannot be used", problems)
    return params


def _final(message: str) -> ModelError:
    return ModelError(message, kind="bad_request", retryable=False)


def _reply(answered: JSON, latency_ms: int, name: str) -> Reply:
    error = answered.get("error")
    if error:
        raise _engine_fault(error)
    choice = answered["choices"][0]
    usage = answered.get("usage") or {}
    return Reply(
        text=choice["message"].get("content"),
        finish_reason=choice.get("finish_reason"),
        usage=Usage(input_tokens=usage.get("prompt_tokens"), output_tokens=usage.get("completion_tokens")),
        latency_ms=latency_ms,
        request_id=answered.get("id"),
        model=name,
        first_tokens=first_tokens_of(choice.get("logprobs")),
    )


def _engine_fault(error: JSON) -> ModelError:
    if error.get("type") == "exceed_context_size_error":
        return _final(
            f"the prompt of {error.get('n_prompt_tokens')} tokens is longer than the context of {error.get('n_ctx')}; "
            "raise params.n_ctx, lower top_k or use smaller chunks: nothing is cut off"
        )
    code = error.get("code")
    if isinstance(code, int) and code < 500:
        return _final(f"the local model does not take this request: {error.get('message')}")
    return ModelError(f"the local model failed: {error.get('message')}", kind="server_error", retryable=True)
