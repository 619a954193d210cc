"""The services of the how-to page, in Python and in Node, keep every promise of a stack as real processes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ragassay.errors import StackError
from ragassay.plugins.stacks.http import OPENAPI, Http
from ragassay.plugins.stacks.http.check import check_service
from ragassay.records import Secret
from ragassay.testing.stack_contract import QUESTIONS, StackContract, corpus, ignore_progress

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "bring-your-own-retriever.md"
KEY = "a-key-of-the-tests"


def _service(folder: Path, language: str, **more: str) -> tuple[subprocess.Popen[str], str]:
    """Start the page's service in `language` over the suite's corpus; return the process and its address."""
    program = {"python": sys.executable, "js": shutil.which("node")}[language]
    if program is None:
        pytest.skip("node is not installed: the service in Node cannot be started")
    code = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[0]
    script = folder / {"python": "service.py", "js": "service.mjs"}[language]
    script.write_text(code, "utf-8")
    passages = folder / "passages.jsonl"
    lines = [json.dumps({"id": chunk.id, "text": chunk.text}) for chunk in corpus()]
    passages.write_text("\n".join(lines) + "\n", "utf-8")
    process = subprocess.Popen(
        [program, str(script), str(passages), "0"], stdout=subprocess.PIPE, text=True, env={**os.environ, **more}
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


class _Served(StackContract):
    """A stack before a process of its own."""

    stack = Http
    language: ClassVar[str]
    url: ClassVar[str]

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _process(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
        process, cls.url = _service(tmp_path_factory.mktemp("service"), cls.language)
        yield
        _end(process)

    def make_stack(self) -> Http:
        """Name the address of the process."""
        return Http(url=self.url)

    def test_it_finds_what_the_question_names(self) -> None:
        """The suite alone would be content with a service that finds nothing."""
        with self.built(corpus()) as retriever:
            hits = retriever.search("What is the default of retries?", 3)
            assert hits[0].chunk == "page-1.md#0"
            assert hits[0].text == corpus()[1].text
            assert 0 < hits[-1].score <= hits[0].score <= 1
            assert retriever.describe() == {
                "kind": "http",
                "contract": "1",
                "url": self.url,
                "service": {"name": "share-of-words", "version": "1"},
            }

    def test_the_check_finds_nothing_wrong(self) -> None:
        """Every question that the check asks, and one that finds something."""
        assert check_service(self.url, questions=["What is the default of retries?"]) == []

    def test_what_is_exchanged_has_the_shapes_of_the_document(self) -> None:
        """Replies to every question of the suite, and the description, by the shipped OpenAPI document."""
        for question in QUESTIONS:
            asked = {"question": question, "k": 5}
            assert shape_faults("Search", asked) == []
            assert shape_faults("Hits", _exchanged(self.url, asked)) == []
        assert shape_faults("Description", _exchanged(self.url, None)) == []


class TestPython(_Served):
    """The service in Python."""

    language = "python"


class TestNode(_Served):
    """The service in Node."""

    language = "js"


@pytest.mark.parametrize("language", ["python", "js"])
def test_a_key_is_needed_and_never_repeated(language: str, tmp_path: Path) -> None:
    """With the key the service answers, without it the refusal is final and says what to check."""
    process, url = _service(tmp_path, language, SERVICE_KEY=KEY)
    try:
        allowed = Http(url=url, key=Secret(KEY)).build((), {}, ignore_progress)
        assert allowed.search("retries", 1)
        allowed.close()
        refused = Http(url=url, key=Secret("another-key")).build((), {}, ignore_progress)
        with pytest.raises(StackError, match=r"HTTP 401.*check the key in the environment variable") as caught:
            refused.search("retries", 1)
        refused.close()
    finally:
        _end(process)
    assert not caught.value.retryable
    assert "another-key" not in str(caught.value)


@pytest.mark.parametrize("language", ["python", "js"])
def test_a_killed_service_is_an_error_and_one_that_comes_back_is_asked_on(language: str, tmp_path: Path) -> None:
    """Between the two, no question gets an empty list."""
    process, url = _service(tmp_path, language)
    retriever = Http(url=url).build((), {}, ignore_progress)
    assert retriever.search("retries", 1)
    _end(process)
    with pytest.raises(StackError) as caught:
        retriever.search("retries", 1)
    retriever.close()
    assert caught.value.retryable
    with pytest.raises(StackError, match="connection failed"):
        Http(url=url).build((), {}, ignore_progress)
    (problem,) = check_service(url)
    assert problem.startswith("GET: ")


def _exchanged(url: str, body: Any) -> Any:
    request = urllib.request.Request(url, data=None if body is None else json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


def shape_faults(name: str, value: Any) -> list[str]:
    """Return where `value` departs from a schema of the shipped document."""
    schemas = json.loads(OPENAPI.read_text("utf-8"))["components"]["schemas"]
    return list(_departures(schemas, schemas[name], value, name))


TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
}
KNOWN = {"$ref", "type", "required", "properties", "additionalProperties", "items", "maxItems", "minLength"}
KNOWN |= {"maxLength", "minimum", "maximum", "description"}


def _departures(schemas: Any, schema: Any, value: Any, at: str) -> Iterator[str]:
    """Check the keywords that the document uses; any other is a fault of this test."""
    assert set(schema) <= KNOWN, set(schema) - KNOWN
    if "$ref" in schema:
        yield from _departures(schemas, schemas[schema["$ref"].rpartition("/")[2]], value, at)
        return
    if not isinstance(value, TYPES[schema["type"]]) or isinstance(value, bool):
        yield f"{at}: no {schema['type']}"
        return
    yield from (f"{at}: no {name}" for name in schema.get("required", []) if name not in value)
    for name, inner in schema.get("properties", {}).items():
        if name in value:
            yield from _departures(schemas, inner, value[name], f"{at}.{name}")
    if schema.get("additionalProperties") is False and set(value) - set(schema["properties"]):
        yield f"{at}: unknown members"
    if schema["type"] == "array":
        for index, one in enumerate(value):
            yield from _departures(schemas, schema["items"], one, f"{at}[{index}]")
    yield from (f"{at}: {fault}" for fault in _limits(schema, value))


def _limits(schema: Any, value: Any) -> Sequence[str]:
    bounds: dict[str, Callable[[Any], bool]] = {
        "minimum": lambda limit: value >= limit,
        "maximum": lambda limit: value <= limit,
        "minLength": lambda limit: len(value) >= limit,
        "maxLength": lambda limit: len(value) <= limit,
        "maxItems": lambda limit: len(value) <= limit,
    }
    return [name for name, holds in bounds.items() if name in schema and not holds(schema[name])]


@pytest.mark.parametrize(
    ("value", "faults"),
    [
        ({"hits": []}, []),
        ({"hits": [{"id": "a", "text": "t", "score": 1}], "took": 3}, []),
        ({}, ["Hits: no hits"]),
        ({"hits": {}}, ["Hits.hits: no array"]),
        (
            {"hits": [{"id": "", "text": "t", "score": 1.5}]},
            ["Hits.hits[0].id: minLength", "Hits.hits[0].score: maximum"],
        ),
        ({"hits": [{"id": "a", "score": "1"}]}, ["Hits.hits[0]: no text", "Hits.hits[0].score: no number"]),
    ],
)
def test_the_shapes_of_the_document_refuse_what_they_should(value: Any, faults: list[str]) -> None:
    """The small reader of schemas in this file sees each kind of departure."""
    assert shape_faults("Hits", value) == faults


def test_the_document_names_what_it_refers_to() -> None:
    """It is OpenAPI 3.1, every reference leads somewhere, and its limits are those of the code."""
    text = OPENAPI.read_text("utf-8")
    document = json.loads(text)
    assert document["openapi"].startswith("3.1.")
    schemas = document["components"]["schemas"]
    assert {name.rpartition("/")[2] for name in re.findall(r'"\$ref": "([^"]+)"', text)} <= set(schemas)
    named = {name for way in document["paths"]["/search"].values() for one in way["security"] for name in one}
    assert named == set(document["components"]["securitySchemes"])
