"""What `tree` asks its selector, in how many calls, and what becomes of every answer."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from wrapped_factory import Fixed, page

from ragassay import canon
from ragassay.errors import InputError, RunStopped, StackError
from ragassay.plugins.stacks.tree import Tree, TreeIndex
from ragassay.plugins.stacks.tree.answer import LONGEST_PROMPT, QUESTION_CHARACTERS, REASON_CHARACTERS
from ragassay.plugins.stacks.tree.choice import FIXED, LEAST_CHARACTERS, LONGEST_ENTRY, quota
from ragassay.records import Chunk, Message, Reply
from ragassay.testing.blocking_model import BlockingScript
from ragassay.testing.stack_contract import ignore_progress

GUIDE = page(
    "guide.md",
    "# Guide\n\nWelcome.\n\n",
    "## Install\n\n### On Linux\n\nUse apt. ",
    "Or dnf.\n\n",
    "### On a Mac\n\nUse brew.\n\n",
    "## Notes\n",
)
CACHE = page("cache.md", "# Cache\n\nWhere it lies.\n\n", "## Clear\n\nRun clear.\n")
CHUNKS = GUIDE + CACHE
Script = Callable[[str], str | Reply]


def built(
    script: Script | str, chunks: Sequence[Chunk] = CHUNKS, of: Fixed | None = None, **params: Any
) -> tuple[TreeIndex, BlockingScript]:
    """Return the built stack and its model, which replies to what the user's message says."""
    model = BlockingScript(lambda messages: script if isinstance(script, str) else script(messages[-1].content))
    parts = {"model": model, **({"of": of} if of is not None else {})}
    return Tree(**params).build(chunks, parts, ignore_progress), model


def many(pages: int, sections: int = 1) -> list[Chunk]:
    """Return pages of sections with text of their own."""
    return [
        one
        for n in range(pages)
        for one in page(f"p{n:03}", *[f"# S{n}.{s}\n\ntext {n}.{s}\n\n" for s in range(sections)])
    ]


def kind_of(asked: str) -> str:
    """Return what is chosen from."""
    return asked.split(":", 1)[0].removeprefix("The ")


def listed(asked: str) -> list[str]:
    """Return the entries of a message."""
    return re.findall(r"^\d+\. .*$", asked.partition("\n\nQuestion: ")[0], re.MULTILINE)


def found(index: TreeIndex, k: int = 50, question: str = "q") -> list[tuple[str, float]]:
    """Return ids and scores."""
    return [(hit.chunk, hit.score) for hit in index.search(question, k)]


def test_the_chosen_sections_are_delivered_in_the_order_of_the_choice() -> None:
    """Chunks of a section in page order, each once, with the score 1 / rank."""
    index, model = built("[7, 3, 2]")
    assert found(index) == [("cache.md#1", 1), ("guide.md#1", 1 / 2), ("guide.md#2", 1 / 3), ("guide.md#3", 1 / 4)]
    assert found(index, 2) == found(index)[:2]
    asked = len(model.calls)
    assert index.search("q", 0) == []
    assert len(model.calls) == asked == 3


def test_the_selector_reads_titles_and_summaries() -> None:
    """One numbered line for each section, then the question, and how many may be chosen."""
    index, model = built("[1]", nodes=3)
    index.search("How is it installed?", 5)
    ((messages, params),) = model.calls
    assert params == {}
    assert messages[0].role == "system"
    assert messages[1].content == (
        "The sections:\n"
        "1. guide.md > Guide: Welcome.\n"
        "2. guide.md > Guide > Install (heading only): Use apt. Or dnf. Use brew.\n"
        "3. guide.md > Guide > Install > On Linux: Use apt. Or dnf.\n"
        "4. guide.md > Guide > Install > On a Mac: Use brew.\n"
        "5. guide.md > Guide > Notes (no text)\n"
        "6. cache.md > Cache: Where it lies.\n"
        "7. cache.md > Cache > Clear: Run clear.\n\n"
        "Question: How is it installed?\n\n"
        "Choose at most 3 of the sections, the best first.\nAnswer:"
    )


