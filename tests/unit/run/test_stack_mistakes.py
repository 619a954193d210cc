"""Mistakes in a board's stacks: told before anything is built, with their place, what was meant, and never a key."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from run_lab import Lab

from ragassay.cli import run, stacks
from ragassay.cli.run import read_keys
from ragassay.cli.stack_lines import checked
from ragassay.errors import InputError, ModelError
from ragassay.plugins.http import HttpClient
from ragassay.records import JSON
from ragassay.run.board_file import load_board
from ragassay.run.build import check_stack, needed_keys
from ragassay.run.stack_check import RowChecked, StacksChecked

BM25: JSON = {"kind": "bm25"}
NOT_A_NAME = "sk-12345-abc"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Make a small board."""
    return Lab(tmp_path)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"kind": "qdrent"}, r"^row 'x': there is no stack 'qdrent'; did you mean 'qdrant'\?$"),
        ({"kind": "acme"}, r"^row 'x': there is no stack 'acme'; known are: bm25, chroma, "),
        ({"kind": "hybrid", "of": [BM25, {"kind": "dens"}]}, r"^row 'x'\.of\[1\]: .*did you mean 'dense'\?$"),
        (
            {"kind": "dense", "embedder": {"kind": "minilm"}},
            r"^row 'x'\.embedder: there is no embedder 'minilm'; did you mean 'm",
        ),
        (
            {"kind": "dense", "embedder": {"kind": "minilm-l6-v2-int8", "thread": 1}},
            r"^row 'x'\.embedder: the parameters of 'minilm-l6-v2-int8' cannot be used\n  - unknown parameter 'thread'",
        ),
        (
            {"kind": "window", "of": {"kind": "dense", "embedder": {"kind": "openai", "id": "m"}}},
            r"^row 'x'\.of\.embedder: (.|\n)*base_url",
        ),
        ({"kind": "bm25", "methods": "lucene"}, "unknown parameter 'methods'; did you mean 'method'\\? \\(known: b, "),
        ({"kind": "bm25", "size": 3}, r"unknown parameter 'size' \(known: b, "),
        ({"kind": "rerank", "of": BM25}, "method must be one of cross-encoder, endpoint, llm"),
    ],
)
def test_a_name_that_is_not_known(entry: JSON, told: str) -> None:
    """Where it stands, and what was meant if something is near; else what there is."""
    with pytest.raises(InputError, match=told):
        check_stack(entry, "row 'x'")


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        *[({"kind": kind}, "needs one stack to wrap") for kind in ("window", "parent", "mmr", "multiquery", "hyde")],
        ({"kind": "window", "of": [BM25]}, "needs one stack to wrap"),
        ({"kind": "rerank", "method": "llm"}, "needs one stack to wrap"),
        ({"kind": "rerank", "method": "llm", "of": BM25}, "needs a language model"),
        ({"kind": "multiquery", "of": BM25}, "needs a language model"),
        ({"kind": "hyde", "of": BM25}, "needs a language model"),
        ({"kind": "tree"}, "needs a language model"),
        ({"kind": "hybrid"}, "needs two or more stacks"),
        ({"kind": "hybrid", "of": []}, "needs two or more stacks"),
        ({"kind": "hybrid", "of": [BM25]}, "needs two or more stacks"),
    ],
)
def test_a_part_that_lacks_is_told_before_anything_is_built(entry: JSON, told: str) -> None:
    """At any depth: what a wrapper holds is embedded first, which can take an hour."""
    with pytest.raises(InputError, match=rf"^row 'x': '{entry['kind']}' {told}"):
        check_stack(entry, "row 'x'")
    with pytest.raises(InputError, match=rf"^row 'x'\.of: '{entry['kind']}' {told}"):
        check_stack({"kind": "window", "of": entry}, "row 'x'")


@pytest.mark.parametrize("verb", ["check", "index", "run"])
@pytest.mark.parametrize(
    "stack",
    [
        f'{{ kind = "http", url = "http://127.0.0.1:9/search", key_env = "{NOT_A_NAME}" }}',
        '{ kind = "dense", embedder = { kind = "openai", id = "m", base_url = "http://127.0.0.1:9/v1", dimension = 2, '
        f'key_env = "{NOT_A_NAME}" }} }}',
    ],
)
def test_a_key_in_the_place_of_its_variable_is_refused_and_not_repeated(lab: Lab, verb: str, stack: str) -> None:
    """Somebody pasted the key itself: no message tells them to export it."""
    lab.write(stack=stack)
    board = load_board(lab.folder / "board.toml")
    assert needed_keys([], [row.stack for row in board.rows]) == []
    command = stacks.command if verb == "check" else __import__(f"ragassay.cli.{verb}", fromlist=["command"]).command
    words = [*(["check"] if verb == "check" else []), str(board.path), *(["--dry-run"] if verb == "run" else [])]
    with pytest.raises(InputError, match="key_env must be the name of an environment variable") as raised:
        CliRunner().invoke(command, words, catch_exceptions=False, standalone_mode=False)
    assert NOT_A_NAME not in str(raised.value)


