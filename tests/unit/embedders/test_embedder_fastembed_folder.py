"""The embedder over FastEmbed with the bundled MiniLM weights: the same vectors as our own runtime gives."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("fastembed", reason="pip install 'ragassay[fastembed]'")

from minilm_folder import minilm_folder
from ragassay import canon
from ragassay.errors import InputError, PluginError
from ragassay.plugins.embedders.fastembed import FastEmbedEmbedder
from ragassay.plugins.embedders.minilm import MiniLM
from ragassay.testing.stack_contract import QUESTIONS, TEXTS

LONG = "word " * 255
FITS = ("word " * 254).strip()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the bundled weights; skips where they were not pulled."""
    return minilm_folder(tmp_path_factory.mktemp("fast") / "minilm")


def test_it_agrees_with_the_bundled_embedder(folder: Path) -> None:
    """The same files on the same runtime: no number differs by more than a millionth, and the same texts are cut."""
    texts = [*TEXTS, *QUESTIONS, FITS, LONG]
    theirs, ours = FastEmbedEmbedder(path=folder), MiniLM(path=folder)
    assert np.abs(theirs.embed(texts, "document") - ours.embed(texts, "document")).max() < 1e-6
    assert theirs.count_truncated(texts) == ours.count_truncated(texts) > 0
    weights = theirs.describe()["weights"]
    assert {name: weights[name] for name in ("model.onnx", "tokenizer.json")} == ours.describe()["weights"]


def test_texts_together_and_more_threads_give_the_same_to_rounding(folder: Path) -> None:
    """Batches and threads are recorded, as another processor may round them differently."""
    texts = [*TEXTS, *QUESTIONS]
    alone, together = FastEmbedEmbedder(path=folder), FastEmbedEmbedder(path=folder, batch=8, threads=2)
    assert np.abs(alone.embed(texts, "document") - together.embed(texts, "document")).max() < 1e-6
    assert alone.describe() != together.describe()


def test_limit_prefix_pooling_and_length_are_applied_and_recorded(folder: Path) -> None:
    """A lower limit counts the prefix; the prefix is written before; the first token's vector is not the mean."""
    plain = FastEmbedEmbedder(path=folder, max_seq_length=10)
    one = FastEmbedEmbedder(path=folder, max_seq_length=10, query_prefix="find this: ", document_prefix="a chunk: ")
    assert plain.describe()["token_limit"] == 10
    assert plain.count_truncated(["word " * 8, "word " * 9]) == 1
    assert one.count_truncated(["word " * 8]) == 1
    assert np.array_equal(one.embed(["x"], "query"), plain.embed(["find this: x"], "query"))
    assert one.describe()["prefix"] == {"document": "a chunk: ", "query": "find this: "}
    first = FastEmbedEmbedder(path=folder, pooling="cls", max_seq_length=10)
    assert not np.allclose(first.embed(["x"], "query"), plain.embed(["x"], "query"), atol=0.01)
    assert first.describe()["pooling"] == "cls"


def test_vectors_are_cut_and_scaled(folder: Path) -> None:
    """The first numbers of the vector as it comes, scaled to length 1; more than there are is refused."""
    whole = FastEmbedEmbedder(path=folder, normalise=False).embed(["a"], "document")
    short = FastEmbedEmbedder(path=folder, truncate_dim=64)
    assert not np.isclose(np.linalg.norm(whole), 1)
    assert np.allclose(short.embed(["a"], "document"), whole[:, :64] / np.linalg.norm(whole[:, :64]), atol=1e-6)
    assert (short.describe()["dimension"], short.describe()["truncated_from"]) == (64, 384)
    with pytest.raises(InputError, match="more than the model's 384"):
        FastEmbedEmbedder(path=folder, truncate_dim=385).embed(["a"], "query")


def test_the_place_of_the_folder_and_other_weights_in_it_are_no_part_of_the_record(
    folder: Path, tmp_path: Path
) -> None:
    """Only the file that is loaded counts, with what the tokenizer reads."""
    other = minilm_folder(tmp_path / "elsewhere")
    (other / "model_fp16.onnx").write_bytes(b"never read")
    (other / "README.md").write_text("never read", encoding="utf-8")
    first, second = FastEmbedEmbedder(path=folder).describe(), FastEmbedEmbedder(path=str(other)).describe()
    assert canon.canonical(first) == canon.canonical(second)
    assert "elsewhere" not in json.dumps(second)


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
def test_a_folder_without_one_of_its_files_says_what_it_needs(
    tmp_path: Path, missing: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Constructing reads nothing; the first use names the folder and its files, and nothing is printed."""
    broken = minilm_folder(tmp_path / "broken")
    (broken / missing).unlink()
    lazy = FastEmbedEmbedder(path=broken)
    with pytest.raises(PluginError, match=r"it needs model\.onnx, tokenizer\.json and a tokenizer_config\.json"):
        lazy.embed(["a"], "query")
    assert capfd.readouterr() == ("", "")


def test_a_name_that_fastembed_does_not_know_is_an_error_without_a_call() -> None:
    """The names are in the package; the network is not asked."""
    with pytest.raises(PluginError, match="a name that fastembed knows"):
        FastEmbedEmbedder(id="nobody/nothing").describe()
