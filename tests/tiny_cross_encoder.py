"""A cross-encoder of a few kilobytes as an ONNX graph, made on the spot: it counts what question and passage share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from pair_tokenizer import SPECIAL, pair_tokenizer

SIZE = 128
"""How many tokens the graph has room for; special ones come first."""
POSITIONS = 48


def tiny_cross_encoder(folder: Path, *, positions: int = POSITIONS, labels: int = 1, bias: float = 0.0) -> Path:
    """Save model.onnx, tokenizer.json and config.json in `folder`, and return it.

    The number of a pair is 3 · (sum over tokens of min(count in the question, count in the passage)) / 4 − 2 + `bias`;
    padding counts for nothing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(_graph(labels, bias), str(folder / "model.onnx"))
    pair_tokenizer().save(str(folder / "tokenizer.json"))
    config = {"max_position_embeddings": positions, "pad_token_id": SPECIAL["[PAD]"], "num_labels": labels}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def _graph(labels: int, bias: float) -> Any:
    """Return the graph: one-hot rows of the tokens, summed for both segments, the smaller of each, summed."""
    weigh = np.zeros((SIZE, labels), dtype=np.float32)
    weigh[4:] = 0.75
    constants = [
        numpy_helper.from_array(np.eye(SIZE, dtype=np.float32), "rows"),
        numpy_helper.from_array(weigh, "weigh"),
        numpy_helper.from_array(np.array([2], dtype=np.int64), "last"),
        numpy_helper.from_array(np.array([1], dtype=np.int64), "middle"),
        numpy_helper.from_array(np.array(1, dtype=np.float32), "one"),
        numpy_helper.from_array(np.array(bias - 2, dtype=np.float32), "bias"),
    ]
    nodes = [
        helper.make_node("Gather", ["rows", "input_ids"], ["hot"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["mask", "second"], ["of_passage"]),
        helper.make_node("Sub", ["one", "second"], ["first"]),
        helper.make_node("Mul", ["mask", "first"], ["of_question"]),
    ]
    for name in ("of_question", "of_passage"):
        nodes += [
            helper.make_node("Unsqueeze", [name, "last"], [f"{name}_wide"]),
            helper.make_node("Mul", ["hot", f"{name}_wide"], [f"{name}_hot"]),
            helper.make_node("ReduceSum", [f"{name}_hot", "middle"], [f"{name}_counts"], keepdims=0),
        ]
    nodes += [
        helper.make_node("Min", ["of_question_counts", "of_passage_counts"], ["shared"]),
        helper.make_node("MatMul", ["shared", "weigh"], ["number"]),
        helper.make_node("Add", ["number", "bias"], ["logits"]),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", labels])]
    graph = helper.make_graph(nodes, "pairs", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
