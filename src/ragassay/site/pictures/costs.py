"""Picture: what a score costs, in money and in waiting for what is retrieved, one panel each. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from ragassay.site.numbers import exact, milliseconds, money, shown
from ragassay.site.pictures.marks import Frame, Mark, dot, line, text
from ragassay.site.pictures.picture import WIDE, Picture, Twin, cut, picture, row_names, some
from ragassay.site.pictures.scale import TICKS, round_ticks, value
from ragassay.site.record import BoardRow, Latency, Table

PANEL = 220
"""px from the top of a panel's plot to its axis."""
NEAR = 12
"""px within which rows share one label."""
LEGEND = 17
"""px of one line of the legend of letters."""


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """One axis of price against score: the rows that have both, and how its values are written."""

    title: str
    points: tuple[tuple[BoardRow, int, float], ...]
    """Row, its value in the axis's integer unit, its score."""
    words: Callable[[int | None], str]
    unknown: tuple[str, ...]
    idle: tuple[str, ...] = ()
    """Rows that have no such value because they do nothing that takes it: the control retrieves nothing."""

    def tick(self, found: int) -> str:
        """Write a round value of the axis, without the zeros that only an exact amount needs."""
        words = self.words(found)
        if words[0] != "$":
            return words
        return f"${found // 1_000_000:,}" if found % 1_000_000 == 0 else words if found % 10_000 else words[:5]


def cost_latency(table: Table) -> Picture:
    """Return cost per 1,000 questions and median latency of retrieval against score; unknown values in words only.

    The answer's latency is the answering model's, which all rows share: it stands in the picture's table alone.
    """
    names = row_names(table.rows)
    rows = [row for row in table.rows if row.score is not None]
    retrieving = [row for row in rows if row.role != "control"]
    idle = tuple(names[row.key] for row in rows if row.role == "control")
    panels = [
        _panel("Cost of answering 1,000 questions", rows, names, lambda row: row.cost_per_1000_microusd, money),
        _panel("Latency of retrieval, median", retrieving, names, _retrieval, milliseconds, idle=idle),
    ]
    drawn = [panel for panel in panels if panel.points]
    return picture(
        (lambda width: _drawing(drawn, rows, names, width)) if drawn else None,
        seed=f"costs {table.id}",
        title="Cost and latency of retrieval against score",
        description=_description(panels, names),
        twin=Twin(
            header=("Row", "Score", "Cost per 1,000", "Retrieval p50", "Answer p50"),
            rows=tuple(
                (
                    names[row.key],
                    exact(row.score),
                    money(row.cost_per_1000_microusd),
                    milliseconds(_retrieval(row)),
                    milliseconds(_median(row.answer_latency)),
                )
                for row in table.rows
            ),
        ),
        note="Upper left is better: a higher score for less. A row of unknown value is named above and not drawn.",
    )


def _retrieval(row: BoardRow) -> int | None:
    return _median(row.retrieval_latency)


def _median(latency: Latency | None) -> int | None:
    return latency.p50_ms if latency else None


def _panel(
    title: str,
    rows: Sequence[BoardRow],
    names: Mapping[str, str],
    of: Callable[[BoardRow], int | None],
    words: Callable[[int | None], str],
    idle: tuple[str, ...] = (),
) -> Panel:
    known = [(row, found, value(row.score)) for row in rows if row.score and (found := of(row)) is not None]
    unknown = tuple(names[row.key] for row in rows if of(row) is None)
    return Panel(title=title, points=tuple(known), words=words, unknown=unknown, idle=idle)


