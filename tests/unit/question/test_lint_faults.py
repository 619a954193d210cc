"""Faults seeded into copies of real question files are found, and the originals give only what is listed."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ragassay.cli.question_sources import pages_of
from ragassay.question import LintFinding, lint, parse_benchmark
from ragassay.records import Page
from seeded_faults import (
    BLIND_PG,
    BLIND_UV,
    HELD_OUT_PG,
    HELD_OUT_UV,
    PG,
    UNUSUAL_PG,
    UNUSUAL_UV,
    UV,
    Fault,
    grouped,
    seeded,
)

TESTS = Path(__file__).resolve().parents[2]
BUNDLED = TESTS.parent / "examples" / "bundled"
KNOWN = json.loads((TESTS / "known_lint.json").read_text(encoding="utf-8"))
SOURCES = {"uv-docs": "corpus", "postgresql-docs": "html.tar.xz"}
SETS = ("uv-docs", "postgresql-docs", "sdk-docs-retrieval", "bundled")


@lru_cache(maxsize=4)
def real(name: str, data: Path) -> tuple[dict[str, Any], tuple[Page, ...] | None]:
    """Return a real question file's value and its pages; the published set has none."""
    if name == "bundled":
        value = json.loads((BUNDLED / "questions.json").read_text(encoding="utf-8"))
        return value, tuple(pages_of(BUNDLED / "corpus"))
    if name == "sdk-docs-retrieval":
        return json.loads((data / name / "v1.0.0.json").read_text(encoding="utf-8")), None
    value = json.loads((data / name / "questions.json").read_text(encoding="utf-8"))
    return value, tuple(pages_of(data / name / SOURCES[name]))


def found_in(value: dict[str, Any], pages: Sequence[Page] | None) -> list[LintFinding]:
    """Return what the lint says of a question file's value."""
    return lint(parse_benchmark(json.dumps(value).encode(), name="set", suffix=".json"), pages)


def missed(name: str, data: Path, faults: Sequence[Fault]) -> list[tuple[str, str]]:
    """Return the faults that the named rule does not find at the named question, or that were there before."""
    value, pages = real(name, data)
    assert pages is not None
    texts = {page.id: page.text for page in pages}
    before = named(value, pages)
    left = [(fault.rule, fault.question) for fault in faults if (fault.rule, fault.question) in before]
    for group in grouped(faults):
        made, changed = seeded(group, value, texts)
        found = named(made, [page if changed[page.id] is page.text else with_text(page, changed) for page in pages])
        left += [(fault.rule, fault.question) for fault in group if (fault.rule, fault.question) not in found]
    return left


def named(value: dict[str, Any], pages: Sequence[Page]) -> set[tuple[str, str]]:
    """Return each rule with each question that it names; what is so of a whole set names none."""
    return {
        (finding.rule, question)
        for finding in found_in(value, pages)
        if len(finding.questions) < 3
        for question in finding.questions
    }


def with_text(page: Page, texts: dict[str, str]) -> Page:
    """Return a page of another text."""
    text = texts[page.id]
    return msgspec.structs.replace(page, text=text, sha256=hashlib.sha256(text.encode()).hexdigest())


@pytest.mark.parametrize(
    ("name", "before", "after", "blind"),
    [("uv-docs", UV, HELD_OUT_UV, BLIND_UV), ("postgresql-docs", PG, HELD_OUT_PG, BLIND_PG)],
)
def test_each_seeded_fault_is_found_by_its_rule_at_its_question(
    shared_data: Path, name: str, before: tuple[Fault, ...], after: tuple[Fault, ...], blind: tuple[Fault, ...]
) -> None:
    """Of those written before the rules, after them and without them none is missed, and none was there before."""
    assert len(before) >= 30
    assert len(after) >= 12
    assert len(blind) == 20
    assert missed(name, shared_data, (*before, *after, *blind)) == []


@pytest.mark.parametrize(("name", "asked"), [("uv-docs", UNUSUAL_UV), ("postgresql-docs", UNUSUAL_PG)])
def test_sound_questions_in_unusual_words_give_no_new_finding(
    shared_data: Path, name: str, asked: dict[str, str]
) -> None:
    """What is found after all ten were put in the place of the file's own questions was found before."""
    value, pages = real(name, shared_data)
    assert pages is not None
    samples = [{**sample, "input": asked.get(sample["id"], sample["input"])} for sample in value["samples"]]
    assert sum(sample["input"] in asked.values() for sample in samples) == 10
    assert named({**value, "samples": samples}, pages) <= named(value, pages)


@pytest.mark.parametrize("name", SETS)
def test_real_sets_give_only_the_findings_that_are_listed_and_no_error(shared_data: Path, name: str) -> None:
    """Each finding stands in the list with the reason why it is right, or as a false alarm."""
    value, pages = real(name, shared_data)
    found = found_in(value, pages)
    assert [finding for finding in found if finding.fails] == []
    seen = {(one.rule, q) for one in found for q in (one.questions if len(one.questions) < 3 else ("*",))}
    assert seen == {(known["rule"], known["question"]) for known in KNOWN if known["set"] == name}


def test_the_list_of_known_findings_says_why() -> None:
    """Each entry has a reason, and few are false alarms."""
    assert all(set(known) == {"set", "rule", "question", "right", "why"} and known["why"] for known in KNOWN)
    assert sum(not known["right"] for known in KNOWN) <= 1


def test_sixty_questions_over_1169_pages_take_a_few_seconds(shared_data: Path) -> None:
    """About two seconds on one core; the bound leaves room for a busy machine."""
    value, pages = real("postgresql-docs", shared_data)
    twice = [
        {**one, "id": f"{one['id']}-{n}", "input": one["input"].replace("?", f" in case {n}?")}
        for one in value["samples"]
        for n in (0, 1)
    ]
    began = time.process_time()
    assert found_in({**value, "samples": twice}, pages)
    assert time.process_time() - began < 6
