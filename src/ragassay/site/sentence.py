"""The board in one sentence, for someone who will read no table. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from ragassay.site.numbers import bracket, exact, listed, shown
from ragassay.site.pairs import Family
from ragassay.site.record import BoardRow, Interval, Pair

MOST = 4
"""Rows whose distance is spelled out; the others are counted."""
PLACES = 2
SMALL = Decimal("0.01")
"""Differences below this get a third decimal."""


def summary(rows: Sequence[BoardRow], pairs: Sequence[Pair], family: Family) -> str:
    """Return the one sentence: who is not distinguished, who is lower by how much, where control and oracle are."""
    names = {row.key: row.name for row in rows}
    parts = [_ranked(names, rows, pairs, family), *_ends(rows)]
    text = "; ".join(part for part in parts if part)
    return f"{text}."


def _ranked(names: Mapping[str, str], rows: Sequence[BoardRow], pairs: Sequence[Pair], family: Family) -> str:
    first = family.first
    if first is None:
        return _nothing(rows)
    if len(family.order) == 1:
        row = next(row for row in rows if row.key == first)
        span = bracket(row.interval, PLACES)
        return f"{row.name} scores {exact(row.score, PLACES)} {span}".rstrip() + ", and no second row is ranked"
    level = [key for key in family.order[1:] if not family.distinguished(first, key)]
    apart = [key for key in family.order[1:] if key not in level]
    said = [_lead(names, first, level, family, pairs)]
    found = {key: _between(pairs, first, key) for key in apart}
    said += _distances(names, first, found)
    return "; ".join(part for part in said if part)


def _nothing(rows: Sequence[BoardRow]) -> str:
    unranked = [row for row in rows if row.role == "row" and row.standing != "superseded"]
    if not unranked:
        return "no row has been measured yet"
    reasons = sorted({row.reason or "not eligible" for row in unranked})
    return f"no row can be ranked ({'; '.join(reasons)})"


def _lead(names: Mapping[str, str], first: str, level: Sequence[str], family: Family, pairs: Sequence[Pair]) -> str:
    if not level:
        below = all(family.below(first, key) for key in family.order[1:])
        if against := _against(first, family, pairs):
            return f"{names[first]} is shown first, but the order changes under {listed(against)}"
        return f"{names[first]} leads" if below else f"{names[first]} is shown first"
    together = [first, *level]
    mutual = all(not family.distinguished(a, b) for i, a in enumerate(together) for b in together[i + 1 :])
    if mutual:
        return f"{listed([names[key] for key in together])} are not distinguished"
    verb = "is" if len(level) == 1 else "are"
    return f"{listed([names[key] for key in level])} {verb} not distinguished from {names[first]}"


def _against(first: str, family: Family, pairs: Sequence[Pair]) -> list[str]:
    """Return the further judges that do not see the first row above each other ranked row."""
    own = [pair for pair in pairs if first in (pair.a, pair.b) and {pair.a, pair.b} <= set(family.order)]
    return list(dict.fromkeys(judge for pair in own for judge in pair.against))


def _between(pairs: Sequence[Pair], first: str, key: str) -> tuple[Decimal, Interval | None]:
    """Return how far `key` lies below `first`, with its interval."""
    for pair in pairs:
        if {pair.a, pair.b} == {first, key} and pair.difference is not None:
            if pair.a == first:
                return Decimal(pair.difference), pair.interval
            span = pair.interval
            turned = Interval(low=str(-Decimal(span.high)), high=str(-Decimal(span.low))) if span else None
            return -Decimal(pair.difference), turned
    raise LookupError(f"{first} and {key} were not compared")


def _distances(names: Mapping[str, str], first: str, found: Mapping[str, tuple[Decimal, Interval | None]]) -> list[str]:
    said = []
    for index, (key, (by, span)) in enumerate(list(found.items())[:MOST]):
        if by < 0:
            said.append(f"{names[key]} is higher by {shown(-by, PLACES)} in the mean of its passes, though shown lower")
            continue
        than = f" than {names[first]}" if index == 0 else ""
        places = PLACES if by >= SMALL else PLACES + 1
        said.append(f"{names[key]} is lower{than} by {shown(by, places)} {bracket(span, places)}".rstrip())
    rest = [by for by, _ in list(found.values())[MOST:]]
    if rest and min(rest) < 0:
        said.append(f"{len(rest)} further rows are distinguished too")
    elif rest:
        low, high = shown(min(rest), PLACES), shown(max(rest), PLACES)
        said.append(f"{len(rest)} further rows are lower by {low} to {high}")
    return said


def _ends(rows: Sequence[BoardRow]) -> list[str]:
    ends: list[str] = []
    for role in ("control", "oracle"):
        scored = [row for row in rows if row.role == role and row.score is not None and row.standing != "superseded"]
        if scored:
            ends.append(f"the {role} {'' if ends else 'is '}at {exact(scored[0].score, PLACES)}")
    return [", ".join(ends)] if ends else []
