"""Which chat template a local model is run with, so that no system prompt appears that nobody asked for."""

from __future__ import annotations

import re

import msgspec

from ragassay import canon

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + "
    "'<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
"""ChatML with every message as it is given, and nothing besides: `chatml/1`."""

_DEFAULT_PROMPT = re.compile(r"<\|im_start\|>system(\\n|\n)\s*\w")


class ChatTemplate(msgspec.Struct, frozen=True):
    """A template by name (`own`, `chatml/1`, `given`); `text` is empty where the file's own is used unchanged."""

    name: str
    text: str
    sha256: str


def choose(own: str, given: str | None) -> ChatTemplate:
    """Return the template to use: the one given, else `chatml/1` where the file's own inserts a prompt, else its own.

    A ChatML template inserts a default prompt when text of its own follows `<|im_start|>system`.
    """
    if given is not None:
        return ChatTemplate("given", given, _digest(given))
    if _DEFAULT_PROMPT.search(own) or not own:
        return ChatTemplate("chatml/1", CHATML, _digest(CHATML))
    return ChatTemplate("own", "", _digest(own))


def _digest(text: str) -> str:
    return canon.sha256(text.encode())


PROBE_USER = "5f3c-question"
PROBE_SYSTEM = "8a1d-system"


def inserts_default(with_system: str, without_system: str) -> bool:
    """Return whether a template adds a system turn by itself, from two rendered prompts.

    Both hold the same question (`PROBE_USER`); the first was given `PROBE_SYSTEM` as its system message, the
    second none. What stands around that message in the first then stands around something else in the second.
    """
    before, found, after = with_system.partition(PROBE_SYSTEM)
    return bool(found) and without_system.startswith(before) and without_system.endswith(after)
