"""The bundled MiniLM weights as a folder that other libraries read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragassay.errors import PluginError
from ragassay.plugins import weights
from ragassay.plugins.embedders.minilm import KIND, TOKEN_LIMIT


def minilm_folder(folder: Path, tokens: int = TOKEN_LIMIT) -> Path:
    """Return a folder with the weights' two files and a tokenizer_config.json; skips where they were not pulled."""
    try:
        source = weights.require(KIND, weights.default_cache()).parent
    except PluginError as error:
        pytest.skip(str(error))
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).symlink_to(source / name)
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": tokens, "pad_token": "[PAD]"}))
    return folder