def test_a_heading_without_text_delivers_what_stands_below() -> None:
    """Its subtree, in page order."""
    assert [chunk for chunk, _ in found(built("[2]")[0])] == ["guide.md#1", "guide.md#2", "guide.md#3"]


def test_a_node_without_any_text_is_reported() -> None:
    """Never an empty list, nor the rest of the choice: the model is told, and then the search has failed."""
    index, model = built("[1, 5]")
    with pytest.raises(
        StackError, match=r"'guide.md > Guide > Notes', has no text, neither itself nor below it"
    ) as caught:
        index.search("q", 5)
    assert "among 7 sections cannot be used after 2 attempts" in str(caught.value)
    assert not caught.value.retryable
    assert "Your last answer was refused: number 5," in model.calls[1][0][1].content


@pytest.mark.parametrize("first", ["[9]", "It is 2.", "[1, 1]", "", "[5]"])
def test_a_refused_answer_is_asked_for_again_with_the_reason(first: str) -> None:
    """The second message is the first and the reason; a good answer then counts."""
    replies = iter([first, "[6]"])
    index, model = built(lambda _: next(replies))
    assert found(index) == [("cache.md#0", 1.0)]
    one, two = (call[0][1].content for call in model.calls)
    reason = re.search(r"Your last answer was refused: .+\.\n\n", two)
    assert reason
    assert two.replace(reason[0], "") == one


@pytest.mark.parametrize("attempts", [1, 2, 4])
def test_the_last_refused_answer_is_a_failure(attempts: int) -> None:
    """It says what the model said, cut."""
    index, model = built("x" * 500, attempts=attempts)
    with pytest.raises(StackError, match=rf"after {attempts} attempts: it is not a JSON array .*'x{{200}}'$"):
        index.search("q", 5)
    assert len(model.calls) == attempts


def test_a_reply_without_text_is_refused() -> None:
    """A null text is an empty answer."""
    with pytest.raises(StackError, match="it is empty"):
        built(lambda _: Reply(text=None))[0].search("q", 5)


@pytest.mark.parametrize("reply", ["[]", "none"])
def test_nothing_that_fits_is_an_empty_list(reply: str) -> None:
    """The model looked and said so: one call."""
    index, model = built(reply)
    assert index.search("q", 5) == []
    assert len(model.calls) == 1


@pytest.mark.parametrize("error", [StackError("down", retryable=True), RunStopped("the budget is spent")])
def test_what_the_model_raises_is_passed_on(error: Exception) -> None:
    """At once: nothing is asked again for a model that is down."""
    calls = []

    def raises(asked: str) -> str:
        calls.append(asked)
        raise error

    with pytest.raises(type(error)) as caught:
        built(raises)[0].search("q", 5)
    assert caught.value is error
    assert len(calls) == 1


def test_the_model_chooses_pages_first_where_there_are_more() -> None:
    """Their sections alone are listed then, pages in the order of the choice."""
    index, model = built(lambda asked: "[4, 2]" if kind_of(asked) == "pages" else "[3]", many(5, 2), pages=2)
    assert [chunk for chunk, _ in found(index)] == ["p001#0"]
    pages, sections = (call[0][1].content for call in model.calls)
    assert len(listed(pages)) == 5
    assert listed(pages)[0] == "1. p000 > S0.0: text 0.0 text 0.1"
    assert [line.split(":")[0] for line in listed(sections)] == [
        "1. p003 > S3.0",
        "2. p003 > S3.1",
        "3. p001 > S1.0",
        "4. p001 > S1.1",
    ]
    assert index.describe()["pages_by"] == "model"


def test_no_page_that_fits_ends_the_search() -> None:
    """No section is asked for."""
    index, model = built("[]", many(5), pages=2)
    assert index.search("q", 5) == []
    assert len(model.calls) == 1


