"""Question files of every JSON form are read whole or refused with every problem and its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragassay import canon
from ragassay.errors import InputError
from ragassay.question import load_benchmark, parse_benchmark, parse_file, published_form
from ragassay.question.tree import MAX_BYTES
from ragassay.records import Benchmark, Claim, Provenance

VECTORS = Path(__file__).resolve().parents[2] / "vectors"


def read(value: object, name: str = "stem") -> Benchmark:
    """Parse a JSON value as a question file."""
    return parse_benchmark(json.dumps(value).encode(), name=name, suffix=".json")


def sample(**other: Any) -> dict[str, Any]:
    """Return a usable sample with some keys changed."""
    return {"id": "a", "input": "Which port?", "target": "80.", **other}


def problems(value: object) -> tuple[str, ...]:
    """Return what is said of a question file that is refused."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    with pytest.raises(InputError) as caught:
        parse_benchmark(data, name="stem", suffix=".json")
    return caught.value.problems


def claim(**other: Any) -> dict[str, Any]:
    """Return a usable claim with some keys changed."""
    return {"text": "It is port 80.", "central": True, **other}


def test_our_form_is_read_whole() -> None:
    """Every key of our form ends in its field; claims are numbered by position; several may be central."""
    benchmark = read(
        {
            "name": "n",
            "version": "2",
            "corpus": {"pages": 3, "deep": {"list": [1, None, True]}},
            "samples": [
                sample(
                    page="p.md",
                    topic="net",
                    evidence="port 80",
                    claims=[claim(must=[["80", "eighty"]], must_not=["81"]), claim(text="TCP.")],
                    provenance={"author": "A", "reviewedBy": "B", "derivedFromSystem": False},
                )
            ],
        }
    )
    (question,) = benchmark.questions
    assert (benchmark.name, benchmark.version) == ("n", "2")
    assert benchmark.corpus == {"pages": 3, "deep": {"list": [1, None, True]}}
    assert question.claims == (
        Claim(id=1, text="It is port 80.", central=True, must=(("80", "eighty"),), must_not=("81",)),
        Claim(id=2, text="TCP.", central=True),
    )
    assert question.evidence == ("port 80",)
    assert question.provenance == Provenance(author="A", reviewed_by="B", derived_from_system=False)
    assert not question.unsplit


def test_defaults() -> None:
    """Without them the name is the file's stem, the version 0, the scorer key the published one."""
    benchmark = read({"samples": [sample()]})
    assert (benchmark.name, benchmark.version, benchmark.corpus) == ("stem", "0", {})
    assert benchmark.scorer_key == "llm-factual-consistency-vs-reference"
    assert benchmark.questions[0].evidence == ()


def test_evidence_is_a_text_or_a_list_of_alternatives() -> None:
    """One text is one alternative; a list keeps its order."""
    assert read({"samples": [sample(evidence="x")]}).questions[0].evidence == ("x",)
    assert read({"samples": [sample(evidence=["y", "x"])]}).questions[0].evidence == ("y", "x")


@pytest.mark.parametrize("claims", [{}, {"claims": []}, {"claims": None}])
def test_an_item_without_claims_is_unsplit(claims: dict[str, Any]) -> None:
    """One claim stands for the whole target, and the question says that nobody split it."""
    (question,) = read({"samples": [sample(**claims)]}).questions
    assert question.unsplit
    assert question.claims == (Claim(id=1, text="80.", central=True),)


def test_known_digests() -> None:
    """A file of our form has the digests on record, in the full and in the published form."""
    vector = json.loads((VECTORS / "question_digests.json").read_bytes())
    benchmark = read(vector["file"])
    assert benchmark.full_form() == vector["fullForm"].encode()
    assert published_form(benchmark) == vector["publishedForm"].encode()
    assert (benchmark.digest(), benchmark.item_set_digest()) == (vector["digest"], vector["itemSet"])


def test_the_published_form_is_recognised_and_its_bytes_hash_to_the_item_set() -> None:
    """Canonical bytes of the published form are their own item set."""
    data = canon.canonical({"samples": [sample()], "scorerKey": "k"})
    read_file = parse_file(data, name="v1", suffix=".json")
    assert (read_file.form, read_file.canonical) == ("published", True)
    assert read_file.benchmark.item_set_digest() == canon.sha256(data)
    assert read_file.benchmark.scorer_key == "k"


