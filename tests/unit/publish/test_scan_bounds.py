"""The scan asks no network, imports nothing heavy before it is used, and takes bounded time on any text."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import tldextract
from hypothesis import given, settings
from hypothesis import strategies as st
from scan_lab import made, scanned

from ragassay.publish.detect import NotScanned, choice, detectors
from ragassay.publish.detect.windows import OVERLAP, PIECE, pieces

ROOT = Path(__file__).resolve().parents[3]


def test_nothing_asks_the_network_or_the_list_of_public_suffixes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Detectors are made and run while every socket, name look-up and suffix look-up is counted: there is none."""
    asked: list[str] = []

    def refuse(name: str) -> Callable[..., None]:
        def call(*_: object, **__: object) -> None:
            asked.append(name)
            raise OSError(name)

        return call

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse(name))
    monkeypatch.setattr(tldextract, "extract", refuse("tldextract"))
    monkeypatch.setattr(tldextract.TLDExtract, "__call__", refuse("TLDExtract"))
    found = [
        hit for one in detectors() for hit in one.find("ann@acme.io, +49 30 901820, https://a:b1c2@h.io, 10.1.2.200")
    ]
    assert len(found) >= 4
    assert asked == []


def test_what_is_not_used_is_not_imported() -> None:
    """The room, its records and its files load neither Presidio nor spaCy nor detect-secrets nor numpy."""
    program = (
        "import sys, ragassay.publish, ragassay.publish.detect, ragassay.publish.scan, ragassay.publish.decisions\n"
        "heavy = {'presidio_analyzer', 'spacy', 'detect_secrets', 'phonenumbers', 'numpy', 'requests'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_the_extra_nothing_is_scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing library is an error that names the extra, never a scan with fewer detectors."""

    def missing() -> None:
        raise ImportError("No module named 'presidio_analyzer'", name="presidio_analyzer")

    monkeypatch.setattr(choice, "Personal", missing)
    with pytest.raises(NotScanned, match=r"presidio_analyzer is not installed.*ragassay\[pii\]"):
        detectors()


def test_a_presidio_that_gives_up_at_once_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A time limit of nothing would make it pass over texts in silence."""
    monkeypatch.setattr("presidio_analyzer.pattern_recognizer.REGEX_TIMEOUT_SECONDS", 0)
    with pytest.raises(NotScanned, match="REGEX_TIMEOUT_SECONDS"):
        detectors()


HOSTILE = {
    "one word": "a" * 1_000_000,
    "at signs": "a@" * 500_000,
    "digits": "1" * 1_000_000,
    "slashes": "/" * 1_000_000,
    "colons": "://" * 330_000,
    "keywords": "password" * 125_000,
    "keywords in quotes": ('password = "' * 8_000) + "\n",
    "key headers": "-----BEGIN RSA PRIVATE KEY-----" * 5_000,
    "pluses": "+1" * 100_000,
    "NULs": "\x00" * 1_000_000,
}


QUICK = ("one word", "slashes", "colons", "keywords")


@pytest.mark.parametrize(
    "text",
    [pytest.param(text, id=name, marks=[] if name in QUICK else pytest.mark.slow) for name, text in HOSTILE.items()],
)
def test_a_megabyte_made_to_be_slow_takes_seconds(text: str) -> None:
    """No pattern runs away: time grows with the length of a text, not with its square."""
    begun = time.process_time()
    scanned(text)
    assert time.process_time() - begun < 30


def test_real_documentation_gives_tens_of_findings(shared_data: Path) -> None:
    """What a person has to decide of half a megabyte of documentation can be read; digests and versions are no part."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((shared_data / "uv-docs" / "corpus").rglob("*.md"))]
    result = scanned(*texts)
    assert sorted((one.kind, one.text) for one in result.findings) == [
        ("email", "github_pat_asdf@github.com"),
        ("email", "koala@pypi-proxy.corp.dev"),
        ("secret", "github_pat_asdf"),
        ("secret", "koala"),
    ]


def test_the_bundled_corpus_has_only_the_findings_that_its_pages_explain() -> None:
    """The examples on the pages about publishing and the local app are found, and nothing else of board and corpus."""
    paths = sorted(path for path in (ROOT / "examples" / "bundled").rglob("*") if path.is_file())
    result = scanned(*(path.read_text(encoding="utf-8") for path in paths))
    assert sorted((one.kind, one.text) for one in result.findings) == [
        ("email", "help@acme-tools.org"),
        ("email", "jane.roe@acme-mail.org"),
        ("secret", "glpat-Ab3dEf7hIjK9mNoPqRsT"),
        ("secret", "j6J176b0gqAX9-Ok3Ev7ZBxM1MRfDcYtOHMnrmAs2Uw"),
    ]


@given(
    st.text(alphabet="ab \n\x00é😀", max_size=400),
    st.integers(1, 12),
    st.integers(2, 60),
    st.data(),
)
@settings(max_examples=200, deadline=None)
def test_pieces_cover_a_text_and_move_on(unit: str, times: int, size: int, data: st.DataObject) -> None:
    """Every stretch up to the overlap lies whole in one piece, and the number of pieces is bounded."""
    text = unit * times
    overlap = size // 2
    cut = list(pieces(text, size=size, overlap=overlap))
    assert all(text[offset : offset + len(piece)] == piece for offset, piece in cut)
    assert len(cut) <= 2 + len(text) // max(1, size - overlap - size // 4)
    start = data.draw(st.integers(0, max(0, len(text) - 1)))
    end = min(len(text), start + overlap)
    assert any(offset <= start and end <= offset + len(piece) for offset, piece in cut)


def test_the_detectors_of_this_file_have_pieces_longer_than_what_they_find() -> None:
    """An address, a number or an id is shorter than what two pieces share."""
    assert OVERLAP < PIECE
    assert len(made()) == 3


_PARTS = st.sampled_from(
    [
        *("ann@acme.io", "@", "://", "password", "=", '"', "'", "+49", "phone", "passport", "ssn", "DE89", "eyJ", "."),
        *(
            "٣٤٥٦٧٨٩٠",
            "１２３４",
            "²³",
            "۱۲۳۴۵۶۷۸۹",
            "१२३४",
            "536-90-4399",
            "4111 1111 1111 1111",
            "::",
            "\x00",
            "\u202e",
        ),
        *("BEGIN PRIVATE KEY", "-----END ", "\n", " ", "🧿", "AKIA", "sk-", "Bearer ", "//_authToken", "10.1.2.200"),
    ]
)


@given(st.lists(_PARTS | st.text(max_size=5), max_size=40).map("".join))
@settings(max_examples=300, deadline=None)
def test_no_text_makes_a_detector_raise(text: str) -> None:
    """Digits of other scripts, controls and torn forms are text like any other, and hits lie within it."""
    for detector in made():
        for hit in detector.find(text):
            assert 0 <= hit.start < hit.end <= len(text)
            assert hit.kind in detector.kinds
