"""A file of published scores is read whole or refused whole, with every problem and its line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragassay.errors import InputError
from ragassay.manifest.scores import MAX_PROBLEMS, MAX_SCORES_BYTES, PublishedScores, read_scores
from ragassay.testing.republished_run import JUDGE, items_of, lines_of, published_bytes, written

QUESTIONS = items_of(published_bytes()).benchmark.questions


def read(data: bytes, **options: Any) -> PublishedScores:
    """Read scores of the small item set."""
    return read_scores(data, QUESTIONS, **options)


def problems(data: bytes, **options: Any) -> tuple[str, ...]:
    """Return what is wrong with a file that must be refused."""
    with pytest.raises(InputError) as caught:
        read(data, **options)
    assert caught.value.exit_code == 2
    return caught.value.problems or (caught.value.message,)


def with_score(literal: str) -> bytes:
    """Return the lines with a JSON literal as the third score."""
    rows = written(lines_of()).splitlines(keepends=True)
    rows[2] = rows[2].replace(b'"score": "0.25"', f'"score": {literal}'.encode())
    return b"".join(rows)


def changed(at: int, **members: Any) -> bytes:
    """Return the lines with members of one of them replaced."""
    lines = lines_of()
    lines[at] = {**lines[at], **members}
    return written(lines)


def test_scores_are_hundredths_in_the_order_of_the_set() -> None:
    """Lines in any order become items in the item set's order, with whole hundredths."""
    found = read(written(lines_of()[::-1]))
    assert [score.id for score in found.scores] == ["a1", "a2", "a3", "a4", "a5"]
    assert [score.score for score in found.scores] == [100, 50, 25, 0, 83]
    assert (found.judge, found.rounded) == (JUDGE, 0)


@pytest.mark.parametrize(
    ("literal", "hundredths"),
    [
        *[("0.29", 29), ("1", 100), ("1.0", 100), ("0", 0), ("0.7000", 70)],
        *[('"0.07"', 7), ("7e-1", 70), ("-0.0", 0), ('"1.00"', 100)],
    ],
)
def test_how_a_score_may_be_written(literal: str, hundredths: int) -> None:
    """A number or a decimal text is read exactly, never as a binary fraction."""
    assert read(with_score(literal)).scores[2].score == hundredths


@pytest.mark.parametrize(
    ("literal", "said"),
    [
        ("0.735", "more than two decimals"),
        ("0.30000000000000004", "more than two decimals"),
        ("1e-05", "more than two decimals"),
        ("73", "not from 0 to 1"),
        ("-0.5", "not from 0 to 1"),
        ("1.01", "not from 0 to 1"),
        ("NaN", "no decimal number"),
        ("Infinity", "no decimal number"),
        ('"NaN"', "no decimal number"),
        ('"0,5"', "no decimal number"),
        ('"1/2"', "no decimal number"),
        ('" 0.5"', "no decimal number"),
        ('"٠.٥"', "no decimal number"),
        ('""', "no decimal number"),
        ("1e999", "no decimal number"),
        ("0." + "1" * 5000, "no decimal number"),
        ("true", "neither a number"),
        ("[0.5]", "neither a number"),
        ('{"value": 1}', "neither a number"),
    ],
)
def test_what_is_no_score(literal: str, said: str) -> None:
    """Every other value is refused by its line, and nothing else is wrong with the file."""
    (problem,) = problems(with_score(literal))
    assert problem.startswith("line 3: score: ")
    assert said in problem


@pytest.mark.parametrize(
    ("literal", "hundredths"),
    [("0.735", 74), ("0.7349999", 73), ("0.005", 1), ("0.0049", 0), ("0.995", 100), ("0.125", 13)],
)
def test_rounding_is_half_up_by_integers(literal: str, hundredths: int) -> None:
    """With --round a half goes up, whatever the nearest binary fraction is, and the file says how many were."""
    found = read(with_score(literal), rounding=True)
    assert (found.scores[2].score, found.rounded) == (hundredths, 1)


def test_rounding_never_lets_in_what_is_no_share() -> None:
    """1.004 would round to 1.00 and is refused all the same."""
    assert "not from 0 to 1" in problems(with_score("1.004"), rounding=True)[0]


def test_null_is_missing_and_not_zero() -> None:
    """A null score stays None."""
    assert read(with_score("null")).scores[2].score is None


def test_an_answer_may_be_null_but_not_left_out() -> None:
    """Unpublished is written as null."""
    assert read(changed(0, answer=None)).scores[0].answer is None
    assert read(changed(0, answer="")).scores[0].answer == ""
    lines = lines_of()
    del lines[0]["answer"]
    assert problems(written(lines)) == ("line 1: answer: is missing; write null where none is known",)


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"id": 1}, "line 2: id: is no text"),
        ({"id": None}, "line 2: id: is no text"),
        ({"question": None}, "line 2: question: is no text"),
        ({"question": " "}, "line 2: question: is empty"),
        ({"answer": 5}, "line 2: answer: is no text and not null"),
        ({"judge": ["a"]}, "line 2: judge: is no text and not null"),
        ({"judge": ""}, "line 2: judge: is empty"),
        ({"question": "Which port?"}, "line 2: question: is not the text that the item set has for 'a2'"),
        ({"Question": "x"}, "line 2: 'Question' is an unknown member; known are id, question, answer, score, judge"),
        ({"latency": 3}, "line 2: 'latency' is an unknown member; known are id, question, answer, score, judge"),
    ],
)
def test_what_is_no_line(members: dict[str, Any], said: str) -> None:
    """Every ill-typed, empty, differing or unknown member is told with its line."""
    assert said in problems(changed(1, **members))


