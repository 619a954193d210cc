"""Queries and topics: JSONL as BEIR and TREC have it, `id<TAB>text`, and TREC's `<top>` and `<topic>` elements."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ragassay.question.foreign.lines import Source, as_id, count_others, first_key, lines, objects
from ragassay.question.foreign.seen import ForeignQuery

IDS = ("_id", "qid", "query_id", "topic_id", "id", "num", "number")
TEXTS = ("text", "query", "question", "title")
ELEMENTS = ("title", "query", "question", "description", "narrative")
"""What a `<top>` or `<topic>` may hold; the first that is there is taken where no other is asked for."""
_SHORT = {"desc": "description", "narr": "narrative"}
_BEGIN = re.compile(r"<(?:top|topic\b([^<>]*))>", re.IGNORECASE)
_END = re.compile(r"</top(?:ic)?>", re.IGNORECASE)
_NUMBER = re.compile(r"""number\s*=\s*["']([^"']*)["']""", re.IGNORECASE)
_FIELD = re.compile(r"<(num|title|desc|narr|query|question|description|narrative)>", re.IGNORECASE)
_LABEL = re.compile(r"\s*(?:Number|Topic|Title|Description|Narrative)\s*:", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z?!][^<>]{0,200}>")


def read_jsonl_queries(source: Source, field: str | None, answer: str | None) -> Iterator[ForeignQuery]:
    """Yield the queries of a JSONL file; `field` names the text, `answer` what holds a reference answer.

    The latter is a dotted path such as `metadata.answer`, to a text or to a list with one text.
    """
    for number, value in objects(source, "query"):
        names = first_key(value, IDS), field or first_key(value, TEXTS)
        taken = [name for name in (*names, (answer or "").partition(".")[0]) if name]
        count_others(value, taken, "query", source.seen)
        id_ = None if names[0] is None else as_id(value[names[0]])
        text = None if names[1] is None else value.get(names[1])
        if id_ is None or not isinstance(text, str):
            what = f"id; a query has one of {', '.join(IDS)}" if id_ is None else _no_text(field, TEXTS)
            source.seen.leave("query", source.place(number), f"has no {what}", id_=id_, fault=True)
            continue
        target, lacks = _answer(value, answer)
        yield ForeignQuery(id=id_, input=text, place=source.place(number), target=target, lacks=lacks)


class _Known(msgspec.Struct, frozen=True, kw_only=True):
    """What `ragassay export beir` writes beside a query."""

    id: str
    reference: str
    evidence: tuple[str, ...]
    topic: str | None


class _OwnQuery(msgspec.Struct, frozen=True, kw_only=True):
    id: str = msgspec.field(name="_id")
    text: str
    metadata: _Known


def read_own_queries(source: Source) -> Iterator[ForeignQuery]:
    """Yield the queries of a folder that `ragassay export beir` wrote, with their answers, evidence and topics."""
    for number, value in objects(source, "query"):
        try:
            query = msgspec.convert(value, _OwnQuery)
        except msgspec.ValidationError as error:
            source.seen.leave("query", source.place(number), f"is no query of an export: {error}", fault=True)
            continue
        known = query.metadata
        yield ForeignQuery(
            id=query.id,
            name=known.id,
            input=query.text,
            place=source.place(number),
            target=known.reference,
            contexts=tuple(dict.fromkeys(known.evidence)),
            suffices=True,
            topic=known.topic,
        )


def read_tsv_queries(source: Source) -> Iterator[ForeignQuery]:
    """Yield the queries of a file of `id<TAB>text` lines."""
    for number, text in lines(source, lambda at, reason: _fault(source, at, reason)):
        id_, tab, query = text.partition("\t")
        if not tab:
            _fault(source, number, "has no tab between id and text")
            continue
        if "\t" in query:
            _fault(source, number, f"has {query.count(chr(9)) + 2} columns between tabs; topics have 2 (id, text)")
            continue
        source.seen.saw("query")
        yield ForeignQuery(id=id_.strip(), input=query, place=source.place(number))


def read_sgml_topics(source: Source, field: str | None) -> Iterator[ForeignQuery]:
    """Yield the topics of a file of `<top>` or `<topic number="…">` elements, whose inner tags need no end."""
    begun: int | None = None
    held: list[str] = []
    for number, line in lines(source, lambda at, reason: _fault(source, at, reason)):
        if begun is None:
            if _BEGIN.search(line) is None:
                if _TAG.sub("", line).strip():
                    _fault(source, number, "stands outside of any <top> or <topic>")
                continue
            begun, held = number, []
        elif _BEGIN.search(line):
            _fault(source, begun, "the next topic begins before this one ends")
            begun, held = number, []
        held.append(line)
        if _END.search(line):
            yield from _topic(source, begun, "\n".join(held), field)
            begun = None
    if begun is not None:
        _fault(source, begun, "this topic does not end; the file is cut off")


def _topic(source: Source, number: int, text: str, field: str | None) -> Iterator[ForeignQuery]:
    source.seen.saw("query")
    parts = _FIELD.split(_END.sub("", text))
    fields: dict[str, str] = {}
    for name, content in zip(parts[1::2], parts[2::2], strict=True):
        plain = html.unescape(_TAG.sub("", _LABEL.sub("", content, count=1)))
        fields.setdefault(_SHORT.get(name.lower(), name.lower()), " ".join(plain.split()))
    begin = _BEGIN.search(text)
    attribute = _NUMBER.search(begin[1] or "") if begin else None
    id_ = fields.pop("num", "") or (attribute[1].strip() if attribute else "")
    wanted = field or first_key(dict(fields), ELEMENTS)
    query = fields.get(wanted or "", "")
    if not id_ or not query:
        what = "number; it needs <num>, or <topic number=…>" if not id_ else _no_text(field, ELEMENTS)
        source.seen.leave("query", source.place(number), f"the topic has no {what}", id_=id_ or None, fault=True)
        return
    count_others(dict(fields), [wanted or ""], "query", source.seen)
    yield ForeignQuery(id=id_, input=query, place=source.place(number))


def _no_text(field: str | None, usual: Sequence[str]) -> str:
    return f"text in {field!r}" if field else f"text; it has none of {', '.join(usual)}"


def _answer(value: dict[str, Any], path: str | None) -> tuple[str | None, tuple[str, ...]]:
    found: Any = value
    for name in path.split(".") if path else ():
        found = found.get(name) if isinstance(found, dict) else None
    if path is None or found is None:
        return None, ()
    texts = [found] if isinstance(found, str) else found
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        return None, (f"{path} is neither a text nor a list of texts",)
    return one_answer(texts)


def one_answer(texts: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """Return the one answer that a source gives; where it gives several, none, and the sentence that says so."""
    different = list(dict.fromkeys(text for text in texts if text.strip()))
    if len(different) > 1:
        return None, (f"the source has {len(different)} reference answers and does not say which is the one",)
    return (different[0], ()) if different else (None, ())


def _fault(source: Source, number: int, reason: str) -> None:
    source.seen.saw("query")
    source.seen.leave("query", source.place(number), reason, fault=True)
