"""A tokenizer of a few words that reads pairs of texts, for the small cross-encoders of the tests."""

from __future__ import annotations

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = {"[UNK]": 0, "[PAD]": 1, "[CLS]": 2, "[SEP]": 3}
_KNOWN = """
the quick brown fox jumps over lazy dog near river bank set option retries to default of is same words score alpha beta
gamma timeout seconds are counted per request a long page about nothing in particular what where does limit three cache
folders cleared proxy named by url how many grams part weigh
"""
VOCABULARY = {**SPECIAL, **{word: at for at, word in enumerate(dict.fromkeys(_KNOWN.split()), len(SPECIAL))}}
"""The words that the models know."""


def pair_tokenizer() -> Tokenizer:
    """Return a tokenizer by which a known word is one token; a pair has two segments and three special tokens."""
    tokenizer = Tokenizer(models.WordLevel(VOCABULARY, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", SPECIAL["[CLS]"]), ("[SEP]", SPECIAL["[SEP]"])],
    )
    return tokenizer
