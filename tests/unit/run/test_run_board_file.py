"""`board.toml`: checked as a whole, all problems at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.run.board_file import load_board

GOOD = """
name = "B"
[corpus]
path = "docs"
[benchmark]
file = "q.json"
[answer]
kind = "reader"
[judge]
kind = "literal"
[[rows]]
name = "no-retrieval"
stack = { kind = "none" }
[[rows]]
name = "bm25"
stack = { kind = "bm25" }
"""


def _load(tmp_path: Path, text: str) -> object:
    path = tmp_path / "board.toml"
    path.write_text(text, encoding="utf-8")
    return load_board(path)


def _problems(tmp_path: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        _load(tmp_path, text)
    return "\n".join(caught.value.problems) or str(caught.value)


def test_defaults(tmp_path: Path) -> None:
    """What is not written has the documented default, and paths are relative to the board file."""
    (tmp_path / "board.toml").write_text(GOOD, encoding="utf-8")
    board = load_board(tmp_path / "board.toml")
    assert (board.passes, board.scorer, board.rows[1].top_k) == (3, "factual-consistency/2", 5)
    assert board.chunker == {"kind": "heading", "max_tokens": 256, "overlap": 32}
    assert board.corpus == tmp_path.resolve() / "docs"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (('name = "B"', 'nmae = "B"'), "nmae: is not known here; did you mean 'name'?"),
        (('name = "B"', 'name = "B"\npasses = 0'), "passes: must be from 1 to 100, not 0"),
        (('name = "B"', 'name = "B"\npasses = true'), "passes: must be an integer, not a boolean"),
        (('stack = { kind = "none" }', 'stack = { kind = "bm25" }'), "rows: there is no control row"),
        (('name = "bm25"', 'name = "no-retrieval"'), "stands more than once"),
        (('name = "bm25"', 'name = "bm25"\nthreshold = 0.2'), "rows[1].threshold: must be a string, not a float"),
        (('name = "bm25"', 'name = "bm25"\nthreshold = "high"'), "rows[1].threshold: must be a decimal number"),
        (('name = "bm25"', 'name = "bm25"\ntopk = 3'), "rows[1].topk: is not known here; did you mean 'top_k'?"),
        (('kind = "reader"', 'kind = "openai"'), "answer.base_url: is missing"),
        (('kind = "literal"', 'kind = "llm"'), "judge.model: is missing"),
        (('kind = "literal"', 'kind = "literal"\nreask = "120%"'), "judge.reask: must be a whole share from '0%'"),
        (('kind = "literal"', 'kind = "literal"\nreask = "2.5%"'), "judge.reask: must be a whole share from '0%'"),
        (("[answer]", '[[panel]]\nkind = "literal"\n[answer]'), "panel[0].name: is missing"),
        (("[answer]", '[[panel]]\nname = "x"\nkind = "llm"\n[answer]'), "panel[0].model: is missing"),
        (("[answer]", '[[panel]]\nname = "x"\nkind = "literal"\nreask = "5%"\n[answer]'), "panel[0].reask: is for the"),
        (("[answer]", '[[panel]]\nname = "judge"\nkind = "literal"\n[answer]'), "'judge' is what the board's own"),
        (("[answer]", '[[panel]]\nname = "[judge]"\nkind = "literal"\n[answer]'), "'[judge]' is what the board's own"),
        (("[answer]", 2 * '[[panel]]\nname = "x"\nkind = "literal"\n' + "[answer]"), "panel: the name 'x' stands more"),
        (('path = "docs"', 'crawl = "docs.acme.example"'), "corpus.crawl: it is no absolute http or https address"),
        (('path = "docs"', 'crawl = ""'), "corpus.crawl: must not be empty"),
        (
            ('path = "docs"', 'path = "docs"\ncrawl = "https://docs.acme.example/"'),
            "corpus.path: stands beside `crawl`",
        ),
        (('path = "docs"', ""), "corpus.path: is missing, and so is `crawl`; give one of them"),
        (('path = "docs"', 'path = "docs"\npdf = "yes"'), "corpus.pdf: must be true or false, not a string"),
        (
            ('kind = "reader"', 'kind = "openai"\nid = "m"\nbase_url = "https://u:key@x.example/v1"'),
            "answer.base_url: holds a user name or password; remove it",
        ),
    ],
)
def test_each_problem_names_its_place(tmp_path: Path, change: tuple[str, str], expected: str) -> None:
    """A fault is reported with the path of the key at which it stands."""
    assert expected in _problems(tmp_path, GOOD.replace(*change, 1))


def test_a_judge_can_leave_parameters_out(tmp_path: Path) -> None:
    """`omit` keeps a parameter out of the judge's calls, and is refused where no model is called."""
    llm = 'kind = "llm"\nomit = ["temperature"]\nmodel = { kind = "reader" }'
    (tmp_path / "board.toml").write_text(GOOD.replace('kind = "literal"', llm), encoding="utf-8")
    assert load_board(tmp_path / "board.toml").judge.params == {"temperature": None}
    literal = 'kind = "literal"\nomit = ["temperature"]'
    assert "judge.omit: is for a judge of kind 'llm'" in _problems(tmp_path, GOOD.replace('kind = "literal"', literal))


def test_all_problems_are_listed_at_once(tmp_path: Path) -> None:
    """A board with several faults says them all."""
    found = _problems(tmp_path, GOOD.replace('name = "B"', "passes = -1\nsead = 4").replace('"docs"', "3"))
    assert {line.partition(":")[0] for line in found.splitlines()} >= {"name", "passes", "sead", "corpus.path"}


def test_a_control_waiver_stands_for_a_control(tmp_path: Path) -> None:
    """A board without control runs when it says why; one with a control has nothing to waive."""
    waived = GOOD.replace('stack = { kind = "none" }', 'stack = { kind = "bm25", k1 = "2" }')
    assert _load(tmp_path, 'control_waiver = "the model is new"\n' + waived)
    assert "nothing to waive" in _problems(tmp_path, 'control_waiver = "why"\n' + GOOD)


def test_no_file_and_no_toml(tmp_path: Path) -> None:
    """A missing file names `init`, a broken one its line."""
    with pytest.raises(InputError, match="ragassay init"):
        load_board(tmp_path / "board.toml")
    assert "line 1" in _problems(tmp_path, "name = \nseed = 1")
