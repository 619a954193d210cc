"""The block walk: an HTML page becomes the text of its main content.

Navigation, page header and footer, scripts, styles and controls are dropped; tables, definition lists and formulas are
kept; inline tags join, block tags break, entities are decoded, `<pre>` keeps its white space. A heading stands on its
own line after two blank lines, a table row on one line with tabs between its cells. Only white space is added.
"""

from __future__ import annotations

import msgspec
from lxml import etree

from ragassay.corpus.layout import Gap, Layout
from ragassay.errors import InputError

_DROPPED = frozenset(
    (
        *("script", "style", "template", "noscript", "nav", "head", "svg", "iframe", "button", "select", "textarea"),
        *("dialog", "canvas", "audio", "video", "annotation", "annotation-xml"),
    )
)
_DROPPED_ROLES = frozenset(("navigation", "banner", "contentinfo", "search"))
_DROPPED_CLASSES = frozenset(("navheader", "navfooter", "headerlink", "hash-link", "linenos"))
_KEPT_INSIDE = {
    "header": ("main", "article", "section"),
    "aside": ("main", "article", "section"),
    "footer": ("blockquote", "figure"),
}
"""Tags that belong to the page as a whole unless they stand inside one of these."""
_ADMONITIONS = frozenset(("note", "tip", "important", "warning", "caution", "admonition"))
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "details", "dir", "div", "dl"),
        *("fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "html", "legend", "main"),
        *("menu", "ol", "p", "pre", "section", "summary", "table", "ul"),
    )
)
_ROWS = frozenset(("tr", "thead", "tbody", "tfoot", "br"))
_CELLS = frozenset(("td", "th"))


class Extracted(msgspec.Struct, frozen=True):
    """The text of a page's main content, its first heading and its `<title>` (None where it has none)."""

    text: str
    heading: str | None
    title: str | None


def extract(page: str) -> Extracted:
    """Return the main content of an HTML page as text.

    Raises `InputError` when it nests deeper than the parser's 2,048 levels, where content would be lost.
    """
    if not page.strip():
        return Extracted("", None, None)
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    root = etree.fromstring(page.encode("utf-8"), parser)
    fatal = [entry.message for entry in parser.error_log if entry.level_name == "FATAL"]
    if fatal:
        raise InputError(f"the HTML cannot be parsed to its end ({fatal[0]}); simplify it or leave the file out")
    if root is None:
        return Extracted("", None, None)
    _take_in_what_follows(root)
    walk = _Walk()
    walk.over(_main(root))
    return Extracted(walk.layout.text(), walk.heading, _title(root))


def _take_in_what_follows(root: etree._Element) -> None:
    """Bring what stands after `</html>` into the page, as browsers do; the parser keeps it apart."""
    for more in list(root.itersiblings("html")):
        root.append(more)


def _title(root: etree._Element) -> str | None:
    for element in root.iter("title"):
        return _words(str(piece) for piece in element.itertext()) or None
    return None


def _words(pieces: object) -> str:
    return " ".join("".join(pieces).split())  # type: ignore[arg-type]


def _main(root: etree._Element) -> etree._Element:
    """Return the one `<main>` (or role main), else the one `<article>`, when it has text; else the whole page."""
    mains = [element for element in root.iter() if element.tag == "main" or element.get("role") == "main"]
    for found in (mains, list(root.iter("article"))):
        outer = _outermost(found)
        if len(outer) == 1 and any(str(piece).strip() for piece in outer[0].itertext()):
            return outer[0]
    return root


def _outermost(found: list[etree._Element]) -> list[etree._Element]:
    """Return the elements of `found` that stand in no other one of it."""
    known = set(found)
    return [element for element in found if known.isdisjoint(element.iterancestors())]


def _classes(element: etree._Element | None) -> frozenset[str]:
    return frozenset() if element is None else frozenset((element.get("class") or "").split())


def _is_dropped(element: etree._Element) -> bool:
    tag = str(element.tag)
    if tag == "script" and (element.get("type") or "").lower().startswith("math/"):
        return False  # a formula as MathJax 2 has it
    if tag in _DROPPED or element.get("role") in _DROPPED_ROLES or element.get("aria-hidden") == "true":
        return True
    if tag in _KEPT_INSIDE:
        return next(element.iterancestors(*_KEPT_INSIDE[tag]), None) is None
    return not _DROPPED_CLASSES.isdisjoint(_classes(element))