@pytest.mark.parametrize(
    "stack",
    [
        f'{{ kind = "qdrant", key = "{NOT_A_NAME}" }}',
        f'{{ kind = "dense", embedder = {{ kind = "openai", key = "{NOT_A_NAME}" }} }}',
        f'{{ kind = "window", of = {{ kind = "http", key = "{NOT_A_NAME}" }} }}',
    ],
)
def test_a_key_in_a_board_is_refused_and_not_repeated(lab: Lab, stack: str) -> None:
    """A row's entry is recorded and signed: a key in it would be published."""
    lab.write(stack=stack)
    with pytest.raises(InputError, match=r"\.key: a key never stands in a board; .* in `key_env`") as raised:
        load_board(lab.folder / "board.toml")
    assert NOT_A_NAME not in str(raised.value)


def test_a_part_without_a_kind_is_told_with_an_example_of_its_own(lab: Lab) -> None:
    """An embedder is shown an embedder."""
    lab.write(stack='{ kind = "dense", embedder = "minilm-l6-v2-int8" }')
    with pytest.raises(InputError, match=r"embedder: needs a `kind`, for example { kind = 'minilm-l6-v2-int8' }"):
        load_board(lab.folder / "board.toml")


def test_a_run_of_one_row_needs_the_keys_of_that_row_alone(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `ragassay stacks check --row` and `ragassay index --row` do."""
    monkeypatch.delenv("NOT_SET_HERE", raising=False)
    lab.write(stack='{ kind = "http", url = "http://127.0.0.1:9/search", key_env = "NOT_SET_HERE" }')
    board = load_board(lab.folder / "board.toml")
    assert read_keys(board, ["no-retrieval"]) == {}
    with pytest.raises(InputError, match="NOT_SET_HERE"):
        read_keys(board)


def test_a_dry_run_names_the_rows_that_it_does_not_count(lab: Lab) -> None:
    """A model inside a search is asked as often as the search decides."""
    model = '{ kind = "openai", id = "m", base_url = "http://127.0.0.1:9/v1" }'
    lab.write(stack=f'{{ kind = "hyde", of = {{ kind = "bm25" }}, model = {model} }}')
    done = CliRunner().invoke(run.command, [str(lab.folder / "board.toml"), "--dry-run"], catch_exceptions=False)
    assert "besides: what the searches of row ask for themselves is not counted\nnothing was asked" in done.output


def test_a_dry_run_names_the_rows_that_ask_a_rerank_service(lab: Lab) -> None:
    """A service that bills its searches is asked by every one of the row's."""
    service = 'method = "endpoint", form = "cohere", id = "m", url = "http://127.0.0.1:9/v2/rerank"'
    lab.write(stack=f'{{ kind = "rerank", of = {{ kind = "bm25" }}, {service} }}')
    done = CliRunner().invoke(run.command, [str(lab.folder / "board.toml"), "--dry-run"], catch_exceptions=False)
    assert "besides: what the searches of row ask for themselves is not counted\nnothing was asked" in done.output


def test_a_description_shows_an_equal_part_once() -> None:
    """The embedder of nine rows stands whole in the first; the JSON has it in each."""
    about: JSON = {"kind": "dense", "embedder": {"kind": "small", "dimension": 4}}
    rows = [RowChecked(row=name, kind="dense", describe=about) for name in ("one", "two")]
    found = StacksChecked(corpus="", pages=1, chunks=1, question="q", text="?", rows=rows)
    first, second = [json.loads(line.split("  ", 2)[2]) for line in checked(found) if line.startswith("  describe")]
    assert first == about
    assert second == {"kind": "dense", "embedder": {"kind": "small", "…": "as above"}}


def test_a_server_that_is_not_there_is_told_in_plain_words() -> None:
    """What the system says, and what to look at."""

    async def ask() -> None:
        client = HttpClient("http://127.0.0.1:9")
        try:
            await client.post_json("/x", {})
        finally:
            await client.close()

    with pytest.raises(
        ModelError, match=r"^127\.0\.0\.1:9: the connection failed: Connection refused; is it running, "
    ):
        asyncio.run(ask())
