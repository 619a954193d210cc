"""A configuration names the question set by equal JSON, not by values that a language calls equal."""

from __future__ import annotations

from ragassay.testing.signed_run import OpenedRun, resigned, signed_run
from ragassay.verify import Unpinned, verify


def test_true_is_not_one_item() -> None:
    """A configuration whose number of items is `true` names no question set of one item."""

    def claim(run: OpenedRun) -> None:
        run.config["measure"]["benchmark"]["items"] = True

    files = resigned(signed_run(items=1), claim)
    assert "BENCHMARK_MISMATCH" in verify(files, policy=Unpinned(), now=1_800_000_000).codes
