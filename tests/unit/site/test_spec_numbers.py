"""Every number of a specification comes from the board, its runs or a constant of the method, and none was typed in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import panel_factory as panel
import pytest
import site_factory as make
import spec_factory as spec

import ragassay.site.spec as package
from ragassay.records import to_json
from ragassay.score.factual_consistency import CAP, INSUFFICIENT
from ragassay.site.loaded import LoadedRun
from ragassay.site.numbers import shown
from ragassay.site.record import Board
from ragassay.site.render import utc
from ragassay.site.spec import spec_document

NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*|\.[0-9]+")
SOURCES = sorted(Path(package.__file__).parent.glob("*.py"))
METHOD = {
    "1.000": "the top of the scale",
    ".000": "the bottom of the scale",
    "100": "hundredths, in the formula of an item",
    "2": "the weight of a supported claim, in the formula of an item",
    "0": "what is missing is no 0; counts that are 0; what a contradicted or omitted claim is worth",
    "1": "what a supported claim is worth",
    ".250": "the level from which a question is known without retrieval",
    "95": "the level of every interval",
    "256": "SHA-256",
    "25519": "Ed25519",
    ".25": "the cap",
    ".50": "an insufficient reference",
    "8": "UTF-8",
}
"""Numbers that belong to the method and not to a board, each with what it is."""


def board_with_everything(workspace: Path) -> tuple[Board, Sequence[LoadedRun]]:
    """Return a board with a second judge, a null row, missing items, exposure and a threshold."""
    bench = make.benchmark(60)
    make.small_board(workspace, bench)
    make.write_row(
        workspace,
        "tuned",
        "tuned",
        bench,
        lambda n, k: "judge_failed" if (n, k) == (7, 2) else "supports" if n % 3 else "omits",
        circumstance_exposure="tuned-on",
        threshold="0.35",
    )
    names = sorted(path.name for path in (workspace / "runs").iterdir())
    for name in names:
        panel.judge_run(workspace, name, lambda n: "supports" if n % 4 else "omits")
    panel.null_row(workspace, names[0], "constant", "See docs.", lambda n: "supports" if n == 3 else "omits", 1)
    return spec.built(workspace)


def leaves(value: Any) -> Iterator[str]:
    """Yield each value of a JSON value as text, and how many members each list has."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield str(key)
            yield from leaves(one)
    elif isinstance(value, list | tuple):
        yield str(len(value))
        for one in value:
            yield from leaves(one)
    elif value is not None:
        yield str(value)


def facts(board: Board, runs: Sequence[LoadedRun]) -> set[str]:
    """Return every number that stands in what a specification is made of, in each way in which it may be written."""
    texts = list(leaves(to_json(board)))
    for run in runs:
        if run.document is not None:
            parts = (run.document.predicate, run.document.config, run.document.benchmark)
            texts += [text for part in parts if part is not None for text in leaves(to_json(part))]
            texts += [check.text for check in run.checks]
    found: set[str] = set()
    for text in texts:
        found.update(NUMBER.findall(text))
        if re.fullmatch(r"[0-9a-f]{32,64}", text):
            found.update(NUMBER.findall(text[:12]))
        if re.fullmatch(r"-?[0-9]+\.[0-9]+", text):
            found.update(number for places in (2, 3) for number in NUMBER.findall(shown(text, places)))
    windows = [run.document.predicate.window for run in runs if run.document is not None]
    seconds = [board.generated, *(second for window in windows if window for second in (window.start, window.end))]
    return found | {number for second in seconds for number in NUMBER.findall(utc(second))}


def computed(board: Board) -> set[str]:
    """Return the numbers that are computed anew here, from the same record: weights, sums, needed questions."""
    table = board.tables[0]
    rows = [row for row in table.rows if row.runs]
    sums = [
        sum(row.missing.asked for row in rows),
        sum(row.missing.total for row in rows),
        sum(len(row.runs) for row in rows),
        sum(row.passes for row in rows),
        table.benchmark.items - 30,
    ]
    idle = [line for line in table.questions if {"every stack answers it", "no stack answers it"} & set(line.flags)]
    known = [line for line in table.questions if "known without retrieval" in line.flags]
    sums += [len(idle), table.benchmark.items - len(idle), len(known), 111 - 60]
    sums += [run.score.den // 100 for row in rows for run in row.runs if run.score]
    first, second = sorted((row for row in rows if row.rank), key=lambda row: (row.rank or 0, row.name))[:2]
    pair = next(pair for pair in table.pairs if {pair.a, pair.b} == {first.key, second.key})
    needed = pair.questions * (float(pair.detectable or 0) / abs(float(pair.difference or 1))) ** 2
    step = 10 ** (len(str(int(needed) + 1)) - 2)
    about = -(-(int(needed) + 1) // step) * step
    return {*map(str, sums), *(f"{one:,}" for one in sums), f"{about:,}", shown(str(1 / table.benchmark.items))}


def test_every_number_is_in_the_facts(tmp_path: Path) -> None:
    """Each number of the page stands in the record, follows from it, or is a constant of the method."""
    board, runs = board_with_everything(tmp_path)
    text = spec.plain(spec_document(board, runs))
    worked = re.search(r"\(100 · \(2·(\d+) \+ (\d+)\) \+ (\d+)\) div (\d+) = (\d+)", text)
    assert worked is not None
    supported, hedged, total, twice, result = map(int, worked.groups())
    assert (twice, result) == (2 * total, (100 * (2 * supported + hedged) + total) // (2 * total))
    allowed = facts(board, runs) | computed(board) | set(METHOD) | {str(number) for number in (twice, result)}
    unexplained = {number for number in NUMBER.findall(text) if number.strip(",") not in allowed}
    assert unexplained == set()


def test_the_check_of_numbers_finds_a_foreign_one(tmp_path: Path) -> None:
    """A number that nobody recorded would not pass for a fact."""
    board, runs = board_with_everything(tmp_path)
    assert not {"8713", ".8713", "12,345"} & (facts(board, runs) | computed(board) | set(METHOD))


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and text of every literal of a module that is no docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    expressions = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in expressions:
            yield node.lineno, node.value


TECHNICAL = re.compile(
    r"[a-z-]+/[0-9]|SHA-256|Ed25519|utf-8|1/$|sha256|[\\^$(\[].*[\])]|%|\{byte:02X\}|1 chunk in |h[123]|02X|"
    r"\.[0-9]+rem|[0-9]+rem"
)
"""Names of templates, profiles and algorithms; patterns; widths of the style; `1/` before the number of questions."""


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_sentence_holds_a_number_that_was_typed_in(path: Path) -> None:
    """A digit in a sentence of the source is a constant of the method, in words that say so."""
    found = {}
    for line, text in texts_of(path):
        rest = TECHNICAL.sub("", text)
        numbers = [number for number in NUMBER.findall(rest) if number.rstrip(".,") not in METHOD]
        if numbers:
            found[line] = text
    assert found == {}


def test_the_constants_of_the_method_are_those_of_the_code() -> None:
    """The cap and the insufficient reference are printed from the code that applies them."""
    assert (shown(str(CAP / 100), 2), shown(str(INSUFFICIENT / 100), 2)) == (".25", ".50")
    assert {".25", ".50"} <= set(METHOD)
