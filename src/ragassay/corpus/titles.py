"""The title of a Markdown or reStructuredText page: its first heading, without markup."""

from __future__ import annotations

import re
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MARKDOWN = MarkdownIt("commonmark").disable(["inline"])
_INLINE = MarkdownIt("commonmark")
_ATTRIBUTES = re.compile(r"\s*\{[:#.][^{}]*\}$|\s*\{ [^{}]*\}$")
_ROLE = re.compile(r":[\w:.+-]+:`([^`<]*?)\s*(?:<[^>`]*>)?`|`{1,2}([^`]+)`{1,2}_{0,2}|\*{1,2}([^*]+)\*{1,2}")
_UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1+\s*")
_LOOKED_AT = 1000
LONGEST = 200
"""Characters of a title that are kept."""


def tidy(title: str) -> str:
    """Return the title on one line, at most `LONGEST` characters."""
    return " ".join(title.split())[:LONGEST]


def of_markdown(text: str) -> str | None:
    """Return the text of the first heading that is not nested, None without one."""
    tokens = _MARKDOWN.parse(text)
    for token, inside in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and inside.content.strip():
            children = _INLINE.parseInline(_ATTRIBUTES.sub("", inside.content[:_LOOKED_AT]))[0].children or ()
            words = (" " if child.type.endswith("break") else child.content for child in children if not _is_tag(child))
            if found := tidy("".join(words)):
                return found
    return None


def _is_tag(token: Token) -> bool:
    return token.type == "html_inline"


def of_rst(text: str) -> str | None:
    """Return the first line that is underlined by one repeated punctuation character, None without one."""
    lines = text.split("\n")
    for line, below in pairwise(lines):
        underlined = _UNDERLINE.fullmatch(below) and len(below.rstrip()) >= min(4, max(len(line.strip()), 2))
        if underlined and line.strip() and not _UNDERLINE.fullmatch(line) and not line.startswith(("..", "\t")):
            return tidy(_ROLE.sub(lambda found: next(filter(None, found.groups()), ""), line[:_LOOKED_AT]))
    return None
