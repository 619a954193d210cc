"""Board files that are wrong, hostile or huge are refused with the place of every fault, and never with a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.records import Secret
from ragassay.run.board_file import load_board
from ragassay.run.prepared import Options, prepare
from ragassay.run.workspace import Workspace

TOP = 'name = "b"\n[corpus]\npath = "docs"\n[benchmark]\nfile = "q.json"\n'
ANSWER = '[answer]\nkind = "reader"\n'
JUDGE = '[judge]\nkind = "literal"\n'
CONTROL = '[[rows]]\nname = "c"\nstack = { kind = "none" }\n'
OPENAI = '[answer]\nkind = "openai"\nid = "m"\nbase_url = "http://127.0.0.1:9/v1"\n'
ROW = '[[rows]]\nname = "r"\nstack = { kind = "bm25" }\n'
GOOD = TOP + ANSWER + JUDGE + CONTROL + ROW


def _row(text: str) -> str:
    return TOP + ANSWER + JUDGE + CONTROL + f"[[rows]]\n{text}\n"


def _answer(text: str) -> str:
    return TOP + OPENAI + text + "\n" + JUDGE + CONTROL + ROW


HOSTILE = {
    "nested 5,000 deep": ("a = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
    "a number of 5,000 digits": ("seed = " + "9" * 5000, "cannot be read as TOML"),
    "larger than a board": ("#" * (4 * 1024 * 1024 + 1), "more than the 4194304 bytes"),
    "kind is a list": (GOOD.replace('path = "docs"', 'path = "docs"\nchunker = { kind = ["a"] }'), "corpus.chunker"),
    "NUL in a path": (GOOD.replace("q.json", "q\\u0000.json"), "benchmark.file: must be visible text"),
    "an address that is none": (_answer("").replace("http://127.0.0.1:9/v1", "http://[::1"), "answer.base_url"),
    "a key in the address": (
        _answer("").replace(":9/v1", ":9/v1?key=hunter2hunter2"),
        "answer.base_url: must not hold",
    ),
    "a parameter that is NaN": (
        _answer("params = { temperature = nan }"),
        "answer.params.temperature: must be a finite",
    ),
    "an infinite parameter": (_answer("params = { a = [inf] }"), "answer.params.a[0]: must be a finite"),
    "an integer past 2^53": (
        _answer("params = { seed = 99999999999999999 }"),
        "answer.params.seed: must be an integer",
    ),
    "a date": (_answer("params = { x = 2020-01-01 }"), "answer.params.x: must not be a date"),
    "a nested bomb": (_answer("params = { x = " + "[" * 200 + "]" * 200 + " }"), "nested deeper than 24 levels"),
    "a negative price": (
        _answer('price = { input_usd_per_mtok = "-5", output_usd_per_mtok = "1" }'),
        "input_usd_per_mtok: must be from 0 to",
    ),
    "a price past all money": (
        _answer('price = { input_usd_per_mtok = "1e99", output_usd_per_mtok = "1" }'),
        "input_usd_per_mtok: must be from 0 to",
    ),
    "a budget of a billion digits": (GOOD + '[budget]\nmax_usd = "1e999999999"\n', "budget.max_usd: must be a decimal"),
    "a negative budget": (GOOD + '[budget]\nmax_usd = "-1"\n', "budget.max_usd: must be from 0"),
    "a key in key_env": (_answer('key_env = "sk-hunter2=="'), "answer.key_env: must be the name of an environment"),
    "a date for the judge": (GOOD.replace('"literal"', '"literal"\nparams = { x = 2020-01-01 }'), "judge.params.x"),
    "a model that nobody asks": (GOOD.replace('"literal"', '"literal"\nmodel = { kind = "reader" }'), "judge.model"),
    "a template for the judge": (
        GOOD.replace('"literal"', '"llm"\nmodel = { kind = "reader", template = "x" }'),
        "judge.model.template: is not known here",
    ),
    "a threshold in other digits": (
        _row('name = "r"\nstack = { kind = "bm25" }\nthreshold = "٣"'),
        "rows[1].threshold",
    ),
    "a threshold with spaces": (
        _row('name = "r"\nstack = { kind = "bm25" }\nthreshold = " 0_1 "'),
        "rows[1].threshold",
    ),
    "a name that moves the cursor": (_row('name = "\\u001b[31m"\nstack = { kind = "bm25" }'), "rows[1].name"),
    "a name that turns around": (_row('name = "a\\u202eb"\nstack = { kind = "bm25" }'), "rows[1].name"),
    "a name of two lines": (_row('name = "a\\nb"\nstack = { kind = "bm25" }'), "rows[1].name"),
    "a blank name": (_row('name = "  "\nstack = { kind = "bm25" }'), "rows[1].name"),
    "a name of 500 characters": (_row(f'name = "{"n" * 500}"\nstack = {{ kind = "bm25" }}'), "at most 200 characters"),
    "a blank waiver": ('control_waiver = " "\n' + TOP + ANSWER + JUDGE + ROW, "control_waiver: must be visible"),
    "the oracle inside a hybrid": (
        _row('name = "r"\nstack = { kind = "hybrid", of = [ { kind = "bm25" }, { kind = "oracle" } ] }'),
        "rows[1].stack.of[1]: 'oracle' is a row of its own",
    ),
    "the control inside a hybrid": (
        _row('name = "r"\nstack = { kind = "hybrid", of = [ { kind = "bm25" }, { kind = "none" } ] }'),
        "rows[1].stack.of[1]: 'none' is a row of its own",
    ),
    "a part without a kind": (
        _row('name = "r"\nstack = { kind = "dense", embedder = "minilm" }'),
        "rows[1].stack.embedder: needs a `kind`",
    ),
}


@pytest.mark.parametrize(("text", "expected"), HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_board_names_its_fault(tmp_path: Path, text: str, expected: str) -> None:
    """Each is an `InputError` with the place, prints no control character and repeats no key."""
    path = tmp_path / "board.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_board(path)
    assert expected in str(caught.value)
    assert str(caught.value).replace("\n", "").isprintable()
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("name", ["../x", "/etc/x", "CON", "😀", "a/b", "..", "-", "<script>", "日本"])
def test_a_strange_name_stays_inside_the_workspace(tmp_path: Path, name: str) -> None:
    """A row may be called anything that can be printed; its folder is always one below `passes`."""
    path = tmp_path / "board.toml"
    path.write_text(_row(f'name = "{name}"\nstack = {{ kind = "bm25" }}'), encoding="utf-8")
    row = load_board(path).rows[1]
    space = Workspace(tmp_path / "w")
    folder = space.pass_folder(row.name, "id")
    assert row.name == name
    assert folder.resolve().parent.parent == space.passes.resolve()


def test_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    """A board saved by an editor that writes a BOM is a board."""
    path = tmp_path / "board.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert load_board(path).name == "b"


def test_unknown_kinds_and_parameters_are_told_together(tmp_path: Path) -> None:
    """Model, judge, stacks, template, questions and row names are all checked before any is built."""
    text = TOP + '[answer]\nkind = "gpt"\ntemplate = "zz"\n[judge]\nkind = "vibes"\n' + CONTROL
    text += '[[rows]]\nname = "one"\nstack = { kind = "bm26" }\n'
    text += '[[rows]]\nname = "two"\nstack = { kind = "bm25", foo = 1, k1 = -1 }\n'
    text += '[[rows]]\nname = "three"\nstack = { kind = "dense", embedder = { kind = "word2vec" } }\n'
    (tmp_path / "board.toml").write_text(text, encoding="utf-8")
    keys: dict[str, Secret] = {}
    with pytest.raises(InputError) as caught:
        prepare(
            load_board(tmp_path / "board.toml"),
            Workspace(tmp_path / "w"),
            keys,
            Options(rows=("four",)),
            lambda _what: lambda _done, _total: None,
        )
    said = "\n".join(caught.value.problems)
    for part in ("'gpt'", "'zz'", "'vibes'", "'bm26'", "row 'two'", "'foo'", "k1", "'word2vec'", "'four'", "q.json"):
        assert part in said
