"""`questions import`: what a source has becomes questions and pages, what it lacks is listed, and the counts add up."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_case import code, invoke
from foreign_sets import QUERIES, beir, imported, jsonl, qrels, record

from ragassay.question import load_benchmark


def filled(sheet: Path, **answers: tuple[str, str]) -> Path:
    """Write target and evidence of these ids on a worksheet."""
    rows = list(csv.DictReader(io.StringIO(sheet.read_text(encoding="utf-8-sig"), newline="")))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, rows[0].keys())
    writer.writeheader()
    for row in rows:
        row["target"], row["evidence"] = answers.get(row["id"], ("", ""))
        writer.writerow(row)
    sheet.write_text(text.getvalue(), encoding="utf-8", newline="")
    return sheet


def adds_up(report: dict[str, dict[str, int]]) -> bool:
    """Return whether of each kind everything that was seen is accounted for."""
    kinds = [report[kind] for kind in ("queries", "documents", "judgements")]
    return all(sum(counts.values()) == 2 * counts["seen"] for counts in kinds)


def test_beir_without_answers_is_a_worksheet_and_a_corpus(tmp_path: Path) -> None:
    """No answer is made up: each query stands on the worksheet with the judged document to write from."""
    out = tmp_path / "q.json"
    exit_code, report = imported("beir", beir(tmp_path / "set"), "--out", out, "--corpus", tmp_path / "docs")
    assert exit_code == 1
    assert not out.exists()
    assert report["queries"] == {"seen": 3, "questions": 0, "worksheet": 3, "leftOut": 0}
    assert report["judgements"] == {"seen": 4, "relevant": 3, "notRelevant": 1, "leftOut": 0}
    assert sorted(path.name for path in (tmp_path / "docs").iterdir()) == ["d1.txt", "d2.txt", "d3.txt", "d4.txt"]
    sheet = (tmp_path / "q.worksheet.csv").read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(sheet)))
    assert [(row["id"], row["target"], row["page"]) for row in rows] == [
        ("q1", "", "d1.txt"),
        ("q2", "", "d2.txt"),
        ("q3", "", "d3.txt"),
    ]
    lacks = {
        line["query"]: {lack["what"]: lack["why"] for lack in line["lacks"]}
        for line in record(tmp_path / "q.import.jsonl")
    }
    assert set(lacks["q1"]) == {"target"}
    assert "no chunk of 256" in lacks["q3"]["evidence"]
    assert adds_up(report)


def test_answers_of_a_filled_worksheet_make_questions(tmp_path: Path) -> None:
    """What was filled in comes in, what was not stays on the worksheet, which is never written over."""
    source, out, docs = beir(tmp_path / "set"), tmp_path / "q.json", tmp_path / "docs"
    imported("beir", source, "--out", out, "--corpus", docs)
    sheet = filled(tmp_path / "q.worksheet.csv", q1=("Port 8080.", ""), q3=("Words.", "The cache of Acme holds words."))
    before = sheet.read_bytes()
    exit_code, report = imported("beir", source, "--out", out, "--corpus", docs, "--answers", sheet)
    assert (exit_code, report["queries"]["questions"], report["queries"]["worksheet"]) == (1, 2, 1)
    assert sheet.read_bytes() == before
    questions = {question.id: question for question in load_benchmark(out).questions}
    assert questions["q1"].target == "Port 8080."
    assert questions["q1"].evidence == ("The server of Acme listens on port 8080 unless told otherwise.",)
    assert questions["q3"].evidence == ("The cache of Acme holds words.",)
    assert questions["q3"].unsplit
    checked = invoke("questions", "lint", out, "--corpus", docs, "--json")
    assert code(checked) in (0, 1)
    assert not {one["rule"] for one in json.loads(checked.stdout)["lint"]} & {"evidence-missing", "page-unknown"}


def test_an_answer_field_is_taken_where_it_is_named(tmp_path: Path) -> None:
    """Answers in the metadata come in when the field is named, and are counted as not taken otherwise."""
    source = beir(tmp_path / "set")
    _, plain = imported("beir", source, "--out", tmp_path / "a.json")
    assert plain["notTaken"] == {"query.metadata": 2}
    exit_code, report = imported("beir", source, "--out", tmp_path / "b.json", "--answer-field", "metadata.answer")
    assert (exit_code, report["queries"]["questions"]) == (1, 2)
    assert load_benchmark(tmp_path / "b.json").questions[1].target == "Seven days."


def test_a_whole_set_ends_with_0(tmp_path: Path) -> None:
    """Where every query has its answer and nothing is left out the exit code is 0, and no worksheet is written."""
    source = beir(tmp_path / "set", queries=QUERIES[:2], judged=[("q1", "d1", 1), ("q2", "d2", 1)])
    out = tmp_path / "q.json"
    exit_code, report = imported("beir", source, "--out", out, "--answer-field", "metadata.answer")
    assert exit_code == 0
    assert report["files"]["worksheet"] is None
    assert not (tmp_path / "q.worksheet.csv").exists()


def test_what_is_not_judged_and_what_is_not_there_is_listed(tmp_path: Path) -> None:
    """Queries without judgements, judgements of absent queries and documents, and doubled questions have reasons."""
    queries: list[Mapping[str, Any] | bytes] = [
        *QUERIES,
        {"_id": "q4", "text": "Unjudged?"},
        {"_id": "q5", "text": QUERIES[0]["text"]},
    ]
    judged = [("q1", "d1", 1), ("q1", "gone", 1), ("q2", "gone", 0), ("q9", "d1", 1), ("q3", "d3", 1), ("q5", "d1", 1)]
    _, report = imported("beir", beir(tmp_path / "set", queries=queries, judged=judged), "--out", tmp_path / "q.json")
    assert adds_up(report)
    left = [line["leftOut"] for line in record(tmp_path / "q.import.jsonl") if "leftOut" in line]
    assert sorted((one["place"], one["reason"]) for one in left) == [
        ("queries.jsonl:4", "is not judged in the qrels that were read"),
        ("queries.jsonl:5", "asks word for word what queries.jsonl:1 asks"),
        ("test.tsv:3", "the source has no document 'gone'"),
        ("test.tsv:4", "the source has no document 'gone'"),
        ("test.tsv:5", "the source has no query 'q9'"),
        ("test.tsv:7", "its query is left out"),
    ]


def test_splits_are_chosen_and_the_others_named(tmp_path: Path) -> None:
    """The test split is read unless others are named; those that are not read are said."""
    source = beir(tmp_path / "set")
    qrels(source / "qrels" / "dev.tsv", [("q2", "d2", 1)])
    _, report = imported("beir", source, "--out", tmp_path / "a.json")
    assert report["splitsNotRead"] == ["dev"]
    _, report = imported("beir", source, "--out", tmp_path / "b.json", "--split", "dev")
    assert report["queries"] == {"seen": 3, "questions": 0, "worksheet": 1, "leftOut": 2}
    result = invoke("questions", "import", "beir", source, "--out", tmp_path / "c.json", "--split", "train")
    assert code(result) == 2
    assert "qrels/train.tsv is missing; there are dev, test" in str(result.exception)


def test_compressed_files_are_read(tmp_path: Path) -> None:
    """A corpus in gzip is read as a plain one; one that is cut off is refused and leaves no folder."""
    source = beir(tmp_path / "set")
    plain = source / "corpus.jsonl"
    packed = gzip.compress(plain.read_bytes())
    plain.unlink()
    (source / "corpus.jsonl.gz").write_bytes(packed)
    _, report = imported("beir", source, "--out", tmp_path / "a.json", "--corpus", tmp_path / "docs")
    assert report["documents"] == {"seen": 4, "pages": 4, "leftOut": 0}
    (source / "corpus.jsonl.gz").write_bytes(packed[:-9])
    result = invoke("questions", "import", "beir", source, "--out", tmp_path / "b.json", "--corpus", tmp_path / "cut")
    assert code(result) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.import.jsonl", "a.worksheet.csv", "docs", "set"]


def test_a_corpus_folder_that_is_there_is_compared(tmp_path: Path) -> None:
    """The same pages may stand there already; a page that differs or is too many is refused, and stays as it is."""
    source, docs = beir(tmp_path / "set"), tmp_path / "docs"
    imported("beir", source, "--out", tmp_path / "a.json", "--corpus", docs)
    exit_code, _ = imported("beir", source, "--out", tmp_path / "b.json", "--corpus", docs)
    assert exit_code == 1
    (docs / "mine.txt").write_text("mine", encoding="utf-8")
    assert imported("beir", source, "--out", tmp_path / "c.json", "--corpus", docs)[0] == 2
    (docs / "mine.txt").unlink()
    (docs / "d1.txt").write_text("mine", encoding="utf-8")
    assert imported("beir", source, "--out", tmp_path / "c.json", "--corpus", docs)[0] == 2
    assert (docs / "d1.txt").read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "c.import.jsonl").exists()


def test_nothing_is_written_over(tmp_path: Path) -> None:
    """A question file that is there is kept without --force, and a worksheet always."""
    source, out = beir(tmp_path / "set"), tmp_path / "q.json"
    out.write_text("mine", encoding="utf-8")
    assert imported("beir", source, "--out", out)[0] == 2
    assert imported("beir", source, "--out", out, "--force", "--answer-field", "metadata.answer")[0] == 1
    assert load_benchmark(out).questions
    assert imported("beir", source, "--out", out, "--force")[0] == 2


TOP = """<top>
<num> Number: 301
<title> International Organized Crime &amp; Law

