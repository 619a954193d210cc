"""The chart library places marks where their values say, sees no text, and gives the same bytes everywhere."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pictures_factory as make
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.site.pictures import score_picture
from ragassay.site.pictures.library import _chart, places
from ragassay.site.pictures.marks import Frame, band, dot, line, step, text
from ragassay.site.pictures.picture import cut
from ragassay.site.pictures.reach import _label_heights
from ragassay.site.pictures.scale import round_ticks

FRAME = Frame(width=400, height=200, x=(0, 1), y=(0, 10), left=40, right=60, top=20, bottom=30)
SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import pictures_factory as make
from ragassay.site.pictures import score_picture
sys.stdout.write(score_picture(make.table(*make.five_rows())).svg)
"""


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 10)), min_size=1, max_size=30))
def test_a_dot_stands_where_its_values_say(points: list[tuple[float, float]]) -> None:
    """px are linear in the data: left + x · inner width, and downwards from the top."""
    found = places([dot(x, y) for x, y in points], FRAME)
    for index, (x, y) in enumerate(points):
        assert float(found[index]["cx"]) == pytest.approx(40 + x * 300, abs=0.011)
        assert float(found[index]["cy"]) == pytest.approx(20 + (10 - y) * 15, abs=0.011)


def test_every_kind_of_mark_comes_back_once_and_in_px() -> None:
    """A band, a line, a step, a dot and a text keep their ends and corners."""
    marks = [band((0, 0.5), (0, 10)), line((0, 1), (5, 5)), step((0, 0.5, 1), (0, 4, 10)), dot(1, 0), text(0, 10, "x")]
    found = places(marks, FRAME)
    assert found[0] == {"x": "40", "y": "20", "width": "150", "height": "150"}
    assert found[1] == {"x1": "40", "y1": "95", "x2": "340", "y2": "95"}
    assert found[2]["d"].startswith("M40 170")
    assert found[2]["d"].endswith("L340 20")
    assert found[3] == {"cx": "340", "cy": "170"}
    assert found[4] == {"cx": "40", "cy": "20"}


def test_a_mark_outside_the_canvas_is_an_error_and_never_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    """What the library would drop with a word on stdout is refused before it is asked."""
    with pytest.raises(ValueError, match="outside the canvas"):
        places([dot(0.5, 5), dot(9, 5)], FRAME)
    assert capfd.readouterr() == ("", "")


def test_the_library_sees_no_text_of_a_run() -> None:
    """Words never reach it, so neither its formulas nor its links can be written into a picture."""
    marks = [text(0.5, 5, make.HOSTILE), dot(0.2, 2, title=make.HOSTILE)]
    assert "alert" not in json.dumps(_chart(marks, FRAME).as_dict())


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    """A picture is drawn without a word on either stream."""
    score_picture(make.table(*make.five_rows()))
    assert capfd.readouterr() == ("", "")


def test_the_same_table_gives_the_same_bytes_in_another_process() -> None:
    """Neither the library's random ids nor the order of hashes shows."""
    here = score_picture(make.table(*make.five_rows())).svg
    assert here == score_picture(make.table(*make.five_rows())).svg
    folder = str(Path(make.__file__).parent)
    there = subprocess.run(
        [sys.executable, "-c", SCRIPT, folder],
        capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert there.stdout.decode("utf-8") == here


@given(st.integers(0, 10**12), st.integers(2, 6))
def test_round_ticks_reach_from_zero_to_the_largest_value(most: int, count: int) -> None:
    """They begin at 0, cover the value, are evenly apart and few."""
    ticks = round_ticks(most, count)
    assert ticks[0] == 0
    assert ticks[-1] >= most
    assert len(ticks) <= count + 1
    assert len({b - a for a, b in itertools.pairwise(ticks)}) == 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_names_at_the_ends_of_lines_never_touch(wanted: list[float]) -> None:
    """Labels stand at least one line apart and inside the panel where there is room for them."""
    apart = 1 / 20
    found = sorted(_label_heights(wanted, apart))
    assert all(b - a >= apart - 1e-9 for a, b in itertools.pairwise(found))
    assert found[0] >= -1e-9
    assert found[-1] <= 1 + 1e-9


def test_a_long_name_is_cut_with_a_sign_and_no_steering_character() -> None:
    """200 characters of a name become one line that ends in …."""
    assert cut("a\u202eb", 200) == "a[U+202E]b"
    assert cut("x" * 200, 70) == "x" * 7 + "…"
    assert len(cut("i" * 200, 70)) > len(cut("x" * 200, 70)) > len(cut("名" * 200, 70))
