"""Markdown of a document: whatever a text holds, a reader of CommonMark shows exactly its letters."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ragassay.site.safe import one_line, visible
from ragassay.site.spec.document import (
    Code,
    Command,
    Document,
    Heading,
    Link,
    Paragraph,
    Quote,
    Section,
    Table,
    Text,
    cells,
    paragraph,
)
from ragassay.site.spec.markdown import render_markdown

READER = MarkdownIt("commonmark").enable("table")
HOSTILE = {
    "markup": "<script>alert(1)</script>",
    "emphasis": "**bold** _it_ ~~gone~~ `code`",
    "table": "a | b || c",
    "link": "[x](javascript:alert(1)) ![i](http://x/y.png) <http://x>",
    "reference": "[x]: http://x",
    "heading": "# not one",
    "list": "- not one",
    "numbered": "1. not one",
    "rule": "---",
    "setext": "===",
    "quote": "> not one",
    "entity": "&lt;b&gt; &amp; &#x41;",
    "escape": "\\* \\",
    "lines": "first\n\n# second\r\n> third",
    "fence": "``` x\n~~~",
    "formula": "$x^2$ \\(y\\)",
    "address": "https://evil.example/?q=1 www.evil.example mailto:a@b.example",
    "steering": "a\x1b[2Jb\u202ec\u200bd\x00",
    "spaces": "  two  ",
}


def words(html: str) -> str:
    """Return the text of HTML on one line."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def page(*blocks: Paragraph | Table | Quote | Command | Heading) -> Document:
    """Return a page with one section."""
    return Document("T", (), (Section("S", "s", blocks),))


def html_of(document: Document) -> str:
    """Return a document as a reader of Markdown renders it."""
    return str(READER.render(render_markdown(document).decode("utf-8")))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_stays_text(text: str) -> None:
    """In a paragraph, a link, a heading, a quote and a table nothing of a text becomes markup."""
    blocks = (
        paragraph("before ", text),
        Paragraph((Text(text),)),
        Heading((Text(text),)),
        Quote(text, text),
        Table((text, "b"), (cells(text, Code(text)), cells(Link(text, "runs/x.html"), "z")), text),
    )
    html = html_of(page(*blocks))
    assert not re.search(r"<(script|img|em|ol|ul|hr|del)\b|href=\"(?!runs/x\.html)", html)
    assert html.count("<a ") == 1
    assert html.count("<tr>") == 3
    assert html.count("<h3>") == 1
    plain = " ".join(one_line(text).split())
    for tag in ("h3", "blockquote", "table"):
        (found,) = re.findall(rf"<{tag}>(.*?)</{tag}>", html, flags=re.S)
        assert plain in words(found), tag


@given(st.text(max_size=60))
def test_any_text_is_read_back_as_it_is_shown(text: str) -> None:
    """The words of a paragraph are those of the text, steering characters written out."""
    html = html_of(page(Paragraph((Text(f"x{text}y"),))))
    assert "".join(words(html).removeprefix("T S").split()) == "".join(one_line(f"x{text}y").split())


@given(st.text(max_size=40))
def test_any_identifier_is_read_back_letter_by_letter(text: str) -> None:
    """A code span shows its text, in a table too, and never ends early."""
    html = html_of(page(Table(("a", "b"), (cells(Code(f"x{text}"), "end"),)), Paragraph((Code(f"x{text}"),))))
    spans = [unescape(found) for found in re.findall(r"<code>(.*?)</code>", html, flags=re.S)]
    assert [" ".join(span.split()) for span in spans] == [" ".join(one_line(f"x{text}").split())] * 2
    assert "<td>end</td>" in html


def test_a_quote_keeps_its_lines() -> None:
    """Line breaks of a quoted text stay breaks, also where a line looks like a list."""
    html = html_of(page(Quote("Evidence", "first\n- second\n\n3. third")))
    assert html.count("<br") == 2
    assert "<li>" not in html
    assert words(html) == "T S Evidence first - second 3. third"


def test_links_begin_with_the_base() -> None:
    """Every link begins with the base, and what no link may hold is percent-encoded."""
    document = page(paragraph(Link("a", "runs/x y).html"), " ", Link("b", "index.html", code=True)))
    text = render_markdown(document, "https://example.org/board/").decode()
    assert "[a](https://example.org/board/runs/x%20y%29.html)" in text
    assert "[`b`](https://example.org/board/index.html)" in text


def test_a_command_keeps_its_spaces_and_cannot_leave_its_fence() -> None:
    """Two spaces of sha256sum stay two; a line of backticks does not end the block."""
    html = html_of(page(Command(("sha256sum a", "00  a", "```", "\x1b[2J"))))
    assert html.count("<pre>") == 1
    assert "00  a" in html
    assert visible("\x1b[2J") in html
