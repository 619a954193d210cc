"""A row that cannot be built is named, and of several that lack a package all are told at once."""

from __future__ import annotations

from typing import Any

import pytest
from run_lab import Lab

from ragassay import plugins
from ragassay.errors import PluginError, StackError
from ragassay.plugins.stacks.bm25 import BM25


def test_a_stack_that_is_down_is_told_with_its_row(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of nine rows one must not have to guess which it was; what the error is stays."""

    def down(*_: Any) -> None:
        raise StackError("nobody listens at 127.0.0.1:1", retryable=True)

    monkeypatch.setattr(BM25, "build", down)
    lab = Lab(tmp_path)
    lab.write()
    with pytest.raises(StackError, match=r"^row 'row': nobody listens at 127\.0\.0\.1:1$") as raised:
        lab.run()
    assert raised.value.retryable


def test_every_row_without_its_package_is_told(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One installation mends them all."""
    known: Any = plugins.BUILT_IN["stacks"]
    for kind in ("gone", "lost"):
        monkeypatch.setitem(known, kind, f"package_that_is_{kind}:Stack")
    lab = Lab(tmp_path)
    lab.write(
        stack='{ kind = "gone" }', row='top_k = 2\n[[rows]]\nname = "other"\nstack = { kind = "lost" }\ntop_k = 2'
    )
    with pytest.raises(PluginError) as raised:
        lab.run()
    head, *told = str(raised.value).splitlines()
    assert head == "these rows cannot be run"
    assert [line.split(":")[0] for line in told] == ["  - row 'row'", "  - row 'other'"]
    assert all("pip install" in line for line in told)