def _description(panels: Sequence[Panel], names: Mapping[str, str]) -> str:
    said = []
    for panel in panels:
        idle = f" Nothing is retrieved for {some(panel.idle)}." if panel.idle else ""
        if not panel.points:
            said.append(f"{panel.title}: not known of any row.{idle}")
            continue
        ordered = sorted(panel.points, key=lambda point: (point[1], names[point[0].key]))
        low, high = ordered[0], ordered[-1]
        ends = f"{panel.words(low[1])} ({some([names[low[0].key]])}, score {exact(low[0].score)})"
        if low[1] == high[1] and low is not high:
            ends = f"{panel.words(low[1])} for each of {len(ordered)} rows"
        elif low is not high:
            ends = f"from {ends} to {panel.words(high[1])} ({some([names[high[0].key]])}, score {exact(high[0].score)})"
        unknown = f"; not known of {some(panel.unknown)}" if panel.unknown else ""
        said.append(f"{panel.title}: {ends}{unknown}.{idle}")
    return " ".join(said)


def letters(index: int) -> str:
    """Return a row's letter in the drawing: a to z, then aa, ab, …"""
    return (letters(index // 26 - 1) if index >= 26 else "") + chr(ord("a") + index % 26)


def _drawing(
    panels: Sequence[Panel], rows: Sequence[BoardRow], names: Mapping[str, str], width: int
) -> tuple[Frame, list[Mark]]:
    """Place the panels side by side, or one below the other where it is narrow, and the names of the letters last.

    The data units are px with y from the top downwards as negative numbers.
    """
    wide = width == WIDE
    each = (width - 30) / 2 if wide else float(width)
    marks: list[Mark] = []
    keys = {row.key: letters(index) for index, row in enumerate(rows)}
    for index, panel in enumerate(panels):
        corner = (index * (each + 30), 0.0) if wide else (0.0, index * (PANEL + 90.0))
        marks += _plot(panel, keys, corner, each)
    top = (PANEL + 90.0) * (1 if wide else len(panels))
    shown_keys = [row.key for row in rows if any(row is point[0] for panel in panels for point in panel.points)]
    columns = 3 if wide else 1
    for index, key in enumerate(shown_keys):
        column, down = index % columns, index // columns
        x, y = column * width / columns, -(top + LEGEND * down + 6)
        marks.append(text(x, y, keys[key], "ink", bold=True))
        marks.append(text(x, y, cut(names[key], width / columns - 34), "soft", dx=22))
    height = int(top + LEGEND * -(-len(shown_keys) // columns) + 8)
    return Frame(width=width, height=height, x=(0, width), y=(-height, 0)), marks


def _plot(panel: Panel, keys: Mapping[str, str], corner: tuple[float, float], width: float) -> list[Mark]:
    left, top = corner[0] + 48, corner[1] + 34
    inner, bottom = width - 48 - 26, -(top + PANEL)
    marks = [text(corner[0], -corner[1], panel.title, "ink", dy=14, bold=True)]
    for share in TICKS:
        y = bottom + share * PANEL
        marks += [line((left, left + inner), (y, y)), text(left, y, shown(str(share)), anchor="end", dx=-8, dy=4)]
    ticks = round_ticks(max(found for _, found, _ in panel.points), 4 if width > 330 else 3)
    most = ticks[-1]
    for tick in ticks:
        x = left + inner * tick / most
        marks += [line((x, x), (bottom, bottom - 4), "soft")]
        marks += [text(x, bottom, panel.tick(tick), anchor="middle", dy=19)]
    labels: list[tuple[float, float, list[str]]] = []
    for row, found, score in panel.points:
        x, y = left + inner * found / most, bottom + score * PANEL
        ranked = row.role == "row"
        said = f"{row.name}: {exact(row.score)}, {panel.words(found)}"
        marks.append(dot(x, y, "accent" if ranked else "soft", 4.5, hollow=not ranked, title=said))
        near = next((label for label in labels if abs(label[0] - x) < NEAR and abs(label[1] - y) < NEAR), None)
        if near:
            near[2].append(keys[row.key])
        else:
            labels.append((x, y, [keys[row.key]]))
    return marks + [_label(x, y, names, left + inner) for x, y, names in labels]


def _label(x: float, y: float, names: Sequence[str], edge: float) -> Mark:
    words = " ".join(names)
    fits = x + 7 + 7 * len(words) < edge + 26
    return text(x, y, words, "ink", anchor="start" if fits else "end", dx=7 if fits else -7, dy=-5)