<desc> Description:
Identify organizations that participate.

<narr> Narrative:
A relevant document must name one.
</top>

<top>
<num> Number: 302
<title> Polio
<desc> Description:
Is it under control?
</top>
"""
XML = """<?xml version="1.0"?>
<topics>
<topic number="1"><query>coronavirus origin</query>
<question>what is the origin of it</question></topic>
</topics>
"""


@pytest.mark.parametrize(
    ("text", "options", "wanted"),
    [
        (TOP, (), [("301", "International Organized Crime & Law"), ("302", "Polio")]),
        (
            TOP,
            ("--field", "description"),
            [("301", "Identify organizations that participate."), ("302", "Is it under control?")],
        ),
        (XML, (), [("1", "coronavirus origin")]),
        (XML, ("--field", "question"), [("1", "what is the origin of it")]),
        ("1\tfirst query\n\n2\tsecond query\r\n", (), [("1", "first query"), ("2", "second query")]),
        ('{"qid": 7, "query": "first query"}\n', (), [("7", "first query")]),
    ],
)
def test_topics_in_their_forms(
    tmp_path: Path, text: str, options: tuple[str, ...], wanted: list[tuple[str, str]]
) -> None:
    """Classic and XML topics, tables and JSONL become the same rows."""
    topics = tmp_path / "topics"
    topics.write_text(text, encoding="utf-8", newline="")
    exit_code, report = imported("trec", topics, "--out", tmp_path / "q.json", *options)
    assert exit_code == 1
    rows = csv.DictReader(io.StringIO((tmp_path / "q.worksheet.csv").read_text(encoding="utf-8-sig")))
    assert [(row["id"], row["input"]) for row in rows] == wanted
    assert adds_up(report)


def test_trec_documents_and_qrels(tmp_path: Path) -> None:
    """`<DOC>` files and four-column qrels are read; text is what `<TEXT>` holds, without tags."""
    topics, documents, judged = tmp_path / "t.tsv", tmp_path / "docs.sgml", tmp_path / "qrels"
    topics.write_text("1\tWhich port does Acme use?\n", encoding="utf-8")
    documents.write_text(
        "<DOC>\n<DOCNO> FT-1 </DOCNO>\n<HEADLINE>Ports</HEADLINE>\n<TEXT>\nAcme uses <F P=1>8080</F> &amp; no other.\n"
        "</TEXT>\n</DOC>\n<DOC><DOCNO>FT-2</DOCNO>\nNo text element.\n</DOC>\n",
        encoding="utf-8",
    )
    judged.write_text("1 0 FT-1 1\n1 0 FT-2 -2\n", encoding="utf-8")
    jsonl(tmp_path / "a.jsonl", [{"id": "1", "target": "8080."}])
    exit_code, report = imported(
        "trec", topics, "--documents", documents, "--qrels", judged, "--answers", tmp_path / "a.jsonl",
        "--corpus", tmp_path / "docs", "--out", tmp_path / "q.json",
    )  # fmt: skip
    assert exit_code == 0
    assert report["judgements"] == {"seen": 2, "relevant": 1, "notRelevant": 1, "leftOut": 0}
    assert (tmp_path / "docs" / "FT-1.txt").read_text(encoding="utf-8") == "Ports\n\nAcme uses 8080 & no other.\n"
    assert (tmp_path / "docs" / "FT-2.txt").read_text(encoding="utf-8") == "No text element.\n"
    question = load_benchmark(tmp_path / "q.json").questions[0]
    assert (question.page, question.evidence) == ("FT-1.txt", ("Acme uses 8080 & no other.",))


NEW = {
    "user_input": "Which port?",
    "reference": "8080.",
    "reference_contexts": ["It listens on 8080."],
    "persona_name": "x",
}
OLD = {"question": "Which port?", "ground_truths": ["8080."], "contexts": ["It listens on 8080."]}


@pytest.mark.parametrize("row", [NEW, OLD])
@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".columns.json", ".csv"])
def test_ragas_under_new_and_old_names(tmp_path: Path, row: dict[str, object], suffix: str) -> None:
    """JSONL, a list, an object of columns and a CSV with Python's lists become the same question."""
    path = tmp_path / f"set{suffix}"
    if suffix == ".csv":
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, list(row))
        writer.writeheader()
        writer.writerow(row)
        path.write_text(text.getvalue(), encoding="utf-8")
    else:
        value: object = {".json": [row], ".columns.json": {name: {"0": cell} for name, cell in row.items()}}.get(
            suffix, row
        )
        path.write_text(json.dumps(value), encoding="utf-8")
    exit_code, report = imported("ragas", path, "--out", tmp_path / "q.json", "--corpus", tmp_path / "docs")
    assert exit_code == 0
    (question,) = load_benchmark(tmp_path / "q.json").questions
    assert (question.id, question.target, question.evidence) == ("q-001", "8080.", ("It listens on 8080.",))
    assert question.page in {path.name for path in (tmp_path / "docs").iterdir()}
    assert report["notTaken"] == ({"query.persona_name": 1} if "persona_name" in row else {})


