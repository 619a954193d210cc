"""What the embedders that run on this machine take; the classes are asked, and no model is loaded."""

from __future__ import annotations

from typing import Any

import pytest

from ragassay import plugins
from ragassay.errors import InputError

KINDS = {"fastembed": "fastembed", "sentence-transformers": "sentence_transformers", "wordllama": "wordllama"}
WRONG = {
    "truncate_dim": 0,
    "normalise": 1,
    "query_prefix": 3,
    "document_prefix": ["x"],
    "path": "",
    "nosuch": 1,
}


def loaded(kind: str) -> Any:
    """Return the class of a kind; skips where its library is not installed."""
    pytest.importorskip(f"ragassay.plugins.embedders.{KINDS[kind]}", reason=f"pip install 'ragassay[{kind}]'")
    return plugins.load("embedders", kind)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_all_problems_are_named_at_once(kind: str) -> None:
    """One error with every wrong parameter and every unknown name."""
    with pytest.raises(InputError) as caught:
        loaded(kind)(**WRONG)
    said = " ".join(caught.value.problems)
    assert all(name in said for name in WRONG)


@pytest.mark.parametrize("kind", ["fastembed", "sentence-transformers"])
@pytest.mark.parametrize(("given", "words"), [({}, "give path or id"), ({"path": "x", "id": "y"}, "not both")])
def test_a_model_is_a_folder_or_a_name(kind: str, given: dict[str, str], words: str) -> None:
    """Neither and both are errors before anything is loaded."""
    with pytest.raises(InputError, match=words):
        loaded(kind)(**given)


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        ("fastembed", {"id": "a/b", "pooling": "cls"}, "pooling belongs to path"),
        ("fastembed", {"path": "x", "pooling": "max"}, "one of mean, cls, last, none"),
        ("fastembed", {"path": "x", "threads": 0}, "threads"),
        ("sentence-transformers", {"path": "x", "revision": "main"}, "revision belongs to id"),
        ("sentence-transformers", {"path": "x", "query_prefix": "", "query_prompt": "q"}, "not both"),
        ("sentence-transformers", {"path": "x", "batch": 0}, "batch"),
        ("wordllama", {"id": "nosuch"}, "one of l2_supercat"),
        ("wordllama", {"dimension": 100}, "one of 64, 128, 256"),
        ("wordllama", {"truncate_dim": 300}, "from 1 to 256"),
    ],
)
def test_what_does_not_go_together_is_refused(kind: str, given: dict[str, Any], words: str) -> None:
    """With what it must be."""
    with pytest.raises(InputError) as caught:
        loaded(kind)(**given)
    assert words in str(caught.value)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_missing_library_is_named_with_its_extra(kind: str) -> None:
    """What each module imports belongs to the extra of its kind."""
    assert plugins.extra_of(KINDS[kind], kind) == kind
