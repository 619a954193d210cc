"""Where each chunker cuts, and which parameters it refuses."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest

from ragassay import plugins
from ragassay.corpus.extract import extract
from ragassay.errors import InputError
from ragassay.plugins.chunkers.heading import HeadingChunker
from ragassay.plugins.chunkers.sentences import SentenceChunker
from ragassay.plugins.chunkers.spans import TOKENS, sentence_starts
from ragassay.plugins.chunkers.tokens import TokenChunker
from ragassay.testing.chunker_contract import page


def count(text: str) -> int:
    """Return the number of tokens."""
    return len(re.findall(TOKENS, text))


def texts(chunker: HeadingChunker | SentenceChunker | TokenChunker, text: str, id_: str = "a.md") -> list[str]:
    """Return the chunk texts of a page made from `text`."""
    return [chunk.text for chunk in chunker.split(extract(id_, text.encode()).page)]


def test_markdown_sections_begin_at_headings() -> None:
    """ATX and setext headings begin chunks; `#` in fences, quotes and lists does not."""
    text = "intro\n\n# A\na\n\n```sh\n# comment\n```\n\n> # quoted\n\nB\n---\nb\n\n~~~\n## no\n~~~\n### C ###\nc\n"
    assert texts(HeadingChunker(min_tokens=0), text) == [
        "intro\n\n",
        "# A\na\n\n```sh\n# comment\n```\n\n> # quoted\n\n",
        "B\n---\nb\n\n~~~\n## no\n~~~\n",
        "### C ###\nc\n",
    ]


def test_rst_sections_begin_at_titles() -> None:
    """Underlined and overlined titles begin chunks; a transition line and indented text do not."""
    text = "====\nDoc\n====\n\ntext\n\n----\n\nmore\n\nPart\n~~~~\nx\n\n    code\n    ====\n\nEnd\n---\ny\n"
    assert texts(HeadingChunker(min_tokens=0), text, "a.rst") == [
        "====\nDoc\n====\n\ntext\n\n----\n\nmore\n\n",
        "Part\n~~~~\nx\n\n    code\n    ====\n\n",
        "End\n---\ny\n",
    ]


def test_html_sections_begin_at_headings() -> None:
    """Headings of any level begin chunks, the first line of the page included."""
    html = "<h1>A</h1><p>one</p><h3>B</h3><p>two</p><p>three</p><h2>C</h2>four"
    assert texts(HeadingChunker(min_tokens=0), html, "a.html") == [
        "A\n\none\n\n\n",
        "B\n\ntwo\n\nthree\n\n\n",
        "C\n\nfour",
    ]


def test_plain_text_has_no_sections() -> None:
    """A text page is one section."""
    assert texts(HeadingChunker(min_tokens=0), "# a\n\n# b\n", "a.txt") == ["# a\n\n# b\n"]


def test_small_sections_join_the_next() -> None:
    """A heading without text never stands alone; the last small section joins the one before when it fits."""
    long = "word " * 40
    text = f"# Top\n\n## Usage\n\n{long}\n\n## See also\n\nx\n"
    assert texts(HeadingChunker(), text) == [text]
    assert [count(t) for t in texts(HeadingChunker(max_tokens=49, overlap=0), text)] == [45, 5]


def test_long_section_is_cut_between_blocks_with_balance() -> None:
    """The cut stands at a blank line near the middle, and the parts are of about one size."""
    paragraph = "One two three four five six seven eight nine ten.\n"
    text = "# H\n\n" + "\n".join(paragraph * 2 for _ in range(12))
    parts = texts(HeadingChunker(max_tokens=256, overlap=0), text)
    assert len(parts) == 2
    assert all(part.startswith(("# H", "One")) for part in parts)
    assert abs(count(parts[0]) - count(parts[1])) < 30


def test_overlap_repeats_whole_sentences() -> None:
    """A continued section begins with the last whole sentences of what stands before it, within the overlap."""
    sentences = [f"Sentence number {n} says one more thing about caches. " for n in range(60)]
    parts = list(HeadingChunker(max_tokens=100, overlap=25).split(page("".join(sentences))))
    for before, after in pairwise(parts):
        shared = "".join(sentences)[after.start : before.end]
        assert shared
        assert count(shared) <= 25
        assert after.text.startswith("Sentence number")
        assert before.text.rstrip().endswith(".")


def test_code_is_cut_between_lines() -> None:
    """A long fence is cut at line ends, not inside a line."""
    text = "# H\n\n```sh\n" + "".join(f"run --step {n} --all\n" for n in range(100)) + "```\n"
    parts = texts(HeadingChunker(max_tokens=80, overlap=8), text)
    assert len(parts) > 5
    assert all(part.startswith(("# H", "run", "```")) for part in parts)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four", ["One. ", "Two! ", "Three? ", "Four"]),
        ("See e.g. Foo and i.e. Bar. Next.", ["See e.g. Foo and i.e. Bar. ", "Next."]),
        ("Version 1.2.3 is out. it stays.", ["Version 1.2.3 is out. it stays."]),
        ('He said "no." Then left.', ['He said "no." ', "Then left."]),
        ("設定です。次です。", ["設定です。", "次です。"]),
        ("Wait... `code` follows.", ["Wait... ", "`code` follows."]),
        ("line\ne.g. Foo.", ["line\ne.g. Foo."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, sentences: list[str]) -> None:
    """Abbreviations, versions and lower-case starts end no sentence."""
    cuts = [0, *sentence_starts(text), len(text)]
    assert [text[a:b] for a, b in pairwise(cuts)] == sentences


def test_sentence_windows_slide() -> None:
    """Windows of n sentences overlap by the given number; a blank line ends a sentence too."""
    assert texts(SentenceChunker(sentences=3, overlap=1), "A. B. C. D.\n\ne\n\nF.") == [
        "A. B. C. ",
        "C. D.\n\ne\n\n",
        "e\n\nF.",
    ]


def test_sentence_window_keeps_the_cap() -> None:
    """No window passes max_tokens, one endless sentence included."""
    text = "word " * 500 + ". " + "Short one. " * 30
    assert max(count(part) for part in texts(SentenceChunker(max_tokens=40), text)) <= 40


def test_token_windows_are_exact() -> None:
    """Each window but the last has exactly max_tokens tokens, and overlap of them are repeated."""
    assert texts(TokenChunker(max_tokens=3, overlap=1), "a b, c d e") == ["a b, ", ", c d ", "d e"]
    assert texts(TokenChunker(max_tokens=5, overlap=4), "a b c") == ["a b c"]


@pytest.mark.parametrize(
    ("kind", "params", "problems"),
    [
        (
            "heading",
            {"max_token": 3, "overlap": -1, "max_tokens": "256"},
            ["max_token: no such", "max_tokens: must be a whole number, not '256'", "overlap: must be 0 or more"],
        ),
        ("heading", {"overlap": 256}, ["overlap: must be less than max_tokens (256), not 256"]),
        ("heading", {"max_tokens": True}, ["max_tokens: must be a whole number, not True"]),
        ("heading", {"max_tokens": 0}, ["max_tokens: must be 1 or more"]),
        ("heading", {"min_tokens": 0.5}, ["min_tokens: must be a whole number"]),
        ("tokens", {"max_tokens": 10**9}, ["max_tokens: must be 1,000,000 or less"]),
        ("tokens", {"min_tokens": 1}, ["min_tokens: no such parameter; known are max_tokens, overlap"]),
        ("sentences", {"overlap": 5}, ["overlap: must be less than sentences (5)"]),
        ("sentences", {"sentences": None}, ["sentences: must be a whole number, not None"]),
    ],
)
def test_bad_parameters_are_listed_at_once(kind: str, params: dict[str, Any], problems: list[str]) -> None:
    """Every problem of every parameter stands in one error."""
    with pytest.raises(InputError) as caught:
        plugins.load("chunkers", kind)(**params)
    assert len(caught.value.problems) == len(problems)
    for problem, expected in zip(caught.value.problems, problems, strict=True):
        assert problem.startswith(expected)


@pytest.mark.parametrize(
    ("kind", "described"),
    [
        ("heading", {"max_tokens": 256, "overlap": 32, "min_tokens": 32}),
        ("sentences", {"sentences": 5, "overlap": 1, "max_tokens": 256}),
        ("tokens", {"max_tokens": 256, "overlap": 32}),
    ],
)
def test_every_parameter_is_recorded(kind: str, described: dict[str, int]) -> None:
    """describe() holds kind, version, all parameters with their defaults, and what a token is."""
    expected = {"kind": kind, "version": 1, **described, "tokens": r"\w+|[^\w\s]"}
    assert plugins.load("chunkers", kind)().describe() == expected