def test_the_stored_form_reads_back() -> None:
    """`benchmark.json` of a run, with its nulls and its unsplit marks, is a question file."""
    benchmark = read({"samples": [sample(), sample(id="b", input="And TCP?", claims=[claim()], evidence=["e"])]})
    again = parse_file(benchmark.full_form(), name="other", suffix=".json")
    assert again.benchmark == benchmark
    assert (again.form, again.canonical) == ("full", True)


def test_a_byte_order_mark_is_dropped() -> None:
    """A BOM changes nothing."""
    data = b"\xef\xbb\xbf" + json.dumps({"samples": [sample()]}).encode()
    assert parse_benchmark(data, name="stem", suffix=".json") == read({"samples": [sample()]})


def test_all_problems_are_listed_at_once() -> None:
    """Duplicate ids, unknown keys, an empty target, a blank input and bad claims come in one error, with places."""
    found = problems(
        {
            "naem": "x",
            "samples": [
                sample(target=""),
                sample(input="  ", claims=[{**claim(), "musst": [["80"]]}]),
                sample(id="b", input="Other?", claims=[claim(central=False)]),
            ],
        }
    )
    assert len(found) == 6
    for place in (
        "naem: unknown key; did you mean 'name'?",
        "samples[0].target: is empty",
        "samples[1].input: is blank",
        "samples[1].claims[0].musst: unknown key; did you mean 'must'?",
        "samples[1].id: the id 'a' stands already at samples[0]",
        "samples[2].claims: none is central",
    ):
        assert any(problem.startswith(place) for problem in found), place
    assert all('(question "' in problem for problem in found[1:])


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"samples": []}, "samples: there is no question"),
        ({"name": "x"}, "samples: is missing"),
        ({"samples": {}}, "samples: expected list, got object"),
        ([sample()], "the file: is a list"),
        (7, "the file: expected an object, got an integer"),
        ({"samples": [3]}, "samples[0]: expected an object, got an integer"),
        ({"samples": [sample()], "version": 1}, "version: expected text, got integer"),
        ({"samples": [sample()], "name": " "}, "name: is blank"),
        ({"samples": [sample()], "name": "a\nb"}, "name: holds the control character U+000A"),
        ({"samples": [sample()], "corpus": []}, "corpus: expected object or null, got list"),
        ({"samples": [sample()], "corpus": {"a": [1, 0.5]}}, "corpus.a[1]: the number 0.5 is no integer"),
        ({"samples": [sample()], "corpus": {"a": 2**60}}, "corpus.a: the number 1152921504606846976 is no integer"),
        ({"samples": [sample()], "corpus": {"a": float("nan")}}, "corpus.a: the number NaN is no integer"),
        ({"samples": [sample()], "scorerKey": ""}, "scorerKey: is empty"),
        ({"samples": [sample(id="")]}, "samples[0].id: is empty"),
        ({"samples": [sample(id="x" * 201)]}, "samples[0].id: has 201 characters"),
        ({"samples": [sample(id="a\u202eb")]}, "samples[0].id: holds the control character U+202E"),
        ({"samples": [sample(id="a\x00")]}, "samples[0].id: holds the control character U+0000"),
        ({"samples": [sample(id=" a")]}, "samples[0].id: begins or ends with a space"),
        ({"samples": [sample(id=7)]}, "samples[0].id: expected text or null, got integer"),
        ({"samples": [sample(input="\u200b\u00a0")]}, "samples[0].input: is blank"),
        ({"samples": [{"id": "a", "input": "q"}]}, "samples[0].target: is missing"),
        ({"samples": [sample(), sample(id="b")]}, "samples[1].input: the same question stands already at samples[0]"),
        ({"samples": [sample(evidence=3)]}, "samples[0].evidence: expected text or list or null, got integer"),
        ({"samples": [sample(evidence=["x", 3])]}, "samples[0].evidence[1]: expected text, got integer"),
        ({"samples": [sample(evidence=["x", " "])]}, "samples[0].evidence[1]: is blank"),
        ({"samples": [sample(evidence=["x", "x"])]}, "samples[0].evidence[1]: stands twice"),
        ({"samples": [sample(evidence="")]}, "samples[0].evidence: is empty"),
        ({"samples": [sample(page="")]}, "samples[0].page: is empty"),
        ({"samples": [sample(claims={})]}, "samples[0].claims: expected list or null, got object"),
        ({"samples": [sample(claims=["x"])]}, "samples[0].claims[0]: expected an object, got text"),
        ({"samples": [sample(claims=[{"text": "x"}])]}, "samples[0].claims[0].central: is missing"),
        ({"samples": [sample(claims=[claim(central=1)])]}, "samples[0].claims[0].central: expected true or false"),
        ({"samples": [sample(claims=[claim(text=" ")])]}, "samples[0].claims[0].text: is blank"),
        ({"samples": [sample(claims=[claim(id=2)])]}, "samples[0].claims[0].id: is 2; ids count"),
        ({"samples": [sample(claims=[claim(must=["80"])])]}, "samples[0].claims[0].must[0]: expected list, got text"),
        ({"samples": [sample(claims=[claim(must=[[]])])]}, "samples[0].claims[0].must[0]: is an empty list"),
        ({"samples": [sample(claims=[claim(must=[["80", ""]])])]}, "samples[0].claims[0].must[0][1]: is empty"),
        ({"samples": [sample(claims=[claim(must_not=[["8"]])])]}, "samples[0].claims[0].must_not[0]: expected text"),
        ({"samples": [sample(claims=[claim(must_not=[""])])]}, "samples[0].claims[0].must_not[0]: is empty"),
        ({"samples": [sample(provenance={"autor": 1})]}, "samples[0].provenance.autor: unknown key; did you mean"),
        ({"samples": [sample(unsplit=False)]}, "samples[0].unsplit: is false, but there are no claims"),
        ({"samples": [sample(unsplit=True, claims=[claim()])]}, "samples[0].unsplit: is true"),
        (b'{"samples":[],"samples":[]}', "the file: the key 'samples' stands twice in one object"),
        (b'{"samples":[{"id":"a","id":"b","input":"q","target":"t"}]}', "samples[0]: the key 'id' stands twice"),
        (b'{"samples":[{"id":"a","input":"\\ud800","target":"t"}]}', "samples[0].input: holds half of a surrogate"),
        (b'{"samples":[}', "not JSON: Expecting value at line 1, column 13"),
        (b'{"x":"\xe9"}', "line 1: the byte 0xe9 is not UTF-8"),
        ("{}".encode("utf-16"), "the file is UTF-16"),
        (b"", "not JSON"),
        (b"[" * 100_000, "nested deeper than 64 levels"),
        (b'{"samples":[],"corpus":' + b'{"a":' * 70 + b"1" + b"}" * 71, "nested deeper than 64 levels"),
    ],
)
def test_a_broken_file_is_refused_with_the_place(broken: object, said: str) -> None:
    """Each defect is named where it stands."""
    assert any(said in problem for problem in problems(broken)), problems(broken)