@pytest.mark.parametrize("name", ["id", "question", "answer", "score", "judge"])
def test_each_member_is_required(name: str) -> None:
    """A line without a member is refused; the judge may be named for all lines instead."""
    lines = lines_of()
    del lines[3][name]
    assert any(problem.startswith(f"line 4: {name}: is missing") for problem in problems(written(lines)))


def test_ids_and_lines_are_one_to_one() -> None:
    """A line twice, a line too many and a question without a line are all told at once."""
    lines = lines_of()
    lines[3] = {**lines[0]}
    lines[4] = {**lines[4], "id": "b1"}
    found = problems(written(lines))
    assert "line 4: id: 'a1' stands already on line 1" in found
    assert "line 5: id: 'b1' is no question of the item set" in found
    assert {"question 'a4' has no line", "question 'a5' has no line"} <= set(found)


def test_all_problems_are_told_at_once() -> None:
    """Problems of form, of score and of completeness stand in one list."""
    rows = written(lines_of()).splitlines(keepends=True)
    rows[0] = b"{not json}\n"
    rows[1] = rows[1].replace(b'"0.5"', b"0.123")
    rows[2] = rows[2].replace(b"a3", b"zz")
    found = problems(b"".join(rows))
    assert [problem.split(":")[0] for problem in found if problem.startswith("line")] == ["line 1", "line 2", "line 3"]
    unread = ", unless it is on a line that cannot be read"
    assert {f"question 'a1' has no line{unread}", f"question 'a3' has no line{unread}"} <= set(found)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"[1]", "is no object"),
        (b"7", "is no object"),
        (b"{", "is no JSON"),
        (b'{"id":"a1"} {"id":"a1"}', "is no JSON"),
        (b'{"id":"a1","id":"a1"}', "the member 'id' stands twice"),
        (b"[" * 100_000, "is nested too deeply"),
    ],
    ids=["list", "number", "torn", "two objects", "member twice", "deep"],
)
def test_what_is_no_object(line: bytes, said: str) -> None:
    """A line that is not one JSON object is refused by its number."""
    assert any(p.startswith("line 6: ") and said in p for p in problems(written(lines_of()) + line + b"\n"))


def test_half_a_surrogate_pair() -> None:
    """A text that no UTF-8 file can carry is refused."""
    data = written(lines_of()).replace(b'"Port 8001."', b'"\\ud800"')
    assert problems(data) == ("line 1: answer: holds half of a surrogate pair",)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_other_encodings_are_refused(encoding: str) -> None:
    """Bytes that are not UTF-8 are refused by the line of the first."""
    data = written(lines_of()).decode().replace("Port 8002.", "Port 8002 für TCP.").encode(encoding)
    assert "is not UTF-8" in problems(data)[0]


def test_blank_lines_and_a_byte_order_mark_are_passed_over() -> None:
    """They say nothing, and the numbers of lines stay those of the file."""
    rows = b"\xef\xbb\xbf\n" + written(lines_of()).replace(b"\n", b"\r\n\n")
    assert len(read(rows).scores) == 5
    assert problems(rows.replace(b'"0.25"', b"9"))[0].startswith("line 6: score")


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(data: bytes) -> None:
    """No line is no run."""
    assert problems(data)[0] == "it holds no line"


def test_several_judges_are_refused_with_their_lines() -> None:
    """JUDGE_MIXED names each judge and every line of its own."""
    lines = lines_of()
    for at in (0, 1, 3):
        lines[at]["judge"] = "other"
    found = problems(written(lines))
    assert [problem.split(":")[0] for problem in found] == ["JUDGE_MIXED"] * 3
    assert "JUDGE_MIXED: judge 'other': lines 1-2, 4" in found
    assert f"JUDGE_MIXED: judge '{JUDGE}': lines 3, 5" in found


def test_the_judge_of_lines_that_name_none() -> None:
    """A judge given for the file fills the gaps, and never overrules a line."""
    unnamed = written(lines_of(judge=None))
    assert read(unnamed, judge="expert panel").judge == "expert panel"
    assert [p.split(": ")[1] for p in problems(unnamed)] == ["judge"] * 5
    assert "JUDGE_MIXED: judge 'expert panel': no line (it is the one given with --judge)" in problems(
        written(lines_of()), judge="expert panel"
    )


def test_a_file_beyond_the_cap_is_refused() -> None:
    """Size is checked before anything is parsed."""
    assert "bytes allowed" in problems(b" " * (MAX_SCORES_BYTES + 1))[0]


def test_problems_beyond_the_cap_are_counted() -> None:
    """No flood of messages: a thousand are written out, the rest is a number."""
    found = problems(written(lines_of()) + b"x\n" * (MAX_PROBLEMS + 5))
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1] == "and 5 more problems"


def test_no_control_character_reaches_a_message() -> None:
    """What a file says is quoted with its control characters written out."""
    line = json.dumps({**lines_of()[0], "id": "\x1b[31m\u202e", "x\x07": 1})
    assert all(problem.isprintable() for problem in problems(line.encode()))