def test_ragas_contexts_are_evidence_only_where_the_source_says_so(tmp_path: Path) -> None:
    """What a system retrieved, what is needed together, and what may or may not suffice alone is no evidence."""
    rows: list[Mapping[str, Any] | bytes] = [
        {"question": "A?", "answer": "said", "ground_truth": "a", "contexts": ["retrieved"]},
        {"user_input": "B?", "reference": "b", "reference_contexts": ["<1-hop>\n\none", "<2-hop>\n\ntwo"]},
        {"user_input": "C?", "reference": "c", "reference_contexts": ["one", "two"]},
        {"user_input": "D?", "ground_truths": ["d", "e"], "reference_contexts": ["one"]},
        {"user_input": [{"type": "human", "content": "E?"}], "reference": "e"},
    ]
    path = jsonl(tmp_path / "set.jsonl", rows)
    _, report = imported("ragas", path, "--out", tmp_path / "q.json")
    assert [question.evidence for question in load_benchmark(tmp_path / "q.json").questions] == [(), (), ()]
    assert report["queries"] == {"seen": 5, "questions": 3, "worksheet": 1, "leftOut": 1}
    assert report["notTaken"] == {"query.answer": 1, "query.contexts": 1}
    lines = {line["query"]: line["lacks"][0]["why"] for line in record(tmp_path / "q.import.jsonl") if "query" in line}
    assert "retrieved" in lines["q-001"]
    assert "together" in lines["q-002"]
    assert "--any-context" in lines["q-003"]
    assert "2 reference answers" in lines["q-004"]
    _, report = imported("ragas", path, "--out", tmp_path / "r.json", "--any-context")
    assert load_benchmark(tmp_path / "r.json").questions[2].evidence == ("one", "two")


def test_what_is_printed_can_be_typed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command for the filled worksheet names every option that was given."""
    monkeypatch.chdir(tmp_path)
    beir(Path("my set"))
    result = invoke(
        "questions", "import", "beir", "my set", "--out", "q.json", "--corpus", "docs", "--max-evidence", "9"
    )
    assert code(result) == 1
    assert "queries     3 seen: 0 questions, 3 on the worksheet, 0 left out" in result.stdout
    again = "beir 'my set' --out q.json --corpus docs --max-evidence 9 --answers q.worksheet.csv"
    assert f"ragassay questions import {again}" in result.stdout


def test_options_of_another_form_are_refused(tmp_path: Path) -> None:
    """An option that a form has not is wrong usage, and so is a file that is no .json."""
    source = beir(tmp_path / "set")
    for options in (("--qrels", "x"), ("--any-context",), ("--out", tmp_path / "q.csv"), ("--name", "a\nb")):
        assert code(invoke("questions", "import", "beir", source, *options)) == 2
