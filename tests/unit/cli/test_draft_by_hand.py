"""`questions draft --by-hand`: a worksheet per passage, read back with every problem at once, and nothing lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_case import asked, code
from draft_case import claim, draft, good, lines, model, saying, site, sound

from ragassay.errors import InputError
from ragassay.question import load_benchmark
from ragassay.testing.provider_servers import ProviderServer


def sheets(folder: Path) -> list[Path]:
    """Return the worksheets in order."""
    return sorted((folder / "questions.draft" / "worksheets").iterdir())


def fill(sheet: Path, **changed: Any) -> None:
    """Write a sound question on a worksheet, with some keys changed."""
    value = json.loads(sheet.read_text(encoding="utf-8"))
    written = good(value["passage"])
    claims = [{**one, "must": [[literal] for literal in one["must"]]} for one in written["claims"]]
    for one in claims:
        del one["id"]
    own = {key: written[key] for key in ("question", "target", "evidence")}
    sheet.write_text(json.dumps({**value, **own, "claims": claims, **changed}), encoding="utf-8")


def by_hand(docs: Path, *more: object) -> Any:
    """Run the command for three questions."""
    return draft(docs, "-n", 3, "--by-hand", "--out", docs.parent / "questions.json", *more)


def test_from_worksheet_to_question_file(tmp_path: Path) -> None:
    """Each sheet shows its passage and where it stands; what is filled in becomes questions, the rest stays to do."""
    docs = site(tmp_path)
    first = by_hand(docs)
    assert code(first) == 0
    assert "3 written, 0 taken, 3 not filled in, 0 half filled in" in first.output
    assert not (tmp_path / "questions.json").exists()
    for sheet in sheets(tmp_path):
        value = json.loads(sheet.read_text())
        text = (docs / value["page"]).read_text(encoding="utf-8")
        assert text[value["place"]["start"] : value["place"]["end"]] == value["passage"]
        assert value["title"].endswith("server")
    fill(sheets(tmp_path)[0])
    fill(sheets(tmp_path)[2])
    second = by_hand(docs, "--author", "A. Writer")
    assert code(second) == 0
    assert "0 written, 2 taken, 1 not filled in" in second.output
    questions = load_benchmark(tmp_path / "questions.json").questions
    assert [question.id for question in questions] == ["q-001", "q-002"]
    for question in questions:
        assert question.provenance is not None
        assert (question.provenance.author, question.provenance.tool) == ("A. Writer", None)
        assert not question.unsplit
    assert {item["model"] for item in lines(tmp_path / "questions.draft" / "items.jsonl")} == {None}
    fill(sheets(tmp_path)[1])
    assert code(by_hand(docs)) == 2
    assert code(by_hand(docs, "--again")) == 0
    assert [one.id for one in load_benchmark(tmp_path / "questions.json").questions] == ["q-001", "q-002", "q-003"]
    again = by_hand(docs, "--again")
    assert code(again) == 0
    assert "nothing is new" in again.output
    for verb in ("lint", "review"):
        assert f"  ragassay questions {verb} {tmp_path / 'questions.json'} --corpus {docs}\n" in again.output
        assert f"questions {verb} " not in first.output


def test_the_name_that_was_told_once_holds_for_the_commands_after(tmp_path: Path) -> None:
    """The plan keeps the name of the set, and the question file gets it without being told again."""
    docs = site(tmp_path)
    assert code(by_hand(docs, "--name", "acme-docs")) == 0
    fill(sheets(tmp_path)[0])
    assert code(by_hand(docs)) == 0
    assert load_benchmark(tmp_path / "questions.json").name == "acme-docs"


def test_all_problems_of_all_worksheets_come_at_once(tmp_path: Path) -> None:
    """Form and content are both told, by file; the sound third is not taken, and no worksheet changes."""
    docs = site(tmp_path)
    by_hand(docs)
    first, second, third = sheets(tmp_path)
    fill(first, evidence="Something else that stands nowhere")
    fill(second, claims=[{"text": "", "central": True}])
    fill(third)
    before = [sheet.read_bytes() for sheet in sheets(tmp_path)]
    result = by_hand(docs)
    assert isinstance(result.exception, InputError)
    told = {problem.split(":")[0] for problem in result.exception.problems}
    assert told == {first.name, second.name}
    assert any("evidence-invented" in problem for problem in result.exception.problems)
    assert [sheet.read_bytes() for sheet in sheets(tmp_path)] == before
    assert not (tmp_path / "questions.json").exists()


def test_a_half_filled_worksheet_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    """What is still empty is said, the exit code is 1, and the filled ones are taken."""
    docs = site(tmp_path)
    by_hand(docs)
    first, second, _ = sheets(tmp_path)
    fill(first, target="", evidence=" ")
    fill(second)
    half = first.read_bytes()
    result = by_hand(docs)
    assert code(result) == 1
    assert f"half      {first.name}: target, evidence empty" in result.output
    assert first.read_bytes() == half
    assert len(load_benchmark(tmp_path / "questions.json").questions) == 1


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"passage": "Another passage."}, "passage: is not that of the plan"),
        ({"page": "x.md"}, "page: is not that of the plan"),
        ({"question": "Which port does this page name?"}, "deictic"),
        ({"question": 3}, "question: expected text"),
        ({"answer": "8001"}, "answer: unknown key"),
        ({"claims": [claim("Port 8001.")]}, "claims[0].must"),
    ],
)
def test_each_fault_of_a_worksheet_is_told(changed: dict[str, Any], problem: str, tmp_path: Path) -> None:
    """A changed passage, a broken rule, a wrong type and an unknown key are problems with the file's name."""
    docs = site(tmp_path)
    by_hand(docs)
    if "claims" in changed:
        changed = {"claims": [{**changed["claims"][0], "must": ["8001"]}]}
    fill(sheets(tmp_path)[0], **changed)
    result = by_hand(docs)
    assert isinstance(result.exception, InputError)
    assert any(problem in one for one in result.exception.problems), result.exception.problems


