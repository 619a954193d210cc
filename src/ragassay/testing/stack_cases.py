"""What the contract suites ask stacks about: texts, questions, and parts that can be made to fail."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragassay import canon
from ragassay.records import JSON, Chunk, Hit
from ragassay.seams import Embedder, Retriever

T = TypeVar("T")

TEXTS = (
    "The quick brown fox jumps over the lazy dog near the river bank.",
    "Set the option retries to 5; the default of retries is 3.",
    "Die Straße führt über die Brücke nach Köln.",
    "日本語の文書を検索する。",
    "הטקסט הזה נכתב מימין לשמאל",
    "Same words, same score: alpha beta gamma.",
    "Same words, same score: alpha beta gamma.",
    "   \n\t ",
    "ﬁle naïve café cafe\u0301 \u200b zero\u200dwidth 🦊🦊",
    "fox fox fox river river dog",
    "timeout = 30 seconds; retries are counted per request",
    "A long page about nothing in particular. " * 200,
)
QUESTIONS = (
    "What is the default of retries?",
    "Where does the quick fox jump?",
    "Wohin führt die Straße?",
    "文書",
    "alpha beta gamma",
    "🦊 naïve café",
    "\u202eright to left\u202c \x00 \x1b[31m",
    "zzzz qqqq xxxx",
    "",
    "   ",
)
LONG_QUESTION = ("retries fox river " * 1200)[:20_000]


def corpus(texts: Sequence[str] = TEXTS) -> list[Chunk]:
    """Return one chunk per text, each a page of its own."""
    return [
        Chunk(id=f"page-{at}.md#0", page=f"page-{at}.md", start=0, end=len(text), text=text, sha256=_sha256(text))
        for at, text in enumerate(texts)
    ]


def _sha256(text: str) -> str:
    return canon.sha256(text.encode())


def ignore_progress(done: int, total: int) -> None:
    """Take no notice of progress."""


def in_time(work: Callable[[], T], limit_s: float, what: str) -> T:
    """Return what `work` returns in a thread of its own, or raise what it raises; `AssertionError` after `limit_s`."""
    ended: list[tuple[T | None, BaseException | None]] = []

    def run() -> None:
        try:
            ended.append((work(), None))
        except BaseException as error:  # noqa: BLE001 - carried over to the one who waits
            ended.append((None, error))

    thread = threading.Thread(target=run, name="contract", daemon=True)
    thread.start()
    thread.join(limit_s)
    assert ended, f"{what} has not ended after {limit_s:g} s"
    result, error = ended[0]
    if error is not None:
        raise error
    return result  # type: ignore[return-value]


class PartDown(Exception):
    """What a part raises that was made to fail."""


class FailingEmbedder:
    """An embedder that raises as soon as `down` is set."""

    def __init__(self, inner: Embedder, down: threading.Event) -> None:
        self._inner = inner
        self._down = down

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> NDArray[np.float32]:
        """Return the inner embedder's rows."""
        if self._down.is_set():
            raise PartDown("the embedder is down")
        return self._inner.embed(texts, kind)

    def describe(self) -> JSON:
        """Return what the inner embedder says."""
        return self._inner.describe()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class FailingRetriever:
    """A built stack that raises as soon as `down` is set."""

    def __init__(self, inner: Retriever, down: threading.Event) -> None:
        self._inner = inner
        self._down = down

    def search(self, text: str, k: int) -> Sequence[Hit]:
        """Return the inner stack's hits."""
        if self._down.is_set():
            raise PartDown("the stack inside is down")
        return self._inner.search(text, k)

    def describe(self) -> JSON:
        """Return what the inner stack says."""
        return self._inner.describe()

    def close(self) -> None:
        """Close the inner stack."""
        self._inner.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def failing(parts: Mapping[str, Any], down: threading.Event) -> dict[str, Any]:
    """Return the parts, of which embedders and stacks raise as soon as `down` is set."""
    return {name: _failing(part, down) for name, part in parts.items()}


def _failing(part: Any, down: threading.Event) -> Any:
    if isinstance(part, list):
        return [_failing(one, down) for one in part]
    if isinstance(part, Retriever):
        return FailingRetriever(part, down)
    return FailingEmbedder(part, down) if isinstance(part, Embedder) else part