def test_what_is_said_of_a_hostile_file_is_plain_text() -> None:
    """Escape sequences and direction marks in keys are shown as escapes."""
    text = "\n".join(problems({"samples": [sample(**{"\x1b[31m\u202ex": 1})]}))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\u001b[31m\\u202ex" in text


def test_a_flood_of_problems_is_counted() -> None:
    """A thousand problems are written out; the rest is counted, not hidden."""
    found = problems({"samples": [sample(id=str(i), input=str(i), target="") for i in range(1500)]})
    assert len(found) == 1001
    assert found[-1] == "and 500 more problems"


def test_the_suffix_says_how_a_file_is_written() -> None:
    """Another suffix is refused with the known ones."""
    with pytest.raises(InputError, match=r"\.json, \.jsonl, \.ndjson, \.csv"):
        parse_benchmark(b"{}", name="x", suffix=".yaml")


def test_a_file_is_loaded_from_disk(tmp_path: Path) -> None:
    """The name falls back to the stem; the error names the file."""
    path = tmp_path / "ports.json"
    path.write_text(json.dumps({"samples": [sample()]}), encoding="utf-8")
    assert load_benchmark(path).name == "ports"
    path.write_bytes(b"{")
    with pytest.raises(InputError, match=r"ports\.json.*\n.*not JSON"):
        load_benchmark(path)


def test_a_file_that_cannot_be_read_is_an_input_error(tmp_path: Path) -> None:
    """A missing file, a folder and a file beyond the cap are refused by name."""
    with pytest.raises(InputError, match="does not exist"):
        load_benchmark(tmp_path / "none.json")
    with pytest.raises(InputError, match="is a folder"):
        load_benchmark(tmp_path)
    big = tmp_path / "big.json"
    with big.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(InputError, match="split the set"):
        load_benchmark(big)
