"""A sentence-transformers model of a few kilobytes, made on the spot with weights from a seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

PROMPTS = {"query": "find: ", "passage": "text: ", "other": "other: "}
MAX_TOKENS = 32
DIMENSION = 16


def tiny_sentence_model(folder: Path, prompts: dict[str, str] | None = None) -> Path:
    """Save a model of 16 dimensions that reads 32 letters, the two special tokens among them, and return its folder."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(7)
    base = folder / "base"
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=_letters(), **_SPECIAL)
    tokenizer.save_pretrained(str(base))
    config: Any = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=DIMENSION,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(str(base))
    words = Transformer(str(base), max_seq_length=MAX_TOKENS)
    model = SentenceTransformer(modules=[words, Pooling(DIMENSION, "mean")], device="cpu", prompts=prompts or {})
    model.save(str(folder / "model"))
    return folder / "model"


_SPECIAL = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}


def _letters() -> Tokenizer:
    """Return a tokenizer by which every printable ASCII character is a token."""
    letters = {chr(code): at for at, code in enumerate(range(32, 127), 4)}
    vocabulary = {**{token: at for at, token in enumerate(_SPECIAL.values())}, **letters}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    at = vocabulary.__getitem__
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", at("[CLS]")), ("[SEP]", at("[SEP]"))]
    )
    return tokenizer
