"""The bundled embedder: its limit, its files, and that loading waits until it is used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragassay import plugins
from ragassay.errors import InputError, PluginError
from ragassay.plugins import weights
from ragassay.plugins.embedders.minilm import KIND, MiniLM


@pytest.fixture(scope="module")
def model() -> MiniLM:
    """The embedder with its weights; skips where they were not pulled."""
    try:
        return MiniLM(path=weights.require(KIND, weights.default_cache()))
    except PluginError as error:
        pytest.skip(str(error))


def test_it_is_the_registered_embedder() -> None:
    """Its kind loads it, and names its weights."""
    assert plugins.load("embedders", KIND) is MiniLM
    assert MiniLM.weights in weights.WEIGHTS


def test_constructing_reads_nothing(tmp_path: Path) -> None:
    """A folder that does not exist is noticed when the first text is embedded, and the message says what to do."""
    lazy = MiniLM(path=tmp_path / "nosuch")
    assert lazy.embed([], "document").shape == (0, 384)
    with pytest.raises(PluginError, match="ragassay models pull minilm-l6-v2-int8"):
        lazy.embed(["a"], "document")


@pytest.mark.parametrize("junk", [b"", b"not a model"])
def test_files_that_are_no_model_are_a_plugin_error(tmp_path: Path, junk: bytes) -> None:
    """Whatever the runtime raises is said once, with the folder."""
    (tmp_path / "model.onnx").write_bytes(junk)
    (tmp_path / "tokenizer.json").write_bytes(junk)
    with pytest.raises(PluginError, match="cannot be loaded from"):
        MiniLM(path=tmp_path).describe()


@pytest.mark.parametrize(
    "params", [{"threads": 0}, {"threads": "2"}, {"threads": True}, {"path": ""}, {"path": 3}, {"batch": 8}]
)
def test_wrong_parameters_are_refused(params: dict[str, Any]) -> None:
    """Before anything is loaded."""
    with pytest.raises(InputError, match="cannot be used"):
        MiniLM(**params)


def test_a_text_is_read_up_to_256_word_pieces_and_longer_ones_are_counted(model: MiniLM) -> None:
    """254 words and the two special pieces fit; from the 255th on nothing changes the vector."""
    fits, longer, longest = ("word " * 254).strip(), "word " * 255, "word " * 254 + "cat " * 500
    before = model.truncated
    rows = model.embed([fits, longer, longest], "document")
    assert np.array_equal(rows[0], rows[1])
    assert np.array_equal(rows[0], rows[2])
    assert not np.array_equal(rows[0], model.embed([("word " * 253).strip()], "document")[0])
    assert model.truncated - before == 2
    assert model.count_truncated([fits, longer, longest, ""]) == 2


def test_questions_do_not_count_as_truncated_documents(model: MiniLM) -> None:
    """The counter is about chunks."""
    before = model.truncated
    model.embed(["word " * 400], "query")
    assert model.truncated == before


def test_rows_have_unit_length_and_say_what_is_alike(model: MiniLM) -> None:
    """A paraphrase is nearer than another subject."""
    rows = model.embed(["How do I install the package?", "Installing the software", "A cat on a warm roof"], "query")
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1, 1], abs=1e-6)
    assert rows[0] @ rows[1] > 0.5 > rows[0] @ rows[2]


def test_neither_batch_nor_threads_change_a_vector(model: MiniLM) -> None:
    """One text is one call of the model, so its vector is its own."""
    path = weights.require(KIND, weights.default_cache()).parent
    texts = [f"line {at} " * (1 + at % 60) for at in range(40)]
    rows = model.embed(texts, "document")
    assert np.array_equal(rows, MiniLM(path=path, threads=1).embed(texts, "document"))
    assert np.array_equal(rows[17], MiniLM(path=path, threads=4).embed([texts[17]], "document")[0])


def test_the_description_holds_the_digests_of_its_files(model: MiniLM) -> None:
    """A local copy with other bytes is another embedder; where it lies is not recorded."""
    described = model.describe()
    assert described["weights"] == {entry.file: entry.sha256 for entry in weights.WEIGHTS[KIND]}
    assert (described["token_limit"], described["dimension"]) == (256, 384)
    assert str(Path.home()) not in str(described)
