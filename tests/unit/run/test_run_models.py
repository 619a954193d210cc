"""A board's local model takes its packaged weights from the cache folder that the run was given."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.errors import PluginError
from ragassay.run.board_file import Limits, ModelTable
from ragassay.run.build import make_model


def test_a_local_model_looks_for_its_weights_in_the_given_cache(tmp_path: Path) -> None:
    """Absent weights are reported with the path in that folder and the command that fetches them."""
    pytest.importorskip("xllamacpp", reason="needs the extra llamacpp and libgomp", exc_type=ImportError)
    table = ModelTable(
        kind="llamacpp",
        id="smollm2-135m",
        base_url=None,
        key_env=None,
        path=None,
        params={"max_tokens": 96},
        limits=Limits(concurrency=1),
        price=None,
    )
    model = make_model(table, {}, tmp_path)
    with pytest.raises(PluginError, match="ragassay models pull smollm2-135m") as caught:
        model.describe()
    assert str(tmp_path / "smollm2-135m") in str(caught.value)
