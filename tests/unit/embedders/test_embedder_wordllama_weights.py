"""The static embedder: weights that are in the package, texts read whole, a root logger that stays as it was."""

from __future__ import annotations

import importlib.util
import logging
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ragassay.plugins.embedders.wordllama", reason="pip install 'ragassay[wordllama]'")

from ragassay.errors import PluginError
from ragassay.plugins.embedders.wordllama import WordLlamaEmbedder

PACKAGE = Path(str(importlib.util.find_spec("wordllama").origin)).parent  # type: ignore[union-attr]
WEIGHTS = "l2_supercat_256.safetensors"
VOCABULARY = "l2_supercat_tokenizer_config.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with copies of both files."""
    shutil.copy(PACKAGE / "weights" / WEIGHTS, tmp_path)
    shutil.copy(PACKAGE / "tokenizers" / VOCABULARY, tmp_path)
    return tmp_path


def test_it_loads_from_the_package_alone() -> None:
    """No network, no cache folder: both files are those of the package, and their digests are recorded."""
    about = WordLlamaEmbedder().describe()
    assert sorted(about["weights"]) == [WEIGHTS, VOCABULARY]
    assert all(len(digest) == 64 for digest in about["weights"].values())
    assert (about["dimension"], about["token_limit"], about["normalised"]) == (256, "none", True)


def test_importing_it_leaves_the_root_logger_alone() -> None:
    """The package sets up logging for everybody when it is imported; that is taken back."""
    code = (
        "import logging; import ragassay.plugins.embedders.wordllama; root = logging.getLogger(); "
        "assert not root.handlers and root.level == logging.WARNING, (root.handlers, root.level)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert logging.getLogger("wordllama").level == logging.NOTSET


def test_near_texts_are_near() -> None:
    """A kitten is nearer to a cat than to a database; rows have length 1."""
    rows = WordLlamaEmbedder().embed(["a small kitten", "the cat sleeps", "a relational database"], "document")
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.1
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)


def test_a_text_without_word_pieces_is_a_row_of_zeros() -> None:
    """The empty text has no direction; it is no NaN, and no warning of a division."""
    rows = WordLlamaEmbedder().embed(["", "a"], "document")
    assert not rows[0].any()
    assert rows[1].any()


def test_every_text_is_read_to_its_end() -> None:
    """The last word of 5,000 changes the vector, and none counts as truncated."""
    one = WordLlamaEmbedder()
    rows = one.embed(["word " * 5000, "word " * 4999 + "cat"], "document")
    assert not np.array_equal(rows[0], rows[1])
    assert one.count_truncated(["word " * 5000]) == 0


def test_prefixes_and_lengths_are_applied_and_recorded() -> None:
    """A prefix is written before; the first 64 numbers are kept and scaled anew."""
    one = WordLlamaEmbedder(query_prefix="find ", truncate_dim=64, normalise=True)
    whole = WordLlamaEmbedder(normalise=False).embed(["find x"], "document")[:, :64]
    assert np.allclose(one.embed(["x"], "query"), whole / np.linalg.norm(whole), atol=1e-6)
    about = one.describe()
    assert (about["prefix"]["query"], about["dimension"], about["truncated_from"]) == ("find ", 64, 256)


def test_a_folder_of_one_s_own_is_read_and_its_place_is_not_recorded(folder: Path) -> None:
    """The same bytes elsewhere are the same embedder; the package's are not taken where a folder is named."""
    assert WordLlamaEmbedder(path=folder).describe() == WordLlamaEmbedder().describe()
    (folder / WEIGHTS).unlink()
    with pytest.raises(PluginError, match="lie in `path`"):
        WordLlamaEmbedder(path=folder).describe()


def test_damaged_and_other_weights_are_errors(folder: Path) -> None:
    """Bytes that are no tensor, and vectors of another length than was said."""
    other = folder / "l2_supercat_128.safetensors"
    shutil.copy(folder / WEIGHTS, other)
    with pytest.raises(PluginError, match="say dimension = 256"):
        WordLlamaEmbedder(path=folder, dimension=128).embed(["a"], "query")
    other.write_bytes(b"damaged")
    with pytest.raises(PluginError, match="cannot load"):
        WordLlamaEmbedder(path=folder, dimension=128).embed(["a"], "query")
