"""What is picked of a page and of a site: passages that can be checked, stand once, and are the same each time."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from ragassay import canon
from ragassay.cli.question_sources import pages_of
from ragassay.occurrence import said
from ragassay.question.draft.passages import MAX_WORDS, MIN_WORDS, lacking, pieces, words
from ragassay.question.draft.plan import PASSAGES, extended, make_plan
from ragassay.question.draft.sections import allot, sections
from ragassay.records import Page

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT.parent / "shared" / "data"
FACT = "The relay waits 30 seconds before it opens the second valve of the tank."


def page(text: str, id: str = "a.md", format: Literal["markdown", "html", "rst", "text"] = "markdown") -> Page:
    """Return a page with this text."""
    digest = canon.sha256(text.encode())
    return Page(id=id, title="A", text=text, format=format, sha256=digest, source_sha256=digest)


def texts(text: str, format: Literal["markdown", "html", "rst", "text"] = "markdown") -> list[str]:
    """Return the passages of a text."""
    found = [text[span.start : span.end] for span in pieces(page(text, format=format))]
    return [one for one in found if lacking(one) is None]


def test_paragraphs_items_and_rows_are_passages() -> None:
    """Each is one; headings, rules, fenced code and what is too short are none."""
    row = "| `wait_s` | 30 | seconds that the relay waits before it opens the second valve |"
    item = "- The relay `R2` closes the first valve after 45 seconds, and\n  then it waits for the tank."
    other = "1. The pump runs for 90 seconds in each cycle, and never longer than that."
    code = "```\nThe relay waits 99 seconds before it opens the second valve of the tank.\n```"
    whole = f"# A heading with 8 words that nobody asks for here\n\n{FACT}\n\n{item}\n{other}\n"
    whole += f"\n| a | b |\n|---|---|\n{row}\n{code}\nShort 1.\n"
    assert texts(whole) == [FACT, item, other, row]


def test_a_line_of_code_in_three_ticks_opens_no_fence() -> None:
    """What stands behind it is read; a fence inside a list item ends where it is closed."""
    assert texts(f"```valve open 3```\n\n{FACT}\n") == [FACT]
    assert texts(f"- x\n\n    ```sh\n    {FACT}\n    ```\n\n{FACT}\n") == [FACT]
    assert texts(f"~~~\n```\n{FACT}\n~~~\n\n{FACT}\n") == [FACT]


def test_a_line_of_extracted_html_is_a_passage() -> None:
    """A term that is too short joins the text that stands below it; a table row stays one."""
    html = f"wait_s\n{FACT}\n\nName\tType\nwait_s\tseconds that the relay 2 waits before it opens the valve\n{FACT}"
    assert texts(html, "html") == [
        f"wait_s\n{FACT}",
        "wait_s\tseconds that the relay 2 waits before it opens the valve",
        FACT,
    ]


def test_listings_of_extracted_html_are_no_passages() -> None:
    """Neither indented nor aligned lines with those around them, nor commands, prompts and signatures of one line."""
    listings = (
        "EXPLAIN what the relay does with 2 valves and one pump\n   Seq Scan on the relay and on its 2 valves at once",
        "NOTICE:  the relay waits 30 seconds before it opens the second valve",
        "SELECT * FROM relay CROSS JOIN valve CROSS JOIN pump WHERE relay.id = valve.id AND pump.id = 2;",
        "lab=# the relay waits 30 seconds before it opens the second valve",
        "$ relay the valve and the pump of this tank for 30 seconds",
        "relay_open(text name, text valve, text pump [, bool fail_on_error]) returns text",
        "RELAY\treserved\treserved\nVALVE\treserved\treserved\nPUMP2\treserved\treserved",
    )
    assert texts("\n\n".join(listings), "html") == []
    assert texts(f"{FACT}\n\n{listings[0]}\n\n{FACT}", "html") == [FACT, FACT]


def test_a_passage_has_words_enough_for_a_fact_and_its_subject() -> None:
    """Different words of prose count, and a piece of code as one; names in capitals and links' targets do not."""
    assert lacking("new_owner\nThe new owner of the new valve.") == "short"
    assert lacking("SHMMIN\tsmallest size of a segment in bytes\t1") == "short"
    assert lacking("- `relay update now`: Update the relay to its latest version.") is None
    assert lacking("SHMMIN\tsmallest size in bytes that a segment of shared memory has\t1") is None
    assert lacking("The relay is sold by [the Acme relay company of this town](https://acme.example/a-b).") is None
    assert lacking("It is sold by [Acme 2](https://acme.example/the/relay/of/this/company/of/ours).") == "short"
    assert lacking("Der Regler wartet 30 Sekunden und öffnet dann beide Ventile.") is None


