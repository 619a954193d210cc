"""A folder or archive of documentation becomes pages, chunks and digests."""

from ragassay.corpus.build import read_corpus
from ragassay.corpus.extract import EXTRACTOR, reads_pdf
from ragassay.corpus.found import Limits
from ragassay.corpus.store import load_corpus, store_corpus, summary

__all__ = [
    "EXTRACTOR",
    "Limits",
    "load_corpus",
    "read_corpus",
    "reads_pdf",
    "store_corpus",
    "summary",
]
