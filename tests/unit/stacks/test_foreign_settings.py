"""What is recorded of somebody else's objects, and what must never be."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from ragassay import canon
from ragassay.plugins.stacks.foreign.secrets import HIDDEN, names_a_secret
from ragassay.plugins.stacks.foreign.settings import Settings
from ragassay.records import Secret

KEY = "sk-fake-0123456789abcdefghij"


class Metric(Enum):
    """A choice."""

    COSINE = "cosine"


class Thing:
    """An object that keeps what it was given, some of it under other names."""

    def __init__(self, k: int = 4, alpha: float = 0.25, metric: Metric = Metric.COSINE, **more: Any) -> None:
        self.k, self._alpha, self.metric = k, alpha, metric
        self.calls = 99
        for name, value in more.items():
            setattr(self, name, value)


class Holder(Thing):
    """One that takes more."""

    def __init__(self, value: Any = None, inner: Any = None) -> None:
        super().__init__()
        self.value, self.inner = value, inner


class Other:
    """An object of a class that nobody reads."""

    secret = KEY


def read(value: Any) -> tuple[Any, Settings]:
    """Return what is told of a value that an object keeps, and the reader."""
    settings = Settings((Thing,), (Secret,))
    told = settings.of(Holder(value)).get("value")
    canon.canonical({"value": told})
    return told, settings


def test_what_the_constructor_takes_is_told_and_what_the_object_counts_is_not() -> None:
    """No counter, no cache: the description of a stack is the same after a search."""
    told = Settings((Thing,), ()).of(Thing(7, alpha=0.5))
    assert told == {"class": f"{__name__}.Thing", "k": 7, "alpha": "0.5", "metric": "cosine"}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (True, True),
        (3, 3),
        (2**60, str(2**60)),
        (0.1, "0.1"),
        (float("inf"), "inf"),
        ("text-embedding-3-large", "text-embedding-3-large"),
        ("sentence-transformers/all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"),
        ("jina-embeddings-v3", "jina-embeddings-v3"),
        ("voyage-large-2", "voyage-large-2"),
        ("haystack.InMemoryBM25Retriever", "haystack.InMemoryBM25Retriever"),
        ({"b": None, "a": [1, None, 2]}, {"a": [1, 2]}),
        ({"x", "y"}, ["x", "y"]),
        (list(range(60)), {"items": 60}),
        ([Secret("one"), Secret("two")], {"items": 2}),
        (dict.fromkeys(map(str, range(60)), 1), {"items": 60}),
        ("/home/somebody/index", "(a path)"),
        (Path("/tmp/tmpab12cd/index"), "(a path)"),
        ("C:\\index", "(a path)"),
        ("data/index", "data/index"),
        (Other(), {"class": f"{__name__}.Other"}),
        (Other, f"{__name__}.Other"),
        (read, f"{__name__}.read"),
        ("x" * 600, {"chars": 600, "sha256": canon.sha256(b"x" * 600)}),
        ("lone \ud800", "lone \\ud800"),
        ("b7c1f8aa-0d3e-4a55-9e1b-2f6f0c9d1e77", HIDDEN),
        ({"type": "env_var", "env_vars": ["OPENAI_API_KEY"], "strict": True}, {"env_vars": ["OPENAI_API_KEY"]}),
    ],
)
def test_a_value_is_told_as_json_that_can_be_signed(value: Any, told: Any) -> None:
    """Numbers without fractions, nothing null, no path of a machine, nothing drawn at random."""
    assert read(value)[0] == told


@pytest.mark.parametrize(
    "value",
    [
        KEY,
        {"api_key": "short"},
        {"headers": {"X-Own": "short"}},
        {"nested": [{"password": "hunter22"}]},
        {"connection_string": "Server=db;Uid=me"},
        {"openAIApiKey": "short"},
        {"auth": ("user", "hunter22")},
        f"Bearer {KEY}",
        "postgresql://me:hunter22@db.example/docs",
        "https://search.example/?api_key=hunter22#x",
        "ghp_abcdefgh12345678",
        "AIzaSyA1234567890abcdef",
        "pcsk_abcdefghijkl",
        "3f2a9c41d07be8856aa1c0ffee12b9d4",
        "Zk3xQ9vB7nM2pL5tR8wY",
        Secret(KEY),
    ],
)
def test_a_secret_is_not_recorded_and_not_repeated(value: Any) -> None:
    """By the name it stands under, by what it looks like, or by its type; an error's text loses it too."""
    told, settings = read(value)
    text = json.dumps(told)
    for secret in (KEY, "short", "hunter22", "Uid=me", "abcdefgh", "3f2a9c41", "Zk3xQ9vB"):
        assert secret not in text
    for secret in settings.hidden:
        assert secret not in settings.scrub(f"refused: {secret}!")


def test_an_error_about_a_variable_stays_readable() -> None:
    """The name of a variable, a model and a class are no secrets."""
    plain = "set OPENAI_API_KEY for text-embedding-3-small in InMemoryEmbeddingRetriever at https://a.example/v1"
    assert Settings((), ()).scrub(plain) == plain
    assert Settings((), ()).scrub(f"wrong key {KEY}") == f"wrong key {HIDDEN}"
    assert Settings((), ()).scrub("at https://me:pw@a.example/v1?key=abc") == "at https://a.example/v1"


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("api_key", True), ("apiKey", True), ("token", True), ("key", True), ("Authorization", True), ("dsn", True)]
    + [(name, False) for name in ("id_key", "text_key", "max_tokens", "tokenizer", "monkey", "author", "keyword")],
)
def test_names_that_may_hold_a_secret(name: str, is_one: bool) -> None:
    """By whole words, so that a tokenizer and an author are told."""
    assert names_a_secret(name) is is_one


def test_objects_that_hold_each_other_are_told_once() -> None:
    """A circle ends, and so does a deep nesting."""
    one = Holder()
    one.inner = Holder(inner=one)
    told = Settings((Thing,), ()).of(one)
    assert told["inner"]["inner"] == {"class": f"{__name__}.Holder"}
    deep: Any = None
    for _ in range(30):
        deep = Holder(inner=deep)
    assert json.dumps(Settings((Thing,), ()).of(deep)).count("class") == 7