def test_a_long_list_is_narrowed_in_rounds() -> None:
    """Ten pages in blocks of five, two of each block, then one call over what is left: its order counts."""
    replies = {5: "[5, 1]", 4: "[4, 1]", 2: "[2]"}
    index, model = built(lambda asked: replies[len(listed(asked))], many(10), pages=2, per_call=5, nodes=1)
    assert [chunk for chunk, _ in found(index)] == ["p004#0"]
    sizes = [(kind_of(call[0][1].content), len(listed(call[0][1].content))) for call in model.calls]
    assert sizes == [("pages", 5), ("pages", 5), ("pages", 4), ("sections", 2)]
    assert [line.split(" ")[1] for line in listed(model.calls[2][0][1].content)] == ["p004", "p000", "p009", "p005"]
    assert index.describe()["calls_at_most"] == 2 * 4


@pytest.mark.parametrize("pages", [1, 3, 10, 57, 200])
@pytest.mark.parametrize(("per_call", "most"), [(2, 1), (2, 9), (3, 2), (5, 5), (50, 5)])
def test_the_number_of_calls_is_known_before(pages: int, per_call: int, most: int) -> None:
    """A model that chooses as many as it may, and one that is refused each time once, never pass the number."""
    again: set[str] = set()

    def greedy(asked: str) -> str:
        if asked not in again and "Your last" not in asked:
            again.add(asked)
            return "what?"
        return json.dumps(list(range(1, min(most, len(listed(asked))) + 1)))

    params: dict[str, Any] = {
        "pages": most,
        "nodes": most,
        "per_call": per_call,
        "max_characters": 8_000,
        "max_calls": 1_000_000,
    }
    index, model = built(greedy, many(pages), **params)
    assert found(index)
    assert len(model.calls) <= index.describe()["calls_at_most"]
    assert max(len(listed(call[0][1].content)) for call in model.calls) <= per_call


def test_no_message_is_longer_than_allowed() -> None:
    """Whatever titles, summaries, question and reasons are: lists are cut into more calls instead."""
    chunks = [one for n in range(30) for one in page(f"{n}-{'p' * 200}", f"# {'t' * 200}\n\n{'word ' * 500}\n")]
    replies = iter(["[" + "9" * 400 + "]"] * 10_000)

    def script(asked: str) -> str:
        return next(replies) if "Your last" not in asked else "[1]"

    index, model = built(script, chunks, summary_characters=1_000, max_characters=8_000, pages=3)
    assert found(index, question="q" * 20_000)
    lengths = [sum(len(message.content) for message in call[0]) for call in model.calls]
    assert max(lengths) <= 8_000
    assert "q" * QUESTION_CHARACTERS + "\n" in model.calls[0][0][1].content
    assert "q" * (QUESTION_CHARACTERS + 1) not in model.calls[0][0][1].content


def test_two_of_the_longest_entries_always_fit() -> None:
    """So that a list of any length shrinks with each round."""
    assert LEAST_CHARACTERS >= FIXED + QUESTION_CHARACTERS + REASON_CHARACTERS + 2 * LONGEST_ENTRY
    assert FIXED > LONGEST_PROMPT
    assert [quota(count, 5) for count in (1, 2, 3, 9, 10, 50)] == [1, 1, 2, 5, 5, 5]


def test_a_corpus_that_takes_too_many_calls_is_refused_at_the_build() -> None:
    """Before any call, with what to do; `of` finds pages without one."""
    with pytest.raises(InputError, match=r"may call the model \d+ times over 300 pages, and max_calls is 10: .*bm25"):
        built("[1]", many(300), max_calls=10)
    index, _ = built("[1]", many(300), of=Fixed(("p007#0", 1.0)), max_calls=10)
    assert index.describe()["calls_at_most"] == 2