@pytest.mark.parametrize(
    ("text", "lack"),
    [
        ("", "empty"),
        ("# \n---\n", "empty"),
        ("It waits 30 seconds.", "short"),
        ("The relay waits for a while before it opens the second valve of the tank.", "nothing-to-check"),
        ("Then set the `wait` of the relay and of both of its valves as follows:", "nothing-to-check"),
        (
            "See the long and winding [documentation of the valves](./valves-2.md#open) for more about it.",
            "nothing-to-check",
        ),
        ("x = relay(30); y = valve[2]; if x > y { open(valve) } else { shut(relay) } while (true) { wait(x) }", "code"),
        ("word " * (MAX_WORDS + 1), "long"),
    ],
)
def test_what_a_page_lacks_is_named(text: str, lack: str) -> None:
    """A page without a passage says what its best block lacks."""
    plan = make_plan([page(text)], 1, 0)
    assert (plan.slots, plan.passed_over) == ((), {lack: ("a.md",)})


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    """Each part is whole sentences, none is too long, and nothing between first and last is lost."""
    long = " ".join(f"The relay number {n} waits {n + 1} seconds before it opens the valve." for n in range(60))
    found = texts(long)
    assert len(found) > 2
    assert all(words(one) <= MAX_WORDS and one.endswith("valve.") for one in found)
    assert " ".join(found) == long


def test_scripts_without_spaces_have_words_too() -> None:
    """Two characters count as one word."""
    assert words("サーバーは既定で8080番ポートを待ち受けます") >= MIN_WORDS
    assert lacking("サーバーは既定で `8080` 番ポートを待ち受けます") is None


def test_a_passage_that_stands_twice_is_never_drawn() -> None:
    """Neither on another page nor inside another passage, whatever the line breaks; its page is counted."""
    own = "The pump runs for 90 seconds in each cycle, and never longer than that."
    pages = [
        page(f"{FACT}\n\n{own}\n", "a.md"),
        page(f"Before it. {FACT.replace(' ', chr(10), 3)} After it.\n", "b.md"),
        page(f"{FACT}\n", "c.md"),
    ]
    plan = make_plan(pages, 3, 0)
    drawn = {one.page: len(one.passages) for slot in plan.slots for one in slot.pages}
    assert drawn == {"a.md": 1, "b.md": 1}
    assert plan.passed_over == {"repeated": ("c.md",)}


def test_another_seed_gives_another_plan_and_avoided_pages_are_never_picked() -> None:
    """The seed is what decides; a page that another set uses counts as passed over."""
    pages = [page(FACT.replace("30", str(n)), f"{n:03}.md") for n in range(40)]
    first = [slot.pages[0].page for slot in make_plan(pages, 5, 0).slots]
    second = [slot.pages[0].page for slot in make_plan(pages, 5, 1).slots]
    assert first != second
    plan = make_plan(pages, 40, 0, avoid=first)
    assert not set(first) & {one.page for slot in plan.slots for one in slot.pages}
    assert plan.passed_over == {"avoided": tuple(sorted(first))}
    assert len(plan.slots) == 35


