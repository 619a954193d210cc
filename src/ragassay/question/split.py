"""A question set in two halves, public and held out; questions about one page are on one side. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

import msgspec

from ragassay.errors import InputError
from ragassay.records import Benchmark, Question

PUBLIC, HELD_OUT = "public", "held-out"
"""What is put behind the name of each half."""

_SHARE = re.compile(r"([0-9]{1,2}(?:\.[0-9]{1,4})?) ?%")


class Halves(msgspec.Struct, frozen=True, kw_only=True):
    """The two halves of a set, each in its order; no question and no page is in both."""

    public: Benchmark
    held_out: Benchmark


def read_share(text: str) -> Decimal:
    """Return a share such as `50%` as a number between 0 and 1; raises `InputError`."""
    found = _SHARE.fullmatch(text.strip())
    share = Decimal(found[1]) / 100 if found else Decimal(0)
    if not share:
        raise InputError(f"--held-out: {text[:40]!r} is no share; write it like 50%, above 0% and below 100%")
    return share


def source_of(question: Question) -> str:
    """Return what a question is about: its page, or the question itself where it names none."""
    return f"page {question.page}" if question.page is not None else f"question {question.id}"


def split(benchmark: Benchmark, share: Decimal, rank: Callable[[str], bytes]) -> Halves:
    """Return both halves: pages in the order of `rank`, taken until the held-out count is nearest to the share.

    The same set, share and rank give the same halves. Raises `InputError` where one half would be empty.
    """
    groups: dict[str, list[str]] = {}
    for question in benchmark.questions:
        groups.setdefault(source_of(question), []).append(question.id)
    if len(groups) < 2:
        raise InputError("all questions are about one page, so they cannot be split by page")
    wanted = share * len(benchmark.questions)
    order = sorted(groups, key=lambda source: (rank(source), source))
    counts = [0]
    for source in order[:-1]:
        counts.append(counts[-1] + len(groups[source]))
    cut = min(range(1, len(counts)), key=lambda at: abs(counts[at] - wanted))
    taken = {name for source in order[:cut] for name in groups[source]}
    return Halves(public=_half(benchmark, PUBLIC, taken, False), held_out=_half(benchmark, HELD_OUT, taken, True))


def _half(benchmark: Benchmark, word: str, taken: set[str], inside: bool) -> Benchmark:
    questions = tuple(question for question in benchmark.questions if (question.id in taken) is inside)
    return msgspec.structs.replace(benchmark, name=f"{benchmark.name}-{word}", questions=questions)
