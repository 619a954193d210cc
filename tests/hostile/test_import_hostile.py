"""Foreign question sets that are broken or meant to harm: every fault has its line, and nothing is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.question.foreign import lines as foreign_lines
from ragassay.question.foreign.answers import Row, answer_of, read_answers, worksheet
from ragassay.question.foreign.pages import page_name
from ragassay.question.foreign.ragas_cells import list_of
from ragassay.question.foreign.seen import MAX_FAULTS, Seen
from ragassay.run.question_sets.import_read import ImportOptions
from ragassay.run.question_sets.import_report import Imported
from ragassay.run.question_sets.import_set import import_set

GOOD_DOCUMENT = b'{"_id": "d1", "text": "The server of Acme listens on port 8080."}'
GOOD_QUERY = b'{"_id": "q1", "text": "Which port does Acme use?", "answer": "8080."}'


def beir_bytes(root: Path, documents: bytes, queries: bytes, judged: bytes) -> Path:
    """Write a BEIR folder of these bytes."""
    (root / "qrels").mkdir(parents=True)
    (root / "corpus.jsonl").write_bytes(documents)
    (root / "queries.jsonl").write_bytes(queries)
    (root / "qrels" / "test.tsv").write_bytes(judged)
    return root


def take(tmp_path: Path, *, documents: bytes, queries: bytes, judged: bytes, skip: bool = False) -> Imported:
    """Import a BEIR folder of these bytes."""
    source = tmp_path / f"set-{skip}"
    beir_bytes(source, documents, queries, judged)
    options = ImportOptions(
        form="beir",
        source=source,
        out=tmp_path / "q.json",
        corpus=tmp_path / "docs",
        answer_field="answer",
        skip_faulty=skip,
    )
    return import_set(options)


DOCUMENTS = b"\n".join(
    [
        GOOD_DOCUMENT,
        b'{"_id": "d2", "text": "caf\xe9"}',
        b'{"_id": "d3", "text": "cut off',
        b'["no", "object"]',
        b'{"_id": "d1", "text": "again"}',
        b'{"text": "no id"}',
        b'{"_id": "d4", "text": 7}',
        b'{"_id": "d5", "text": "a \\u0000 in it"}',
        b'{"_id": "d6", "text": "", "title": " "}',
        b"[" * 100_000,
        b'{"_id": "../../etc/passwd", "text": "outside"}',
        b'{"_id": "with space", "text": "spaced"}',
    ]
)
QUERIES = b"\n".join(
    [
        GOOD_QUERY,
        b'{"_id": "q1", "text": "again?"}',
        b'{"_id": "q2", "text": " "}',
        b'{"_id": "q\\u202e3", "text": "turned?"}',
        b'{"_id": "' + b"x" * 201 + b'", "text": "long id?"}',
        b'{"_id": "../q5", "text": "Path-like?", "answer": "yes"}',
        b'{"_id": {"a": 1}, "text": "id is an object?"}',
    ]
)
JUDGED = b"""query-id\tcorpus-id\tscore
q1\td1\t1
q1\td1\t0
q1\td1
q1\td1\thigh
../q5\twith space\t1
q1\t\t1
q1\tnot-there\t1
"""


def test_every_fault_is_said_with_its_line_and_nothing_is_written(tmp_path: Path) -> None:
    """Faults of all files are in one error; no file, folder or half of one is left."""
    with pytest.raises(InputError) as caught:
        take(tmp_path, documents=DOCUMENTS, queries=QUERIES, judged=JUDGED)
    places = sorted(problem.partition(": ")[0] for problem in caught.value.problems)
    assert places == sorted(
        [f"corpus.jsonl:{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10)]
        + [f"queries.jsonl:{n}" for n in (2, 3, 4, 5, 7)]
        + [f"test.tsv:{n}" for n in (3, 4, 5, 7)]
    )
    assert not any("\u202e" in problem for problem in caught.value.problems)
    assert [path.name for path in tmp_path.iterdir()] == ["set-False"]


def test_faulty_lines_are_left_out_on_request_and_counted(tmp_path: Path) -> None:
    """With --skip-faulty the rest comes in, path-like ids stay inside the folder, and the counts add up."""
    report = take(tmp_path, documents=DOCUMENTS, queries=QUERIES, judged=JUDGED, skip=True)
    assert report.queries == {"seen": 7, "questions": 2, "worksheet": 0, "leftOut": 5}
    assert report.documents == {"seen": 12, "pages": 3, "leftOut": 9}
    assert report.judgements == {"seen": 7, "relevant": 2, "notRelevant": 0, "leftOut": 5}
    pages = sorted(path.name for path in (tmp_path / "docs").iterdir())
    assert pages == sorted(page_name(id_) for id_ in ("d1", "../../etc/passwd", "with space"))
    lines = [json.loads(line) for line in report.record.read_bytes().splitlines()]
    assert sum("leftOut" in line for line in lines) == 5 + 9 + 5
    assert {line["document"]: line["page"] for line in lines if "page" in line} == {
        id_: page_name(id_) for id_ in ("../../etc/passwd", "with space")
    }


def test_a_huge_line_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line above the cap is a fault with its size, and the line after it is read."""
    monkeypatch.setattr(foreign_lines.lines, "__kwdefaults__", {"cap": 1000})
    huge = b'{"_id": "d0", "text": "' + b"x" * 5000 + b'"}'
    documents = huge + b"\n" + GOOD_DOCUMENT + b"\n" + huge
    report = take(tmp_path, documents=documents, queries=GOOD_QUERY, judged=b"q1\td1\t1\n", skip=True)
    assert report.documents == {"seen": 3, "pages": 1, "leftOut": 2}
    assert report.left_out == {"document: the line has … bytes, more than the … allowed": 2}


