"""A page as Markdown (CommonMark with tables): text stays text, whatever it holds. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragassay.site.safe import one_line, visible
from ragassay.site.spec.document import Block, Code, Command, Document, Heading, Link, Paragraph, Quote, Span, Table

SPECIAL = re.compile(r"[\\`*_\[\]<>|~#&$]")
"""What could begin markup inside a line; `$` where Markdown is read with formulas."""
LINE_START = re.compile(r"^(\d{1,9})([.)])(?=\s|$)|^([-+=])")
"""What would make a list or a heading of a line."""
BARE_ADDRESS = re.compile(r"(?i)\b(https?|ftp|mailto|xmpp|www)([:.])")
"""What some readers turn into a link by itself."""


def render_markdown(document: Document, base: str = "") -> bytes:
    """Return the page as Markdown in UTF-8; `base` stands before each link, which is relative to the site's root."""
    parts = [f"# {escaped(document.title)}", *_blocks(document.lead, base)]
    for section in document.sections:
        parts += [f"## {escaped(section.title)}", *_blocks(section.blocks, base)]
    return ("\n\n".join(parts) + "\n").encode("utf-8")


def escaped(text: str) -> str:
    """Return text on one line so that Markdown shows every letter of it and makes nothing of any."""
    kept = SPECIAL.sub(lambda found: "\\" + found.group(), one_line(text))
    kept = BARE_ADDRESS.sub(lambda found: f"{found[1]}\\{found[2]}", kept)
    return LINE_START.sub(lambda found: f"{found[1]}\\{found[2]}" if found[1] else f"\\{found[3]}", kept)


def code(text: str, *, in_table: bool = False) -> str:
    """Return text as a code span whose fence is longer than any run of backticks inside."""
    line = one_line(text)
    if not line:
        return "``\u00a0``"
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    room = " " if line[0] in "` " or line[-1] in "` " else ""
    if in_table:
        line = line.replace("|", "\\|")
    return f"{fence}{room}{line}{room}{fence}"


def _blocks(blocks: Sequence[Block], base: str) -> list[str]:
    return [_block(block, base) for block in blocks]


def _block(block: Block, base: str) -> str:
    if isinstance(block, Paragraph):
        return _line(block.spans, base)
    if isinstance(block, Heading):
        return f"### {_line(block.spans, base)}"
    if isinstance(block, Quote):
        return _quote(block)
    if isinstance(block, Command):
        return _fenced(block)
    return _table(block, base)


def _line(found: Sequence[Span], base: str, *, in_table: bool = False) -> str:
    """Return spans as one line; white space between spans stays, that at its ends goes."""
    text = "".join(_span(one, base, in_table=in_table) for one in found).strip()
    return LINE_START.sub(lambda m: f"{m[1]}\\{m[2]}" if m[1] else f"\\{m[3]}", text)


def _span(span: Span, base: str, *, in_table: bool) -> str:
    if isinstance(span, Code):
        return code(span.text, in_table=in_table)
    if isinstance(span, Link):
        inner = code(span.text, in_table=in_table) if span.code else _inner(span.text)
        return f"[{inner}]({_target(base + span.path)})"
    text = _inner(span.text)
    return f"**{text.strip()}**" if span.strong else text


def _inner(text: str) -> str:
    """Return escaped text that keeps one space at either end where there was white space."""
    kept = SPECIAL.sub(lambda found: "\\" + found.group(), one_line(text))
    kept = BARE_ADDRESS.sub(lambda found: f"{found[1]}\\{found[2]}", kept)
    if not kept:
        return " " if text else ""
    return f"{' ' if text[0].isspace() else ''}{kept}{' ' if text[-1].isspace() else ''}"


def _target(path: str) -> str:
    return re.sub(r"[^\w./#:?=&%~+-]", lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), path)


def _quote(block: Quote) -> str:
    lines = [f"> {escaped(line)}" if line.strip() else ">" for line in visible(block.text).splitlines() or [""]]
    broken = [line + "\\" if after.strip("> ") and line != ">" else line for line, after in _pairs(lines)]
    return "\n".join([f"> **{escaped(block.label)}**\\", *broken])


def _pairs(lines: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(lines, [*lines[1:], ""], strict=True))


def _fenced(block: Command) -> str:
    longest = max((len(run) for line in block.lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([fence, *(visible(line).replace("\n", " ") for line in block.lines), fence])


def _table(block: Table, base: str) -> str:
    rule = " | ".join("---:" if column in block.numbers else "---" for column in range(len(block.head)))
    lines = [f"| {' | '.join(map(escaped, block.head))} |", f"| {rule} |"]
    for row in block.rows:
        lines.append(f"| {' | '.join(_line(cell, base, in_table=True) for cell in row)} |")
    return "\n".join([*([f"{escaped(block.caption)}", ""] if block.caption else []), *lines])
