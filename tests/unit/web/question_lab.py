"""A small question file over hostile documentation, and the app on it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import calibration_lab as lab

from ragassay.cli.question_sources import corpus_of
from ragassay.web.app import create_app
from ragassay.web.guard import Session
from ragassay.web.question_desk import Documentation, Documents, QuestionDesk
from ragassay.web.questions import questions_page

HOSTILE = "<script>document.title = 'stolen'</script>\x1b[31m\u202eevil\u200b<img src=x onerror=alert(2)>"
DOCS: Mapping[str, str] = {
    "net.md": "# Network\n\nThe server listens\non port 8080 by default. It waits 16 seconds for a client.\n\n"
    f"{HOSTILE}\n",
    "log.md": "# Log\n\nThe Acme log is called server.log and is rotated each night.\n\nA night ends at 06:00 hours.\n",
}


def sample(name: str, text: str, target: str, literal: str, **more: Any) -> dict[str, Any]:
    """Return one entry of a question file with one claim; `more` adds keys."""
    claim = {"text": target, "central": True, "must": [[literal]]}
    provenance = {"author": "A. Writer", "tool": "drafted by model-x", "derivedFromSystem": False}
    return {"id": name, "input": text, "target": target, "claims": [claim], "provenance": provenance, **more}


def samples() -> list[dict[str, Any]]:
    """Return a question whose evidence is folded, one whose evidence is gone, one that is exact, one without."""
    return [
        sample("port", "On which port does the Acme server listen by default?", "On port 8080.", "8080",
               page="net.md", evidence="The server listens on port 8080 by default."),
        sample("wait", "How many seconds does the Acme server wait for a client?", "It waits 16 seconds.", "16",
               page="net.md", evidence="It waits 16 seconds for each client."),
        sample("log", "What is the Acme log called?", "It is called server.log.", "server.log",
               page="log.md", evidence="The Acme log is called server.log"),
        sample("bare", "Which colour does the `paint` option of Acme set?", "It sets green.", "green", topic="colours"),
    ]  # fmt: skip


def write_set(folder: Path, questions: list[dict[str, Any]] | None = None, docs: Mapping[str, str] = DOCS) -> Path:
    """Write a question file with its documentation beside it, and return the file."""
    (folder / "docs").mkdir(exist_ok=True)
    for name, text in docs.items():
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    file = folder / "set.json"
    text = json.dumps({"name": "Acme server", "samples": samples() if questions is None else questions})
    file.write_text(text, encoding="utf-8")
    return file


def desk_on(file: Path, *, corpus: bool = True) -> QuestionDesk:
    """Return the desk of a file, with the documentation beside it where `corpus` says so."""
    docs = file.parent / "docs"

    def read() -> Documentation:
        return Documentation({page.id: page for page in corpus_of(docs).pages}, {"net.md": "https://acme.example/net"})

    return QuestionDesk(file, Documents(docs, read) if corpus else None)


class Reviewer(lab.Visitor):
    """A browser of one reviewer with the page open; each call sends what the page would send."""

    def __init__(self, desk: QuestionDesk, name: str = "B. Reader") -> None:
        session = Session(lab.PORT)
        super().__init__(create_app([questions_page(desk, reviewer=name)], session), session)
        self.name = name

    def item(self, question: str) -> Any:
        """Return what is shown of a question."""
        reply = self.get(f"/questions/item?reviewer={self.name.replace(' ', '%20')}&id={question}")
        assert reply.status == 200, reply.body
        return reply.json

    def states(self) -> dict[str, str]:
        """Return the state of each question."""
        given = self.get(f"/questions/state?reviewer={self.name.replace(' ', '%20')}").json
        return {one["id"]: one["state"] for one in given["questions"]}

    def decide(self, shown: Any, decision: str, question: str | None = None, **more: Any) -> lab.Reply:
        """Decide on what was shown."""
        sent = {name: shown[name] for name in ("material", "pageSha256", "shown")}
        name = question or shown["id"]
        return self.post("/questions/decide", {"reviewer": self.name, "id": name, "decision": decision, **sent, **more})

    def check(self, question: str, form: Any) -> Any:
        """Have an edited form looked at."""
        reply = self.post("/questions/check", {"id": question, "form": form})
        assert reply.status == 200, reply.body
        return reply.json

    def edit(self, question: str, **changes: Any) -> lab.Reply:
        """Check an edited form, and accept it as edited."""
        form = {**self.item(question)["form"], **changes}
        return self.decide(self.check(question, form), "edit", question, form=form)

    def undo(self, question: str, line: str) -> lab.Reply:
        """Take a decision back."""
        return self.post("/questions/undo", {"reviewer": self.name, "id": question, "line": line})
