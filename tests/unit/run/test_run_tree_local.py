"""A board's row over `tree` with a real small model: every question ends with valid hits or a recorded failure."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_lab import Lab

from ragassay.errors import PluginError
from ragassay.plugins import weights
from ragassay.run.prepared import Options


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Return a board's folder whose workspace uses the weights of this machine; skip where there are none."""
    pytest.importorskip("xllamacpp", reason="needs the extra ragassay[llamacpp] and libgomp", exc_type=ImportError)
    try:
        weights.require("smollm2-135m", weights.default_cache())
    except PluginError as error:
        pytest.skip(str(error))
    return Lab(tmp_path, questions=8)


def stack(more: str) -> str:
    """Return the row's stack: SmolLM2 chooses at most two of the sections of eight small pages."""
    model = '{ kind = "llamacpp", id = "smollm2-135m", params = { max_tokens = 24, n_ctx = 2048 } }'
    return f'{{ kind = "tree", pages = 8, nodes = 2, summary_characters = 60, model = {model}{more} }}'


@pytest.mark.slow
@pytest.mark.parametrize("more", ["", ", schema = true"])
def test_a_real_model_ends_in_hits_or_in_a_recorded_failure(lab: Lab, more: str) -> None:
    """A model of 135M chooses poorly; each question is signed with chunks, as empty, or as failed with what it said."""
    lab.write(stack=stack(more), row="top_k = 2\ntimeout_s = 120")
    ended = lab.run(Options(seal=True, subset=2))["row", 1]
    assert ended.held is None
    outputs, telemetry = lab.outputs(ended), lab.telemetry(ended)
    assert len(outputs) == 2
    for name, row in outputs.items():
        assert row.retrieval in ("ok", "empty", "failed")
        assert bool(row.chunks) == (row.retrieval == "ok")
        assert (row.failure is not None) == (row.retrieval == "failed")
        assert telemetry[name].retrieval_attempts == (2 if row.failure else 1)
        assert (telemetry[name].retrieval_usage.input_tokens or 0) > 100
        if row.failure:
            assert "choice among 8 sections cannot be used after 2 attempts" in row.failure.message