def test_broken_json_is_told_with_its_place(tmp_path: Path) -> None:
    """Line and column of what is no JSON are named."""
    docs = site(tmp_path)
    by_hand(docs)
    sheets(tmp_path)[0].write_text('{"how": "x",\n', encoding="utf-8")
    result = by_hand(docs)
    assert isinstance(result.exception, InputError)
    assert "not JSON" in result.exception.problems[0]


def test_an_unsuitable_passage_gives_way_to_the_next(tmp_path: Path) -> None:
    """Its sheet stays and counts; the page's other passage gets one, and after the last page the place is given up."""
    docs = site(tmp_path, pages=1)
    seen = []
    for _ in range(3):
        result = draft(docs, "-n", 1, "--by-hand", "--out", tmp_path / "questions.json")
        for sheet in sheets(tmp_path):
            if sheet.name not in seen:
                seen.append(sheet.name)
                fill(sheet, unsuitable=True)
    assert seen == ["0001-1-guides-alpha.md.json", "0001-2-guides-alpha.md.json"]
    assert code(result) == 1
    assert "2 unsuitable" in result.output
    assert "1 place got no question: 1" in result.output


def test_without_claims_the_target_is_the_one_claim(tmp_path: Path) -> None:
    """Such a question is marked unsplit, to be split by `claims freeze`."""
    docs = site(tmp_path)
    by_hand(docs)
    empty = json.loads(sheets(tmp_path)[0].read_text())["claims"]
    fill(sheets(tmp_path)[0], claims=empty)
    assert code(by_hand(docs)) == 0
    (question,) = load_benchmark(tmp_path / "questions.json").questions
    assert question.unsplit


def test_two_worksheets_never_ask_the_same(tmp_path: Path) -> None:
    """The later one is a problem."""
    docs = site(tmp_path)
    by_hand(docs)
    for sheet in sheets(tmp_path)[:2]:
        fill(sheet, question="Which number does the server of `Acme` take by default?")
    result = by_hand(docs)
    assert isinstance(result.exception, InputError)
    assert any("question-repeated" in one for one in result.exception.problems)


def test_a_person_fills_what_the_model_could_not(tmp_path: Path) -> None:
    """Places that got no question from a model get worksheets with --again, and only they."""
    docs, out = site(tmp_path), tmp_path / "questions.json"
    with ProviderServer(saying(lambda body: sound(body) if "zeta" in asked(body)[1]["passage"] else "no")) as server:
        assert code(draft(docs, "-n", 3, "--model", model(server), "--out", out)) == 1
    assert len(load_benchmark(out).questions) == 1
    assert code(by_hand(docs, "--again")) == 0
    assert len(sheets(tmp_path)) == 2
    for sheet in sheets(tmp_path):
        fill(sheet)
    assert code(by_hand(docs, "--again")) == 0
    questions = load_benchmark(out).questions
    assert [question.id for question in questions] == ["q-001", "q-002", "q-003"]
    assert [bool(question.provenance and question.provenance.tool) for question in questions] == [True, False, False]


def test_topics_are_named_by_the_beginning_of_a_page(tmp_path: Path) -> None:
    """The longest beginning that fits counts; without any the section is the topic."""
    docs, out = site(tmp_path), tmp_path / "q.json"
    topics = ("--topic", "guides/=how to", "--topic", "guides/beta=beta", "--topic", "reference/=reference")
    with ProviderServer(saying(sound)) as server:
        assert code(draft(docs, "-n", 6, "--model", model(server), "--out", out, *topics)) == 0
    found = {question.page: question.topic for question in load_benchmark(out).questions}
    assert found == {
        "guides/alpha.md": "how to",
        "guides/beta.md": "beta",
        "guides/gamma.md": "how to",
        "concepts/delta.md": "concepts",
        "concepts/epsilon.md": "concepts",
        "reference/zeta.md": "reference",
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ("--by-hand", "--model", "{}"),
        ("--topic", "guides"),
        ("--topic", "guides/="),
        ("--author", "A\u202eB"),
        ("--out", "q.csv"),
        ("-n", 0),
        ("--avoid", "nothing.json"),
    ],
)
def test_wrong_usage_writes_nothing(
    arguments: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 2 before a plan is written."""
    monkeypatch.chdir(tmp_path)
    assert code(draft(site(tmp_path), *arguments)) == 2
    assert [one.name for one in tmp_path.iterdir() if (one / "plan.json").exists() or one.suffix == ".json"] == []
