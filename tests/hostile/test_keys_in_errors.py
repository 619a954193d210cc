"""Keys with characters that clients write back in another form: in no message, and refused with a line break."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from ragassay.cli.run import read_keys
from ragassay.errors import InputError
from ragassay.records import Secret
from ragassay.run.board_file import load_board

KEYS = [
    "s3cret\r",
    "two\nlines",
    "tab\tkey",
    "schl\u00fcssel",
    "quo'te\"s",
    "back\\slash",
    "per cent%",
    "half \udcff byte",
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("form", [str, repr, json.dumps, lambda key: repr(key.encode("utf-8", "surrogateescape"))])
def test_a_key_is_scrubbed_in_every_form(key: str, form: object) -> None:
    """As it is, as Python writes it, as JSON does."""
    assert callable(form)
    said = f"illegal header value {form(key)}: refused"
    assert key.strip()[:5] not in Secret(key).scrub(said)


def test_a_key_is_scrubbed_from_an_address() -> None:
    """As a client that puts it into a query writes it."""
    assert Secret("a b/c+d").scrub(f"GET /?key={quote('a b/c+d', safe='')}") == "GET /?key=***"


BOARD = """
name = "keys"
[corpus]
path = "docs"
[benchmark]
file = "questions.json"
[answer]
kind = "reader"
[judge]
kind = "literal"
[[rows]]
name = "no-retrieval"
stack = { kind = "none" }
[[rows]]
name = "row"
stack = { kind = "http", url = "http://127.0.0.1:9/search", key_env = "TORN_KEY" }
top_k = 2
"""


@pytest.mark.parametrize("key", ["s3cret\r", "two\nlines s3cret"])
def test_a_key_with_a_line_break_is_refused_by_its_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """A file of variables with line ends of Windows: the variable is named and the key is not."""
    (tmp_path / "board.toml").write_text(BOARD)
    monkeypatch.setenv("TORN_KEY", key)
    with pytest.raises(InputError, match="cannot be used") as raised:
        read_keys(load_board(tmp_path / "board.toml"))
    assert raised.value.problems == (
        "TORN_KEY holds a line break or another control character; set it to the key alone",
    )
