"""`questions draft` against a kill between two files, plans and pages made to mislead, and replies made to break it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_case import asked, code
from draft_case import claim, draft, good, lines, model, saying, site, sound

from ragassay.question import load_benchmark
from ragassay.records import JSON
from ragassay.run.question_sets import drafting
from ragassay.testing.provider_servers import ProviderServer


class Killed(BaseException):
    """Stands for a kill -9: nothing of the product catches it."""


def killed_at(monkeypatch: pytest.MonkeyPatch, name: str, file: str) -> None:
    """Let the writing of `file` by that function of the draft be where a kill strikes."""
    real = getattr(drafting, name)

    def write(path: Path, *data: Any) -> None:
        if path.name == file:
            raise Killed
        real(path, *data)

    monkeypatch.setattr(drafting, name, write)


@pytest.mark.parametrize(
    ("name", "file", "written"),
    [
        ("save_lines", "items.next.jsonl", False),
        ("replace_bytes", "q.json", False),
        ("save_lines", "items.jsonl", True),
        ("remove_file", "items.next.jsonl", True),
    ],
)
def test_a_kill_between_two_files_leaves_each_question_its_item(
    name: str, file: str, written: bool, tmp_path: Path
) -> None:
    """Wherever the kill strikes, the draft that goes on asks nothing twice, and each question has one item line."""
    docs, out, folder = site(tmp_path), tmp_path / "q.json", tmp_path / "q.draft"
    with ProviderServer(saying(sound)) as server:
        assert code(draft(docs, "-n", 2, "--model", model(server), "--out", out)) == 0
        with pytest.MonkeyPatch.context() as patch:
            killed_at(patch, name, file)
            with pytest.raises(Killed):
                draft(docs, "-n", 4, "--model", model(server), "--out", out, "--again")
        assert len(load_benchmark(out).questions) == (4 if written else 2)
        assert code(draft(docs, "-n", 5, "--model", model(server), "--out", out, "--again")) == 0
        assert len(server.asked) == 5
    named = [question.id for question in load_benchmark(out).questions]
    assert [item["question"] for item in lines(folder / "items.jsonl")] == named == [f"q-00{n}" for n in range(1, 6)]
    assert len({item["slot"] for item in lines(folder / "items.jsonl")}) == 5
    assert not (folder / "items.next.jsonl").exists()


def test_a_kill_is_gone_on_from_after_the_file_was_edited(tmp_path: Path) -> None:
    """A question that a person then took out does not come back, and keeps its line."""
    docs, out = site(tmp_path), tmp_path / "q.json"
    with ProviderServer(saying(sound)) as server:
        with pytest.MonkeyPatch.context() as patch:
            killed_at(patch, "save_lines", "items.jsonl")
            with pytest.raises(Killed):
                draft(docs, "-n", 3, "--model", model(server), "--out", out)
        value = json.loads(out.read_text(encoding="utf-8"))
        del value["samples"][1]
        out.write_text(json.dumps(value), encoding="utf-8")
        assert code(draft(docs, "--model", model(server), "--out", out, "--again")) == 0
        assert len(server.asked) == 3
    assert [question.id for question in load_benchmark(out).questions] == ["q-001", "q-003"]
    items = [item["question"] for item in lines(tmp_path / "q.draft" / "items.jsonl")]
    assert items == ["q-001", "q-002", "q-003"]


def test_a_file_that_is_edited_while_the_model_is_asked_is_left_as_it_is(tmp_path: Path) -> None:
    """The edit stays, the command says so, and typed again it appends what was answered without asking."""
    docs, out = site(tmp_path), tmp_path / "q.json"
    with ProviderServer(saying(sound)) as server:
        assert code(draft(docs, "-n", 1, "--model", model(server), "--out", out)) == 0
    edited = out.read_text(encoding="utf-8").replace('"target": "', '"target": "It is ')

    def answer(body: JSON) -> str:
        out.write_text(edited, encoding="utf-8")
        return sound(body)

    with ProviderServer(saying(answer)) as server:
        arguments = (docs, "-n", 2, "--model", model(server), "--out", out, "--again")
        result = draft(*arguments)
        assert (code(result), "was changed" in str(result.exception)) == (2, True)
        assert out.read_text(encoding="utf-8") == edited
        assert code(draft(*arguments)) == 0
        assert len(server.asked) == 1
    first, second = load_benchmark(out).questions
    assert first.target.startswith("It is ")
    assert not second.target.startswith("It is ")


def test_a_link_as_question_file_stays_one(tmp_path: Path) -> None:
    """What the link leads to is appended to, and keeps its mode."""
    docs, real, out = site(tmp_path), tmp_path / "real.json", tmp_path / "q.json"
    out.symlink_to(real)
    with ProviderServer(saying(sound)) as server:
        assert code(draft(docs, "-n", 1, "--model", model(server), "--out", out)) == 0
        real.chmod(0o640)
        assert code(draft(docs, "-n", 2, "--model", model(server), "--out", out, "--again")) == 0
    assert out.is_symlink()
    assert (len(load_benchmark(real).questions), real.stat().st_mode & 0o777) == (2, 0o640)


def test_json_says_nothing_to_a_terminal(tmp_path: Path) -> None:
    """What steers a terminal, C1 controls and bidirectional marks stand in the JSON as escapes, and it is valid."""
    out = tmp_path / "q\u202e\u009b\u200b.json"
    result = draft(site(tmp_path), "-n", 6, "--out", out, "--json")
    assert code(result) == 0
    assert json.loads(result.stdout)["folder"] == str(out.with_suffix(".draft"))
    assert not {"\u202e", "\u009b", "\u200b"} & set(result.output)


PLANS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "another page": lambda plan: plan["slots"][0]["pages"][0].update(page="no/such.md"),
    "another span": lambda plan: plan["slots"][0]["pages"][0]["passages"][0].update(start=0),
    "a span beyond the page": lambda plan: plan["slots"][0]["pages"][0]["passages"][0].update(start=9000, end=9900),
    "a negative span": lambda plan: plan["slots"][0]["pages"][0]["passages"][0].update(start=-90),
    "another page digest": lambda plan: plan["slots"][0]["pages"][0].update(sha256="0" * 64),
    "no pages": lambda plan: plan["slots"][0].update(pages=[]),
    "no passages": lambda plan: plan["slots"][0]["pages"][0].update(passages=[]),
    "a number twice": lambda plan: plan["slots"][1].update(number=1),
    "a page twice": lambda plan: plan["slots"].__setitem__(1, {**plan["slots"][0], "number": 2}),
    "no rounds": lambda plan: plan.update(rounds=0),
    "a wrong type": lambda plan: plan.update(slots=3),
}


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("how", ["plan", "hand", "model"])
def test_a_plan_that_was_edited_is_refused(name: str, how: str, tmp_path: Path) -> None:
    """What does not fit the corpus or itself is named; nothing is asked, and no worksheet is written."""
    docs, out = site(tmp_path), tmp_path / "q.json"
    assert code(draft(docs, "-n", 3, "--out", out)) == 0
    path = tmp_path / "q.draft" / "plan.json"
    plan = json.loads(path.read_text(encoding="utf-8"))
    PLANS[name](plan)
    path.write_text(json.dumps(plan, ensure_ascii=False, sort_keys=True, separators=(",", ":")), encoding="utf-8")
    with ProviderServer(saying(sound)) as server:
        more = {"plan": [], "hand": ["--by-hand"], "model": ["--model", model(server)]}[how]
        result = draft(docs, "-n", 4, "--out", out, *more)
        assert code(result) == 2
        assert "plan" in str(result.exception)
        assert not server.asked
    assert not (tmp_path / "q.draft" / "worksheets").exists()


HOSTILE: dict[str, Callable[[str, dict[str, Any]], str | None]] = {
    "10,000 claims": lambda nonce, good: json.dumps(
        {**good, "nonce": nonce, "claims": [{"id": 1, "text": "a", "central": True, "must": []}] * 4500}
    ),
    "10,000 literals": lambda nonce, good: json.dumps(
        {**good, "nonce": nonce, "claims": [claim(good["claims"][0]["text"], *(["8"] * 40_000))]}
    ),
    "other literals": lambda nonce, good: json.dumps(
        {
            **good,
            "nonce": nonce,
            "target": " ".join(map(str, range(9000))),
            "claims": [claim(" ".join(map(str, range(9000))), *map(str, range(9000)))],
        }
    ),
    "a huge question": lambda nonce, good: json.dumps({**good, "nonce": nonce, "question": "what is `a" * 20_000}),
    "a huge target": lambda nonce, good: json.dumps({**good, "nonce": nonce, "target": "a, b " * 40_000}),
    "a huge evidence": lambda nonce, good: json.dumps({**good, "nonce": nonce, "evidence": "the " * 50_000}),
    "spaces": lambda nonce, good: json.dumps({**good, "nonce": nonce, "question": " " * 200_000 + "?"}),
    "words without space": lambda nonce, good: json.dumps({**good, "nonce": nonce, "question": "a" * 200_000 + "?"}),
    "a huge claim": lambda nonce, good: json.dumps({**good, "nonce": nonce, "claims": [claim("a; B. " * 30_000)]}),
    "a wrong type": lambda nonce, good: json.dumps({**good, "nonce": nonce, "suitable": "yes"}),
    "NaN": lambda nonce, good: json.dumps(
        {**good, "nonce": nonce, "claims": [{**good["claims"][0], "id": float("nan")}]}
    ),
    "a huge number": lambda nonce, good: json.dumps({**good, "nonce": nonce})[:-1] + ', "x": ' + "9" * 100_000 + "}",
    "a huge id": lambda nonce, good: json.dumps(
        {**good, "nonce": nonce, "claims": [{**good["claims"][0], "id": 10**30}]}
    ),
    "a key twice": lambda nonce, good: json.dumps({**good, "nonce": nonce})[:-1] + ', "suitable": true}',
    "many keys": lambda nonce, good: "{" + ",".join(f'"k{n}": 1' for n in range(15_000)) + ', "k1": 2, "claims": []}',
    "nested fences": lambda nonce, good: "```json\n```\n" * 9000 + json.dumps({**good, "nonce": nonce, "claims": 3}),
    "nested deeply": lambda nonce, good: '{"claims": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "braces": lambda nonce, good: "{" * 200_000,
    "half a surrogate": lambda nonce, good: json.dumps({**good, "nonce": nonce, "question": "\ud800?"}),
    "NUL": lambda nonce, good: json.dumps({**good, "nonce": nonce, "question": "Which port has `alpha`\0?"}),
    "suitable without a text": lambda nonce, good: json.dumps(
        {**good, "nonce": nonce, "question": "", "target": "", "evidence": ""}
    ),
    "empty literals": lambda nonce, good: json.dumps(
        {**good, "nonce": nonce, "claims": [claim(good["claims"][0]["text"], "", " ")]}
    ),
    "one digit changed": lambda nonce, good: json.dumps(
        {**good, "nonce": nonce, "evidence": good["evidence"].translate(str.maketrans("0123", "1234"))}
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_reply_made_to_break_the_checks_is_refused_in_time(name: str, tmp_path: Path) -> None:
    """It is refused with a reason, no check takes long over it, and the next reply is taken."""
    docs = site(tmp_path, pages=1)
    seen: list[int] = []

    def answer(body: JSON) -> str | None:
        nonce, material = asked(body)
        seen.append(len(json.dumps(body)))
        return HOSTILE[name](nonce, good(material["passage"])) if len(seen) == 1 else sound(body)

    with ProviderServer(saying(answer)) as server:
        begun = time.process_time()
        result = draft(docs, "-n", 1, "--model", model(server), "--out", tmp_path / "q.json", "--json")
        took = time.process_time() - begun
    assert code(result) == 0, result.output
    assert sum(json.loads(result.stdout)["asked"]["refusals"].values()) >= 1
    assert took < 4
    assert seen[1] < seen[0] + 4000
    assert (tmp_path / "q.draft" / "refused.jsonl").stat().st_size < 20_000