def test_a_stack_finds_the_pages() -> None:
    """Pages in the order of their best hits, at most `pages`; it is asked for `depth` hits, and closed."""
    hits = Fixed(("p004#0", 9.0), ("p004#1", 8.0), ("p001#1", 7.0), ("p002#0", 6.0))
    index, model = built("[3]", many(6, 2), of=hits, pages=2, depth=7)
    assert [chunk for chunk, _ in found(index, 4)] == ["p001#0"]
    assert hits.asked == [("q", 7)]
    assert len(listed(model.calls[0][0][1].content)) == 4
    about = index.describe()
    assert (about["pages_by"], about["depth"], about["of"]) == ("of", 7, {"kind": "fixed"})
    index.close()
    assert hits.closed == 1


def test_a_stack_that_finds_no_page_is_an_empty_list() -> None:
    """The model is not asked; a stack that is down is a failure."""
    index, model = built("[1]", of=Fixed())
    assert index.search("q", 5) == []
    assert model.calls == []
    with pytest.raises(StackError, match="down"):
        built("[1]", of=Fixed(error=StackError("down")))[0].search("q", 5)


def test_a_schema_goes_with_the_call() -> None:
    """It holds the numbers of the list that it goes with."""
    index, model = built('{"nodes": [6]}', schema=True)
    assert found(index) == [("cache.md#0", 1.0)]
    schema = model.calls[0][1]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["nodes"]["items"]["enum"] == [1, 2, 3, 4, 5, 6, 7]
    assert (index.describe()["schema"], index.describe()["prompt"]["id"]) == (True, "tree-object/1")


def test_the_description_holds_the_tree() -> None:
    """Another text, another cut of the summaries or another model is another row."""
    index, _ = built("[1]")
    about = index.describe()
    assert about["tree"] | {"sha256": ""} == {
        "pages": 2,
        "sections": 7,
        "heading_only": 1,
        "without_text": 1,
        "sha256": "",
    }
    assert (about["scores"], about["pages_by"], about["model"]) == (
        "rank",
        "all",
        {"kind": "scripted", "id": "scripted/1"},
    )
    assert "depth" not in about
    assert "of" not in about
    assert canon.canonical(about) == canon.canonical(built("[2]")[0].describe())
    others = [built("[1]", CHUNKS[:-1])[0], built("[1]", summary_characters=5)[0]]
    assert len({one.describe()["tree"]["sha256"] for one in (index, *others)}) == 3


def test_equal_scores_never_stand_beside_each_other() -> None:
    """1 / rank falls strictly, for as many chunks as there may be."""
    index, _ = built(lambda asked: json.dumps(list(range(1, len(listed(asked)) + 1))), many(1, 40), nodes=40)
    scores = [score for _, score in found(index)]
    assert scores == [1 / rank for rank in range(1, 41)]
    assert all(math.isfinite(score) for score in scores)


def test_a_corpus_without_text_is_not_asked_about() -> None:
    """No page, no call."""
    index, model = built("[1]", page("blank", " \n"))
    assert index.search("q", 5) == []
    assert model.calls == []


def test_the_parameters_are_checked_together() -> None:
    """Every problem in one error."""
    with pytest.raises(InputError) as caught:
        Tree(pages=0, nodes=0, per_call=1, max_characters=100, summary_characters=-1, attempts=0, thinking=1, of="x")
    assert len(caught.value.problems) == 8


def test_a_model_is_needed_and_of_is_one_stack() -> None:
    """Each is said with what to write."""
    model = BlockingScript(lambda _: "[1]")
    with pytest.raises(InputError, match="'tree' needs a language model"):
        Tree().build(CHUNKS, {}, ignore_progress)
    with pytest.raises(InputError, match="'tree' needs one stack to wrap"):
        Tree().build(CHUNKS, {"model": model, "of": [Fixed()]}, ignore_progress)


def test_braces_in_a_question_are_text() -> None:
    """In a title too: nothing is put in twice."""
    question = "{entries} {again} {nope}"
    index, model = built("[1]", page("p", "# {question}\n\n{most}\n"))
    index.search(question, 1)
    messages: Sequence[Message] = model.calls[0][0]
    assert [message.role for message in messages] == ["system", "user"]
    assert "1. p > {question}: {most}\n\nQuestion: {entries} {again} {nope}\n" in messages[1].content
