"""Front matter is dropped only where it surely is front matter."""

from __future__ import annotations

import pytest

from ragassay.corpus import front_matter


@pytest.mark.parametrize(
    ("block", "rest"),
    [
        ("---\ntitle: A\n---\n", "# B\n"),
        ("---  \n# comment\n\n'quoted': 1\nlist:\n  - a\n---\n", "\ntext"),
        ("---\na: 1\n...\n", "text"),
        ("+++\ntitle = 'A'\n[extra]\nx = 1\n+++\n", "text"),
        ("+++\n[extra]\nx = 1\n+++\n", "text"),
        ("---\na: 1\n---", ""),
    ],
)
def test_metadata_block_is_split_off(block: str, rest: str) -> None:
    """A closed block that begins with a key is front matter."""
    assert front_matter.split(block + rest) == (block, rest)


@pytest.mark.parametrize(
    "text",
    [
        "---\nA paragraph between two breaks.\n---\nMore.",
        "---\n\n---\n",
        "---\ntitle: never closed\n",
        "\n---\na: 1\n---\n",
        " ---\na: 1\n---\n",
        "----\na: 1\n----\n",
        "---\n- a list\n---\n",
        "+++\na: 1\n+++\n",
        "---",
        "",
    ],
    ids=[
        "thematic breaks",
        "empty block",
        "unclosed",
        "not on the first line",
        "indented",
        "four dashes",
        "list",
        "yaml in toml fences",
        "fence alone",
        "empty",
    ],
)
def test_content_is_kept(text: str) -> None:
    """What is not surely metadata stays in the page."""
    assert front_matter.split(text) == ("", text)


@pytest.mark.parametrize(
    ("block", "title"),
    [
        ("---\ntitle: Using caches\n---\n", "Using caches"),
        ('---\nother: 1\ntitle: "Quoted: yes"\n---\n', "Quoted: yes"),
        ("+++\ntitle = 'Toml'\n+++\n", "Toml"),
        ("---\nsubtitle: no\n---\n", None),
        ("---\ntitle:\n---\n", None),
    ],
)
def test_title_key_is_read(block: str, title: str | None) -> None:
    """The title key gives a title, quotes removed."""
    assert front_matter.title(block) == title
