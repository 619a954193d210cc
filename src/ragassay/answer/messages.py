"""From a question and what was delivered to the messages that the answering model gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.records import Delivered, Message

DEFAULT_TEMPLATE = "chunks-as-system/1"


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """How delivered chunks and the question become messages; a changed template is a new name.

    `place` says where chunks go: each in a system message of its own, all in one, or into the user message.
    `chunk` takes `{n}` (from 1) and `{text}`; `context` takes `{chunks}` and, with place `user`, `{question}`.
    """

    name: str
    place: Literal["system-each", "system-one", "user"]
    chunk: str
    separator: str
    context: str

    def digest(self) -> str:
        """Return the SHA-256 of the canonical bytes of every field: it is recorded with the model."""
        return canon.digest(msgspec.to_builtins(self))


TEMPLATES: Mapping[str, Template] = {
    template.name: template
    for template in (
        Template(name=DEFAULT_TEMPLATE, place="system-each", chunk="{text}", separator="", context="{chunks}"),
        Template(
            name="single-system/1",
            place="system-one",
            chunk="[{n}]\n{text}",
            separator="\n\n",
            context="{chunks}",
        ),
        Template(
            name="user-context/1",
            place="user",
            chunk="[{n}]\n{text}",
            separator="\n\n",
            context="Context:\n\n{chunks}\n\nQuestion: {question}",
        ),
    )
}
"""The known templates by name."""


def template_named(name: str) -> Template:
    """Return the template of that name; raises `InputError` for an unknown one."""
    if name not in TEMPLATES:
        raise InputError(f"there is no message template {name!r}; known are: {', '.join(sorted(TEMPLATES))}")
    return TEMPLATES[name]


def build_messages(
    question: str, delivered: Sequence[Delivered], template: str = DEFAULT_TEMPLATE
) -> tuple[Message, ...]:
    """Return the messages for one question: chunks in the order given, then one user message, and nothing else.

    With nothing delivered every template gives one message, the question alone. Raises `InputError` for an
    unknown template.
    """
    form = template_named(template)
    if not delivered:
        return (Message(role="user", content=question),)
    chunks = [form.chunk.format(n=n, text=chunk.text) for n, chunk in enumerate(delivered, 1)]
    if form.place == "system-each":
        return (*(Message(role="system", content=text) for text in chunks), Message(role="user", content=question))
    context = form.context.format(chunks=form.separator.join(chunks), question=question)
    if form.place == "system-one":
        return Message(role="system", content=context), Message(role="user", content=question)
    return (Message(role="user", content=context),)
