"""Board records made of a few figures, for pictures that need no run."""

from __future__ import annotations

from typing import Any

from ragassay.site.exact import Interval, Ratio
from ragassay.site.record import BenchmarkLine, BoardRow, Cell, Latency, Pair, QuestionLine, RunLine, Table

HOSTILE = '</text></svg><script>alert(1)</script> & "q" \'a\' \u202e\u0000 $x^2$ \\(y\\) <a href="http://x">'


def ratio(hundredths: int) -> Ratio:
    """Return an exact score of 60 questions."""
    return Ratio(num=hundredths, den=6000, decimal=f"{hundredths / 6000:.4f}")


def row(name: str, hundredths: int | None, key: str | None = None, **changes: Any) -> BoardRow:
    """Return a ranked row with an interval, a range and a latency, or one without any figure."""
    fields: dict[str, Any] = {
        "name": name,
        "key": key or f"{name}@1",
        "measure": "ab12cd34" * 8,
        "role": "row",
        "stack": "bm25",
        "standing": "ranked" if hundredths is not None else "not_run",
    }
    if hundredths is not None:
        middle = hundredths / 6000
        fields |= {
            "score": ratio(hundredths),
            "range": (ratio(max(0, hundredths - 60)), ratio(min(6000, hundredths + 60))),
            "interval": Interval(low=f"{middle - 0.06:.6f}", high=f"{middle + 0.06:.6f}"),
            "answer_latency": Latency(p50_ms=640, p95_ms=900),
            "retrieval_latency": Latency(p50_ms=12, p95_ms=30),
            "cost_per_1000_microusd": 106_000,
            "rank": 1,
            "top_k": 5,
            "passes": 3,
        }
    return BoardRow(**{**fields, **changes})


def five_rows() -> tuple[BoardRow, ...]:
    """Return a first row, one not distinguished from it, one below, the oracle and the control."""
    return (
        row("hybrid", 4860),
        row("bm25", 4740, not_distinguished=True),
        row("dense", 3960, rank=3, not_distinguished=False),
        row("oracle", 5580, role="oracle", standing="set_apart", rank=None),
        row("no-retrieval", 120, role="control", standing="set_apart", rank=None),
    )


def table(*rows: BoardRow, questions: tuple[QuestionLine, ...] = ()) -> Table:
    """Return a table of these rows."""
    line = BenchmarkLine(id="acme", version="1.0.0", items=60, digest="d" * 64, item_set="i" * 64)
    return Table(
        id="main", main=True, why_apart=None, benchmark=line, scorer="s", judge="j", judge_kind="llm", answer="a",
        answer_kind="openai", corpus=None, metric="m", sentence="s", rows=rows, pairs=(), questions=questions,
        warnings=(),
    )  # fmt: skip


def questions(count: int, rows: tuple[BoardRow, ...], topics: int = 3) -> tuple[QuestionLine, ...]:
    """Return questions whose cells run through every mean and every cause."""
    causes = ("correct", "not_retrieved", "not_used", "contradicted", "unjudged", "unexplained")
    means = ("1.000000", "0.000000", "0.333333", "0.500000", None, "0.916667")
    return tuple(
        QuestionLine(
            id=f"q-{n:03d}",
            topic=f"topic {n % topics}",
            spread=f"{1 - n / 1000:.6f}",
            flags=(),
            cells=tuple(
                Cell(row=one.key, mean=means[(n + i) % 6], scored=3, cause=causes[(n + i) % 6])  # type: ignore[arg-type]
                for i, one in enumerate(rows)
            ),
        )
        for n in range(count)
    )


def pair(differences: dict[str, str], **changes: Any) -> Pair:
    """Return a pair of rows a and b with these differences."""
    values = [float(value) for value in differences.values()]
    mean = sum(values) / len(values) if values else 0.0
    fields: dict[str, Any] = {
        "a": "hybrid@1",
        "b": "bm25@1",
        "questions": len(values),
        "difference": f"{mean:.6f}" if values else None,
        "interval": Interval(low=f"{mean - 0.08:.6f}", high=f"{mean + 0.08:.6f}") if values else None,
        "wins": sum(value > 0 for value in values),
        "ties": sum(value == 0 for value in values),
        "losses": sum(value < 0 for value in values),
        "deciding": (),
        "differences": differences,
    }
    absent = dict.fromkeys(("repeat_interval", "repeat_note", "p", "p_holm", "distinguished", "detectable"))
    return Pair(**{**absent, **fields, **changes})


def run(number: int, hundredths: int | None, **changes: Any) -> RunLine:
    """Return a run that ended two days after the one before."""
    fields: dict[str, Any] = {
        "id": f"{number:032x}",
        "pass_k": number % 3 + 1,
        "ended": 1_790_000_000 + number * 172_800,
        "score": None if hundredths is None else ratio(hundredths),
        "in_window": True,
        "shown": False,
    }
    return RunLine(**{**fields, **changes})
