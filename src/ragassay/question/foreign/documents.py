"""Documents of a collection, one after the other: JSONL as BEIR and TREC have it, TSV, and TREC's `<DOC>` files."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from ragassay.question.foreign.lines import Source, as_id, count_others, first_key, lines, objects
from ragassay.question.foreign.seen import ForeignDocument
from ragassay.question.written import text_problem

IDS = ("_id", "docno", "docid", "doc_id", "id")
TEXTS = ("text", "contents", "body", "content", "segment")
TITLES = ("title", "headline")
MAX_CHARS = 16 * 1024 * 1024
"""Characters of one `<DOC>`: what a page of a corpus may have."""

_DOCNO = re.compile(r"<DOCNO>\s*(.*?)\s*</DOCNO>", re.DOTALL | re.IGNORECASE)
_TEXT = re.compile(r"<TEXT>(.*?)</TEXT>", re.DOTALL | re.IGNORECASE)
_TITLE = re.compile(r"<(HEADLINE|TITLE|HL)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_OPEN = re.compile(r"\s*<DOC>", re.IGNORECASE)
_CLOSE = re.compile(r"</DOC>\s*$", re.IGNORECASE)


def read_jsonl_documents(source: Source) -> Iterator[ForeignDocument]:
    """Yield the documents of a JSONL file: id, title and text under the names that are usual."""
    for number, value in objects(source, "document"):
        names = first_key(value, IDS), first_key(value, TEXTS), first_key(value, TITLES)
        found = [None if name is None else value[name] for name in names]
        count_others(value, [name for name in names if name], "document", source.seen)
        id_ = as_id(found[0])
        if problem := _shape_problem(id_, found[1], found[2]):
            source.seen.leave("document", source.place(number), problem, id_=id_, fault=True)
        elif id_ is not None:
            yield from _checked(source, number, id_, found[2] or "", found[1] or "")


def read_tsv_documents(source: Source) -> Iterator[ForeignDocument]:
    """Yield the documents of a TSV file: `id, text`, or MS MARCO's `id, address, title, text`."""
    for number, text in lines(source, lambda at, reason: _fault(source, at, reason)):
        cells = text.split("\t")
        if len(cells) not in (2, 4):
            _fault(source, number, f"has {len(cells)} columns between tabs; documents have 2 (id, text) or 4")
            continue
        source.seen.saw("document")
        yield from _checked(source, number, cells[0], cells[2] if len(cells) == 4 else "", cells[-1])


def read_trec_documents(source: Source) -> Iterator[ForeignDocument]:
    """Yield the documents of a file of `<DOC>` elements: `<DOCNO>`, a headline, and `<TEXT>` without tags."""
    begun: int | None = None
    held: list[str] = []
    size = 0
    for number, line in lines(source, lambda at, reason: _fault(source, at, reason)):
        if _OPEN.match(line):
            if begun is not None:
                _fault(source, begun, "a <DOC> begins before this one ends with </DOC>")
            begun, held, size = number, [], 0
        elif begun is None:
            _fault(source, number, "stands outside of <DOC> and </DOC>")
            continue
        size += len(line) + 1
        if size <= MAX_CHARS:
            held.append(line)
        if _CLOSE.search(line):
            assert begun is not None
            yield from _element(source, begun, "\n".join(held), size)
            begun = None
    if begun is not None:
        _fault(source, begun, "this <DOC> has no </DOC>; the file is cut off")


def _element(source: Source, number: int, text: str, size: int) -> Iterator[ForeignDocument]:
    source.seen.saw("document")
    ids = _DOCNO.findall(text)
    if size > MAX_CHARS:
        problem = f"this <DOC> has {size:,} characters, more than the {MAX_CHARS:,} allowed"
    elif len(ids) != 1:
        problem = f"this <DOC> has {len(ids)} <DOCNO>; it needs one"
    else:
        bodies = _TEXT.findall(text) or [_CLOSE.sub("", _OPEN.sub("", _DOCNO.sub("", text)))]
        title = _TITLE.search(text)
        yield from _checked(source, number, ids[0], _plain(title[2]) if title else "", _plain("\n".join(bodies)))
        return
    source.seen.leave("document", source.place(number), problem, fault=True)


def _plain(text: str) -> str:
    return html.unescape(_TAG.sub("", text)).strip()


def _shape_problem(id_: str | None, text: object, title: object) -> str | None:
    if id_ is None:
        return f"has no id; a document has one of {', '.join(IDS)}"
    if text is None and title is None:
        return f"has no text; a document has one of {', '.join(TEXTS)}"
    if not isinstance(text, str | None) or not isinstance(title, str | None):
        return "title and text are to be texts"
    return None


def _checked(source: Source, number: int, id_: str, title: str, text: str) -> Iterator[ForeignDocument]:
    place = source.place(number)
    if text_problem(id_):
        source.seen.leave("document", place, "its id is blank", fault=True)
    elif "\0" in text or "\0" in title:
        source.seen.leave("document", place, "holds a NUL character, which no page may hold", id_=id_, fault=True)
    elif text_problem(text) and text_problem(title):
        source.seen.leave("document", place, "has neither text nor title", id_=id_)
    else:
        yield ForeignDocument(id=id_, title=" ".join(title.split()), text=text, place=place)


def _fault(source: Source, number: int, reason: str) -> None:
    source.seen.saw("document")
    source.seen.leave("document", source.place(number), reason, fault=True)
