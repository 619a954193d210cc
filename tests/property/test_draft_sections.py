"""Sections and shares of a draft: sums, bounds and independence of any order, over random sites."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from ragassay import canon
from ragassay.question.draft.plan import Plan, extended, make_plan
from ragassay.question.draft.sections import allot, sections
from ragassay.records import Page

SIZES = st.dictionaries(st.text("abc/", min_size=1, max_size=4), st.integers(0, 60), min_size=1, max_size=12)
COUNT = st.integers(0, 200)
SEED = st.integers(0, 2**53 - 1)
PATHS = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4).map("/".join), unique=True, max_size=40)


def page(id: str, number: int) -> Page:
    """Return a page with one passage that stands nowhere else."""
    text = (
        f"The relay of station {number} in hall {number * 7} opens after {number + 3} seconds of silence on the line.\n"
    )
    digest = canon.sha256(text.encode())
    return Page(id=id, title=id, text=text, format="markdown", sha256=digest, source_sha256=digest)


def site(paths: list[str]) -> list[Page]:
    """Return a page for each path."""
    return [page(f"{path}.md", number) for number, path in enumerate(paths)]


@given(SIZES, COUNT, SEED)
def test_shares_add_up_and_fit(sizes: dict[str, int], count: int, seed: int) -> None:
    """The shares sum to the count or to all pages, none is larger than its section, and each section has one."""
    shares = allot(sizes, count, seed)
    assert shares.keys() == sizes.keys()
    assert sum(shares.values()) == min(count, sum(sizes.values()))
    assert all(0 <= shares[name] <= size for name, size in sizes.items())
    held = [name for name, size in sizes.items() if size]
    assert count < len(held) or all(shares[name] >= 1 for name in held)


@given(SIZES, COUNT, SEED)
def test_shares_are_proportional(sizes: dict[str, int], count: int, seed: int) -> None:
    """No share is a whole page above its section's quota, unless it is the one page that each section gets."""
    total = sum(sizes.values())
    for name, share in allot(sizes, count, seed).items():
        quota = Fraction(sizes[name] * min(count, total), total or 1)
        assert share <= 1 or share < quota + 1


@given(SIZES, COUNT, SEED)
def test_a_larger_section_never_gets_less(sizes: dict[str, int], count: int, seed: int) -> None:
    """Shares follow sizes."""
    shares = allot(sizes, count, seed)
    for name, size in sizes.items():
        assert all(shares[name] >= shares[other] for other, fewer in sizes.items() if fewer < size)


@given(PATHS, st.randoms(use_true_random=False))
def test_each_page_is_in_one_section(paths: list[str], random: object) -> None:
    """Sections hold every page once, whatever the order they come in."""
    ids = [f"{path}.md" for path in paths]
    found = sections(ids)
    assert sorted(one for held in found.values() for one in held) == sorted(ids)
    assert all(one.startswith(name) for name, held in found.items() for one in held)
    random.shuffle(ids)  # type: ignore[attr-defined]
    assert sections(ids) == found


@given(PATHS, st.integers(1, 50), SEED, st.randoms(use_true_random=False))
def test_a_plan_depends_on_no_order(paths: list[str], count: int, seed: int, random: object) -> None:
    """The same pages in another order give the same plan, byte for byte."""
    pages = site(paths)
    plan = make_plan(pages, count, seed)
    random.shuffle(pages)  # type: ignore[attr-defined]
    assert make_plan(pages, count, seed) == plan
    check(plan, pages, count)


@given(PATHS, st.integers(1, 20), st.integers(1, 50), SEED)
def test_an_extended_plan_keeps_what_it_had(paths: list[str], count: int, more: int, seed: int) -> None:
    """Places keep their first page and what was tried; new ones use none of it, and none of what is avoided since."""
    pages = site(paths)
    avoid = {pages[0].id} if pages else set()
    plan = make_plan(pages, count, seed)
    tried = {slot.pages[1].page for slot in plan.slots[:2] if len(slot.pages) > 1}
    larger = extended(plan, pages, count + more, avoid, tried)
    kept, new = larger.slots[: len(plan.slots)], larger.slots[len(plan.slots) :]
    assert [slot.pages[0] for slot in kept] == [slot.pages[0] for slot in plan.slots]
    assert tried <= {page.page for slot in kept for page in slot.pages}
    assert not {page.page for slot in new for page in slot.pages} & (avoid | tried)
    everything = [page.page for slot in larger.slots for page in slot.pages]
    assert len(set(everything)) == len(everything)
    left = {page.id for page in pages} - avoid - tried - {slot.pages[0].page for slot in plan.slots}
    assert len(new) == min(max(0, count + more - len(kept)), len(left))


def check(plan: Plan, pages: list[Page], count: int) -> None:
    """Check what holds for every plan of pages that can all be picked."""
    first = [slot.pages[0].page for slot in plan.slots]
    assert len(first) == min(count, len(pages))
    assert [slot.number for slot in plan.slots] == list(range(1, len(first) + 1))
    tried = [page.page for slot in plan.slots for page in slot.pages]
    assert len(set(tried)) == len(tried)
    assert sum(section.planned for section in plan.sections) == len(first)
    assert sum(section.pages for section in plan.sections) == len(pages)
    assert all(page.page.startswith(slot.section) for slot in plan.slots for page in slot.pages)
