"""The stack that the how-to page builds keeps every promise, as the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ragassay.errors import InputError
from ragassay.testing.stack_contract import StackContract

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "write-a-stack.md"


def _from_page() -> Any:
    """Return the class that the page's first block of code defines."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    defined: dict[str, Any] = {}
    exec(compile(blocks[0], str(PAGE), "exec"), defined)
    return defined["SharedWords"]


class TestSharedWords(StackContract):
    """The page's example."""

    stack = _from_page()


def test_the_example_checks_its_parameters() -> None:
    """As the page asks every stack to."""
    with pytest.raises(InputError) as caught:
        _from_page()(min_words=0, spare=1)
    assert len(caught.value.problems) == 2


def test_the_page_counts_the_tests_right() -> None:
    """It says how many tests the suite has."""
    tests = [name for name in vars(StackContract) if name.startswith("test_")]
    assert f"{len(tests)} passed" in PAGE.read_text("utf-8")
