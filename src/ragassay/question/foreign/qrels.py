"""Judgements of relevance: BEIR's three columns with a header, and TREC's four."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragassay.question.foreign.lines import Source, lines
from ragassay.question.foreign.seen import Judgement

_HEADER = re.compile(r"(?:query|corpus|doc(?:ument)?|q)[-_ ]?(?:id|no)?", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")


def read_qrels(source: Source) -> Iterator[Judgement]:
    """Yield each judgement of a file; a pair that is judged twice is left out, and a fault where the two differ."""
    first: dict[tuple[str, str], tuple[int, int]] = {}
    for number, text in lines(source, lambda at, reason: _fault(source, at, reason)):
        cells = [cell.strip() for cell in text.split("\t")] if "\t" in text else text.split()
        if number == 1 and len(cells) == 3 and _HEADER.fullmatch(cells[0]) and not _WHOLE.fullmatch(cells[2]):
            continue
        if len(cells) == 4:
            del cells[1]
        if len(cells) != 3:
            _fault(source, number, f"has {len(cells)} columns; qrels have 3 (query, document, relevance) or TREC's 4")
            continue
        if not cells[0] or not cells[1]:
            _fault(source, number, "the id of the query or of the document is empty")
            continue
        if _WHOLE.fullmatch(cells[2]) is None:
            _fault(source, number, f"the relevance {cells[2][:40]!r} is no whole number")
            continue
        source.seen.saw("judgement")
        pair, relevance = (cells[0], cells[1]), int(cells[2])
        before, line = first.setdefault(pair, (relevance, number))
        if line == number:
            yield Judgement(query=pair[0], document=pair[1], relevance=relevance, place=source.place(number))
        elif before == relevance:
            source.seen.leave("judgement", source.place(number), f"says the same as line {line}", id_=pair[0])
        else:
            reason = f"judges query {pair[0]!r} and document {pair[1]!r} {relevance}, line {line} {before}"
            source.seen.leave("judgement", source.place(number), reason, id_=pair[0], fault=True)


def _fault(source: Source, number: int, reason: str) -> None:
    source.seen.saw("judgement")
    source.seen.leave("judgement", source.place(number), reason, fault=True)