def test_planned_pages_stay_usable_when_their_own_file_is_avoided() -> None:
    """With further places, pages that have one are counted among the usable, not among the avoided."""
    pages = [page(FACT.replace("30", str(n)), f"{n:03}.md") for n in range(10)]
    plan = make_plan(pages, 6, 0)
    own = [slot.pages[0].page for slot in plan.slots]
    more = extended(plan, pages, 9, avoid=own)
    assert [slot.pages[0].page for slot in more.slots][:6] == own
    assert len({slot.pages[0].page for slot in more.slots}) == 9
    assert more.passed_over == {}
    assert [(one.planned, one.usable, one.pages) for one in more.sections] == [(9, 10, 10)]
    other = next(one.id for one in pages if one.id not in own)
    more = extended(plan, pages, 10, avoid=[*own, other])
    assert more.passed_over == {"avoided": (other,)}
    assert [(one.planned, one.usable) for one in more.sections] == [(9, 9)]


def test_a_pick_does_not_depend_on_pages_elsewhere() -> None:
    """A page that is added to another section moves no pick of this one, as long as its share stays."""
    pages = [page(FACT.replace("30", str(n)), f"{'ab'[n % 2]}/{n:03}.md") for n in range(40)]
    picked = {slot.pages[0].page for slot in make_plan(pages, 10, 3).slots if slot.section == "a/"}
    more = [*pages, page(FACT.replace("30", "999"), "b/new.md")]
    assert picked == {slot.pages[0].page for slot in make_plan(more, 10, 3).slots if slot.section == "a/"}


def test_sections_are_the_first_folders_that_tell_pages_apart() -> None:
    """Folders that all share are no section; one with more than half of all pages is split by its next folder."""
    assert sections(["v1/docs/a/1.md", "v1/docs/b/1.md"]).keys() == {"v1/docs/a/", "v1/docs/b/"}
    assert sections(["1.md", "a/1.md", "b/1.md"]).keys() == {"", "a/", "b/"}
    split = sections(["1.md", "a/0.md", "a/x/1.md", "a/x/2.md", "a/y/1.md", "b/1.md"])
    assert split.keys() == {"", "a/", "a/x/", "a/y/", "b/"}


def test_a_small_section_keeps_its_one_page() -> None:
    """The rest is shared by size; fewer places than sections go to the largest."""
    assert allot({"a": 96, "b": 3, "c": 1}, 10, 0) == {"a": 8, "b": 1, "c": 1}
    assert allot({"a": 50, "b": 30, "c": 20}, 10, 0) == {"a": 5, "b": 3, "c": 2}
    assert allot({"a": 50, "b": 30, "c": 1}, 2, 0) == {"a": 1, "b": 1, "c": 0}


CORPORA = {
    "uv": (DATA / "uv-docs" / "corpus", 65, 6),
    "postgresql": (DATA / "postgresql-docs" / "html.tar.xz", 1100, 1),
    "docs": (ROOT / "docs", 150, 10),
}


@pytest.mark.parametrize("name", ["uv", pytest.param("postgresql", marks=pytest.mark.slow), "docs"])
def test_plans_of_real_documentation(name: str) -> None:
    """60 pages, counted in every way, each with passages whose words stand nowhere else and match their digest."""
    source, usable, in_sections = CORPORA[name]
    if not source.exists():
        pytest.skip("../shared/data is not here")
    pages = pages_of(source)
    plan = make_plan(pages, 60, 7)
    assert len(plan.slots) == 60
    assert sum(one.usable for one in plan.sections) >= usable
    assert len(plan.sections) >= in_sections
    assert sum(len(one) for one in plan.passed_over.values()) + sum(one.usable for one in plan.sections) == len(pages)
    assert all(one.planned >= min(1, one.usable) for one in plan.sections)
    whole = "\0".join(said(one.text) for one in pages)
    by_id = {one.id: one for one in pages}
    for planned in (slot.pages[0] for slot in plan.slots):
        text = by_id[planned.page].text
        assert 1 <= len(planned.passages) <= PASSAGES
        for one in planned.passages:
            passage = text[one.start : one.end]
            assert canon.sha256(passage.encode()) == one.sha256
            assert MIN_WORDS <= words(passage) <= MAX_WORDS
            assert whole.count(said(passage)) == 1
