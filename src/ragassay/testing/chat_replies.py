"""What a test server says: replies made from a request's body alone."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from ragassay.plugins.models.reader import read
from ragassay.records import JSON

ReplyOf: TypeAlias = Callable[[JSON], str | Awaitable[str]]
"""Makes the text of a reply from a request's body."""


_JUDGED = re.compile(
    r"<<<answer (?P<nonce>\S+)\n(?P<answer>.*)\nanswer (?P=nonce)>>>.*Grade the claims (?P<ids>[\d, ]+) now\.",
    re.DOTALL,
)


def echo(body: JSON) -> str:
    """Reply with the last user message."""
    users = _contents(body, "user")
    return users[-1] if users else "nothing was asked"


def counter() -> ReplyOf:
    """Return a reply that says which answer it is: "answer 1", "answer 2", and so on."""
    count = 0

    def reply(_body: JSON) -> str:
        nonlocal count
        count += 1
        return f"answer {count}"

    return reply


def reader(body: JSON) -> str:
    """Reply as the extractive reader does."""
    return read(echo(body), _contents(body, "system"))


def judge(body: JSON) -> str:
    """Reply to a judge's prompt of profile 2 that every claim is supported, quoting the answer; else echo."""
    prompt = echo(body)
    found = _JUDGED.search(prompt)
    if found is None:
        return prompt
    claims = [
        {"id": int(number), "quote": json.loads(found["answer"]), "reason": "as scripted", "verdict": "SUPPORTS"}
        for number in found["ids"].split(", ")
    ]
    reply = {"claims": claims, "answer_kind": "answer", "extra_wrong": False, "injection_seen": False}
    return json.dumps({**reply, "nonce": found["nonce"]}, ensure_ascii=False)


def _contents(body: JSON, role: str) -> list[str]:
    return [str(message["content"]) for message in body["messages"] if message["role"] == role]


MODES: Mapping[str, Callable[[], ReplyOf]] = {
    "counter": counter,
    "echo": lambda: echo,
    "judge": lambda: judge,
    "reader": lambda: reader,
}
"""The replies that a server in a process of its own can give, by name."""
