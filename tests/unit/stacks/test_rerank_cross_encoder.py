"""The cross-encoder of `rerank` on onnxruntime: its numbers, its limit, its files, and files that cannot be used."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from ragassay.errors import InputError, PluginError, StackError
from ragassay.plugins.stacks.rerank.logits import as_scores
from ragassay.plugins.stacks.rerank.onnx import OnnxScorer
from ragassay.plugins.stacks.rerank.settings import CrossEncoderSettings, read_settings
from ragassay.plugins.weights import file_digest
from ragassay.run.build import StackBuilder
from ragassay.testing.service_board import silent
from ragassay.testing.stack_contract import corpus
from tiny_cross_encoder import POSITIONS, tiny_cross_encoder

QUESTION = "what is the limit of retries"
PASSAGES = ("the limit of retries is three", "cache folders are cleared", "the proxy is named by url", "zzzz")
NUMBERS = (5 * 0.75 - 2, -2.0, 2 * 0.75 - 2, -2.0)
"""Words shared, weighed as the graph does; "what" stands in no passage, and unknown words count for nothing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the model."""
    return tiny_cross_encoder(tmp_path_factory.mktemp("tiny"))


def scorer(folder: Path, texts: tuple[str, ...] = (), **params: Any) -> OnnxScorer:
    """Return the scorer over a folder."""
    settings, _ = read_settings({"method": "cross-encoder", "path": str(folder), **params})
    assert isinstance(settings, CrossEncoderSettings)
    return OnnxScorer(settings, Path(), texts)


@pytest.mark.parametrize("batch", [1, 2, 3, 50])
@pytest.mark.parametrize("threads", [1, 4])
def test_numbers_are_the_models_whatever_stands_beside_a_pair(folder: Path, batch: int, threads: int) -> None:
    """Question and passage are told apart by their segment, and padding counts for nothing."""
    found = scorer(folder, batch=batch, threads=threads, scores="logits").scores(QUESTION, PASSAGES)
    assert found == pytest.approx(NUMBERS)


def test_scores_are_sigmoids_unless_numbers_are_asked_for(folder: Path) -> None:
    """1 / (1 + e^−x), in the same order."""
    found = scorer(folder).scores(QUESTION, PASSAGES)
    assert found == pytest.approx([1 / (1 + math.exp(-number)) for number in NUMBERS])


@given(st.lists(st.floats(-700, 700), min_size=1))
def test_a_sigmoid_keeps_the_order_and_stays_between_0_and_1(logits: list[float]) -> None:
    """Nothing overflows, however large a number is."""
    found = as_scores(np.array(logits), "sigmoid")
    assert all(0 <= score <= 1 for score in found)
    assert all(math.isfinite(score) for score in found)
    by_logit = sorted(range(len(logits)), key=lambda at: logits[at])
    assert all(found[a] <= found[b] for a, b in itertools.pairwise(by_logit))
    assert as_scores(np.array(logits), "logits") == logits


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_is_an_error(wrong: float) -> None:
    """It never becomes a low score."""
    with pytest.raises(StackError, match="NaN or infinity"):
        as_scores(np.array([1.0, wrong]), "sigmoid")


def test_a_model_that_gives_nan_fails_the_search(tmp_path: Path) -> None:
    """Through the whole way."""
    with pytest.raises(StackError, match="NaN or infinity"):
        scorer(tiny_cross_encoder(tmp_path, bias=math.nan)).scores(QUESTION, PASSAGES)


def test_the_longer_text_loses_its_end(folder: Path) -> None:
    """Of sixteen tokens three are special; the question keeps its six, and seven are left of the passage."""
    long = "cache " * 6 + "limit " + "retries " * 40
    model = scorer(folder, (long, "limit", "cache " * 12, "cache " * 13, "cache " * 14), max_tokens=16, scores="logits")
    assert model.scores(QUESTION, [long]) == pytest.approx([0.75 - 2])
    assert model.describe()["token_limit"] == 16
    # Beside an empty question thirteen tokens of a chunk are read.
    assert model.describe()["truncated_chunks"] == 2


def test_a_question_longer_than_its_passage_is_cut_instead(folder: Path) -> None:
    """A short passage is read whole beside a question of any length."""
    question = "limit " + "cache " * 500
    assert scorer(folder, scores="logits").scores(question, ["the limit"]) == pytest.approx([0.75 - 2])


def test_the_limit_is_the_models_own(folder: Path, tmp_path: Path) -> None:
    """As config.json says it, 512 where nothing does or more is said, and never more than the model has."""
    assert scorer(folder).describe()["token_limit"] == POSITIONS
    assert scorer(tiny_cross_encoder(tmp_path, positions=8192)).describe()["token_limit"] == 512
    assert scorer(tmp_path, max_tokens=8192).describe()["token_limit"] == 8192
    with pytest.raises(InputError, match=rf"max_tokens = 100 is more than the {POSITIONS} positions"):
        scorer(folder, max_tokens=100)
    (tmp_path / "config.json").unlink()
    assert scorer(tmp_path).describe()["token_limit"] == 512


def test_the_files_are_recorded_by_their_digests(folder: Path, tmp_path: Path) -> None:
    """Those that were read, weights beside the graph among them; where they lie is not recorded."""
    told = scorer(folder).describe()
    names = ("config.json", "model.onnx", "tokenizer.json")
    assert told["weights"] == {name: file_digest(folder / name) for name in names}
    assert str(folder) not in str(told)
    tiny_cross_encoder(tmp_path)
    (tmp_path / "model.onnx_data").write_bytes(b"weights")
    (tmp_path / "README.md").write_text("not read")
    assert sorted(scorer(tmp_path).describe()["weights"]) == [
        "config.json",
        "model.onnx",
        "model.onnx_data",
        "tokenizer.json",
    ]


def test_the_description_says_how_pairs_are_scored(folder: Path) -> None:
    """Everything but the number of threads, which changes no score."""
    told = scorer(folder, batch=4, threads=7).describe()
    assert {name: told[name] for name in ("method", "runtime", "batch", "scores", "truncation")} == {
        "method": "cross-encoder",
        "runtime": "onnx",
        "batch": 4,
        "scores": "sigmoid",
        "truncation": "longest first",
    }
    assert "threads" not in told


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("model.onnx", None),
        ("model.onnx", b"no graph"),
        ("tokenizer.json", None),
        ("tokenizer.json", b"{}"),
        ("config.json", b"[]"),
        ("config.json", b"{"),
    ],
)
def test_absent_and_damaged_files_are_named(tmp_path: Path, file: str, content: bytes | None) -> None:
    """With the folder and what it needs."""
    path = tiny_cross_encoder(tmp_path) / file
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(PluginError, match=r"it needs model\.onnx and tokenizer\.json") as caught:
        scorer(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_a_model_with_two_labels_is_refused(tmp_path: Path) -> None:
    """When it is loaded: which of them is relevance is nobody's guess."""
    with pytest.raises(StackError, match=r"shape \(1, 2\) for 1 pairs; one number for each is wanted"):
        scorer(tiny_cross_encoder(tmp_path, labels=2))


