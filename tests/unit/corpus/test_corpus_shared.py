"""Real documentation: every evidence string is found, whole in a chunk, and the digest is the same everywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ragassay.corpus import read_corpus
from ragassay.plugins.chunkers.heading import HeadingChunker
from ragassay.records import Corpus

DIGESTS = {
    "uv-docs": "6bc73d30bdbf7c060a2e24ecc28e5c15d3559b8c99d08a418bc6ab4cd841cd4b",
    "postgresql-docs": "e84e75f0d2c38513ddc5c29c8ad633d03978160974583c79b346148d9babeff9",
}
SOURCES = {"uv-docs": "corpus", "postgresql-docs": "html.tar.xz"}
SIZES = {"uv-docs": (81, 824), "postgresql-docs": (1169, 8098)}


@pytest.fixture(scope="module", params=sorted(SOURCES))
def built(request: pytest.FixtureRequest, shared_data: Path) -> tuple[str, Path, Corpus]:
    """One real corpus with the default chunker."""
    name: str = request.param
    return name, shared_data / name, read_corpus(shared_data / name / SOURCES[name], HeadingChunker())


def collapsed(text: str) -> str:
    """Return the text with every run of white space as one space."""
    return " ".join(text.split())


def test_every_evidence_is_in_its_page_and_in_one_chunk(built: tuple[str, Path, Corpus]) -> None:
    """All 30 evidence strings are found in the text of their page, and the heading chunker splits none."""
    _, folder, corpus = built
    samples = json.loads((folder / "questions.json").read_bytes())["samples"]
    pages = {page.id: collapsed(page.text) for page in corpus.pages}
    whole = {
        page: [collapsed(c.text) for c in corpus.chunks if c.page == page] for page in {s["page"] for s in samples}
    }
    assert len(samples) == 30
    assert [s["id"] for s in samples if collapsed(s["evidence"]) not in pages[s["page"]]] == []
    assert [s["id"] for s in samples if not any(collapsed(s["evidence"]) in text for text in whole[s["page"]])] == []


def test_digest_is_known(built: tuple[str, Path, Corpus]) -> None:
    """The same input gives this digest on every machine; a change of it is a change of every number measured on it."""
    name, _, corpus = built
    assert (len(corpus.pages), len(corpus.chunks)) == SIZES[name]
    assert corpus.digest() == DIGESTS[name]
    assert corpus.source["seen"] == len(corpus.pages) + len(corpus.source["leftOut"])


@pytest.mark.parametrize(("locale", "zone", "seed"), [("C", "UTC", "0"), ("C.UTF-8", "Asia/Kathmandu", "1")])
def test_digest_does_not_depend_on_the_environment(
    shared_data: Path, tmp_path: Path, locale: str, zone: str, seed: str
) -> None:
    """Locale, time zone, hash seed and UTF-8 mode change nothing."""
    environment = {"LC_ALL": locale, "TZ": zone, "PYTHONHASHSEED": seed, "PYTHONUTF8": seed, "PATH": os.defpath}
    source = shared_data / "uv-docs" / "corpus"
    command = [sys.executable, "-m", "ragassay", "corpus", "build", str(source), "--json"]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, check=True)
    assert json.loads(done.stdout)["digest"] == DIGESTS["uv-docs"]
