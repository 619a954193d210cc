"""The block walk keeps the main content's words in order and adds white space alone."""

from __future__ import annotations

import pytest

from ragassay.corpus.html_blocks import extract
from ragassay.errors import InputError


def text(html: str) -> str:
    """Return the extracted text of a page body."""
    return extract(f"<html><body>{html}</body></html>").text


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>one <b>two</b><i>three</i></p>", "one twothree"),
        ("<p>a<br>b</p>", "a\nb"),
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("<div>a<div>b</div>c</div>", "a\n\nb\n\nc"),
        ("<p>  many \n\t blanks  </p>", "many blanks"),
        ("<p>&lt;a&gt; &amp; &eacute;&#233;&nbsp;x</p>", "<a> & éé\u00a0x"),
        ("<p>x<sup>2</sup> H<sub>2</sub>O</p>", "x2 H2O"),
        ("<p>a<!-- no -->b</p>", "ab"),
        ("<pre>\n  two\n    four\n\n</pre><p>b", "  two\n    four\n\nb"),
        ("<pre><span>a</span><br><b>b</b>\n</pre>", "a\nb"),
        ("<pre><code><div>l1</div><div>l2</div></code></pre>", "l1\nl2"),
        ("<ul><li>a</li><li><p>b</p></li><li>c</li></ul>", "a\nb\n\nc"),
        ("<dl><dt>t</dt><dd><p>d</p><p>e</p></dd><dt>u</dt><dd>f</dd></dl>", "t\nd\n\ne\n\nu\nf"),
        ("<p>a</p><h2>H</h2><p>b</p>", "a\n\n\nH\n\nb"),
        ("<p>a<wbr>b<span> </span>c", "ab c"),
        ("<details><summary>S</summary>body</details>", "S\n\nbody"),
    ],
)
def test_tags_become_white_space(html: str, expected: str) -> None:
    """Inline tags join, block tags break, entities are decoded, pre is kept."""
    assert text(html) == expected


def test_table_row_is_one_line_with_tabs() -> None:
    """Cells are separated by tabs and rows by line breaks; blocks in a cell do not break the row."""
    rows = "<tr><th>a</th><th>b</th></tr><tr><td><p>1</p><p>2</p></td><td>3<br>4</td></tr>"
    assert text(f"<table><caption>C</caption>{rows}</table>x") == "C\n\na\tb\n1 2\t3 4\n\nx"


def test_table_that_arranges_the_page_breaks_like_blocks() -> None:
    """Cells of a table with headings or tables inside are blocks."""
    assert text("<table><tr><td><h1>H</h1><p>a</p><p>b</p></td><td>c</td></tr></table>") == "H\n\na\n\nb\n\nc"


@pytest.mark.parametrize(
    "html",
    [
        "<nav>x</nav>",
        "<header>x</header>",
        "<footer>x</footer>",
        "<aside>x</aside>",
        "<script>x</script>",
        "<style>x</style>",
        "<noscript>x</noscript>",
        "<template>x</template>",
        "<svg><text>x</text></svg>",
        "<button>x</button>",
        '<div role="navigation">x</div>',
        '<div class="navheader other">x</div>',
        '<a class="headerlink" href="#">x</a>',
        '<span aria-hidden="true">x</span>',
    ],
)
def test_what_is_no_content_is_dropped(html: str) -> None:
    """Navigation, page header and footer, scripts, styles and controls do not reach the text; what follows does."""
    assert text(f"<p>a</p>{html}<p>b</p>") == "a\n\nb"
    assert "after" in text(f"<div>{html}after</div>")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<div>menu</div><main><p>a</p></main><div>end</div>", "a"),
        ("<div>menu</div><div role='main'>a</div>", "a"),
        ("<div>menu</div><article><header><h1>T</h1></header>a</article>", "T\n\na"),
        ("<main></main><p>a</p>", "a"),
        ("<article>a</article><article>b</article>", "a\n\nb"),
        ("<main>a<main>b</main></main>x", "a\n\nb"),
        ("<main><aside>note</aside></main>x", "note"),
        ("<blockquote>a<footer>who</footer></blockquote>", "a\n\nwho"),
    ],
    ids=["main", "role", "article", "empty main", "two articles", "nested", "aside in main", "footer in quote"],
)
def test_main_content_is_found(html: str, expected: str) -> None:
    """One main or article with text is the page; otherwise the body is."""
    assert text(html) == expected


def test_heading_and_title_are_returned() -> None:
    """The first heading that is content and the <title> are kept apart."""
    page = extract(
        "<head><title> T \n t</title></head><nav><h1>no</h1></nav><h2>The <i>head</i><a class=headerlink>¶</a></h2>"
    )
    assert (page.heading, page.title) == ("The head", "T t")


@pytest.mark.parametrize("html", ["", "  \n", "<!-- only -->", "<html></html>", "<script>x</script>", "<frameset/>"])
def test_page_without_content_is_empty(html: str) -> None:
    """A page without words is an empty page, not an error."""
    assert extract(html).text == ""


def test_xhtml_declaration_does_not_matter() -> None:
    """An XML declaration and a doctype are no content."""
    assert extract('<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE html><p>é</p>').text == "é"


def test_deep_nesting_is_walked_and_too_deep_is_refused() -> None:
    """1,500 levels are read; where the parser would lose content the page is refused."""
    assert text("<div>" * 1500 + "deep") == "deep"
    with pytest.raises(InputError, match="cannot be parsed to its end"):
        text("<div>" * 5000 + "deep" + "</div>" * 5000 + "<p>after")


def test_many_mains_are_quick() -> None:
    """Finding the main content does not compare every candidate with every other (20,000 take well under a minute)."""
    assert text("<main>a</main>" * 20_000).count("a") == 20_000


def test_heading_of_an_admonition_begins_no_section() -> None:
    """The word Note above a note is an ordinary line."""
    assert text('<p>a</p><div class="note"><h3>Note</h3><p>b</p></div>') == "a\n\nNote\n\nb"
