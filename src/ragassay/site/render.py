"""The templates with everything escaped: each expression is made visible, then escaped. Pure but for reading them."""

from __future__ import annotations

import base64
import hashlib
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ragassay.site import exposurewords, judgewords, numbers
from ragassay.site.cellwords import CAUSE_LETTERS, CAUSE_WORDS
from ragassay.site.changes import as_read
from ragassay.site.fairness import fairness_words
from ragassay.site.pairwords import order_words
from ragassay.site.pictures import cost_latency, difference_plot, runs_over_time, score_picture
from ragassay.site.plot import track
from ragassay.site.record import PREVIEW, Amount
from ragassay.site.safe import visible
from ragassay.site.scopewords import attested_words, scope_words, voided_words
from ragassay.site.text import amount, latency
from ragassay.site.words import missing_words

LEVELS = ("0", "0.25", "0.5", "0.75", "1")
"""The five levels on which ratings are compared."""


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the templates' environment: autoescape everywhere, undefined names are errors, one CSS, no scripts."""
    sheets = files("ragassay.site").joinpath("templates")
    css = "".join(sheets.joinpath(name).read_text(encoding="utf-8") for name in ("style.css", "pictures.css"))
    found = Environment(
        loader=PackageLoader("ragassay.site"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(FILTERS)
    digest = base64.b64encode(hashlib.sha256(css.encode("utf-8")).digest()).decode("ascii")
    found.globals.update(
        css=Markup(css),
        css_hash=f"sha256-{digest}",
        preview=PREVIEW,
        cause_letters=CAUSE_LETTERS,
        cause_words=CAUSE_WORDS,
        levels_of_score=tuple(numbers.shown(level, 2) for level in LEVELS),
    )
    return found


def _finalize(value: object) -> object:
    """Write out what steers a display in every text that is no markup of our own."""
    return visible(value) if type(value) is str else value


def utc(seconds: int) -> str:
    """Write Unix seconds as 2026-09-21 14:13 UTC."""
    if not 0 < seconds < 253_402_300_800:
        return numbers.UNKNOWN
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def hundredths(score: int | None) -> str:
    """Write an item's score: 1.00, .50; 'no score' without one."""
    return "no score" if score is None else numbers.shown(Decimal(score) / 100, 2)


def count(value: int | None) -> str:
    """Write a count with thousands separators; a dash where it is unknown."""
    return numbers.UNKNOWN if value is None else f"{value:,}"


def cost(found: Amount) -> str:
    """Write a sum of money, saying where a part of it is unknown."""
    text = numbers.money(found.known)
    return f"at least {text} ({found.unknown} unknown)" if found.known is not None and found.unknown else text


def capitalised(text: str) -> str:
    """Return `text` with its first letter in upper case."""
    return text[:1].upper() + text[1:]


FILTERS: dict[str, Callable[..., object]] = {
    "amount": amount,
    "as_read": as_read,
    "attested_words": attested_words,
    "bracket": numbers.bracket,
    "capitalised": capitalised,
    "cost": cost,
    "cost_latency": cost_latency,
    "count": count,
    "components_words": judgewords.components_words,
    "difference_plot": difference_plot,
    "figure_cells": lambda found: defaultdict(str, judgewords.figure_cells(found)),
    "exposure_day": exposurewords.day,
    "fairness_words": fairness_words,
    "worth_a_table": exposurewords.worth_a_table,
    "exact": lambda score, places=3: numbers.exact(numbers.ratio(score) if score is not None else None, places),
    "hundredths": hundredths,
    "latency": latency,
    "judge_words": judgewords.judge_words,
    "lead_words": lambda row, table: judgewords.lead_words(table, row),
    "milliseconds": numbers.milliseconds,
    "missing_words": missing_words,
    "money": numbers.money,
    "noise_words": judgewords.noise_words,
    "nothing_of_judge": judgewords.nothing_of_judge,
    "order_words": order_words,
    "plural": numbers.plural,
    "pvalue": numbers.pvalue,
    "ranked_pairs": judgewords.ranked_pairs,
    "row_words": judgewords.row_words,
    "runs_over_time": runs_over_time,
    "scope_words": scope_words,
    "score_picture": score_picture,
    "shown": numbers.shown,
    "signed": numbers.signed,
    "track": track,
    "utc": utc,
    "voided_words": voided_words,
}
