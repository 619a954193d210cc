"""A small site, and a model that drafts questions about it, for the tests of `questions draft`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cli_case import asked, invoke
from click.testing import Result

from ragassay.records import JSON
from ragassay.testing.provider_imitations import completion
from ragassay.testing.provider_servers import Asked, Imitation, ProviderServer, Said

SECTIONS = ("guides", "guides", "guides", "concepts", "concepts", "reference")
NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
_FACT = re.compile(r"The (?P<name>\w+) server listens on port (?P<port>\d+) by default")
_WAIT = re.compile(r"`(?P<name>\w+)_wait` option holds a client back for (?P<wait>\d+) seconds")


def site(folder: Path, *more: str, pages: int = 6) -> Path:
    """Write a site of pages with two passages each; `more` stands on each page too, in a passage of its own."""
    for number, (section, name) in enumerate(zip(SECTIONS[:pages], NAMES[:pages], strict=True)):
        port, wait = 8001 + number, 31 + number
        text = f"# The {name} server\n\nThe {name} server listens on port {port} by default, and on no other one.\n\n"
        text += f"The `{name}_wait` option holds a client back for {wait} seconds before it may try again.\n"
        path = folder / "docs" / section / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "".join(f"\n{one.format(name=name, number=number)}\n" for one in more), encoding="utf-8")
    return folder / "docs"


def good(passage: str) -> dict[str, Any]:
    """Return a sound proposal for either passage of a page."""
    if found := _FACT.search(passage):
        name, port = found["name"], found["port"]
        return {
            "suitable": True,
            "question": f"On which port does the `{name}` server of Acme listen by default?",
            "target": f"Port {port}.",
            "evidence": f"The {name} server listens on port {port} by default",
            "claims": [claim(f"The {name} server listens on port {port} by default.", port)],
        }
    found = _WAIT.search(passage)
    assert found
    name, wait = found["name"], found["wait"]
    return {
        "suitable": True,
        "question": f"For how many seconds does the `{name}_wait` option of Acme hold a client back?",
        "target": f"For {wait} seconds.",
        "evidence": f"The `{name}_wait` option holds a client back for {wait} seconds",
        "claims": [claim(f"The `{name}_wait` option holds a client back for {wait} seconds.", wait)],
    }


def claim(text: str, *must: str, id: int = 1, central: bool = True) -> dict[str, Any]:
    """Return a claim as a reply has it."""
    return {"id": id, "text": text, "central": central, "must": list(must)}


def sound(body: JSON, **changed: Any) -> str:
    """Return a sound reply, with some keys changed."""
    nonce, material = asked(body)
    return json.dumps({**good(material["passage"]), "nonce": nonce, **changed})


def saying(text: Callable[[JSON], str | None]) -> Imitation:
    """Return an imitation that completes each request with this text."""

    def said(asked: Asked) -> Said:
        return Said(body=completion(asked.body, text(asked.body)))

    return said


def draft(*arguments: object) -> Result:
    """Run `ragassay questions draft` with these arguments."""
    return invoke("questions", "draft", *arguments)


def model(server: ProviderServer, extra: str = "limits = { concurrency = 1 }") -> str:
    """Return the table of that server as it is written on the command line."""
    return f'{{ kind = "openai", id = "test-model", base_url = "{server.base_url}", {extra} }}'


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
