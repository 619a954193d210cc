"""A cross-encoder of sentence-transformers of a few kilobytes, made on the spot with weights from a seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pair_tokenizer import SPECIAL, VOCABULARY, pair_tokenizer

POSITIONS = 48


def tiny_torch_cross_encoder(folder: Path, labels: int = 1) -> Path:
    """Save a BERT of one layer that gives `labels` numbers for a pair of 48 tokens at most, and return its folder."""
    import torch
    from sentence_transformers import CrossEncoder
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    base = folder / "base"
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=pair_tokenizer(),
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=POSITIONS,
    )
    tokenizer.save_pretrained(str(base))
    torch.manual_seed(11)
    config: Any = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=POSITIONS,
        num_labels=labels,
        pad_token_id=SPECIAL["[PAD]"],
        initializer_range=0.6,
    )
    BertForSequenceClassification(config).save_pretrained(str(base))
    CrossEncoder(str(base), device="cpu").save_pretrained(str(folder / "model"))
    return folder / "model"
