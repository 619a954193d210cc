"""The stacks that the how-to page builds keep every promise, as the page says."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import pytest
from how_to_page import PAGE, packages

from ragassay.errors import InputError
from ragassay.testing.service_contract import ServiceContract
from ragassay.testing.stack_contract import StackContract


def _defined(package: str, file: str) -> dict[str, Any]:
    """Return what a module of the page defines."""
    defined: dict[str, Any] = {}
    exec(compile(packages()[package][file], str(PAGE), "exec"), defined)
    return defined


class TestSharedWords(StackContract):
    """The page's first example."""

    stack = _defined("acme-search", "acme_search.py")["SharedWords"]


class TestSqliteVectors(StackContract):
    """The page's example over a vector engine."""

    stack = _defined("acme-vectors", "acme_vectors.py")["SqliteVectors"]


class TestSqliteDot(TestSqliteVectors):
    """The same by the dot product."""

    params: ClassVar[dict[str, Any]] = {"metric": "dot"}


@pytest.mark.parametrize(
    ("stack", "wrong"),
    [(TestSharedWords.stack, {"min_words": 0, "spare": 1}), (TestSqliteVectors.stack, {"metric": "l2", "spare": 1})],
)
def test_the_examples_check_their_parameters(stack: Any, wrong: dict[str, Any]) -> None:
    """As the page asks every stack to."""
    with pytest.raises(InputError) as caught:
        stack(**wrong)
    assert len(caught.value.problems) == 2


def test_the_page_counts_the_tests_right() -> None:
    """It says how many tests the suite has."""
    tests = [name for name in vars(StackContract) if name.startswith("test_")]
    assert f"{len(tests)} passed" in PAGE.read_text("utf-8")


def test_the_example_of_a_service_overrides_what_there_is() -> None:
    """The class of the page's last block is a whole suite for a server."""
    (code,) = re.findall(r"```python\n(# test_acme_service.py\n.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    defined: dict[str, Any] = {}
    exec(compile(code, str(PAGE), "exec"), defined)
    suite = defined["TestAcmeService"]
    assert issubclass(suite, ServiceContract)
    given = {name for name in vars(suite) if not name.startswith("__")}
    assert given <= set(vars(ServiceContract)) | set(ServiceContract.__annotations__)