@pytest.mark.parametrize(
    "id_",
    ["../x", "..", ".", "", ".hidden", "a/b", "a\\b", "a b", "é", "con", "NUL.txt", "x" * 300, "-rf", "a\nb", "\ud800"],
)
def test_page_names_are_plain(id_: str) -> None:
    """Whatever an id is, its page is one plain visible file name, and no other id has it."""
    name = page_name(id_)
    assert name.isascii()
    assert not set(name) & set("/\\ \n\0")
    assert name[0].isalnum()
    assert len(name) <= 120


def test_page_names_differ() -> None:
    """Ids that come to the same letters have different pages."""
    ids = ["a b", "a/b", "a\\b", "a-b", "a  b", "A B", "a.b", "a..b"]
    assert len({page_name(id_).lower() for id_ in ids}) == len(ids)


def test_too_many_faults_stop_the_reading() -> None:
    """A file of another kind is not read to its end."""
    seen = Seen()
    for number in range(MAX_FAULTS):
        seen.leave("document", f"x:{number}", "is no JSON", fault=True)
    with pytest.raises(InputError, match="is this the right file"):
        seen.leave("document", "x:last", "is no JSON", fault=True)


def test_numpy_lists_and_code_are_refused() -> None:
    """A list without commas is not read as one text, and nothing in a cell is executed."""
    assert list_of("['a', 'b']") == ["a", "b"]
    assert list_of('["a", "b"]') == ["a", "b"]
    for cell in (
        "['a' 'b']",
        "['a'\n 'b']",
        "__import__('os').getcwd()",
        "[1, 2]",
        "[" * 5000,
        "['a'",
        "'a'",
        "[f'{1}']",
    ):
        with pytest.raises(ValueError, match=r"list"):
            list_of(cell)
    with pytest.raises(ValueError, match="characters"):
        list_of("[" + "'a'," * 300_000 + "]")


def test_a_worksheet_computes_nothing() -> None:
    """Cells that a spreadsheet would compute stand behind an apostrophe, and the id still finds its query."""
    data = worksheet([Row(id="=1+1", input="=HYPERLINK(1)", document="-x")])
    text = data.decode("utf-8-sig")
    assert "\r\n'=1+1,'=HYPERLINK(1),,,,'-x\r\n" in text
    answers, problems = read_answers(text.replace(",,,,", ",yes,,,").encode(), ".csv")
    assert problems == []
    assert answer_of(answers, "=1+1") is not None


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"id,input\n1,a\n", "line 1: the column 'target' is missing"),
        (b"id,target\n1,a\n1,b\n", "line 3: the id '1' stands already on line 2"),
        (b"id,target\n,a\n", "line 2: has no id"),
        (b"id,target\n1\n", "line 2: has 1 cells, the header has 2"),
        (b"id,target,evidence\n1,,passage\n", "line 2: has evidence and no target"),
        (b'id,target\n1,"cut', "line 2: not CSV"),
        (b"id,target\n1,\xff\n", "line 2: the byte 0xff is not UTF-8"),
    ],
)
def test_faults_of_answers_have_their_line(data: bytes, problem: str) -> None:
    """Each fault of a filled worksheet is said with its line."""
    _, problems = read_answers(data, ".csv")
    assert [one for one in problems if one.startswith(problem)]


def test_answers_to_queries_that_are_not_there_are_refused(tmp_path: Path) -> None:
    """An answer that no query takes is a problem and not dropped."""
    beir_bytes(tmp_path / "set", GOOD_DOCUMENT, GOOD_QUERY, b"q1\td1\t1\n")
    (tmp_path / "a.jsonl").write_text('{"id": "q2", "target": "x"}\n', encoding="utf-8")
    options = ImportOptions(
        form="beir",
        source=tmp_path / "set",
        out=tmp_path / "q.json",
        answers=tmp_path / "a.jsonl",
        corpus=tmp_path / "d",
    )
    with pytest.raises(InputError) as caught:
        import_set(options)
    assert caught.value.problems == ("line 1: the source has no query 'q2'",)
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("end", [b"</top>", b""])
def test_topics_that_are_cut_off_are_faults(tmp_path: Path, end: bytes) -> None:
    """A topic without number, without text or without an end is said by the line on which it begins."""
    (tmp_path / "t").write_bytes(
        b"<top>\n<title> A\n</top>\n<top>\n<num> 2\n</top>\nstray\n<top>\n<num> 3\n<title> B\n" + end
    )
    options = ImportOptions(form="trec", source=tmp_path / "t", out=tmp_path / "q.json")
    with pytest.raises(InputError) as caught:
        import_set(options)
    places = [problem.partition(": ")[0] for problem in caught.value.problems]
    assert places == ["t:1", "t:4", "t:7", *(["t:8"] if not end else [])]


def test_deep_and_endless_markup_takes_no_time(tmp_path: Path) -> None:
    """A line of opening tags, or a `<DOC>` that never ends, is read in one pass."""
    (tmp_path / "t").write_bytes(b"1\tWhich port?\n")
    (tmp_path / "d").write_bytes(b"<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>" + b"<a " * 200_000 + b"\n" + b"x\n" * 100_000)
    options = ImportOptions(form="trec", source=tmp_path / "t", documents=(tmp_path / "d",), out=tmp_path / "q.json")
    with pytest.raises(InputError, match="1 fault"):
        import_set(options)
