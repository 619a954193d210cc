"""The language model inside a stack: found among the parts, asked with a prompt that is recorded by its digest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.records import JSON, Message
from ragassay.seams import BlockingModel


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt with its name: what the model is told, and the message that carries what it is asked about.

    `user` holds `{name}` where `filled` puts a text.
    """

    id: str
    system: str
    user: str

    def filled(self, **texts: str) -> tuple[Message, Message]:
        """Return both messages; what is put in is put in once and never read as a place itself."""
        parts = self.user.split("{")
        body = parts[0]
        for part in parts[1:]:
            name, _, rest = part.partition("}")
            body += texts[name] + rest
        return Message(role="system", content=self.system), Message(role="user", content=body)

    def describe(self) -> JSON:
        """Return its name and the SHA-256 over both texts."""
        return {"id": self.id, "sha256": canon.digest([self.system, self.user])}


def model_of(kind: str, parts: Mapping[str, Any]) -> BlockingModel:
    """Return the part `model`; raises `InputError` when there is none."""
    model = parts.get("model")
    if not isinstance(model, BlockingModel):
        raise InputError(_needs_model(kind))
    return model


def lacks_model(kind: str, entry: JSON) -> str | None:
    """Say, of a stack's entry, that it names no language model; None where it does."""
    return None if isinstance(entry.get("model"), dict) else _needs_model(kind)


def _needs_model(kind: str) -> str:
    return f"{kind!r} needs a language model: model = {{ kind = \"openai\", id = '…', base_url = '…' }}"


def said(model: BlockingModel, prompt: Prompt, params: Mapping[str, Any] | None = None, **texts: str) -> str:
    """Return the text of the model's reply, without white space around it; raises what the model raises."""
    return (model.complete(prompt.filled(**texts), params or {}).text or "").strip()
