"""Asking a retrieval service what every stack must be able to do, and saying what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ragassay.errors import StackError
from ragassay.plugins.stacks.http import Http, HttpRetriever
from ragassay.records import Hit, Secret

QUESTIONS = (
    "How do I install it?",
    "What is the default?",
    "Wohin führt die Straße?",
    "文書を検索する 🦊 cafe\u0301",
    'quote " backslash \\ tab \t nul \x00 {"k": 1}',
    "",
    "how long may a question be " * 740,
)
"""Plain, accented, East Asian and emoji, characters that JSON escapes, empty, and 20,000 characters."""

_K = 5
_FEWER = 2
_AT_ONCE = 8


def check_service(
    url: str,
    *,
    key: Secret | None = None,
    params: Mapping[str, Any] | None = None,
    questions: Sequence[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> list[str]:
    """Return what is wrong with the service at `url`, each problem once; an empty list for one that keeps the contract.

    `params` are further parameters of the stack `http`. `questions` are asked besides `QUESTIONS`: without one that
    finds something only the shape of empty replies is seen, which is a problem too. `progress` is called with
    (done, total) questions. Raises `InputError` for parameters that cannot be used.
    """
    stack = Http(url=url, key=key, **(params or {}))
    try:
        retriever = stack.build((), {}, _ignore)
    except StackError as error:
        return [f"GET: {error}"]
    try:
        return _Checks(retriever).run([*questions, *QUESTIONS], progress or _ignore)
    finally:
        retriever.close()


class _Checks:
    def __init__(self, retriever: HttpRetriever) -> None:
        self._retriever = retriever
        self._texts: dict[str, str] = {}
        self._problems: dict[str, None] = {}
        """In the order in which they were found, each once."""

    def run(self, questions: Sequence[str], progress: Callable[[int, int], None]) -> list[str]:
        """Ask everything; a service that fails the first question is asked no other."""
        found: dict[str, list[Hit]] = {}
        for done, question in enumerate(questions, 1):
            hits = self._ask(question, _K)
            if hits is None and done == 1:
                return list(self._problems)
            if hits is not None:
                found[question] = hits
                self._compare(question, hits)
            progress(done, len(questions))
        if found and not any(found.values()):
            self._say("no question found anything, so no hit was checked; give a question that your corpus answers")
        self._together(found)
        return list(self._problems)

    def _ask(self, question: str, k: int) -> list[Hit] | None:
        try:
            hits = self._retriever.search(question, k)
        except StackError as error:
            self._say(f"question {_shown(question)}, k = {k}: {error}")
            return None
        for hit in hits:
            if self._texts.setdefault(hit.chunk, hit.text or "") != hit.text:
                self._say(f"the id {hit.chunk[:60]!r} came with two different texts; an id names one passage")
        return hits

    def _compare(self, question: str, hits: list[Hit]) -> None:
        again = self._ask(question, _K)
        if again is not None and again != hits:
            self._say(f"question {_shown(question)}: asked twice, it got different hits")
        fewer = self._ask(question, _FEWER)
        if fewer is not None and fewer != hits[:_FEWER]:
            self._say(f"question {_shown(question)}: the hits for k = {_FEWER} are not the first of those for k = {_K}")

    def _together(self, found: Mapping[str, list[Hit]]) -> None:
        """Ask everything again from several threads at once."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            questions = [question for question in found for _ in range(2)]
            for question, hits in zip(questions, pool.map(lambda one: self._ask(one, _K), questions), strict=True):
                if hits is not None and hits != found[question]:
                    self._say(f"question {_shown(question)}: with {_AT_ONCE} asked at a time it got different hits")

    def _say(self, problem: str) -> None:
        self._problems[problem] = None


def _ignore(*at: int) -> None:
    """Take no notice of progress."""


def _shown(question: str) -> str:
    return repr(question) if len(question) <= 60 else f"{question[:40]!r}… of {len(question)} characters"