def test_a_graph_that_takes_something_else_is_refused(tmp_path: Path) -> None:
    """Its inputs are named."""
    tiny_cross_encoder(tmp_path)
    pixels = helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n"])
    same = helper.make_tensor_value_info("same", TensorProto.FLOAT, ["n"])
    graph = helper.make_graph([helper.make_node("Identity", ["pixels"], ["same"])], "g", [pixels], [same])
    opset = helper.make_opsetid("", 17)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=8), str(tmp_path / "model.onnx"))
    with pytest.raises(PluginError, match="takes pixels; wanted are input_ids"):
        scorer(tmp_path)


def test_a_closed_scorer_says_so(folder: Path) -> None:
    """Closing twice is harmless."""
    model = scorer(folder)
    model.close()
    model.close()
    with pytest.raises(StackError, match="closed"):
        model.scores(QUESTION, PASSAGES)


def test_the_folder_lies_beside_the_board(tmp_path: Path) -> None:
    """A path on a board is relative to the board's file."""
    tiny_cross_encoder(tmp_path / "models" / "tiny")
    builder = StackBuilder(
        corpus(), evidence={}, cache=tmp_path, weights_cache=tmp_path, report=silent, folder=tmp_path
    )
    entry = {"kind": "rerank", "method": "cross-encoder", "path": "models/tiny", "of": {"kind": "bm25"}}
    built = builder.build(entry, "row 'x'")
    assert [hit.chunk for hit in built.search("the default of retries", 1)] == ["page-1.md#0"]
    described = msgspec.json.encode(built.describe())
    assert json.loads(described)["weights"].keys() == {"config.json", "model.onnx", "tokenizer.json"}
    built.close()
