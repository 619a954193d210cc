"""Whatever a signed configuration says, executing it again ends in an outcome."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_lab import Lab

from ragassay.manifest import read_run
from ragassay.run.rerun import rerun
from ragassay.testing.signed_run import OpenedRun, resigned

PLACES = (
    ("stack",),
    ("stack", "kind"),
    ("stack", "entry"),
    ("stack", "entry", "kind"),
    ("stack", "entry", "k1"),
    ("stack", "entry", "of"),
    ("stack", "describe"),
    ("topK",),
    ("threshold",),
    ("answer",),
    ("answer", "kind"),
    ("answer", "template"),
    ("answer", "describe"),
    ("judge",),
    ("judge", "kind"),
    ("judge", "describe"),
    ("corpus",),
    ("corpus", "digest"),
    ("corpus", "chunker"),
    ("benchmark",),
    ("scorer",),
)
KINDS = st.sampled_from(["bm25", "hybrid", "oracle", "none", "dense", "reader", "literal", "llm", "heading", "x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8) | KINDS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["kind", "of", "stack", "embedder", "model", "k1", "name", "id"]), inner)
        | st.fixed_dictionaries({"kind": KINDS, "of": st.lists(inner, max_size=3)})
    ),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def made() -> Iterator[tuple[Path, dict[str, bytes]]]:
    """A workspace and the files of a run in it."""
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder), questions=3)
        lab.write()
        yield lab.space.root, read_run(lab.space.runs / lab.run()["row", 1].run_id).files


@given(place=st.sampled_from(PLACES), value=VALUES)
@settings(max_examples=150, deadline=None)
def test_any_configuration_ends_in_an_outcome(
    made: tuple[Path, dict[str, bytes]], place: tuple[str, ...], value: Any
) -> None:
    """No value at any place of a measurement leads to an exception; a reason stands beside all but `equal`."""
    root, files = made

    def change(run: OpenedRun) -> None:
        inner = run.config["measure"]
        for name in place[:-1]:
            inner = inner[name]
        inner[place[-1]] = value

    done = rerun(resigned(files, change), workspace=root)
    assert done.outcome == "equal" or done.why