class _Walk:
    """One pass over the tree, without recursion; `layout` holds the text."""

    def __init__(self) -> None:
        self.layout = Layout()
        self.heading: str | None = None
        self._in_heading: list[str] | None = None
        self._pre: list[str] | None = None
        self._cells = 0
        self._layout_tables: list[bool] = []

    def over(self, root: etree._Element) -> None:
        """Walk `root` in document order."""
        walk = etree.iterwalk(root, events=("start", "end"))
        dropped: etree._Element | None = None
        for event, element in walk:
            tag = str(element.tag)
            if event == "start" and element is not root and _is_dropped(element):
                dropped = element
                walk.skip_subtree()
                continue
            if event == "start":
                self._start(element, tag)
                self._text(element.text)
                continue
            if element is not dropped:
                self._end(element, tag)
            elif tag in _BLOCKS or tag == "nav":
                self._gap(Gap.BLOCK)
            if element is not root:
                self._text(element.tail)

    def _text(self, text: str | None) -> None:
        if not text:
            return
        if self._in_heading is not None:
            self._in_heading.append(text)
        if self._pre is not None:
            self._pre.append(text)
        else:
            self.layout.inline(text)

    def _gap(self, wanted: Gap) -> None:
        """Ask for a gap; in a cell every gap is a space, so that a table row stays one line."""
        self.layout.gap(min(wanted, Gap.SPACE) if self._cells else wanted)

    def _start(self, element: etree._Element, tag: str) -> None:
        if self._pre is not None:
            if tag == "br":
                self._pre.append("\n")
        elif tag in _CELLS:
            self._start_cell()
        elif tag in _HEADINGS:
            self._start_heading(element)
        elif tag in _ROWS:
            self._gap(Gap.LINE)
        elif tag == "li" or tag == "dd":
            self.layout.open_item(Gap.SPACE if self._cells else Gap.LINE)
        elif tag == "dt":
            self._gap(Gap.BLOCK)
        elif tag in _BLOCKS:
            self.layout.open_block(Gap.SPACE if self._cells else Gap.BLOCK)
            if tag == "table":
                self._layout_tables.append(_is_layout(element))
            elif tag == "pre":
                self._pre = []

    def _start_cell(self) -> None:
        if self._is_layout_table():
            self._gap(Gap.BLOCK)
        else:
            self._gap(Gap.CELL)
            self._cells += 1

    def _start_heading(self, element: etree._Element) -> None:
        if _ADMONITIONS.isdisjoint(_classes(element.getparent())):
            self._gap(Gap.HEADING)
        else:
            self.layout.open_block(Gap.BLOCK)
        if self.heading is None:
            self._in_heading = []

    def _end(self, element: etree._Element, tag: str) -> None:
        if tag == "pre" and self._pre is not None:
            code, self._pre = "".join(self._pre), None
            self.layout.verbatim(code)
            self._gap(Gap.BLOCK)
        elif self._pre is not None:
            if tag in _BLOCKS and self._pre and not self._pre[-1].endswith("\n"):
                self._pre.append("\n")
        elif tag in _CELLS:
            self._end_cell()
        elif tag in _HEADINGS:
            self._end_heading()
        elif tag in _ROWS or tag in ("li", "dt"):
            self._gap(Gap.LINE)
        elif tag in _BLOCKS or tag == "dd":
            self._gap(Gap.BLOCK)
            if tag == "table" and self._layout_tables:
                self._layout_tables.pop()

    def _end_cell(self) -> None:
        if self._is_layout_table():
            self._gap(Gap.BLOCK)
        else:
            self._cells = max(0, self._cells - 1)
            self.layout.gap(Gap.CELL if not self._cells else Gap.SPACE)

    def _end_heading(self) -> None:
        self._gap(Gap.BLOCK)
        if self._in_heading is not None:
            self.heading = _words(self._in_heading) or None
            self._in_heading = None

    def _is_layout_table(self) -> bool:
        return bool(self._layout_tables) and self._layout_tables[-1]


def _is_layout(table: etree._Element) -> bool:
    """Return whether a table arranges the page (it holds headings or tables) instead of holding data."""
    return any(inner is not table for inner in table.iter("table", *_HEADINGS))
